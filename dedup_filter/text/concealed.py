"""Parts of a page -> the blocks that are read, and a measure of the text that is not read.

    hidden, noscript     elements that a script shows, or that replace the script
    script data          JSON and the like, see `script_data`; its strings of prose count
    template             never read: scripts make rows and dialogs from it
    notes                never read, see `Choice.note`

The first two are read if they have more new words (outside frames, without links) than the page
shows: so an article that waits for its script is read, while cookie dialogs and menus beside a text
are not. Hidden text is read where it stands, strings of script data at the end.

Text that is not read is counted and hashed, so that pages that differ in it do not count as equal.
Text that waits for a script is also counted apart, because it may be the content of the page: all
unread text but hidden text without the mark of React's streaming (a dialog).

Beside few words the values of script data are hashed, too: the name and the price of an article may
be nowhere else. Such a page counts as waiting for its script, however few its values are.

A page is made by script if it shows hardly a word, or few words and an empty element that is the
root of an application, and if no hidden text or script data is read.

Cost: that of `script_data`; linear.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import floor

import xxhash

from dedup_filter.text.blocks import NOWHERE, Block, Cut, split_blocks, text_hash
from dedup_filter.text.content import word_sum
from dedup_filter.text.marked_text import CLOSE, OPEN, Parts
from dedup_filter.text.plain_text import count_words, with_line_ends
from dedup_filter.text.script_data import prose_of, values_of
from dedup_filter.thresholds import LONG_WORDS

_NO_PAGE = 20
"""Below this many words a page with scripts shows no text of its own: "Loading ...", a logo."""
_NO_APPLICATION = 100
"""The same beside the empty root of an application: a frame has more words."""
_TEXT_OF_PAGE = 60
"""With this many words read from hidden text or script data, a page is not made by script."""
_ROOTS = frozenset(("root", "app", "__next", "__nuxt", "___gatsby", "react-root", "app-root"))

_SENTENCE_END = re.compile(r"[.!?…。！？\n](?:(?<=[。！？\n])|\s+)")
"""A character set comes first, so that `re` skips to its characters without trying each place."""


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
        self._visible = [block for block in visible if block.kind not in ("title", "picture")]
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
            if self._shown < _TEXT_OF_PAGE and self._shown + self._taken < LONG_WORDS:
                self._leave_values(values_of(parts.data))
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

    def _leave_values(self, values: str) -> None:
        """Hash the values of script data, as more words than the page has, and unread as one."""
        if values:
            unread, waiting = self.unread_words, self.waiting_words
            self._leave([values])
            self.unread_words = max(unread, 1)
            of_page = word_sum(self._visible) + self._taken
            self.waiting_words = max(waiting, 2 * of_page + 1)  # tokens are more than words

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


def _sentences(text: str) -> list[str]:
    """Cut a text into its sentences, without the marks at their ends."""
    pieces = map(str.strip, _SENTENCE_END.split(text))
    return [piece.rstrip(".!?…。！？") for piece in pieces if piece]


def _as_marked(of_script: Sequence[str]) -> str:
    """Write the texts of a script as paragraphs in one container."""
    paragraphs = [f"{OPEN}p {OPEN}{with_line_ends(text)}{CLOSE}" for text in of_script]
    return f"{OPEN}script {OPEN}{''.join(paragraphs)}{CLOSE}" if paragraphs else ""
