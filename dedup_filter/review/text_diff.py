"""Two texts -> a word diff.

Words are compared as written; in scripts without spaces each character is a word.

Cost: 10 ms for texts of 1,000 words. Lines are compared first, and words only within those that
differ, as the time grows with the product of the lengths.
"""

import re
from collections.abc import Iterator
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
    changes, gone = list[Change](), list[str]()
    for kind, lines in _changes(before.split("\n"), after.split("\n")):
        words = _WORD.findall("\n".join(lines))
        if kind == "same":
            changes.append(Change(kind, words))
        elif kind == "gone":
            gone = words
        elif len(gone) * len(words) <= _MOST_AT_ONCE:
            changes += _changes(gone, words)
        else:
            changes += Change("gone", gone), Change("new", words)
    together = groupby((change for change in changes if change.words), key=lambda each: each.kind)
    return [Change(kind, [w for each in some for w in each.words]) for kind, some in together]


def is_letter_of_unspaced(word: str) -> bool:
    """Return whether a word of a change is one character of a script without spaces.

    >>> is_letter_of_unspaced("港"), is_letter_of_unspaced("a")
    (True, False)
    """
    return len(word) == 1 and _UNSPACED.fullmatch(word) is not None


def _changes(before: list[str], after: list[str]) -> Iterator[Change]:
    """Yield what two lists have both, or what is gone and then what is new, in turn."""
    for tag, a, a_end, b, b_end in SequenceMatcher(None, before, after).get_opcodes():
        if tag == "equal":
            yield Change("same", before[a:a_end])
        else:
            yield Change("gone", before[a:a_end])
            yield Change("new", after[b:b_end])
