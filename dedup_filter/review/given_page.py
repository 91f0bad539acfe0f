"""A URL, the path of a file, or "-" -> a page: what it is read from.

A URL is fetched once, with redirects followed. A file, and standard input, is HTML if its name or
its first tag says so, and text otherwise. Nothing is judged here, and nothing is written.

Raises:
    DedupError: a page cannot be fetched or read, is no page ("image/png"), or is larger than
        `MOST_BYTES`.
"""

import re
import sys
from mimetypes import guess_type
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

import urllib3

from dedup_filter.errors import DedupError
from dedup_filter.text.decode import decode, looks_binary
from dedup_filter.text.page_fields import PageText

MOST_BYTES = 64 * 2**20
"""Bytes of a page that is fetched or read; what is judged of a page is less (`text/reading.py`)."""
_SECONDS = 30.0
_HEADERS = {"User-Agent": "dedup-filter", "Accept": "text/html, text/*;q=0.9, */*;q=0.5"}
_IS_URL = re.compile(r"https?://", re.IGNORECASE)
_HAS_TAG = re.compile(
    rb"<(!doctype|html|head|body|title|meta|div|p|h[1-6]|a|table|article)\b", re.IGNORECASE
)
_START = 4096
"""Bytes in which HTML shows a tag that texts do not have."""


class GivenPage(NamedTuple):
    """A page that a user named."""

    name: str
    """As the user gave it."""
    url: str
    """Where it was found, after redirects; "" if that is not known."""
    page: PageText


def read_page(name: str, url: str = "") -> GivenPage:
    """Fetch a page, or read it from a file, or from standard input ("-").

    `url` is where a file was found: its host tells which frame it has. Files without one are judged
    as pages of one host.
    """
    if _IS_URL.match(name):
        return _fetched(name)
    body = _content(name)
    _require_size(body, name)
    kind = guess_type(name)[0] or ""
    has_tag = kind != "text/plain" and _HAS_TAG.search(body[:_START])
    # What is no text at all is read as a page, which then says so.
    is_html = "html" in kind or has_tag or looks_binary(body)
    page = PageText(html=body) if is_html else PageText(text=decode(body))
    return GivenPage(name, url, page)


def _content(name: str) -> bytes:
    if "://" in name:
        raise DedupError(f"{name}: only http:// and https:// are fetched, and it is no file")
    if name == "-":
        return sys.stdin.buffer.read(MOST_BYTES + 1)
    try:
        with Path(name).open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # no path has a NUL
        reason = getattr(error, "strerror", None) or error
        raise DedupError(f"{name}: it cannot be read: {reason}") from None


def _fetched(url: str) -> GivenPage:
    try:
        with urllib3.PoolManager() as pool:
            answer = pool.request(
                "GET", url, timeout=_SECONDS, preload_content=False, headers=_HEADERS
            )
            body = answer.read(MOST_BYTES + 1, decode_content=True)
            answer.close()
    except (urllib3.exceptions.HTTPError, ValueError) as error:
        # The last of the reasons; those before it are of the library.
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
        return GivenPage(url, found_at, PageText(html=body, content_type=kind or None))
    if not kind.startswith("text/"):
        raise DedupError(f"{url}: it is no page but {kind.partition(';')[0]}")
    return GivenPage(url, found_at, PageText(text=decode(body, kind)))


def _require_size(body: bytes, name: str) -> None:
    if len(body) > MOST_BYTES:
        raise DedupError(f"{name}: it is larger than {MOST_BYTES >> 20} MiB")
