"""Which URLs a page names as canonical."""

import pytest
from lxml import html

from dedup_filter.text.decode import parse
from dedup_filter.text.page_url import canonical_links, links_of_header
from dedup_filter.text.reading import read

LONG = "/" + "a" * 100_000


@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        ('<link rel="canonical" href="http://a/1">', ("http://a/1",)),
        ('<LINK REL="Shortlink CANONICAL" HREF=" /1 ">', ("/1",)),
        ('<link rel="canonical" href="/1"><link rel="canonical" href="/1">', ("/1",)),
        ('<link rel="canonical" href="/1"><link rel="canonical" href="/2">', ("/1", "/2")),
        ('<base href="http://b/x/"><link rel="canonical" href="1">', ("http://b/x/1",)),
        (f'<link rel="canonical" href="{LONG}">', (LONG,)),
        ('<link rel="canonical" href="http://[1/">', ("http://[1/",)),
        ('<base href="http://b/"><link rel="canonical" href="http://[1/">', ()),
        ('<link rel="canonical" href="">', ()),
        ('<link rel="canonical">', ()),
        ('<link rel="alternate" href="/1">', ()),
        ('<link rel="canonicals" href="/1">', ()),
        ("<!-- <link rel='canonical' href='/1'> -->", ()),
        ("<script>'<link rel=canonical href=/1>'</script>", ()),
        # One in the text of a page may be anybody's.
        ("</head><body><p>Comment: <link rel='canonical' href='http://evil/'>", ()),
        ("", ()),
    ],
)
def test_links_of_a_head(head, wanted):
    assert canonical_links(parse(f"<html><head><title>T</title>{head}<body><p>x")) == wanted


def test_of_very_many_links_some_are_told():
    head = "".join(f'<link rel="canonical" href="/{number}">' for number in range(50_000))
    assert 1 < len(canonical_links(parse(f"<html><head>{head}<body>x"))) < 20


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        ('<http://a/1>; rel="canonical"', ("http://a/1",)),
        ("<http://a/1>;rel=canonical", ("http://a/1",)),
        ('</s.css>; rel=preload; as=style, <http://a/1> ; REL="next Canonical"', ("http://a/1",)),
        (
            "<http://a/1?a,b;c>; title=x; rel=canonical, <b>; rel=canonical",
            ("http://a/1?a,b;c", "b"),
        ),
        ("<http://a/1>; rel=next", ()),
        ("<http://a/1>, rel=canonical", ()),
        ("rel=canonical", ()),
        ("", ()),
        ("<" * 100_000, ()),
        ("<a>;" * 100_000, ()),
        ("<a>" + "; rel" * 100_000, ()),
    ],
)
def test_links_of_a_header(header, wanted):
    assert links_of_header(header) == wanted


def test_they_are_read_of_whatever_is_given():
    page = "<html><head><link rel=canonical href=/1></head><body><p>A text that is read.</p>"
    tree = html.fromstring(page)
    for given in (page, page.encode(), tree, tree.getroottree()):
        assert read(given, None, None).canonical == ("/1",)
