"""Lines, each with a page -> a line with its verdict, or with an error, in the same order.

    line -> URL and page -> read by a worker -> judged and kept -> written

A verdict is written after the index has written its page: a page whose verdict is out outlives
this process. While more input is there, up to `_TOGETHER` verdicts are written together; when the
input waits, every verdict is written at once. If the process is killed, pages without a verdict
may be in the index or not; given again, they never repeat themselves.

A thread reads ahead, as many lines together as a read of the input returns: a thread that hands
over each line alone wakes up for each, and the other thread waits for it.
"""

import json
from collections import deque
from io import BufferedReader
from queue import Queue
from threading import Thread
from typing import Any, NamedTuple, TextIO

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.scan.inputs import read_item
from dedup_filter.text.page_fields import FieldNames
from dedup_filter.text.page_url import Place
from dedup_filter.text.reading import MAX_PAGE_LENGTH
from dedup_filter.workers.pool import Reading

LONGEST_LINE = 2 * MAX_PAGE_LENGTH
"""Bytes of a line: JSON of the longest page, with its escapes."""
_PART = 2**20  # bytes of a read
_PAGES_AHEAD = 64  # that workers read before they are judged
_TOGETHER = 64


class _Line(NamedTuple):
    """A line of the input, with its page or its error."""

    url: str
    reading: Reading | None
    error: str = ""


class Seen(NamedTuple):
    """Numbers of lines."""

    errors: int = 0
    without_url: int = 0
    """Pages without a URL: they are judged as pages of one host."""


def see_lines(
    pages: NearDuplicateFilter, given: BufferedReader, taken: TextIO, names: FieldNames
) -> Seen:
    """Judge and keep the page of each line; return what was counted.

    Raises:
        StoreError: the index cannot be read or written. Verdicts that are out stay valid.
        OSError: the input, which is closed at its end, or the output has failed.
    """
    parts: Queue[list[bytes] | OSError | None] = Queue(2)
    Thread(target=_take, args=(given, parts), daemon=True).start()
    lines: deque[bytes] = deque()
    ahead: deque[_Line] = deque()
    out: list[str] = []
    errors, without_url, is_over = 0, 0, False
    while ahead or not is_over:
        is_ready = bool(ahead) and (ahead[0].reading is None or ahead[0].reading.is_done)
        waits = not lines and parts.empty()
        if out and ((waits and not is_ready) or len(out) >= _TOGETHER):
            _write(pages, taken, out)
        if ahead and (is_over or is_ready or waits or len(ahead) >= _PAGES_AHEAD):
            url, reading, error = ahead.popleft()
            errors += reading is None
            without_url += reading is not None and not url
            answer: dict[str, Any] = {"error": error}
            if reading is not None:
                answer = pages.conductor.see(reading.place, reading.result()).as_json()
            out.append(json.dumps({"url": url, **answer}) + "\n")
        elif lines:
            line = lines.popleft()
            if line.strip():
                ahead.append(_submitted(pages, line, names))
        else:
            part = parts.get()
            if isinstance(part, OSError):
                raise part
            is_over = part is None
            lines.extend(part or ())
    _write(pages, taken, out)
    return Seen(errors, without_url)


def _write(pages: NearDuplicateFilter, taken: TextIO, out: list[str]) -> None:
    pages.flush()
    taken.writelines(out)
    taken.flush()
    out.clear()


def _submitted(pages: NearDuplicateFilter, line: bytes, names: FieldNames) -> _Line:
    is_long = len(line) > LONGEST_LINE
    read = f"is longer than {LONGEST_LINE:,} bytes" if is_long else read_item(line, names)
    if isinstance(read, str):
        return _Line("", None, f"the line {read}; each line has one page, as an object")
    url, page = read
    if isinstance(page, str):
        wanted = ", ".join(filter(None, (names.html, *names.text)))
        return _Line(url, None, f"no page in {wanted} (--html-field, --text-fields): {page}")
    return _Line(url, pages.pool.read(page, Place.of(url), may_help=True))


def _take(given: BufferedReader, parts: "Queue[list[bytes] | OSError | None]") -> None:
    """Put lines until the input ends, then None; of a long line only the beginning is kept."""
    begun = bytearray()
    try:
        with given:
            while part := given.read1(_PART):
                whole, end, rest = part.rpartition(b"\n")
                if end:
                    parts.put((bytes(begun) + whole).split(b"\n"))
                    begun = bytearray(rest)
                elif len(begun) <= LONGEST_LINE:
                    begun += rest
        parts.put([bytes(begun)])
        parts.put(None)
    except OSError as error:
        parts.put(error)
