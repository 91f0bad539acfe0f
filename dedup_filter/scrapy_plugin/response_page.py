"""Response -> the text of its page, or the reason why it has none.

A spider that used `response.css` or `response.xpath` has the parsed tree already: the tree
is what the filter gets, so that no page is parsed twice. Where Scrapy could not decode the
body cleanly the filter gets bytes and header instead, for its own decoder tries harder.
"""

from scrapy.http import HtmlResponse, JsonResponse, Response, TextResponse, XmlResponse

from dedup_filter.reading import MAX_PAGE_LENGTH
from dedup_filter.scrapy_plugin.page_source import PageText, looks_like_markup

__all__ = ["holds_one_page", "response_page"]

_NOT_DECODED = "\N{REPLACEMENT CHARACTER}"


def response_page(response: Response) -> PageText | str:
    """Return the text of a response's page, or the reason why there is none."""
    if isinstance(response, HtmlResponse):
        return _html_page(response)
    if not holds_one_page(response) or not isinstance(response, TextResponse):
        return "not_html"
    if len(response.body) > MAX_PAGE_LENGTH:
        return "too_large"
    if looks_like_markup(response.text):
        return _as_bytes(response)
    return PageText(text=response.text, size=len(response.body))


def holds_one_page(response: Response) -> bool:
    """Tell a page from what holds many (a feed, an answer of an API) or none (an image)."""
    if isinstance(response, HtmlResponse):
        return True
    if isinstance(response, XmlResponse | JsonResponse) or not isinstance(response, TextResponse):
        return False
    return _media_type(response) in ("text/plain", "")


def _html_page(response: HtmlResponse) -> PageText:
    body = response.body
    if len(body) > MAX_PAGE_LENGTH or b"\0" in body or _NOT_DECODED in response.text:
        return _as_bytes(response)
    return PageText(html=response.selector.root, size=len(body))


def _as_bytes(response: Response) -> PageText:
    body = response.body
    return PageText(html=body, content_type=_content_type(response) or None, size=len(body))


def _media_type(response: Response) -> str:
    return _content_type(response).partition(";")[0].strip().lower()


def _content_type(response: Response) -> str:
    header = response.headers.get("Content-Type") or b""
    return header.decode("latin-1")
