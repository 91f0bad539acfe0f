"""Text that stands in no paragraph: in pictures, fields, frames, lists of options, attributes."""

import html

import pytest
from made_text import prose
from text_samples import FIRST, SECOND, page_of, texts_of

from dedup_filter.text.reading import read

ARTICLE = prose(1)
SAID = f"<p>{prose(2, words=40)}</p>"
NOTED = [
    "<select><option>{}</select>",
    "<datalist><option>{}</datalist>",
    "<img alt='{}'>",
    "<input value='{}'>",
    "<input type=SUBMIT value='{}'>",
    "<input placeholder='{}'>",
    "<video>{}</video>",
    "<canvas>{}</canvas>",
    "<iframe src=/>{}</iframe>",
]


def framed(page, times=1):
    """A page in a frame, so many frames deep."""
    for _ in range(times):
        page = f"<iframe srcdoc='{html.escape(page)}'></iframe>"
    return page


def around(markup):
    return f"<html><title>Mill</title><body><main><h1>Mill</h1><p>{ARTICLE}</p>{markup}</main>"


@pytest.mark.parametrize(
    "around_text",
    ["<textarea>{}</textarea>", "<svg><text>{}</text></svg>", "<object>{}</object>", ""],
)
def test_pages_that_differ_in_what_is_read_are_different(pages, around_text):
    texts = [prose(3), prose(4), prose(3)]
    shown = [around(around_text.format(text) if around_text else framed(text)) for text in texts]
    found = [pages.see(f"https://a.example/{n}", html=page) for n, page in enumerate(shown)]
    assert [each.outcome for each in found] == ["new", "new", "exact"]


@pytest.mark.parametrize("markup", NOTED)
def test_pages_that_differ_in_what_is_counted_are_not_equal(pages, markup):
    shown = [around(markup.format(each)) for each in ("two cats", "one dog", "two cats")]
    found = [pages.see(f"https://a.example/{n}", html=page) for n, page in enumerate(shown)]
    assert [each.outcome for each in found] == ["new", "near", "exact"]
    page = page_of(shown[0])
    assert (page.unread_words, [block.text for block in page.blocks]) == (0, ["Mill", ARTICLE])


@pytest.mark.parametrize("markup", NOTED)
def test_pages_that_show_less_than_they_note_are_different(pages, markup):
    texts = [prose(3, words=300), prose(4, words=300), prose(3, words=300)]
    shown = [around(markup.format(text)) for text in texts]
    found = [pages.see(f"https://a.example/{n}", html=page) for n, page in enumerate(shown)]
    assert [each.outcome for each in found] == ["new", "new", "exact"]


@pytest.mark.parametrize("kind", ["hidden", "checkbox", "radio", "password", "color"])
def test_values_that_nobody_sees_count_for_nothing(kind):
    page = page_of(f"<p>{FIRST}</p><input type={kind} value=token>")
    assert (page.unread_words, page.notes_hash) == (0, 0)


def test_a_list_of_options_makes_no_page_unread(pages):
    options = "".join(f"<option>Country number {n}" for n in range(250))
    shown = [around(f"<p>{edit}</p><select>{options}</select>") for edit in ("", "One more.")]
    found = [pages.see(f"https://{n}.example/", html=page).outcome for n, page in enumerate(shown)]
    assert found == ["new", "near"]
    page = page_of(f"<p>{FIRST}</p><select>{options}</select>")
    assert page.unread_words == len(FIRST.split())
    assert page_of(f"<select>{options}</select>").unread_words == 0


@pytest.mark.parametrize(
    "hidden",
    ["<template>{}</template>", "<div hidden>{}</div>", "<p style='display:none'>{}</p>"],
)
def test_an_article_is_found_beside_longer_hidden_text(pages, hidden):
    beside = "".join(hidden.format(prose(n, words=60)) for n in range(20, 30))
    article = f"<p>{prose(5, words=120)}</p><p>{prose(6, words=120)}</p>"
    shown = [around(f"{edit}{article}{beside}") for edit in ("", "<p>One more.</p>")]
    found = [pages.see(f"https://{n}.example/", html=page).outcome for n, page in enumerate(shown)]
    assert found == ["new", "near"]


class TestFrames:
    def test_are_read_where_they_stand(self):
        inner = "<title>Inner</title><p>two<div hidden>no</div>" + framed("<p>three</p>")
        page = page_of(f"<title>Page</title><p>one</p>{framed(inner)}<p>four</p>")
        assert [block.text for block in page.blocks] == ["one", "Inner", "two", "three", "four"]
        assert page.title == "Page"

    def test_beyond_three_are_counted(self):
        assert texts_of(framed(f"<p>{FIRST}", 3)) == [FIRST]
        page = page_of(f"<p>{SECOND}</p>{framed(f'<p>{FIRST}', 4)}")
        assert [block.text for block in page.blocks] == [SECOND]
        assert page.notes_hash != 0

    def test_that_are_empty_say_nothing(self):
        assert texts_of("<p>a<iframe srcdoc=''></iframe><iframe srcdoc></iframe>b") == ["a", "b"]


HOSTILE = {
    "a long value": "<input value='{}'>",
    "a long alternative": "<img alt='{}'>",
    "a long frame": "<iframe srcdoc='{}'></iframe>",
    "a long field": "<textarea>{}</textarea>",
    "a long picture": "<svg><text>{}</text></svg>",
}


@pytest.mark.parametrize("markup", HOSTILE.values(), ids=HOSTILE)
def test_attributes_and_texts_of_megabytes(markup):
    long = "word " * 300_000
    pages = [read(around(markup.format(f"{long}{end}")), None, None) for end in "ab"]
    one, other = ((page.notes_hash, [block.text for block in page.blocks]) for page in pages)
    assert one != other


@pytest.mark.parametrize(
    ("markup", "is_read"),
    [
        ("<select>{}</select>".format("<option>a" * 30_000 + "<option>END"), False),
        (framed("<p>END", 100), False),
        ("".join(framed(f"<p>{n}") for n in range(20_000)) + framed("END"), False),
        ("<svg>" + "<text>a</text>" * 30_000 + "<text>END</svg>", True),
        ("<svg>" * 300 + "<text>END", True),
        ("<div>" * 300 + "<textarea>END</textarea><img alt=a>", True),
        ("<div>" * 300 + "<img alt=END>", False),
        ("<div>" * 300 + "<video>END</video>", False),
        ("<div>" * 300 + framed("END"), False),
    ],
    ids=range(9),
)
def test_what_is_many_or_deep_is_read_or_counted(markup, is_read):
    pages = [read(around(markup.replace("END", end)), None, None) for end in ("one", "two")]
    one, other = pages
    assert ([b.text for b in one.blocks] != [b.text for b in other.blocks]) == is_read
    assert (one.notes_hash != other.notes_hash) == (not is_read)


@pytest.mark.slow
def test_a_listing_of_megabytes_is_too_large():
    line = "line\n"
    assert read(f"<pre>{line * 2**19}</pre>", None, None).reason == "too_large"
    page = read(f"<pre>{line * 2**18}</pre>", None, None)
    assert sum(block.words for block in page.blocks) == 2**18
