import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.features import tokens


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("… — !?", []),
        ("the cat sat.", ["the", "cat", "sat"]),
        ("don't l’été", ["don't", "l’été"]),
        ("snake_case e-mail 3.14", ["snake_case", "e", "mail", "3", "14"]),
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
    assert tokens(text).words == words


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
def test_words_are_counted_by_what_they_are_worth(text, count):
    assert tokens(text).word_count == count


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=80))
def test_no_letter_is_passed_over_and_none_invented(text):
    assert {c for word in tokens(text).words for c in word if c.isalnum()} == {
        c for c in text if c.isalnum()
    }


@given(st.text(alphabet="the cat sat on mat,. 猫在网上的", max_size=80))
def test_where_words_are_words_they_come_in_order_and_once(text):
    letters = [c for c in text if c.isalnum()]
    assert list("".join(tokens(text).words)) == letters


@given(st.text(max_size=60))
def test_any_string_can_be_cut_even_with_lone_surrogates(text):
    assert all(tokens(text).words)


@given(st.text(alphabet="ab1_'’\"é“”…—. \n\t\xa0\u0301\u064b\ud800я", max_size=40))
def test_spaced_words_are_runs_of_word_characters_with_apostrophes_inside(text):
    word = r"[\w\u0301\u064b]+"
    assert tokens(text).words == re.findall(f"{word}(?:['’]{word})*", text)


def test_any_number_of_different_separators_part_words():
    symbols = [chr(code) for code in range(0x2190, 0x21FF)]
    text = "".join(f"w{number}{symbol}" for number, symbol in enumerate(symbols))
    assert tokens(text).words == [f"w{number}" for number in range(len(symbols))]
