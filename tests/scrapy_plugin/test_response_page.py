import pytest
from lxml.html import HtmlElement
from scrapy.http import HtmlResponse, JsonResponse, Response, TextResponse, XmlResponse

from dedup_filter.reading import MAX_PAGE_LENGTH, read
from dedup_filter.scrapy_plugin.response_page import holds_one_page, response_page


def test_tree_of_the_response_is_used_and_not_parsed_again(respond):
    response = respond("http://a/", "<html><body><p>Hello", Content_Type="text/html")

    page = response_page(response)

    assert page.html is response.selector.root
    assert isinstance(page.html, HtmlElement)
    assert page.size == len(response.body)


@pytest.mark.parametrize(
    "body",
    [b"<p>\xb4\xba\xcc\xec\xc0\xb4", b"<p>\0", b"<p>" + b"x" * MAX_PAGE_LENGTH],
    ids=["not utf-8", "NUL", "too large to parse"],
)
def test_body_that_scrapy_cannot_read_well_goes_to_the_filter_as_bytes(respond, body):
    header = "text/html; charset=utf-8"

    page = response_page(respond("http://a/", body, Content_Type=header))

    assert page.html == body
    assert page.content_type == header


def test_empty_body_is_an_empty_tree(respond):
    page = response_page(respond("http://a/", ""))

    assert isinstance(page.html, HtmlElement)
    assert page.html.text_content() == ""


@pytest.mark.parametrize(
    ("cls", "header"),
    [
        (Response, "application/pdf"),
        (Response, "image/png"),
        (JsonResponse, "application/json"),
        (XmlResponse, "application/rss+xml"),
        (TextResponse, "text/css"),
        (TextResponse, "application/javascript"),
    ],
)
def test_response_that_is_no_page_is_not_html(respond, cls, header):
    response = respond("http://a/", "Hello", cls, Content_Type=header)

    assert response_page(response) == "not_html"
    assert not holds_one_page(response)


@pytest.mark.parametrize("headers", [{}, {"Content_Type": "text/plain; charset=utf-8"}])
def test_plain_text_is_text_and_html_in_disguise_is_html(respond, headers):
    text = response_page(respond("http://a/", "Grüße", TextResponse, **headers))
    html = response_page(respond("http://a/", "<!doctype html><p>", TextResponse, **headers))

    assert (text.text, text.html) == ("Grüße", None)
    assert (html.text, html.html) == (None, b"<!doctype html><p>")


def test_html_in_disguise_is_read_in_the_charset_of_its_header(respond):
    body = "<p>Привет мир".encode("iso-8859-5")
    header = "text/plain; charset=iso-8859-5"

    page = response_page(respond("http://a/", body, TextResponse, Content_Type=header))

    assert read(page.html, None, page.content_type).blocks[0].text == "Привет мир"


def test_plain_text_that_is_too_large_is_told_so(respond):
    body = b"x" * (MAX_PAGE_LENGTH + 1)

    assert response_page(respond("http://a/", body, TextResponse)) == "too_large"


def test_xhtml_is_read_as_html(respond):
    body = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p>Hello</p>'

    page = response_page(respond("http://a/", body, HtmlResponse))

    assert page.html.findtext(".//p") == "Hello"
