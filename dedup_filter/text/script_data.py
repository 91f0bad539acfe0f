"""Script data -> the strings in it that are prose: of JSON, broken JSON, and JavaScript around it.

    {"page": {"id": "a-1", "body": "<p>Ice had closed the harbour for weeks.</p>"}}
    "Ice had closed the harbour for weeks."

The search knows string literals of JSON, in their order, but no structure around them. So it serves
ld+json, __NEXT_DATA__, `window.__NUXT__ = (function ...)`, React's streamed
`self.__next_f.push([1, "..."])`, and data that is cut off. Keys are left out. A string that holds
data is searched in turn; a string that holds HTML is parsed, and gives what a page shows of it.

A string is prose if it has several words, and consists mostly of whole words: addresses, class
names and code do not.

Bounded: a million characters, and some thousand strings of prose, of a page; the rest is returned
unread. Linear: the search knows no structure, so nested data takes no more time.

Cost: 8 ms for 100 KB that is all prose, 3 ms for data without any.
"""

import json
import re
from collections.abc import Iterator

from dedup_filter.text.blocks import split_blocks
from dedup_filter.text.decode import parse
from dedup_filter.text.marked_text import Script, marked_text, parts_of, without_marks
from dedup_filter.text.plain_text import count_words

__all__ = ["Strings", "has_data", "has_markup", "markup_texts"]

_LEAST_WORDS = 6
"""Words of a string that is prose. Names and addresses hardly have as many."""
_LEAST_LENGTH = 10
"""Characters of a string that is prose: six words of Chinese."""
_WHOLE_WORDS = 2 / 3
"""Share of the characters of prose, white space aside, that are in whole words."""
_SAMPLE = 500
"""Characters that tell whether a string is prose."""
_MOST_DATA = 2**20
"""Characters of script data that are searched."""
_MOST_STRINGS = 4_096
"""Strings of prose that are read: an article has a hundred."""
_MOST_NESTING = 3
"""Strings in strings: JSON.parse("{\\"a\\": \\"...\\"}")."""
_START = 300
"""Characters of a script within which it names what it sets."""

_STATE = re.compile(r"""\b__\w+["'\]]*\s*(?:=(?!=)|\.push\()""")
_LITERAL = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)(?:"|\\?\Z)(\s*:)?', re.DOTALL)
"""A string of JSON, and the colon of a key. The last string may have no end: so every quotation
mark begins a match or is in one, and nothing is searched twice."""
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_JSON = json.JSONDecoder(strict=False)  # `json.loads` would make one for each string
_DATA_INSIDE = re.compile(r'[\[{]\\*"')
_MARKUP = re.compile("</?[a-zA-Z][^<>]*>")
_WHOLE_WORD = re.compile(r"(?<![\w\-/.:#=])[^\W\d_]+(?![\w\-/#=(]|[.:]\w)")


def has_data(script: Script) -> bool:
    """Tell whether a script is data, or sets the state of a page."""
    return "json" in script.type or _STATE.search(script.text, 0, _START) is not None


class Strings:
    """The prose in the script data of one page."""

    def __init__(self) -> None:
        self.left: list[str] = []
        """Data beyond the bound, which was not searched."""
        self._room = _MOST_DATA
        self._count = 0

    def of(self, data: str) -> Iterator[str]:
        """Yield the texts of prose in some data, up to the bound."""
        searched = data[: self._room]
        self._room -= len(searched)
        if len(searched) < len(data):
            self.left.append(data[len(searched) :])
        for string in _strings(searched, _MOST_NESTING):
            texts = markup_texts(string) if has_markup(string) else [string]
            if not _is_prose(" ".join(texts)):
                continue
            self._count += 1
            if self._count > _MOST_STRINGS:
                self._room = 0
                self.left.append(searched)
                return
            yield from texts


def has_markup(text: str) -> bool:
    """Tell whether a text is written in HTML."""
    return _MARKUP.search(text) is not None


def markup_texts(markup: str) -> list[str]:
    """Return the texts of the blocks in sight of a piece of HTML."""
    tree = parse(markup)
    if tree is None:
        return []
    blocks, rest = split_blocks(parts_of(marked_text(tree)).visible)
    return [block.text for block in blocks] + ([without_marks(rest)] if rest else [])


def _strings(data: str, nesting: int) -> Iterator[str]:
    """Yield the strings of data that may be prose."""
    for literal in _LITERAL.finditer(data):
        written, is_key = literal.groups()
        if is_key or len(written) < _LEAST_LENGTH:
            continue
        is_escaped = "\\" in written
        # Most strings are names and addresses, and are left out here at little cost.
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
