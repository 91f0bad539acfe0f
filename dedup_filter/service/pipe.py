"""Lines, each with a page -> a line with its verdict, or with an error, in the same order.

    line -> URL and page -> read by a worker -> judged and kept -> written

A verdict is written after the index has written its page: a page whose verdict is out outlives
this process. While more input is there, up to `_TOGETHER` verdicts are written together; when the
input waits, every verdict is written at once. If the process is killed, pages without a verdict
may be in the index or not; given again, they never repeat themselves. A thread reads ahead.
"""

import json
from collections import deque
from concurrent.futures import Future
from queue import Queue
from threading import Thread
from typing import BinaryIO, NamedTuple, TextIO

from dedup_filter.crawl_filter import CrawlFilter
from dedup_filter.filter import PlacedPage
from dedup_filter.scan.inputs import read_line
from dedup_filter.text.page_fields import FieldNames
from dedup_filter.text.reading import MAX_PAGE_LENGTH

LONGEST_LINE = 2 * MAX_PAGE_LENGTH
"""Bytes of a line: JSON of the longest page, with its escapes."""
_PAGES_AHEAD = 64  # that workers read before they are judged
_TOGETHER = 64


class _Line(NamedTuple):
    """A line of the input, with its page or its error."""

    url: str
    reading: Future[PlacedPage] | None
    error: str = ""


def see_lines(pages: CrawlFilter, given: BinaryIO, taken: TextIO, names: FieldNames) -> int:
    """Judge and keep the page of each line; return the number of lines with an error.

    Raises:
        StoreError: the index cannot be read or written. Verdicts that are out stay valid.
        OSError: the input, which is closed at its end, or the output has failed.
    """
    lines: Queue[bytes | str | Exception | None] = Queue(16)
    Thread(target=_take, args=(given, lines), daemon=True).start()
    ahead: deque[_Line] = deque()
    out: list[str] = []
    errors, is_over = 0, False
    while ahead or not is_over:
        is_ready = bool(ahead) and (ahead[0].reading is None or ahead[0].reading.done())
        if out and ((lines.empty() and not is_ready) or len(out) >= _TOGETHER):
            _write(pages, taken, out)
        if not (ahead and (is_over or is_ready or lines.empty() or len(ahead) >= _PAGES_AHEAD)):
            line = lines.get()
            if isinstance(line, Exception):
                raise line
            is_over = line is None
            if line is not None and not (isinstance(line, bytes) and line.isspace()):
                ahead.append(_submitted(pages, line, names))
            continue
        url, reading, error = ahead.popleft()
        errors += reading is None
        answer = {"error": error} if reading is None else pages.see_read(reading.result()).as_json()
        out.append(json.dumps({"url": url, **answer}) + "\n")
    _write(pages, taken, out)
    return errors


def _write(pages: CrawlFilter, taken: TextIO, out: list[str]) -> None:
    pages.flush()
    taken.writelines(out)
    taken.flush()
    out.clear()


def _submitted(pages: CrawlFilter, line: bytes | str, names: FieldNames) -> _Line:
    read = line if isinstance(line, str) else read_line(line, names)
    if isinstance(read, str):
        return _Line("", None, f"the line {read}")
    url, page, _ = read
    if not url:
        return _Line("", None, f"no URL in {names.url or 'a field such as url'} (--url-field)")
    if isinstance(page, str):
        wanted = ", ".join(filter(None, (names.html, *names.text)))
        return _Line(url, None, f"no page in {wanted} (--html-field, --text-fields): {page}")
    return _Line(url, pages.submit(url, may_help=True, **page._asdict()))


def _take(given: BinaryIO, lines: "Queue[bytes | str | Exception | None]") -> None:
    """Put lines until the input ends, then None; of a long line only its problem is kept."""
    try:
        with given:
            while line := given.readline(LONGEST_LINE + 1):
                is_long = len(line) > LONGEST_LINE
                while is_long and not line.endswith(b"\n") and (line := given.readline(2**20)):
                    pass
                lines.put(f"is longer than {LONGEST_LINE:,} bytes" if is_long else line)
        lines.put(None)
    except OSError as error:
        lines.put(error)
