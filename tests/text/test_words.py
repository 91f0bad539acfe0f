import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.text import count_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("   ", 0),
        ("one", 1),
        ("  one\n two\t", 2),
        ("naïve café résumé", 3),
        ("هذا نص عربي", 3),
        ("한국어는 띄어쓰기를 한다", 3),
        ("近似重复的网页", 7 * 0.6),
        ("近似重复的网页" * 20, 140 * 0.6),
        ("日本語のページ", 7 * 0.6),
        ("𠮷野家", 3 * 0.6),
        ("网页 and page", 2 * 0.6 + 2),
        ("ภาษาไทย", 7 * 0.25),
    ],
)
def test_count(text: str, words: float):
    assert count_words(text) == pytest.approx(words)


@given(st.text(alphabet="ab é", max_size=50))
def test_of_spaced_scripts_is_the_number_of_pieces(text: str):
    assert count_words(text) == len(text.split())


@given(st.text())
def test_is_zero_only_without_text(text: str):
    assert (count_words(text) > 0) == bool(text.strip())
