"""A URL, the path of a file, or "-" -> the text or HTML of a page.

A URL is fetched once, and redirects are followed. If the environment names a proxy (`http_proxy`,
`https_proxy`, `no_proxy`), it is used as Scrapy uses it; redirects go through it, too. A file, or
standard input, is HTML if its name or first tag says so, and text otherwise. Nothing is judged
here, and nothing is written.

Raises:
    DedupError: a page cannot be fetched or read, is not a page ("image/png"), or is larger than
        `MOST_BYTES`.
"""

import re
import sys
from mimetypes import guess_type
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.util import make_headers, parse_url

from dedup_filter.errors import DedupError
from dedup_filter.text.decode import decode, looks_binary
from dedup_filter.text.page_fields import PageText

MOST_BYTES = 64 * 2**20
"""Most bytes of a page that is fetched or read; less of it is judged (`text/reading.py`)."""
_SECONDS = 30.0
_HEADERS = {"User-Agent": "dedup-filter", "Accept": "text/html, text/*;q=0.9, */*;q=0.5"}
_IS_URL = re.compile(r"https?://", re.IGNORECASE)
_HAS_TAG = re.compile(
    rb"<(!doctype|html|head|body|title|meta|div|p|h[1-6]|a|table|article)\b", re.IGNORECASE
)
_START = 4096
"""Bytes at the beginning of a file in which a tag shows that it is HTML."""


def given_page(name: str, url: str = "") -> tuple[str, PageText]:
    """Fetch a page, or read it from a file, or from standard input ("-").

    Returns its URL, after redirects, "" if not known; and its text or HTML. `url` is the URL of a
    file; its host decides which frame the page has. Files without a URL are judged as pages of one
    host.
    """
    if _IS_URL.match(name):
        return _fetched(name)
    body = _content(name)
    _require_size(body, name)
    kind = guess_type(name)[0] or ""
    has_tag = kind != "text/plain" and _HAS_TAG.search(body[:_START])
    # A binary file is read as HTML; reading it then gives the reason "binary".
    is_html = "html" in kind or has_tag or looks_binary(body)
    return url, PageText(html=body) if is_html else PageText(text=decode(body))


def _content(name: str) -> bytes:
    if "://" in name:
        raise DedupError(f"{name}: only http:// and https:// are fetched, and it is not a file")
    if name == "-":
        return sys.stdin.buffer.read(MOST_BYTES + 1)
    try:
        with Path(name).open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # no path has a NUL
        reason = getattr(error, "strerror", None) or error
        raise DedupError(f"{name}: it cannot be read: {reason}") from None


def _fetched(url: str) -> tuple[str, PageText]:
    try:
        with _connections(url) as pool:
            answer = pool.request(
                "GET", url, timeout=_SECONDS, preload_content=False, headers=_HEADERS
            )
            body = answer.read(MOST_BYTES + 1, decode_content=True)
            answer.close()
    except (urllib3.exceptions.HTTPError, ValueError) as error:
        # The last part is the reason; earlier parts name classes of the library.
        reason = str(getattr(error, "reason", error)).rpartition(": ")[2]
        raise DedupError(f"{url}: it cannot be fetched: {reason}") from None
    if answer.status != 200:
        raise DedupError(f"{url}: the server answers {answer.status} {answer.reason or ''}")
    _require_size(body, url)
    kind = answer.headers.get("Content-Type", "")
    found_at = url
    for step in answer.retries.history if answer.retries else ():
        found_at = urljoin(found_at, step.redirect_location or "")
    if "html" in kind or "xml" in kind or not kind:
        return found_at, PageText(html=body, content_type=kind or None)
    if not kind.startswith("text/"):
        raise DedupError(f"{url}: it is not a page but {kind.partition(';')[0]}")
    return found_at, PageText(text=decode(body, kind))


def _connections(url: str) -> urllib3.PoolManager:
    """Return the connections to the host of a URL, through its proxy if there is one."""
    split = urlsplit(url)
    proxy = getproxies().get(split.scheme)
    if not proxy or proxy_bypass(split.hostname or ""):
        return urllib3.PoolManager()
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    user = parse_url(proxy).auth
    headers = make_headers(proxy_basic_auth=unquote(user)) if user else None
    return urllib3.ProxyManager(proxy, proxy_headers=headers)


def _require_size(body: bytes, name: str) -> None:
    if len(body) > MOST_BYTES:
        raise DedupError(f"{name}: it is larger than {MOST_BYTES >> 20} MiB")
