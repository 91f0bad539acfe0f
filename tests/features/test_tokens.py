"""Texts and their parts -> words, whatever scripts they mix and whoever holds the dictionary."""

import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.features import tokens as tokens_module
from dedup_filter.features.tokens import (
    as_read,
    chinese_cutter,
    jieba_cutter,
    rjieba_cutter,
    tokens,
    tokens_of_parts,
)
from dedup_filter.text.plain_text import normalize

ARTICLES = Path(__file__).parents[2] / "crawler" / "demo_site" / "articles"
SYMBOLS = "".join(map(chr, range(0x2500, 0x2520)))
RUNS = [
    "网页去重是爬虫的重要步骤",
    "長春市長春藥店",  # every cut of it is in the dictionary
    "乒乓球拍卖完了",
    "㐀㐁䶵",  # extension A
    "龦龧鿿",  # beyond what jieba looks up, U+9FA6 to U+9FFF
    "豈更車",  # compatibility
    "𠮷野家𠀀的𪛖",  # beyond the BMP
    "人人々〇〇年",
    "一",
    "中国人民" * 5_000,
]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("… — !?", []),
        ("the cat sat.", ["the", "cat", "sat"]),
        ("don't l’été", ["don't", "l’été"]),
        ("snake_case e-mail 3.14", ["snake_case", "e", "mail", "3", "14"]),
        ("wifi ✓, bath ✗", ["wifi", "✓", "bath", "✗"]),
        ("−5 °c or €5", ["－5", "c", "or", "€", "5"]),
        ("★★☆ 价格¥9", ["★", "★", "☆", "价格", "¥", "9"]),
        ("it’€s → • © +", ["it", "€", "s", "→", "＋"]),
        ("привет, мир", ["привет", "мир"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("网页去重是爬虫的重要步骤", ["网页", "去", "重", "是", "爬虫", "的", "重要", "步骤"]),
        ("用python写爬虫", ["用", "python", "写", "爬虫"]),
        ("中文。english 中文", ["中文", "english", "中文"]),
        ("𠮷野家", ["𠮷", "野", "家"]),
        ("日本語です", ["日本", "本語", "語で", "です"]),
        ("の网页去重是爬虫的重要", ["の", "网页", "去", "重", "是", "爬虫", "的", "重要"]),
        ("한국어 를", ["한국", "국어", "를"]),
        ("ภาษาไทย", ["ภาษ", "าษา", "ษาไ", "าไท", "ไทย"]),
        ("ไทย api", ["ไทย", "api"]),
    ],
)
def test_words_of_scripts_and_their_mixtures(text, words):
    assert tokens(text) == words


@given(st.text(alphabet=st.characters(exclude_categories=[]), max_size=80))
def test_no_letter_is_passed_over_and_none_invented(text):
    letters = {c for c in text if c.isalnum()}
    assert {c for word in tokens(text) for c in word if c.isalnum()} == letters


@given(st.text(alphabet="ab1_'’\"é“”…·€✓. \n\t\xa0\u0301\u064b\ud800я", max_size=40))
def test_spaced_words_are_runs_of_word_characters_with_apostrophes_inside(text):
    word = r"[\w\u0301\u064b]+"
    assert tokens(text) == re.findall(f"{word}(?:['’]{word})*|[€✓]", text)


def owners_of(found):
    """The number of the part of each word."""
    return [number for number, length in enumerate(found.lengths.tolist()) for _ in range(length)]


class TestParts:
    @given(
        st.sampled_from(
            [
                "the cat's sat on mat 3.5 €−✗★ привет 'tis é \u0301\x1f",
                "the 在网上购买的商品 中文。,《网页》去重",
            ]
        ).flatmap(
            lambda letters: st.lists(st.text(letters, max_size=30).map(normalize), max_size=6)
        )
    )
    def test_have_the_words_of_each(self, texts):
        found = tokens_of_parts(texts)
        own = [(word, number) for number, text in enumerate(texts) for word in tokens(text)]
        assert list(zip(found.words, owners_of(found), strict=True)) == own

    @pytest.mark.parametrize(
        ("texts", "words", "owners"),
        [
            # They are asked together whether Chinese characters are Japanese.
            (["東京都", "わかりま"], ["東京", "京都", "わか", "かり", "りま"], [0, 0, 1, 1, 1]),
            # They have every character by which parts could be told apart.
            ([f"{SYMBOLS}one's two", SYMBOLS, f"{SYMBOLS}3"], ["one's", "two", "3"], [0, 0, 2]),
        ],
    )
    def test_are_told_apart_but_read_together(self, texts, words, owners):
        found = tokens_of_parts(texts)
        assert (found.words, owners_of(found)) == (words, owners)

    @pytest.mark.parametrize(
        ("text", "count"),
        [
            ("one two three", 3),
            ("网页去重", 3),
            ("わかりました", 2),
            ("한국어 말하기", 2),
            ("ภาษาไทย", 1),
        ],
    )
    def test_count_what_their_words_are_worth(self, text, count):
        found = tokens_of_parts([text, "one two three"])
        assert [as_read(found.worths[number]) for number in (0, 1)] == [count, 3]


@pytest.fixture(scope="module")
def jieba():
    return jieba_cutter()


class TestCutters:
    @pytest.mark.slow
    def test_give_the_same_words(self, jieba):
        pytest.importorskip("rjieba", reason="the extra 'fast' is not installed")
        rjieba = rjieba_cutter()
        articles = [path.read_text("utf-8") for path in sorted(ARTICLES.glob("zh*/*.txt"))]
        assert len(articles) > 5
        dice = random.Random(7)
        any_runs = (dice.choices(range(0x4E00, 0xA000), k=dice.randint(1, 30)) for _ in range(500))
        runs = [article.replace(" ", "") for article in articles]
        for run in [*RUNS, *runs, *("".join(map(chr, codes)) for codes in any_runs)]:
            assert rjieba(run) == jieba(run), run[:30]

    @pytest.mark.slow
    def test_without_rjieba_chinese_is_still_cut(self, monkeypatch):
        chinese_cutter.cache_clear()
        monkeypatch.setitem(__import__("sys").modules, "rjieba", None)
        try:
            assert tokens("是爬虫是网页") == ["是", "爬虫", "是", "网页"]  # never cut before
        finally:
            chinese_cutter.cache_clear()

    @given(st.text(alphabet="网页去重是爬虫的重要步骤〇々𠮷豈 ,。、·_(a1\n", max_size=60))
    def test_cut_each_run_as_if_it_stood_alone(self, text):
        text = normalize(text)
        expected = []
        for part in re.split("([〇々𠮷豈\u4e00-\u9fff]+)", text):
            is_run = re.match("[〇々𠮷豈\u4e00-\u9fff]", part)
            expected += chinese_cutter()(part) if is_run else re.findall(r"\w+", part)
        assert tokens(text) == expected

    def test_words_that_are_remembered_are_those_of_the_cutter_and_bounded(self, monkeypatch):
        monkeypatch.setattr(tokens_module, "_MOST_CUT", 20)
        monkeypatch.setattr(tokens_module, "_cut_before", {})
        dice, cut = random.Random(3), chinese_cutter()
        for _ in range(200):
            runs = [
                "".join(dice.choices("网页去重是爬虫", k=dice.choice((1, 2, 40)))) for _ in "abc"
            ]
            assert tokens("，".join(runs)) == [word for run in runs for word in cut(run)]
            assert len(tokens_module._cut_before) <= 23
            assert max(map(len, tokens_module._cut_before), default=0) < 40

    @pytest.mark.slow
    def test_jieba_cuts_each_line_as_if_it_stood_alone(self, jieba):
        assert jieba("\n".join(RUNS)) == [w for run in RUNS for w in (*jieba(run), "\n")][:-1]
