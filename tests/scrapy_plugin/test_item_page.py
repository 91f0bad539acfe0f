"""What page an item or a response is, and which judgements items of one response share."""

from dataclasses import make_dataclass

import pytest
from itemadapter import ItemAdapter
from scrapy.http import HtmlResponse, JsonResponse, Response, TextResponse, XmlResponse
from scrapy.responsetypes import responsetypes

from dedup_filter import Verdict
from dedup_filter.scrapy_plugin.response import Judgement, Page, Visit
from dedup_filter.text.page_fields import (
    URL_NAMES,
    FieldNames,
    PageText,
    is_document,
    page_in,
    url_in,
)
from dedup_filter.text.reading import MAX_PAGE_LENGTH

DOCUMENT = "<!doctype html><title>A page</title><p>Hello"
HTML = "<html><body><p>Hello"


def test_page_and_url_are_found_in_items_that_are_no_dicts():
    fields = [(name, object, None) for name in ("page_url", "source", "summary")]
    item = ItemAdapter(make_dataclass("Item", fields)("http://a/", DOCUMENT))

    assert url_in(item, FieldNames(url="page_url")) == url_in(item, FieldNames()) == "http://a/"
    assert page_in(item, FieldNames(html="source")) == PageText(html=DOCUMENT)
    assert page_in(item, FieldNames()) == PageText(html=DOCUMENT)
    assert page_in(item, FieldNames(html="summary")) == "no_field"
    assert page_in(item, FieldNames(html="missing")) == "no_field"


HTML_FIELD = FieldNames(html="h", text=("title", "t"))
NO_NAMES = FieldNames()


@pytest.mark.parametrize(
    ("item", "names", "page"),
    [
        *[
            ({"h": value}, HTML_FIELD, PageText(html=value))
            for value in ("<p>", b"\xff", "", "\ud800")
        ],
        *[({"h": value}, HTML_FIELD, PageText(html="a\nb")) for value in (["a", "b"], ("a", "b"))],
        *[
            ({"h": value}, HTML_FIELD, "wrong_type")
            for value in (5, True, {"a": "b"}, ["a", 5], [b"a"])
        ],
        ({"h": 5, "t": "text"}, HTML_FIELD, "wrong_type"),
        ({"h": "<p>", "t": "text"}, HTML_FIELD, PageText(html="<p>")),
        ({"t": ["a", "b"], "title": "c"}, HTML_FIELD, PageText(text="c\na\nb")),
        ({"t": b"a", "title": "c"}, HTML_FIELD, "wrong_type"),
        ({"t": None, "other": DOCUMENT}, HTML_FIELD, "no_field"),
        *[
            ({"html": value}, NO_NAMES, "no_field")
            for value in ("a " * 500, b"<p>", 5, [], {"a": HTML})
        ],
        *[
            ({"any": value}, NO_NAMES, PageText(html=value))
            for value in (HTML, HTML.encode("utf-16"))
        ],
        ({"raw": DOCUMENT, "clean": f"{DOCUMENT}, cleaned"}, NO_NAMES, "no_field"),
        ({"raw": DOCUMENT, "copy": [DOCUMENT]}, NO_NAMES, PageText(html=DOCUMENT)),
    ],
)
def test_page_is_in_the_named_fields_or_is_the_only_whole_document(item, names, page):
    assert page_in(item, names) == page


@pytest.mark.parametrize("name", URL_NAMES)
def test_url_is_found_by_its_usual_names(name):
    values = [" http://a/ ", ["http://a/"], None, " ", 5, b"http://a/", ["a", 5]]

    assert [url_in({name: value}, NO_NAMES) for value in values] == ["http://a/"] * 2 + [None] * 5


DOCUMENTS = [
    "<html>",
    " \r\n<!DOCTYPE html>",
    "\ufeff<HTML lang=en>",
    "<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC 'x'>",
    "<!-- saved from > --> <!-- x -->\n<html>",
]
OTHERS = [
    *("", "<", "<p>", "<htmlx>", "<!doctype svg>", "a <html>", "<!-- <html>", "<head>"),
    *(" " * 2000 + "<html>", "<!---->" * 500, b"<p>", b"\x89PNG<html>", 5, None, ["<html>"]),
]


def test_document_is_known_by_how_it_begins():
    for text in DOCUMENTS:
        assert is_document(text)
        assert is_document(text.encode("utf-16"))
    assert not any(map(is_document, OTHERS))


@pytest.fixture
def receive(respond):
    """Make the response that Scrapy makes of a body and its headers."""

    def make(body, header=None, url="http://a/"):
        body = body.encode() if isinstance(body, str) else body
        given = {} if header is None else {b"Content-Type": header.encode()}
        named = {} if header is None else {"Content_Type": header}
        return respond(url, body, responsetypes.from_args(given, url, body=body), **named)

    return make


def test_page_is_read_from_the_bytes_that_came_and_not_from_the_tree(receive):
    response = receive(HTML, "text/html")
    response.css("p").drop()
    response.selector.root.clear()

    page = Visit(response).read().text

    assert (page.html, page.size) == (HTML.encode(), len(HTML))


@pytest.mark.parametrize(
    ("header", "meta", "encoding", "stated"),
    [
        ("text/html; charset=gbk", "", None, "gb18030"),
        ("text/html", "<meta charset=gbk>", None, "gb18030"),
        ("text/html; charset=koi8-r", "<meta charset=gbk>", None, "koi8-r"),
        ("text/html; charset=gbk", "<meta charset=gbk>", "utf-8", "utf-8"),
    ],
)
def test_encoding_is_that_of_the_response_of_its_header_or_of_the_page(
    header, meta, encoding, stated
):
    response = HtmlResponse(
        "http://a/", headers={"Content-Type": header}, body=meta.encode(), encoding=encoding
    )

    assert Visit(response).read().text.content_type == f"text/html; charset={stated}"


@pytest.mark.parametrize(
    ("header", "body", "url"),
    [
        ("text/html", "Hello", "http://a/"),
        ("text/html", "", "http://a/"),
        ("application/xhtml+xml", "<?xml version='1.0'?><html><p>Hello", "http://a/"),
        ("text/plain", "<!DOCTYPE html><p>Hello", "http://a/"),
        ("text/markdown", HTML, "http://a/"),
        ("application/octet-stream", "<p>Hello", "http://a/page.html"),
        (None, HTML, "http://a/"),
        (None, "<!DOCTYPE html PUBLIC 'x'><p>Hello", "http://a/"),
    ],
)
def test_html_is_known_by_class_header_or_how_it_begins(receive, header, body, url):
    response = receive(body, header, url)

    assert Visit(response).read().text.html == body.encode()


@pytest.mark.parametrize("header", ["text/plain; charset=utf-8", "Text/X-RST", None])
@pytest.mark.parametrize(
    "body", ["Grüße", "<h1 align=center>Grüße</h1>", "[![Grüße](a.svg)](b)", "{Grüße}", "- a\n- b"]
)
def test_other_text_is_text_even_if_it_has_tags(receive, header, body):
    response = receive(body, header)

    page = Visit(response).read().text
    assert (page.text, page.html, page.size) == (body, None, len(body.encode()))


NO_PAGES = [
    *((f"application/{kind}", "Hello") for kind in ("pdf", "json", "rss+xml", "javascript")),
    *((f"text/{kind}", "a,b") for kind in ("xml", "json", "csv", "calendar")),
    ("image/svg+xml", "<svg>"),
    ("application/octet-stream", "Hello"),
    (None, "<?xml version='1.0'?><rss>"),
    (None, "<rss version='2.0'>"),
    ("text/plain", '\ufeff<?xml version="1.0"?><feed>'),
    ("text/plain", ' {"items": []}'),
    ("text/html", '[{"title": "a"}]'),
]


@pytest.mark.parametrize(("header", "body"), NO_PAGES)
def test_feeds_answers_of_an_api_and_images_are_no_pages(receive, header, body):
    response = receive(body, header)

    assert Visit(response).read().text == "not_html"
    assert not Visit(response).is_one_page


@pytest.mark.parametrize("cls", [Response, XmlResponse, JsonResponse])
def test_class_tells_what_is_no_page_whatever_the_header_says(respond, cls):
    response = respond("http://a/", "Hello", cls, Content_Type="text/plain")
    assert Visit(response).read().text == "not_html"


def test_text_that_cannot_be_read_has_a_reason(respond):
    bodies = {"too_large": b"x" * (MAX_PAGE_LENGTH + 1), "binary": bytes(range(256)) * 20}
    for reason, body in bodies.items():
        response = respond("http://a/", body, TextResponse, Content_Type="text/plain")
        assert Visit(response).read().text == reason


def test_memory_of_a_response_is_bounded(respond):
    visit = Visit(respond("http://feed/", "[]", JsonResponse))
    texts = [PageText(text=f"{number}") for number in range(3000)]
    pages = [Page(f"http://a/{text.text}", text, visit.treatment) for text in texts]
    for page in pages:
        visit.share(page, Judgement(Verdict("new"), page.url, "drop"))

    assert [page for page in pages if visit.known(page)] == pages[2000:]
