"""Parts of a page -> the blocks that are read, and a measure of the text that is not read.

    hidden, noscript     elements that a script shows, or that replace the script
    script data          JSON and the like; its strings of prose count
    template             never read: scripts make rows and dialogs from it
    notes                never read, see `Choice.note`

The first two are read if they have more new words (outside frames, without links) than the page
shows: so an article that waits for its script is read, while cookie dialogs and menus beside a text
are not. Hidden text is read where it stands, strings of script data at the end.

Text that is not read is counted and hashed, so that pages that differ in it do not count as equal.
Text that waits for a script is also counted apart, because it may be the content of the page: all
unread text but hidden text without the mark of React's streaming (a dialog).

A page is made by script if it shows hardly a word, or few words and an empty element that is the
root of an application, and if no hidden text or script data is read.

Cost: 8 ms for 100 KB of script data that is all prose, 3 ms for data without any; linear.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import floor

import xxhash

from dedup_filter.text.blocks import NOWHERE, Block, Cut, split_blocks, text_hash
from dedup_filter.text.content import word_sum
from dedup_filter.text.decode import parse
from dedup_filter.text.lines import with_line_ends
from dedup_filter.text.marked_text import CLOSE, OPEN, Parts, marked_text, parts_of
from dedup_filter.text.plain_text import count_words

_NO_PAGE = 20
"""Below this many words a page with scripts shows no text of its own: "Loading ...", a logo."""
_NO_APPLICATION = 100
"""The same beside the empty root of an application: a frame has more words."""
_TEXT_OF_PAGE = 60
"""With this many words read from hidden text or script data, a page is not made by script."""
_ROOTS = frozenset(("root", "app", "__next", "__nuxt", "___gatsby", "react-root", "app-root"))

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

_SENTENCE_END = re.compile(r"[.!?…。！？\n](?:(?<=[。！？\n])|\s+)")
"""A character set comes first, so that `re` skips to its characters without trying each place."""
_LITERAL = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)(?:"|\\?\Z)(\s*:)?', re.DOTALL)
"""A string of JSON, and the colon of a key. The last string may have no end: so every quotation
mark begins a match or is in a match, and no text is searched twice."""
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_JSON = json.JSONDecoder(strict=False)  # `json.loads` would make one for each string
_DATA_INSIDE = re.compile(r'[\[{]\\*"')
_MARKUP = re.compile("</?[a-zA-Z][^<>]*>")
_WHOLE_WORD = re.compile(r"(?<![\w\-/.:#=])[^\W\d_]+(?![\w\-/#=(]|[.:]\w)")


def read_concealed(
    parts: Parts, visible: Cut
) -> tuple[Cut, tuple[float, int, bool, int, float, int]]:
    """Choose the text to read of a page whose visible text is `visible`.

    Return this text, and `unread_words`, `unread_hash`, `is_by_script`, `notes_hash`,
    `waiting_words` and `waiting_hash` of the `Page`.
    """
    choice = Choice(parts, visible.blocks)
    cut = visible if choice.marked is parts.visible else split_blocks(choice.marked)
    notes_hash = choice.note(parts.notes) if parts.notes else 0
    unread_hash = choice.unread.intdigest() if choice.unread_words else 0
    is_by_script = parts.has_scripts and choice.is_hull(parts.empty_ids)
    of_waiting = choice.waiting_words, choice.waiting.intdigest() if choice.waiting_words else 0
    return cut, (choice.unread_words, unread_hash, is_by_script, notes_hash, *of_waiting)


def prose_of(scripts: Iterable[str]) -> tuple[list[list[str]], list[str]]:
    """Return the texts of prose in the data of each script, and the data beyond the bound."""
    room, found, unsearched = _MOST_DATA, list[list[str]](), list[str]()
    for data in scripts:
        found.append(list(chain.from_iterable(_prose(data[:room]))))
        if len(data) > room:
            unsearched.append(data[room:])
        room = max(room - len(data), 0)
    return found, unsearched


class Choice:
    """The text that is read besides the visible text, and a measure of the unread text."""

    def __init__(self, parts: Parts, visible: Sequence[Block]) -> None:
        self.marked = parts.visible
        """The marked text that is read."""
        self.reads_hidden = False
        self.reads_data = False
        self.unread_words = 0.0
        self.waiting_words = 0.0
        self.unread = xxhash.xxh3_64()
        self.waiting = xxhash.xxh3_64()
        self._visible = [block for block in visible if block.kind != "title"]
        self._shown = word_sum(block for block in self._visible if block.is_text)
        self._taken = 0.0
        # One split is faster than many; joined by a sentence end that does not also match "\n".
        texts = [each.text for each in visible] if parts.segments or parts.data else []
        self._known = set(_sentences("。".join(texts)))
        if parts.segments:
            hidden, waiting = self._unseen_of(parts, "hidden"), self._unseen_of(parts, "waiting")
            self.reads_hidden = self._takes(waiting, hidden)
            if self.reads_hidden:
                self.marked = parts.marked("", "hidden", "waiting")
        if parts.data:
            found, unsearched = prose_of(parts.data)
            of_scripts = [list(self._unseen(texts)) for texts in found]
            self.reads_data = self._takes(list(chain.from_iterable(of_scripts)))
            if self.reads_data:
                self.marked += "".join(map(_as_marked, of_scripts))
            self._leave(unsearched)
        if parts.segments:
            self._leave(self._unseen_of(parts, "template"))

    def note(self, texts: Iterable[str]) -> int:
        """Return 64 bits of the notes; if they have more words than the visible text, count them.

        They count for no more words than are visible: a list of all countries makes no page unread.
        On a page with more text, notes must not count: the image of an advert is new at each fetch.
        """
        noted, shown = "\n".join(texts), word_sum(self._visible)
        if count_words(noted) > shown:
            left = self.unread_words, self.waiting_words
            self._leave([noted])
            self.unread_words, self.waiting_words = (max(each, floor(shown)) for each in left)
        return text_hash(noted)

    def is_hull(self, empty_ids: Iterable[str]) -> bool:
        """Return whether the page is an empty shell that scripts fill."""
        is_frame = not _ROOTS.isdisjoint(empty_ids) and self._shown < _NO_APPLICATION
        return self._taken < _TEXT_OF_PAGE and (is_frame or word_sum(self._visible) < _NO_PAGE)

    def _takes(self, waiting: Sequence[str], hidden: Sequence[str] = ()) -> bool:
        """Return whether texts are longer than the text read so far; leave them if not."""
        words = sum(map(count_words, [*waiting, *hidden]))
        if words > self._shown + self._taken:
            self._taken += words
            return True
        self._leave(hidden, waits=False)
        self._leave(waiting)
        return False

    def _leave(self, texts: Iterable[str], *, waits: bool = True) -> None:
        for text in texts:
            words, line = count_words(text), text.encode("utf-8", "surrogatepass") + b"\n"
            self.unread_words += words
            self.unread.update(line)
            if waits:
                self.waiting_words += words
                self.waiting.update(line)

    def _unseen_of(self, parts: Parts, place: str) -> list[str]:
        """Return the new texts in a place that are neither links nor page frame."""
        return list(
            self._unseen(
                block.text
                for block in split_blocks(parts.marked(place)).blocks
                if block.is_text and block.containers.frames[block.inside] == NOWHERE
            )
        )

    def _unseen(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield each text without the sentences of earlier texts and of the visible text."""
        for text in texts:
            all_of_it = _sentences(text)
            new = [each for each in all_of_it if each not in self._known]
            if new:
                self._known.update(new)
                yield ". ".join(new) if len(new) < len(all_of_it) else text


def _markup_texts(markup: str) -> list[str]:
    """Return the texts of the visible blocks of a piece of HTML."""
    tree = parse(markup)
    if tree is None:
        return []
    return [block.text for block in split_blocks(parts_of(marked_text(tree)).visible).blocks]


def _sentences(text: str) -> list[str]:
    """Cut a text into its sentences, without the marks at their ends."""
    pieces = map(str.strip, _SENTENCE_END.split(text))
    return [piece.rstrip(".!?…。！？") for piece in pieces if piece]


def _as_marked(of_script: Sequence[str]) -> str:
    """Write the texts of a script as paragraphs in one container."""
    paragraphs = [f"{OPEN}p {OPEN}{with_line_ends(text)}{CLOSE}" for text in of_script]
    return f"{OPEN}script {OPEN}{''.join(paragraphs)}{CLOSE}" if paragraphs else ""


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
