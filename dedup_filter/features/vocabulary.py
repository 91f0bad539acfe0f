"""Words -> their hashes and which of them are stopwords, by one look-up a word.

Pages repeat their words and one another's. So each word met gets a number, and what is known
of it stands under that number in columns: one of hashes for each feature hash, one of flags
for each stopword list in use, one of the languages that it is a stopword of. A page's words are
looked up once, and numpy fetches their columns: half the time of asking a dict of hashes and a
set of stopwords for every word.

Bounded: at 262,144 words (45 MB), or when they are very long, it is forgotten and begun anew, which
changes no value. Threads may share it.
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from itertools import islice
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["MOST_WORDS", "VOCABULARY", "Vocabulary"]

MOST_WORDS = 1 << 18
_MOST_CHARACTERS = 1 << 22
"""Of all words: twice as many as so many words of a language have. A page can have words of a
million."""

Compute = Callable[[Sequence[str]], npt.NDArray[Any]]


class Vocabulary:
    """Numbered words and columns of what is known of them."""

    def __init__(self, most_words: int = MOST_WORDS) -> None:
        self._most_words = most_words
        self._lock = Lock()
        self._forget(most_words)

    def __len__(self) -> int:
        return len(self._numbers)

    def look_up(
        self, words: Collection[str], columns: dict[Hashable, Compute]
    ) -> list[npt.NDArray[Any]]:
        """Return an array with a value for each word, (n,), of each column.

        A column is named by its key and its values are computed once a word, by the function
        given; the same key must always come with the same function.
        """
        with self._lock:
            count = len(self._numbers) + len(words)
            if count > self._most_words or self._numbers.characters > _MOST_CHARACTERS:
                self._forget(max(self._most_words, len(words)))
            numbers = np.fromiter(map(self._numbers.__getitem__, words), np.intp, len(words))
            return [self._column(key, compute)[numbers] for key, compute in columns.items()]

    def _forget(self, capacity: int) -> None:
        self._capacity = capacity
        self._numbers = _Numbers()
        self._columns: dict[Hashable, npt.NDArray[Any]] = {}
        self._filled: dict[Hashable, int] = {}

    def _column(self, key: Hashable, compute: Compute) -> npt.NDArray[Any]:
        filled = self._filled.get(key, 0)
        new = len(self._numbers) - filled
        if new or key not in self._columns:
            values = compute(list(islice(reversed(self._numbers), new))[::-1])
            if not filled:
                # Room for all at once; the system gives memory only to what is written to.
                self._columns[key] = np.empty(self._capacity, values.dtype)
            self._columns[key][filled : filled + new] = values
            self._filled[key] = filled + new
        return self._columns[key]


class _Numbers(dict[str, int]):
    """Words, numbered as they are met."""

    def __init__(self) -> None:
        super().__init__()
        self.characters = 0

    def __missing__(self, word: str) -> int:
        self.characters += len(word)
        number = self[word] = len(self)
        return number


VOCABULARY = Vocabulary()
"""That of this process."""
