"""What became of each character of a page, against the text nodes of its tree."""

from html import escape

import pytest
from bad_pages import KINDS, SMALL
from hypothesis import given, settings
from museum.kinds import KINDS as SITES
from text_samples import FIRST, MARKUP, SECOND, page_of

from dedup_filter.text.account import account
from dedup_filter.text.decode import as_utf8, parse

ARTICLE = f"{FIRST} {SECOND}"


def bare(text):
    return "".join(text.split())


def texts_in(tree):
    """All text in page order; that of a page in a frame comes before that of the frame itself."""
    texts = []
    for found in tree.xpath("//text() | //iframe/@srcdoc"):
        inner = parse(found) if found.is_attribute else None
        texts += [] if found.is_attribute else [found]
        texts += [] if inner is None else texts_in(inner)
    return texts


def accounted(markup):
    """Account for a page, and verify that for all of it, by the blocks that the filter reads."""
    tree = parse(markup)
    if tree is None:
        return []
    found = account(tree)
    assert bare("".join(piece.text for piece in found.pieces)) == bare("".join(texts_in(tree)))
    page = page_of(markup)
    assert [b.text for b in found.blocks if b.kind != "title"] == [b.text for b in page.blocks]
    if not {piece.unread for piece in found.pieces} & {"markup", "data_read"}:
        for block in found.blocks:
            texts = [piece.text for piece in found.pieces if piece.block == block.position]
            assert bare("".join(texts)) == bare(block.text)
    return found.pieces


@given(MARKUP)
@settings(max_examples=300)
def test_all_text_of_any_markup(markup):
    accounted(markup)


@pytest.mark.parametrize("kind", SMALL)
def test_all_text_of_bad_pages(kind):
    page = KINDS[kind].make(1, 0)
    accounted(as_utf8(page) if isinstance(page, bytes) else page)


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_all_text_of_pages_of_many_sites(site):
    pieces = accounted(site.serve(0))
    assert any(piece.block is not None for piece in pieces)


def left(markup):
    """The text in no block, by the reason."""
    found = {}
    for piece in accounted(markup):
        if piece.unread:
            name = piece.unread + (piece.element and f" {piece.element}")
            found[name] = f"{found.get(name, '')} {piece.text}".strip()
    return found


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (
            "<svg><title>Sea</title></svg><style>p {}</style>",
            {"element svg": "Sea", "element style": "p {}"},
        ),
        ("<script>go()</script>", {"element script": "go()"}),
        ("<script type=application/ld+json>{'a': 1}</script>", {"data": "{'a': 1}"}),
        ("<div hidden>not <b>seen</b></div>", {"hidden": "not seen"}),
        ("<div hidden id=S:0>not <b>seen</b></div>", {"hidden": "not seen"}),
        ("<noscript>Please enable JavaScript.</noscript>", {"notice": "Please enable JavaScript."}),
        ("<template>a row <p hidden>more</template>", {"template": "a row more"}),
        ("<title>One</title><title>Two</title>", {"title": "Two"}),
        ("<p>a<svg>b</svg>c<a href=/>d</a>", {"element svg": "b"}),
        (
            "<svg><desc>a</desc><text>b<title>c</title></text></svg>",
            {"element desc": "a", "element title": "c"},
        ),
        ("<textarea>a</textarea><object>b</object><video>c</video>", {"element video": "c"}),
        ("<div>" * 300 + "<p>e<select>f</select>g", {"element select": "f"}),
    ],
)
def test_reasons_beside_an_article(markup, expected):
    assert left(f"<p>{ARTICLE}</p>{markup}") == expected


def test_hidden_text_and_data_that_are_read():
    assert left(f"<p>one</p><div hidden>{ARTICLE}</div>") == {}
    assert left(f"<noscript>&lt;p&gt;{ARTICLE}</noscript>") == {"markup": f"<p>{ARTICLE}"}
    data = f'{{"a": "{ARTICLE}"}}'
    assert left(f"<p>one</p><script type=application/json>{data}</script>") == {"data_read": data}


def test_text_around_what_is_hidden_is_of_one_block():
    pieces = accounted(f"<p>one<span>{ARTICLE}</span></p>two<template>x</template> three")
    assert [(p.text, p.unread, p.block) for p in pieces[-3:]] == [
        ("two", "", 1),
        ("x", "template", None),
        (" three", "", 1),
    ]


def test_pages_in_frames_are_told_where_they_stand():
    inner = "<p>two<iframe srcdoc='<p>three'></iframe><style>p {}</style>"
    framed = f"<p>one</p><iframe srcdoc='{escape(inner)}'>no</iframe>four"
    pieces = account(parse(framed)).pieces
    told = [(piece.text, piece.unread, piece.block) for piece in pieces]
    assert told == [
        ("one", "", 0),
        ("two", "", 1),
        ("three", "", 2),
        ("p {}", "element", None),
        ("no", "element", None),
        ("four", "", 3),
    ]
