"""Two texts -> a word diff.

Words are compared as written; in scripts without spaces each character is a word.

Cost: 10 ms for texts of 1,000 words. Lines are compared first, and words only within those that
differ, as the time grows with the product of the lengths.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal, NamedTuple

_RANGES = "\u0e00-\u10ff\u1780-\u17ff\u2e80-\uabff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_UNSPACED = re.compile(f"[{_RANGES}]")
_WORD = re.compile(f"[{_RANGES}]|[^\\s{_RANGES}]+")
_MOST_AT_ONCE = 4_000_000
"""Product of the words of two parts up to which they are compared word by word: 1 s."""


class Change(NamedTuple):
    """Consecutive words that both texts have, or only one of them."""

    kind: Literal["same", "gone", "new"]
    words: list[str]


def word_changes(before: str, after: str) -> list[Change]:
    """Return the words to remove from one text, and to add, to make the other text.

    >>> word_changes("one two three", "one four three")[1:3]
    [Change(kind='gone', words=['two']), Change(kind='new', words=['four'])]
    """
    changes = _of_lines(before.split("\n"), after.split("\n"))
    together = groupby((change for change in changes if change.words), key=lambda each: each.kind)
    return [Change(kind, [w for each in some for w in each.words]) for kind, some in together]


def is_letter_of_unspaced(word: str) -> bool:
    """Return whether a word of a change is one character of a script without spaces.

    >>> is_letter_of_unspaced("港"), is_letter_of_unspaced("a")
    (True, False)
    """
    return len(word) == 1 and _UNSPACED.fullmatch(word) is not None


def _of_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[Change]:
    for tag, a, a_end, b, b_end in SequenceMatcher(None, before, after).get_opcodes():
        gone, new = _words(before[a:a_end]), _words(after[b:b_end])
        if tag == "equal":
            yield Change("same", gone)
        elif tag == "replace" and len(gone) * len(new) <= _MOST_AT_ONCE:
            yield from _of_words(gone, new)
        else:
            yield Change("gone", gone)
            yield Change("new", new)


def _of_words(before: Sequence[str], after: Sequence[str]) -> Iterator[Change]:
    for tag, a, a_end, b, b_end in SequenceMatcher(None, before, after).get_opcodes():
        if tag == "equal":
            yield Change("same", list(before[a:a_end]))
        else:
            yield Change("gone", list(before[a:a_end]))
            yield Change("new", list(after[b:b_end]))


def _words(lines: Sequence[str]) -> list[str]:
    return [word for line in lines for word in _WORD.findall(line)]
