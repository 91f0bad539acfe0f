"""The bytes of a PDF -> the document of its text, or the reason why there is none.

    pages -> lines, lines that repeat at the top and bottom of pages only once -> one text

The lines of a paragraph are joined later, as in any plain text (`lines`). A title is not read: what
programs write there is mostly the name of a file.

    binary      it has no text but pictures, or is encrypted, or is so cut off or damaged that
                PDFium cannot repair it
    too_large   it has more bytes, pages or text than is worth the time

PDFium is not safe in threads, so one thread reads at a time; other code of this process that uses
PDFium must not run meanwhile. A page of drawings can take seconds: only a worker has a time limit.

Cost: 0.1 to 1 ms a page. Needs the extra "pdf".
"""

import re
from collections import Counter
from collections.abc import Iterator
from threading import Lock

from dedup_filter.model import Document, Unjudged
from dedup_filter.thresholds import HALF

PDF_START = b"%PDF-"
MOST_BYTES, MOST_PAGES, MOST_TEXT = 16 * 2**20, 1_000, 2 * 2**20
"""Bytes, pages, and characters of a PDF that is read."""
_MARGIN = 2
"""Lines at the top of a page, and at its bottom, that may be running headers and footers."""
_FEWEST_PAGES = 3
"""A line repeats on pages by chance if there are fewer."""
_HYPHEN = re.compile("[\x02\ufffe](?:\r?\n)?")
"""What PDFium writes for the hyphen of a divided word."""
_DIGITS = re.compile(r"\d+")
_reading = Lock()


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
    """Yield the text of each page."""
    from pypdfium2 import PdfDocument

    pdf = PdfDocument(body)
    try:
        for number in range(len(pdf)):
            page = pdf[number]
            text = page.get_textpage()
            yield text.get_text_range()
            text.close()
            page.close()
    finally:
        pdf.close()


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
