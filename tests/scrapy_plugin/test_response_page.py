import pytest
from scrapy.http import HtmlResponse, JsonResponse, Response, TextResponse, XmlResponse
from scrapy.responsetypes import responsetypes

from dedup_filter.scrapy_plugin.response_page import holds_one_page, response_page
from dedup_filter.text.reading import MAX_PAGE_LENGTH, read

HTML = "<html><body><p>Hello"


@pytest.fixture
def receive(respond):
    """Make the response that Scrapy makes of a body and its headers."""

    def make(body, header=None, url="http://a/"):
        headers = {} if header is None else {"Content_Type": header}
        body = body.encode() if isinstance(body, str) else body
        known = {name.replace("_", "-").encode(): [value] for name, value in headers.items()}
        given = {key: value[0].encode() for key, value in known.items()}
        cls = responsetypes.from_args(headers=given, url=url, body=body)
        return respond(url, body, cls, **headers)

    return make


def test_page_is_read_from_the_bytes_that_came_and_not_from_the_tree(respond):
    response = respond("http://a/", HTML, Content_Type="text/html")
    response.css("p").drop()
    response.selector.root.clear()

    page = response_page(response)

    assert page.html == HTML.encode()
    assert page.size == len(response.body)


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


def test_page_that_a_browser_has_rendered_is_read_in_the_encoding_it_was_given(respond):
    body = "<meta charset=gbk><p>春天来了".encode()
    response = respond("http://a/", body, Content_Type="text/html; charset=gbk")

    page = response_page(response.replace(encoding="utf-8"))

    assert read(page.html, None, page.content_type).blocks[0].text == "春天来了"


def test_encoding_that_nobody_declares_is_left_to_the_filter(respond):
    body = "<p>春天来了,山上的雪慢慢化了,河里的水又开始流动。".encode("gbk")

    page = response_page(respond("http://a/", body, Content_Type="text/html"))

    assert page.content_type is None
    assert read(page.html, None, None).blocks[0].text.startswith("春天来了")


def test_empty_body_is_an_empty_page(respond):
    assert response_page(respond("http://a/", "")).html == b""


@pytest.mark.parametrize(
    ("header", "body", "url"),
    [
        ("text/html", "Hello", "http://a/"),
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

    assert holds_one_page(response)
    assert response_page(response).html == body.encode()


@pytest.mark.parametrize(
    "header",
    [
        *("text/plain", "text/plain; charset=utf-8", "text/markdown", "Text/X-RST", "text/troff"),
        None,
    ],
)
@pytest.mark.parametrize(
    "body", ["Grüße", "<h1 align=center>Grüße</h1>", "[![Grüße](a.svg)](b)", "{Grüße}", "- a\n- b"]
)
def test_other_text_is_text_even_if_it_has_tags(receive, header, body):
    response = receive(body, header)

    assert holds_one_page(response)
    page = response_page(response)
    assert (page.text, page.html, page.size) == (body, None, len(body.encode()))


@pytest.mark.parametrize("cls", [TextResponse, HtmlResponse])
@pytest.mark.parametrize("header", ["text/html", "application/xhtml+xml"])
def test_header_makes_text_html_if_whoever_made_the_response_did_not(respond, cls, header):
    assert response_page(respond("http://a/", "Hello", cls, Content_Type=header)).html == b"Hello"


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
    assert not holds_one_page(response)


@pytest.mark.parametrize("cls", [Response, XmlResponse, JsonResponse])
def test_class_tells_what_is_no_page_whatever_the_header_says(respond, cls):
    response = respond("http://a/", "Hello", cls, Content_Type="text/plain")

    assert response_page(response) == "not_html"
    assert not holds_one_page(response)


@pytest.mark.parametrize("subtype", ["plain", "html"])
def test_text_is_read_in_the_charset_of_its_header(respond, subtype):
    body = "Привет мир".encode("iso-8859-5")
    header = f"text/{subtype}; charset=iso-8859-5"

    page = response_page(respond("http://a/", body, TextResponse, Content_Type=header))

    if page.html is not None:
        assert read(page.html, None, page.content_type).blocks[0].text == "Привет мир"
    else:
        assert page.text == "Привет мир"


def test_text_too_long_to_be_decoded_is_too_large(respond):
    body = b"x" * (MAX_PAGE_LENGTH + 1)

    assert response_page(respond("http://a/", body, TextResponse)) == "too_large"


def test_bytes_that_are_called_text_are_binary(respond):
    body = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20

    response = respond("http://a/", body, TextResponse, Content_Type="text/plain")

    assert response_page(response) == "binary"


def test_xhtml_is_read_as_html(respond):
    body = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><p>Hello</p></html>'

    page = response_page(respond("http://a/", body, HtmlResponse))

    assert read(page.html, None, page.content_type).blocks[0].text == "Hello"
