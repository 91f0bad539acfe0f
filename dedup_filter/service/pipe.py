"""Lines, each with a page -> a line with its verdict, or with an error, in the same order.

    line -> URL and page -> read by a worker -> judged and kept -> written

A verdict is written after the index has written its page: a page whose verdict is out outlives
this process. While more input is there, up to `_AHEAD` verdicts are written together; when the
input waits, every verdict is written at once. If the process is killed, pages without a verdict
may be in the index or not; given again, they never repeat themselves.

A thread reads lines ahead, so that this one knows whether the input waits.
"""

import json
from collections import deque
from collections.abc import Callable
from io import BufferedReader
from queue import Queue
from threading import Thread
from typing import Any, NamedTuple, TextIO

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.model import Verdict
from dedup_filter.scan.inputs import read_item
from dedup_filter.text.page_fields import FieldNames
from dedup_filter.text.page_url import Place
from dedup_filter.text.reading import MAX_PAGE_LENGTH
from dedup_filter.workers import Reading, those_read

LONGEST_LINE = 2 * MAX_PAGE_LENGTH
"""Bytes of a line: JSON of the longest page, with its escapes."""
_AHEAD = 64
"""Most lines, pages and verdicts that wait for the next step."""


Told = Callable[[str, Verdict], None]


class _Line(NamedTuple):
    """A line of the input, with its page or its error."""

    url: str
    reading: Reading | None
    error: str = ""

    @property
    def is_ready(self) -> bool:
        return self.reading is None or self.reading.is_done


class Seen(NamedTuple):
    """Numbers of lines."""

    errors: int = 0
    without_url: int = 0
    """Pages without a URL: they are judged as pages of one host."""


def see_lines(
    pages: NearDuplicateFilter,
    given: BufferedReader,
    taken: TextIO,
    names: FieldNames,
    told: Told = lambda *_: None,
) -> Seen:
    """Judge and keep the page of each line; return what was counted.

    `told` gets the URL and the verdict of each page.

    Raises:
        StoreError: the index cannot be read or written. Verdicts that are out stay valid.
        OSError: the input, which is closed at its end, or the output has failed.
    """
    lines: Queue[bytes | OSError | None] = Queue(_AHEAD)
    Thread(target=_take, args=(given, lines), daemon=True).start()
    ahead, out = deque[_Line](), list[str]()
    errors = without_url = 0
    is_near = not pages.conductor.is_shared  # servers are called for several pages at once

    def write() -> None:
        pages.flush()
        taken.writelines(out)
        taken.flush()
        out.clear()

    def judge_first() -> None:
        nonlocal errors, without_url
        if len(out) >= _AHEAD or not ahead[0].is_ready:
            write()
        pages.conductor.read_ahead(those_read(each.reading for each in ahead if each.reading))
        line = ahead.popleft()
        errors += line.reading is None
        without_url += line.reading is not None and not line.url
        out.append(json.dumps({"url": line.url, **_answer(pages, line, told)}) + "\n")

    while (line := lines.get()) is not None:
        if isinstance(line, OSError):
            raise line
        if line.strip():
            ahead.append(_submitted(pages, line, names))
        while ahead and (lines.empty() or len(ahead) >= _AHEAD or (ahead[0].is_ready and is_near)):
            judge_first()
        if lines.empty():
            write()
    while ahead:
        judge_first()
    write()
    return Seen(errors, without_url)


def _submitted(pages: NearDuplicateFilter, line: bytes, names: FieldNames) -> _Line:
    is_long = len(line) > LONGEST_LINE + line.endswith(b"\n")
    read = f"is longer than {LONGEST_LINE:,} bytes" if is_long else read_item(line, names)
    if isinstance(read, str):
        return _Line("", None, f"the line {read}; each line has one page, as an object")
    url, page = read
    if isinstance(page, str):
        wanted = ", ".join(filter(None, (names.html, *names.text)))
        return _Line(url, None, f"no page in {wanted} (--html-field, --text-fields): {page}")
    return _Line(url, pages.pool.read(page, Place.of(url), may_help=True))


def _answer(pages: NearDuplicateFilter, line: _Line, told: Told) -> dict[str, Any]:
    if line.reading is None:
        return {"error": line.error}
    verdict = pages.conductor.see(line.reading.place, line.reading.result())
    told(line.url, verdict)
    return verdict.as_json()


def _take(given: BufferedReader, lines: "Queue[bytes | OSError | None]") -> None:
    """Put lines until the input ends, then None; of a long line only the beginning is kept."""
    try:
        with given:
            while line := given.readline(LONGEST_LINE + 1):
                lines.put(line)
                while len(line) > LONGEST_LINE and not line.endswith(b"\n"):  # the rest of it
                    line = given.readline(LONGEST_LINE + 1)
        lines.put(None)
    except OSError as error:
        lines.put(error)
