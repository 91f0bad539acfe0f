"""Data of scripts -> its texts of prose, and its values.

    {"@type": "Article", "articleBody": "Ice had closed the harbour for eleven weeks."}    prose
    {"id": 7, "sku": "OAK-7", "name": "Oak lamp", "csrfToken": "x8K2"}    values: 7, OAK-7, Oak lamp
    self.__next_f.push([1, "1:T2c,Ice had "])    React's stream: cut anywhere, so it is joined first
    self.__next_f.push([1, "closed the ..."])

Prose is found by its words, whatever the structure around it: in JSON of any kind, in assignments,
in strings that hold data, in data that is cut off. What describes the site or its people and not
the page (an `Organization`, a `Person` of schema.org) is left out.

Values are all other strings and numbers, except tokens: hashes, the numbers of sessions and builds,
the time of the answer. A token changes with each fetch; a name, a price or the code of an article
identifies the page. Values are sorted, because the order of keys may change, too.

Cost: 8 ms for 100 KB that is all prose, 3 ms without any; 6 ms for the values of 100 KB; linear.
"""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain

from dedup_filter.text.blocks import split_blocks
from dedup_filter.text.decode import parse
from dedup_filter.text.marked_text import marked_text, parts_of
from dedup_filter.text.plain_text import count_words

_LEAST_WORDS, _LEAST_LENGTH = 6, 10
"""Minimum words and characters (six words of Chinese) of a string of prose. Names and addresses
hardly have as many."""
_WHOLE_WORDS = 2 / 3
"""Minimum share of the characters of prose, without white space, in whole words. The characters of
addresses, class names and code are not in whole words."""
_SAMPLE = 500
"""Characters at the start of a string by which it is recognised as prose."""
_MOST_DATA, _MOST_NESTING = 2**20, 3
"""Characters of script data that are searched; levels of strings in strings of data."""

_LITERAL = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)(?:"|\\?\Z)(\s*:)?', re.DOTALL)
"""A string of JSON, and the colon of a key. The last string may have no end: so every quotation
mark begins a match or is in a match, and no text is searched twice."""
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_JSON = json.JSONDecoder(strict=False)  # `json.loads` would make one for each string
_DATA_INSIDE = re.compile(r'[\[{]\\*"')
_MARKUP = re.compile("</?[a-zA-Z][^<>]*>")
_WHOLE_WORD = re.compile(r"(?<![\w\-/.:#=])[^\W\d_]+(?![\w\-/#=(]|[.:]\w)")

_STREAM, _PUSH = "__next_f", "push([1,"
_TEXT_ROW = re.compile(r"[0-9a-f]+:T([0-9a-f]+),")
"""The head of a text in React's stream, with its bytes of UTF-8: its quotes are not escaped."""

_SITE_TYPES = frozenset(
    "Brand BreadcrumbList ContactPoint Corporation EntryPoint ImageObject ListItem Person "
    "PostalAddress ReadAction SearchAction SiteNavigationElement WebSite WPFooter WPHeader".split()
)
"""Types of schema.org that name the site or its people; so do all kinds of `Organization`."""
_TYPES = re.compile(r'\s*:\s*(\[[^\]]{0,300}\]|"[^"]{0,100}")')
_TYPE_NAME = re.compile(r'(\w+)"')
_BRACE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[{}]', re.DOTALL)

_VALUE = re.compile(_LITERAL.pattern + r"|(?<![\w.])(-?\d[\d.]*)", re.DOTALL)
_TOKEN_KEY = re.compile(
    r"token|csrf|xsrf|nonce|session|build_?id|trace|request_?id|hash|etag|signature|timestamp"
    r"|generated|rendered|fetched|expires|^_?(?:now|time|ts|seed|random|sid)$",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?<=\d)[T ]\d\d:\d\d:(?:(?!00)\d\d|\d\d\.(?!0+(?!\d))\d+)[\d.]*(?:Z|[+-]\d\d:?\d\d)?"
)
"""A time of day to the second: of the answer, not of an event."""
_LONG_NUMBER = re.compile(r"\d\.\d{10,}|\b1[5-9]\d{8}(?:\d{3}|\d{6})?\b")
"""A random number, or seconds since 1970: no code of an article (EAN) begins so."""
_RUN = re.compile(r"[0-9A-Za-z_-]{8,}")
_SWITCH = re.compile(r"(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])")
_SEPARATORS = str.maketrans("", "", "-_")


def prose_of(scripts: Iterable[str]) -> tuple[list[list[str]], list[str]]:
    """Return the texts of prose in the data of each script, and the data beyond the bound.

    The stream of React, which stands in several scripts, is one script.
    """
    room, found, unsearched = _MOST_DATA, list[list[str]](), list[str]()
    for data in _whole(scripts):
        found.append(list(chain.from_iterable(_prose(data[:room]))))
        if len(data) > room:
            unsearched.append(data[room:])
        room = max(room - len(data), 0)
    return found, unsearched


def values_of(scripts: Iterable[str]) -> str:
    """Return the strings and numbers of data, without tokens, one a line and sorted."""
    data = "\n".join(_whole(scripts))[:_MOST_DATA]
    found = "\n".join(set(_values(data, _MOST_NESTING)))
    for pattern in (_TIME, _LONG_NUMBER):
        found = pattern.sub("", found)
    lines = _RUN.sub(lambda run: "" if _is_token(run[0]) else run[0], found).split("\n")
    return "\n".join(sorted(filter(None, map(str.strip, set(lines)))))


def _whole(scripts: Iterable[str]) -> list[str]:
    """Join the pieces of React's stream, and write its texts as strings."""
    whole, pieces = list[str](), list[str]()
    for script in scripts:
        start, end = script.find('"'), script.rfind('"')
        head = "".join(script[:start].split()) if 0 <= start < min(end, _SAMPLE) else ""
        if _STREAM in head and head.endswith(_PUSH):
            pieces.append(script[start + 1 : end])
        else:
            whole.append(script)
    if not pieces:
        return whole
    stream, place, rows = _unescaped("".join(pieces)), 0, list[str]()
    while row := _TEXT_ROW.search(stream, place):
        size = int(row[1][:8], 16)
        text = stream[row.end() : row.end() + size].encode()[:size].decode(errors="ignore")
        rows += stream[place : row.end()], json.dumps(text, ensure_ascii=False)
        place = row.end() + len(text)
    return [*whole, "".join([*rows, stream[place:]])]


def _without_site(data: str) -> str:
    """Leave out the objects of schema.org that describe the site or its people."""
    left_out: list[tuple[int, int]] = []
    around: list[list[int]] = []  # the open objects: their start, and whether each is left out
    for part in _BRACE.finditer(data):
        if part[0] == "{":
            around.append([part.start(), False])
        elif part[0] == "}" and around:
            start, is_left_out = around.pop()
            left_out += [(start, part.end())] * is_left_out
        elif part[0] == '"@type"' and around and (types := _TYPES.match(data, part.end())):
            names = _TYPE_NAME.findall(types[1])
            around[-1][1] |= any(n in _SITE_TYPES or n.endswith("Organization") for n in names)
    left_out += [(start, len(data)) for start, is_left_out in around if is_left_out]
    kept, place = list[str](), 0
    for start, end in sorted(left_out):
        if start >= place:
            kept.append(data[place:start])
            place = end
    return "".join([*kept, data[place:]])


def _values(data: str, nesting: int) -> Iterator[str]:
    is_of_token = False
    for written, colon, number in _VALUE.findall(data):
        if colon:
            is_of_token = bool(_TOKEN_KEY.search(written[:_SAMPLE]))
            continue
        value = _unescaped(written) if "\\" in written else written
        if nesting and _DATA_INSIDE.search(value):
            yield from _values(value, nesting - 1)
        elif not is_of_token and not _is_prose(_MARKUP.sub(" ", value[:_SAMPLE])):
            yield number or " ".join(value.split())
        is_of_token = False


def _is_token(run: str) -> bool:
    """Return whether letters and digits were drawn by chance, as far as they show it."""
    core = run.translate(_SEPARATORS)
    switches = len(_SWITCH.findall(core))
    if switches and not core.lower().strip("0123456789abcdef"):
        return core == core.lower() or len(core) >= 16
    has_cases = core.lower() != core != core.upper()
    return (len(core) >= 12 and switches > 3) or (len(core) >= 20 and has_cases and switches > 1)


def _markup_texts(markup: str) -> list[str]:
    """Return the texts of the visible blocks of a piece of HTML."""
    tree = parse(markup)
    if tree is None:
        return []
    return [block.text for block in split_blocks(parts_of(marked_text(tree)).visible).blocks]


def _prose(data: str) -> Iterator[list[str]]:
    for string in _strings(data, _MOST_NESTING):
        texts = _markup_texts(string) if _MARKUP.search(string) else [string]
        if _is_prose(" ".join(texts)):
            yield texts


def _strings(data: str, nesting: int) -> Iterator[str]:
    """Yield the strings of data that may be prose, whatever the structure around them.

    So ld+json, __NEXT_DATA__, `window.__NUXT__ = (function ...)`, React's streamed
    `self.__next_f.push([1, "..."])` and truncated data are all searched. If a string holds data,
    the data is searched, too.
    """
    if '"@type"' in data:
        data = _without_site(data)
    for written, is_key in _LITERAL.findall(data):
        if is_key or len(written) < _LEAST_LENGTH:
            continue
        is_escaped = "\\" in written
        # Most strings are names and addresses; this cheap test leaves them out.
        if not is_escaped and written.isascii() and written.count(" ") < _LEAST_WORDS - 1:
            continue
        string = _unescaped(written) if is_escaped else written
        if nesting and _DATA_INSIDE.search(string):
            yield from _strings(string, nesting - 1)
        else:
            yield string


def _unescaped(written: str) -> str:
    """Resolve the escapes of JSON, and the others of JavaScript."""
    try:
        read: str = _JSON.decode(f'"{written}"')
    except json.JSONDecodeError:
        read = _JSON.decode(f'"{_ESCAPE.sub(_as_json, written)}"')
    return read.encode("utf-8", "replace").decode()


def _as_json(escape: re.Match[str]) -> str:
    what = escape[1]
    if len(what) == 3:
        return f"\\u00{what[1:]}"
    return escape[0] if len(what) == 5 or what in '"\\/bfnrt' else what


def _is_prose(text: str) -> bool:
    sample = text[:_SAMPLE]
    if count_words(sample) < _LEAST_WORDS:
        return False
    whole = sum(map(len, _WHOLE_WORD.findall(sample)))
    return whole >= _WHOLE_WORDS * len("".join(sample.split()))
