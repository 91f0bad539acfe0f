"""The normal form of texts, and how many words they have."""

import re
from itertools import zip_longest
from unicodedata import normalize as to_form

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.text.plain_text import count_words, normalize

IGNORABLE = re.compile(  # Default_Ignorable_Code_Point
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)


def normal_form(text: str) -> str:
    """Do all steps to the whole text."""
    text = IGNORABLE.sub("", text)
    folded = to_form("NFKC", to_form("NFKC", text).casefold()).casefold()
    return " ".join(folded.split())


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_normal_form_is_final_and_can_be_encoded(text: str):
    form = normalize(text)
    assert normalize(form) == form
    assert form.encode().decode() == form


ODD = (
    "aBe，：；！？（）…ﬁẞßİᾳé\u0301\u0327 \n\t\x1c\x85\u2028\u3000\xa0´網Ｗ１❤"
    "\xad\u200b\u200d\ufeff\u202bש\u202c\ufe0f"
)


@given(st.text(ODD, max_size=30))
def test_normal_form_is_that_of_unicode_with_white_space_collapsed(text: str):
    assert normalize(text) == normal_form(text)


@pytest.mark.parametrize("marks", ["\u0301\u0327", "\u0e38\u0e48", "\U0001d165\u0301"])
def test_of_a_heap_of_marks_only_the_first_count(marks: str):
    """To bring all of them in order would take an hour."""
    heap = marks * 500_000
    around = "网页" * 10, " end" + "!" * 50
    form = normalize(heap.join(around))
    assert form == normalize((marks * 15).join(around))
    assert normalize(form) == form


def test_marks_of_a_language_all_count_in_a_long_text():
    verse = "בְּרֵאשִׁית בָּרָא אֱלֹהִים אֵת הַשָּׁמַיִם " * 500
    assert normalize(verse) == normal_form(verse)


EASY_BLOCKS = [*range(0x80, 0x530), *range(0x2000, 0x2C00)]


@pytest.mark.parametrize("around", [" The OLD\nway ", "e", "<", "'"])
def test_a_single_character_beyond_ascii_among_much_ascii(around: str):
    for code in EASY_BLOCKS:
        text = f"Some  English\tText, and more of IT {around}{chr(code)}{around}"
        assert normalize(text) == normal_form(text), hex(code)


@given(
    st.lists(
        st.sampled_from([*map(chr, EASY_BLOCKS)]) | st.characters(exclude_categories=["Cs"]),
        max_size=4,
    ),
    st.lists(st.sampled_from(["e", "A", " ", "\n", "=", "e\u0301", "”", "…", "É"]), max_size=4),
)
def test_a_few_characters_beyond_ascii_among_much_ascii(few: list[str], more: list[str]):
    text = "".join(map("".join, zip_longest(few, more, fillvalue=""))) + " Much ASCII here" * 5
    assert normalize(text) == normal_form(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("naïve café résumé", 3),
        ("هذا نص عربي", 3),
        ("한국어는 띄어쓰기를 한다", 3),
        ("近似重复的网页" * 20, 140 * 0.6),
        ("日本語のページ", 7 * 0.6),
        ("𠮷野家", 3 * 0.6),
        ("网页 and page", 2 * 0.6 + 2),
        ("ภาษาไทย", 7 * 0.25),
    ],
)
def test_count_of_words(text: str, words: float):
    assert count_words(text) == pytest.approx(words)


@given(st.text(alphabet="ab é", max_size=50))
def test_count_of_words_of_spaced_scripts_is_that_of_the_pieces(text: str):
    assert count_words(text) == len(text.split())


@given(st.text())
def test_count_of_words_is_zero_only_without_text(text: str):
    assert (count_words(text) > 0) == bool(text.strip())
