"""Both programs that hold jieba's dictionary must give the same words."""

import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_filter.features import tokens
from dedup_filter.features.chinese import chinese_cutter, jieba_cutter, rjieba_cutter
from dedup_filter.text import normalize

ARTICLES = Path(__file__).parents[2] / "crawler" / "demo_site" / "articles"
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
    "中国人民" * 20_000,
]


@pytest.fixture(scope="module")
def jieba():
    return jieba_cutter()


@pytest.fixture(scope="module")
def rjieba():
    pytest.importorskip("rjieba", reason="the extra 'fast' is not installed")
    return rjieba_cutter()


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run[:6])
def test_both_cut_a_run_alike(jieba, rjieba, run):
    assert rjieba(run) == jieba(run)


def test_both_cut_articles_alike(jieba, rjieba):
    articles = sorted(ARTICLES.glob("zh*/*.txt"))
    assert len(articles) > 5
    for article in articles:
        text = article.read_text(encoding="utf-8")
        assert rjieba(text.replace(" ", "")) == jieba(text.replace(" ", ""))


def test_both_cut_any_characters_alike(jieba, rjieba):
    dice = random.Random(7)
    for _ in range(2000):
        run = "".join(chr(dice.randint(0x4E00, 0x9FFF)) for _ in range(dice.randint(1, 30)))
        assert rjieba(run) == jieba(run)


def test_without_rjieba_chinese_is_still_cut(monkeypatch):
    chinese_cutter.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "rjieba", None)
    try:
        assert tokens("网页去重是爬虫").words == ["网页", "去", "重", "是", "爬虫"]
    finally:
        chinese_cutter.cache_clear()


@settings(max_examples=200)
@given(st.text(alphabet="网页去重是爬虫的重要步骤〇々𠮷豈 ,。、·_(a1\n", max_size=60))
def test_runs_are_cut_as_if_each_stood_alone(text):
    text = normalize(text)
    expected = []
    for part in re.split("([〇々𠮷豈\u4e00-\u9fff]+)", text):
        is_run = re.match("[〇々𠮷豈\u4e00-\u9fff]", part)
        expected += chinese_cutter()(part) if is_run else re.findall(r"\w+", part)
    assert tokens(text).words == expected


def test_runs_are_cut_by_jieba_as_if_each_stood_alone(jieba):
    assert jieba("\n".join(RUNS)) == [word for run in RUNS for word in (*jieba(run), "\n")][:-1]
