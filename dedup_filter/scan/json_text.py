"""A stream of JSON -> the text of each page: a line, or an element of a list.

    {"url": ..., "html": ...}                               lines: an object in each
    [{"url": ..., "html": ...}, ...]                        a list of objects
    {"status": "completed", "data": [{...}, ...], ...}      an answer of an API: its first list of
                                                            objects

An object is an answer if a list of objects is at most 256 KiB behind its start, and it has none of
the fields that pages have. Lists and answers may follow one another. Reading can begin after any
line or element.

The ends of elements are found by brackets and quotes alone, so nesting of any depth is skipped, and
a damaged element costs no other one unless a bracket is missing. (ijson ends at the first damage,
and gives no positions.) Memory: a line or an element of `LONGEST_LINE` bytes. Cost: for an element
of 20 KB 0.3 ms more than for a line.
"""

import json
import re
from collections.abc import Callable, Collection, Generator, Iterator
from typing import Any, NamedTuple

from dedup_filter.scan.streams import Stream
from dedup_filter.text.page_fields import path_to
from dedup_filter.upkeep.lines import LONGEST_LINE
from dedup_filter.wording import json_fault

REST = 2**63 - 1
"""The end of a text that takes the rest of a stream with it."""
_LONGEST_HEAD = 2**18
_MOST_ESCAPES = 5_000
"""Escapes of a string that are matched at once: each takes memory."""
_BLANK = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*")  # with the mark of the byte order
_OBJECT = re.compile(_BLANK.pattern + rb"\{")
_LIST = re.compile(rb"\[[ \t\r\n]*(?=\{)")
_KEY = re.compile(rb'[ \t\r\n,]*"(?:[^"\\]|\\.)*"[ \t\r\n]*:[ \t\r\n]*')
_MARK = re.compile(rb'["\[\]{},]')
_IN_STRING = re.compile(rb'[^"\\\n]*(?:\\.[^"\\\n]*){0,%d}' % _MOST_ESCAPES, re.DOTALL)


class Text(NamedTuple):
    """The JSON of a page, or why there is none (`problem`)."""

    start: int
    """Offset in the decompressed stream, in bytes."""
    end: int
    number: int
    """Of the line or the element, from 1."""
    content: bytes
    problem: str = ""


Reading = Generator[Text, None, tuple[int, int]]
"""Texts; at the end, the offset and the number of the next one."""


def is_list(stream: Stream, fields: Collection[str]) -> bool:
    """Return whether a stream is a list or an answer, not lines; a page has one of `fields`."""
    stream.seek(0)
    window = _Window(stream.read_some)
    window.sign()
    if (found := _list_in(window)) is None:
        return False
    stream.seek(0)
    answer = object_of(stream.readline(LONGEST_LINE))
    if isinstance(answer, str):  # it has several lines
        answer = object_of(found[1])
    return not (isinstance(answer, dict) and any(path_to(answer, each) for each in fields))


def texts_in(stream: Stream, start: int, number: int, *, is_list: bool) -> Iterator[Text]:
    """Yield the texts from an offset on, at which a text ends; the first has this number."""
    if start == REST:
        return
    stream.seek(start)
    start, number = yield from (_elements if is_list else _lines)(stream, start, number)
    if stream.damage:
        yield Text(start, REST, number, b"", f"cannot be read from here on: {stream.damage}")


def object_of(text: bytes) -> dict[str, Any] | str:
    """Return the JSON object of a text, or why there is none."""
    # Nothing else is parsed: a hundred thousand brackets would fill the stack.
    if not _OBJECT.match(text):
        return "is no object of JSON"
    try:
        item: dict[str, Any] = json.loads(text)
    except json.JSONDecodeError as error:
        return f"is no object of JSON ({json_fault(error)})"
    except (ValueError, RecursionError) as error:
        return f"is no object of JSON ({error})"
    return item


def on_one_line(text: bytes) -> bytes:
    """Return a sound text without its line breaks, which are between its values."""
    return b"".join(line.strip() for line in text.splitlines()) + b"\n"


def _lines(stream: Stream, start: int, number: int) -> Reading:
    while line := stream.readline(LONGEST_LINE + 1):
        end = start + len(line)
        problem = ""
        while not line.endswith(b"\n") and (rest := stream.readline(LONGEST_LINE)):
            end += len(rest)
            line, problem = rest[-1:], f"is longer than {LONGEST_LINE:,} bytes"
        if problem or not line.isspace():
            yield Text(start, end, number, line, problem)
        start, number = end, number + 1
    return start, number


def _elements(stream: Stream, start: int, number: int) -> Reading:
    window = _Window(stream.read_some, start)
    is_inside = start > 0
    while sign := window.sign():
        if not is_inside:
            if (found := _list_in(window)) is None:
                problem = "is neither a list of objects nor an answer with one, and nor is the rest"
                yield Text(window.start, REST, number, b"", problem)
                break
            window.drop(found[0])
            is_inside = True
        elif sign == b"]":
            window.drop(1)
            _leave_answer(window)
            is_inside = False
        elif sign == b",":
            window.drop(1)
        else:
            start = window.start
            end = window.end_of_value() or 1
            problem = "" if window.start == start else f"is longer than {LONGEST_LINE:,} bytes"
            content = bytes(window.data[:end])
            window.drop(end)
            if not stream.damage:
                yield Text(start, window.start, number, content, problem)
            number += 1
    else:
        if is_inside and not stream.damage:
            problem = "is missing, as the file ends within its list"
            yield Text(window.start, REST, number, b"", problem)
    return window.start, number


def _list_in(window: "_Window") -> tuple[int, bytes] | None:
    """Return the start of the first list of objects, and the fields before it as an object."""
    while len(window.data) < _LONGEST_HEAD and window.read_on():
        pass
    head = _Window(lambda: b"", data=window.data[:_LONGEST_HEAD])
    if found := _LIST.match(head.data):
        return found.end(), b""
    end = 1
    while key := head.data[:1] == b"{" and _KEY.match(head.data, end):
        if found := _LIST.match(head.data, key.end()):
            return found.end(), bytes(head.data[:end]) + b"}"
        end = head.end_of_value(key.end())
    return None


def _leave_answer(window: "_Window") -> None:
    """Skip the fields of an answer behind its list."""
    while (sign := window.sign()) and sign in b",}":
        window.drop(1)
        if sign == b"}":
            break
        window.drop(window.end_of_value())


class _Window:
    """The bytes of a stream from an offset on, as far as they were read."""

    def __init__(
        self, read: Callable[[], bytes], start: int = 0, data: bytes | bytearray = b""
    ) -> None:
        self._read = read
        self.start = start
        self.data = bytearray(data)

    def read_on(self) -> bool:
        some = self._read()
        self.data += some
        return bool(some)

    def drop(self, count: int) -> None:
        del self.data[:count]
        self.start += count

    def sign(self) -> bytes:
        """Begin at the next byte that is not blank, and return it; b"" at the end."""
        while True:
            blank = _BLANK.match(self.data)
            self.drop(blank.end() if blank else 0)
            if self.data or not self.read_on():
                return bytes(self.data[:1])

    def end_of_value(self, at: int = 0) -> int:
        """Return where a value ends: behind its last bracket, or before the next comma or bracket.

        In a string there is no line break: with one, a value is damaged, and ends there. Too long a
        value is dropped in part.
        """
        depth = 0
        while True:
            found = _MARK.search(self.data, at)
            if found is None:
                following = self._read_from(len(self.data))
                if following is None:
                    return len(self.data)
                at = following
                continue
            mark, at = found[0], found.end()
            if mark == b'"':
                at = self._end_of_string(at)
                if self.data.endswith(b"\n", 0, at):
                    return at
            elif mark in b"[{":
                depth += 1
            elif depth == 0:
                return at - 1
            elif mark != b",":
                depth -= 1
                if depth == 0:
                    return at

    def _end_of_string(self, at: int) -> int:
        """Return the offset behind the end of a string, or behind a line break in it."""
        while True:
            found = _IN_STRING.match(self.data, at)
            at = found.end() if found else at
            if self.data.startswith((b'"', b"\n"), at):
                return at + 1
            if len(self.data) - at < 2:  # not an escape
                following = self._read_from(at)
                if following is None:
                    return len(self.data)
                at = following

    def _read_from(self, at: int) -> int | None:
        """Read on, and drop too long a value; return the new offset of a byte; None: at the end."""
        if at > LONGEST_LINE:
            self.drop(at)
            at = 0
        return at if self.read_on() else None
