"""Bytes that are no page -> Document: the text of a PDF, or a hash of all bytes; else the reason.

    PDF, with the option `read_pdf`        its text
    bytes that the option `payloads` names a document without text, with a hash of the bytes

A document without text repeats only a document with the same hash, 96 bits of which are stored. If
there is none, the bytes stay unjudged with their reason, and later equal bytes find them. Which
bytes: with "documents" PDF, office files and archives, by their first bytes; with "all" any bytes
but short ones: an empty answer of an API, or a picture of one pixel, says nothing
(docs/decisions/0017-payloads.md).

The text of a PDF: lines that repeat at the top and bottom of pages come only once. The lines of a
paragraph are joined later, as in any text (`plain_text`). A title is not read: what programs write
there is mostly the name of a file. A PDF that has no text but pictures, or is encrypted or damaged,
is "binary". PDFium is not safe in threads, so one thread reads at a time; other code of this
process that uses PDFium must not run meanwhile. Only a worker has a time limit.

Cost: 0.1 ms to hash 1 MB; 0.1 to 1 ms for a page of a PDF, which needs the extra "pdf".
"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from math import inf
from threading import Lock
from typing import NamedTuple, TypeGuard

import xxhash

from dedup_filter.model import Document, Reason, Unjudged
from dedup_filter.text.decode import DOCUMENT_STARTS
from dedup_filter.thresholds import HALF

PAYLOADS = ("none", "documents", "all")
"""Values of the option `payloads`: which bytes are compared."""
LEAST_BYTES = 64
BYTES_TYPE = "application/octet-stream"
"""The content type of bytes that are no page, whatever they begin with."""
MOST_BYTES, MOST_PAGES, MOST_TEXT = 16 * 2**20, 1_000, 2 * 2**20
"""Bytes, pages, and characters of a PDF that is read."""
_DOCUMENT = re.compile(DOCUMENT_STARTS)
_MARGIN, _FEWEST_PAGES = 2, 3
"""Lines at the top of a page, and at its bottom, that may be running headers and footers, if there
are so many pages: on fewer, a line repeats by chance."""
_HYPHEN = re.compile("[\x02\ufffe](?:\r?\n)?")
"""What PDFium writes for the hyphen of a divided word."""
_DIGITS = re.compile(r"\d+")
_reading = Lock()


class Payloads(NamedTuple):
    """The options on bytes that are no page; by default they are not judged."""

    compared: str = "none"
    """One of `PAYLOADS`."""
    reads_pdf: bool = False

    def take(self, body: bytes) -> bool:
        """Return whether bytes that are no page are judged."""
        return self._compare(body) or self._read(body)

    def are_data(self, body: object, content_type: str | None) -> TypeGuard[bytes]:
        """Return whether some HTML is bytes of another content type, not to be read as a page."""
        kind = (content_type or "text/").lower()
        is_other = self.compared == "all" and not ("text/" in kind or "html" in kind)
        return is_other and isinstance(body, bytes)

    def document(self, body: bytes, reason: Reason, title: str = "") -> Document | Unjudged:
        """Make a document of bytes that are no page; `reason`: why they are none."""
        found = read_pdf(body, title) if self._read(body) else Unjudged(reason)
        if isinstance(found, Document) or not self._compare(body):
            return found
        high, low = divmod(xxhash.xxh3_128_intdigest(body), 2**64)
        return Document(
            "", unread_words=inf, unread_hash=low, whole_hash=high, unread_reason=found.reason
        )

    def _read(self, body: bytes) -> bool:
        return self.reads_pdf and body.startswith(b"%PDF-")

    def _compare(self, body: bytes) -> bool:
        if len(body) < LEAST_BYTES or self.compared == "none":
            return False
        return self.compared == "all" or _DOCUMENT.match(body) is not None


def read_pdf(body: bytes, title: str = "") -> Document | Unjudged:
    """Return the document of a PDF, or why it has none. Requires: the package is installed."""
    from pypdfium2 import PdfiumError

    if len(body) > MOST_BYTES:
        return Unjudged("too_large")
    pages, size = list[list[str]](), 0
    with _reading:
        try:
            for page in _pages(body):
                size += len(page)
                if size > MOST_TEXT or len(pages) == MOST_PAGES:
                    return Unjudged("too_large")
                lines = map(str.strip, _HYPHEN.sub("", page).splitlines())
                pages.append(list(filter(None, lines)))
        except PdfiumError:
            return Unjudged("binary")
    text = "\n".join(_with_edges_once(pages))
    return Document(text, title) if any(map(str.isalnum, text)) else Unjudged("binary")


def _pages(body: bytes) -> Iterator[str]:
    from pypdfium2 import PdfDocument

    with closing(PdfDocument(body)) as pdf:
        for number in range(len(pdf)):
            with closing(pdf[number]) as page, closing(page.get_textpage()) as text:
                yield text.get_text_range()


def _with_edges_once(pages: list[list[str]]) -> Iterator[str]:
    """Yield the lines of pages; a line that half of the pages have at their edge comes once."""
    edges = [{*map(_edge, page[:_MARGIN] + page[-_MARGIN:])} for page in pages]
    times = Counter(edge for each in edges for edge in each)
    least = max(HALF * len(pages), _FEWEST_PAGES)
    running = {edge for edge, count in times.items() if count >= least}
    seen = set[str]()
    for page in pages:
        for place, line in enumerate(page):
            is_at_edge = place < _MARGIN or place >= len(page) - _MARGIN
            if is_at_edge and (edge := _edge(line)) in running:
                if edge in seen:
                    continue
                seen.add(edge)
            yield line


def _edge(line: str) -> str:
    """Return a line at the edge of a page without its numbers: they count the pages."""
    return _DIGITS.sub("", line)
