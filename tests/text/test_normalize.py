from unicodedata import normalize as to_form

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.text import normalize


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Title", "TITLE", id="case"),
        pytest.param("Straße", "STRASSE", id="case of several letters"),
        pytest.param("a  b\n\tc ", "a b c", id="white space"),
        pytest.param("a\xa0b\u3000c", "a b c", id="other white space"),
        pytest.param("Ｗｅｂ１", "web1", id="full width"),
        pytest.param("ﬁle", "file", id="ligature"),
        pytest.param("e\u0301", "é", id="combining accent"),
        pytest.param("dupli\u00adcate", "duplicate", id="soft hyphen"),
        pytest.param("du\u200bpli\u200dcate\ufeff", "duplicate", id="zero width"),
        pytest.param("\u202bשלום\u202c", "שלום", id="direction marks"),
        pytest.param("❤\ufe0f", "❤", id="variation selector"),
        pytest.param("\ud800x", "\ufffdx", id="unpaired surrogate"),
    ],
)
def test_same_text(one: str, other: str):
    assert normalize(one) == normalize(other)


@pytest.mark.parametrize(
    ("one", "other"), [("ab", "a b"), ("网页", "网站"), ("a.", "a"), ("é", "e")]
)
def test_other_text(one: str, other: str):
    assert normalize(one) != normalize(other)


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_normal_form_is_final_and_can_be_encoded(text: str):
    form = normalize(text)
    assert normalize(form) == form
    assert form.encode().decode() == form


@given(
    st.text(
        alphabet="aB，：；！？（）…ﬁẞİᾳé\u0301\u0327 \n\t\x1c\x85\u2028\u3000\xa0´網", max_size=30
    )
)
def test_normal_form_is_that_of_unicode_with_white_space_collapsed(text: str):
    folded = to_form("NFKC", to_form("NFKC", text).casefold()).casefold()
    assert normalize(text) == " ".join(folded.split())
