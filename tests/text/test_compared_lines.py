"""What of a line is compared: not how long ago something was; without numbers if that is wanted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.text.lines import compared_lines
from dedup_filter.text.plain_text import normalize

AGES = """3 hours ago|an hour ago|a few minutes ago|1 day ago|5 min ago|5m ago|2 weeks ago|11 mo ago
vor 3 Stunden|vor einer Stunde|vor 5 Min.|vor 2 Tagen|vor einem Jahr|il y a 3 heures|il y a 2 ans
hace 3 horas|hace un mes|hace 5 días|há 3 horas|há um mês|3 ore fa|un'ora fa|2 giorni fa
3 uur geleden|2 weken geleden|3 часа назад|5 минут назад|месяц назад|3 godziny temu|rok temu
5 dakika önce|3 小时前|3小时前|5分钟前|2天之前|3個月前
几分钟前|半小时前|3時間前|5日前|3시간 전|2 일 전"""
AGES = [age for row in AGES.splitlines() for age in row.split("|")]
KEPT = """14:03|3 May 2026|Size 40|2 miles ago|3 hours|ago|Chicago|vor 3 Personen|vor Gericht
il y a|hace frío|3 fa|2013年前|前天|前3天|3 月|전 3|3 전|1,204 views|назад|temu
A-20817""".replace("\n", "|")
KEPT = KEPT.split("|")


def compared(text, **options):
    return " ".join(compared_lines([normalize(text)], [True], **options)[0].split())


@pytest.mark.parametrize("age", AGES)
def test_how_long_ago_something_was_is_left_out(age):
    assert compared(age) == ""
    assert compared(f"Ann, {age}") == "ann,"
    assert compared_lines([normalize(age)], [False]) == [normalize(age)]


@pytest.mark.parametrize("text", KEPT)
def test_other_words_stay(text):
    assert compared(text) == normalize(text)


def test_chinese_needs_no_space_around():
    assert compared("发布于3小时前 来源") == "发布于 来源"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("14:03", ""),
        ("1,204 views", "views"),
        ("12.5k views, 3 likes", "views, likes"),
        ("共有3条评论", "共有条评论"),
        ("尺码 40码", "尺码 码"),
        ("$ 19.90", "$"),
        ("b12 vitamins, mp3", "b12 vitamins, mp3"),
        ("no number", "no number"),
    ],
)
def test_numbers_are_left_out_if_that_is_wanted(text, left):
    assert compared(text, with_numbers=False) == left
    assert compared(text) == normalize(text)


texts = st.one_of(st.sampled_from([*AGES, *KEPT]), st.text(max_size=20)).map(normalize)


@given(st.lists(st.tuples(texts, st.booleans()), max_size=8), st.booleans())
def test_each_passage_is_compared_by_itself(passages, with_numbers):
    given_texts = [text for text, _ in passages]
    are_lines = [is_line for _, is_line in passages]
    found = compared_lines(given_texts, are_lines, with_numbers=with_numbers)
    alone = [
        compared_lines([text], [is_line], with_numbers=with_numbers)[0]
        for text, is_line in passages
    ]
    assert found == alone
    assert all(
        text == left for left, (text, is_line) in zip(found, passages, strict=True) if not is_line
    )
