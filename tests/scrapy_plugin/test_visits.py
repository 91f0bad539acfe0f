"""What page an item or a response is, and which judgements items of one response share."""

from dataclasses import dataclass, make_dataclass

import attrs
import pydantic
import pytest
import scrapy
from itemadapter import ItemAdapter
from scrapy.http import HtmlResponse, JsonResponse, Response, TextResponse, XmlResponse
from scrapy.responsetypes import responsetypes

from dedup_filter import Verdict
from dedup_filter.scrapy_plugin.visits import Judgement, Page, Visit, response_page
from dedup_filter.text.page_fields import (
    URL_NAMES,
    FieldNames,
    PageText,
    is_document,
    page_in,
    url_in,
)
from dedup_filter.text.reading import MAX_PAGE_LENGTH, read

UNNAMED = FieldNames()


def item_page(item, names):
    return page_in(ItemAdapter(item), names)


def item_url(item, names):
    return url_in(ItemAdapter(item), names)


BY_SOURCE = FieldNames(html="source")
DOCUMENT = "<!doctype html><title>A page</title><p>Hello"
HTML = "<html><body><p>Hello"


class ScrapyItem(scrapy.Item):
    page_url = scrapy.Field()
    source = scrapy.Field()
    summary = scrapy.Field()


@dataclass
class DataclassItem:
    page_url: object = None
    source: object = None
    summary: object = None


@attrs.define
class AttrsItem:
    page_url: object = None
    source: object = None
    summary: object = None


class PydanticItem(pydantic.BaseModel):
    page_url: object = None
    source: object = None
    summary: object = None


@pytest.mark.parametrize("kind", [dict, ScrapyItem, DataclassItem, AttrsItem, PydanticItem])
def test_page_is_read_from_every_kind_of_item(kind):
    item = kind(page_url="http://a/", source="<p>Hello", summary=None)

    page = item_page(item, BY_SOURCE)

    assert (page.html, page.text) == ("<p>Hello", None)
    assert item_url(item, FieldNames(url="page_url")) == "http://a/"
    assert item_page(item, FieldNames(html="summary")) == "no_field"
    assert item_page(item, FieldNames(html="missing")) == "no_field"
    for written in (DOCUMENT, DOCUMENT.encode(), DOCUMENT.encode("utf-16")):
        document = kind(page_url="http://a/", summary="A page", source=written)
        assert item_page(document, UNNAMED).html == written


def test_item_that_lacks_a_value_for_its_field_has_no_field():
    item = make_dataclass("Late", [("html", object)])("<p>")
    del item.html

    assert item_page(item, UNNAMED) == item_page(item, FieldNames(html="html")) == "no_field"


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("<p>a", "<p>a"),
        (b"\xff<p>", b"\xff<p>"),
        (["<p>a", "<p>b"], "<p>a\n<p>b"),
        (("<p>a",), "<p>a"),
        ([], ""),
        ("", ""),
        ("\ud800", "\ud800"),
    ],
)
def test_named_html_field_may_be_text_bytes_or_list_of_texts(value, content):
    assert item_page({"source": value}, BY_SOURCE).html == content


@pytest.mark.parametrize("value", [5, 1.5, True, {"body": "<p>"}, ["<p>", 5], [b"<p>"], object()])
def test_named_field_of_another_type_is_a_wrong_type(value):
    assert item_page({"source": value}, BY_SOURCE) == "wrong_type"
    assert item_page({"title": "Title", "body": value}, BY_TITLE_AND_BODY) == "wrong_type"


BY_TITLE_AND_BODY = FieldNames(text=("title", "body"))


def test_named_text_fields_are_joined_and_missing_ones_left_out():
    names = FieldNames(text=("title", "teaser", "paragraphs"))
    item = {"paragraphs": ["One.", "Two."], "title": "Title", "teaser": None}

    assert item_page(item, names).text == "Title\nOne.\nTwo."
    assert item_page({"title": "Title", "body": b"bytes"}, BY_TITLE_AND_BODY) == "wrong_type"


def test_named_text_is_read_where_the_named_html_is_missing():
    names = FieldNames(html="source", text=("body",))

    assert item_page({"body": "Hello"}, names).text == "Hello"
    assert item_page({"body": "Hello", "source": "<p>"}, names).html == "<p>"
    assert item_page({"body": "Hello", "source": 5}, names) == "wrong_type"


def test_no_other_field_counts_where_a_name_is_given():
    item = {"html": DOCUMENT, "text": "Hello"}

    assert item_page(item, BY_SOURCE) == "no_field"
    assert item_page(item, FieldNames(text=("summary",))) == "no_field"


@pytest.mark.parametrize("name", ["html", "raw_html", "text", "body", "article"])
@pytest.mark.parametrize(
    "value", ["Hello " * 500, "<p>" + "Hello " * 500, b"<div>Hello", 5, "", [], {"html": DOCUMENT}]
)
def test_nothing_but_a_document_is_taken_for_the_page_whatever_its_field_is_called(name, value):
    assert item_page({"title": "A page", name: value}, UNNAMED) == "no_field"


def test_of_two_documents_none_is_taken_for_the_page():
    item = {"raw": DOCUMENT, "clean": f"{DOCUMENT}, cleaned"}

    assert item_page(item, UNNAMED) == "no_field"
    assert item_page(item, FieldNames(html="clean")).html == f"{DOCUMENT}, cleaned"
    assert item_page({"raw": DOCUMENT, "copy": [DOCUMENT]}, UNNAMED).html == DOCUMENT


@pytest.mark.parametrize("name", URL_NAMES)
@pytest.mark.parametrize("value", [" http://a/ ", ["http://a/"]])
def test_url_is_found_by_its_usual_names(name, value):
    assert item_url({name: value}, UNNAMED) == "http://a/"


@pytest.mark.parametrize("value", [None, "", "  ", 5, b"http://a/", {"href": "x"}, ["a", 5]])
def test_url_that_is_no_text_is_none(value):
    assert item_url({"url": value}, UNNAMED) is None


def test_size_is_in_bytes():
    assert [PageText(html=html).size for html in ("猫", b"\xff", "\ud800")] == [3, 1, 3]


@pytest.mark.parametrize(
    "text",
    [
        "<html>",
        " \r\n<!DOCTYPE html>",
        "\ufeff<HTML lang=en>",
        "<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC 'x'>",
        "<!-- saved from > --> <!-- x -->\n<html>",
    ],
)
def test_document_is_known_by_how_it_begins(text):
    assert is_document(text)
    assert is_document(text.encode())
    assert is_document(text.encode("utf-16"))


@pytest.mark.parametrize(
    "content",
    [
        *("", "<", "<p>", "<htmlx>", "<!doctype svg>", "a <html>", "<!-- <html>", "<head>"),
        *(" " * 2000 + "<html>", "<!---->" * 500, b"<p>", b"\x89PNG<html>", 5, None, ["<html>"]),
    ],
)
def test_anything_else_is_no_document(content):
    assert not is_document(content)


@pytest.fixture
def receive(respond):
    """Make the response that Scrapy makes of a body and its headers."""

    def make(body, header=None, url="http://a/"):
        body = body.encode() if isinstance(body, str) else body
        given = {} if header is None else {b"Content-Type": header.encode()}
        named = {} if header is None else {"Content_Type": header}
        return respond(url, body, responsetypes.from_args(given, url, body=body), **named)

    return make


def read_text(page):
    return read(page.html, None, page.content_type).blocks[0].text


def test_page_is_read_from_the_bytes_that_came_and_not_from_the_tree(receive):
    response = receive(HTML, "text/html")
    response.css("p").drop()
    response.selector.root.clear()

    page = response_page(response)

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

    assert response_page(response).content_type == f"text/html; charset={stated}"


def test_page_that_a_browser_has_rendered_is_read_in_the_encoding_it_was_given(receive):
    body = "<meta charset=gbk><p>春天来了".encode()
    response = receive(body, "text/html; charset=gbk").replace(encoding="utf-8")

    assert read_text(response_page(response)) == "春天来了"


def test_encoding_that_nobody_declares_is_left_to_the_filter(receive):
    body = "<p>春天来了,山上的雪慢慢化了,河里的水又开始流动。".encode("gbk")

    page = response_page(receive(body, "text/html"))

    assert page.content_type is None
    assert read_text(page).startswith("春天来了")


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

    assert response_page(response).html == body.encode()


@pytest.mark.parametrize("header", ["text/html", "application/xhtml+xml"])
def test_header_makes_text_html_if_whoever_made_the_response_did_not(respond, header):
    response = respond("http://a/", "Hello", TextResponse, Content_Type=header)

    assert response_page(response).html == b"Hello"


@pytest.mark.parametrize(
    "header",
    ["text/plain", "text/plain; charset=utf-8", "text/markdown", "Text/X-RST", "text/troff", None],
)
@pytest.mark.parametrize(
    "body", ["Grüße", "<h1 align=center>Grüße</h1>", "[![Grüße](a.svg)](b)", "{Grüße}", "- a\n- b"]
)
def test_other_text_is_text_even_if_it_has_tags(receive, header, body):
    response = receive(body, header)

    page = response_page(response)
    assert (page.text, page.html, page.size) == (body, None, len(body.encode()))


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("application/pdf", "Hello"),
        ("image/png", "Hello"),
        ("image/svg+xml", "<svg>"),
        ("application/json", "{}"),
        ("application/rss+xml", "<rss>"),
        ("application/atom+xml", "<feed>"),
        ("application/xml", "<a>"),
        ("text/xml", "<a>"),
        ("text/json", "{}"),
        ("text/csv", "a,b"),
        ("text/tab-separated-values", "a\tb"),
        ("text/calendar", "BEGIN:VCALENDAR"),
        ("application/javascript", "Hello"),
        ("application/octet-stream", "Hello"),
        (None, "<?xml version='1.0'?><rss>"),
        (None, "<rss version='2.0'>"),
        ("text/plain", '\ufeff<?xml version="1.0"?><feed>'),
        ("text/plain", ' {"items": []}'),
        ("text/html", '[{"title": "a"}]'),
        ("text/html; charset=utf-8", '<?xml version="1.0"?>\n<rss>'),
    ],
)
def test_feeds_answers_of_an_api_and_images_are_no_pages(receive, header, body):
    response = receive(body, header)

    assert response_page(response) == "not_html"


@pytest.mark.parametrize("cls", [Response, XmlResponse, JsonResponse])
def test_class_tells_what_is_no_page_whatever_the_header_says(respond, cls):
    response = respond("http://a/", "Hello", cls, Content_Type="text/plain")

    assert response_page(response) == "not_html"


def test_text_is_read_in_the_charset_of_its_header(receive):
    body = "Привет мир".encode("iso-8859-5")

    assert response_page(receive(body, "text/plain; charset=iso-8859-5")).text == "Привет мир"
    assert read_text(response_page(receive(body, "text/html; charset=iso-8859-5"))) == "Привет мир"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"x" * (MAX_PAGE_LENGTH + 1), "too_large"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "binary"),
    ],
    ids=["large", "binary"],
)
def test_text_that_cannot_be_read_has_a_reason(respond, body, reason):
    response = respond("http://a/", body, TextResponse, Content_Type="text/plain")

    assert response_page(response) == reason


@pytest.mark.parametrize(("meta", "opted_out"), [({}, False), ({"dedup": False}, True)])
def test_request_opts_out_by_its_meta(respond, meta, opted_out):
    response = respond("http://a/", meta=meta)
    assert Visit(response).opted_out is opted_out

    response.request = None
    assert not Visit(response).opted_out


class Shared:
    """A response whose items share judgements on their pages."""

    def __init__(self, *response):
        self.visit = Visit(*response)

    def new(self, url, text):
        return self._share(url, text, Verdict("new"))

    def near(self, url, text, original):
        return self._share(url, text, Verdict("near", original, distance=2))

    def _share(self, url, text, verdict):
        return self.visit.share(Page(url, PageText(text=text)), Judgement(verdict, url))

    def known(self, url, text):
        return self.visit.known(Page(url, PageText(text=text)))


def test_page_that_repeats_only_its_own_response_gets_the_first_judgement(respond):
    shared = Shared(respond("http://a/"))
    first = shared.new("http://a/", "1")

    assert shared.near("http://a/", "2", "http://a/") is first
    assert shared.near("http://a/print", "3", "http://a/") is first
    assert shared.known("http://a/print", "3") is first


def test_page_that_repeats_another_response_stays_a_duplicate(respond):
    shared = Shared(respond("http://b/"))

    repeated = shared.near("http://b/", "1", "http://a/")

    assert repeated.verdict.is_duplicate
    assert shared.near("http://b/", "2", "http://b/") is not repeated


def test_items_of_a_feed_are_pages_of_their_own(respond):
    shared = Shared(respond("http://feed/", "[]", JsonResponse))
    first, twin = shared.new("http://a/", "1"), shared.near("http://b/", "1", "http://a/")

    assert twin.verdict.is_duplicate
    assert shared.known("http://b/", "1") is twin
    assert shared.known("http://a/", "1") is first
    assert shared.near("http://a/", "2", "http://a/") is first


def test_memory_of_a_response_is_bounded(respond):
    shared = Shared(respond("http://feed/", "[]", JsonResponse))
    for number in range(3000):
        shared.new(f"http://a/{number}", f"{number}")

    known = [number for number in range(3000) if shared.known(f"http://a/{number}", f"{number}")]
    assert known == list(range(2000, 3000))
