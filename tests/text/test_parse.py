import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from dedup_filter.text import parse


def visible(markup: str) -> str:
    tree = parse(markup)
    assert tree is not None
    return " ".join(str(tree.text_content()).split())


@pytest.mark.parametrize(
    "markup", ["", " \n\t", "\0\0", "<!-- only a comment -->", "<!DOCTYPE html>"]
)
def test_nothing_there(markup: str):
    assert parse(markup) is None


def test_tree_is_one_of_html_elements():
    assert isinstance(parse("<p>text"), html.HtmlElement)


def test_text_without_markup():
    assert visible("plain text, no tags") == "plain text, no tags"


def test_xhtml_is_read_as_html():
    tree = parse(
        '<?xml version="1.0" encoding="GB2312"?>\n'
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "xhtml1-strict.dtd">'
        '<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="zh"><body>'
        "<p>联合国 A & B&nbsp;C<br/>D</p></body></html>"
    )
    assert tree is not None
    assert [p.text for p in tree.iter("p")] == ["联合国 A & B\xa0C"]


@pytest.mark.parametrize("charset", ["gb2312", "utf-16", "x-unknown"])
def test_declared_encoding_of_decoded_text_is_without_effect(charset: str):
    assert visible(f'<meta charset="{charset}"><p>联合国 größer') == "联合国 größer"


def test_nul_does_not_end_the_page():
    assert visible("<p>one\0 two</p><p>\0</p> three") == "one two three"


def test_unpaired_surrogates():
    assert visible("<p>before \ud83d after \udc00</p>").startswith("before")


def test_byte_order_mark_is_no_text():
    assert visible("\ufeff<p>text") == "text"


def test_a_hundred_thousand_nested_tags_keep_what_is_before():
    depth = 100_000
    assert visible("<p>before</p>" + "<div>" * depth + "x" + "</div>" * depth).startswith("before")


def test_text_longer_than_libxml2_takes_by_default():
    assert len(visible("<p>" + "w" * 11_000_000)) == 11_000_000


@given(st.text())
def test_never_raises_on_any_text(markup: str):
    tree = parse(markup)
    assert tree is None or tree.tag == "html"


@given(
    st.lists(
        st.sampled_from("<p> </p> <a <!-- --> <![CDATA[ ]]> <?x &#x & </ > \" ' = \0".split(" "))
    )
)
def test_never_raises_on_broken_markup(pieces: list[str]):
    tree = parse("".join(pieces))
    assert tree is None or tree.tag == "html"
