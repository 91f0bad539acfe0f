"""Words -> shingles, and which of them hold a stopword.

A shingle is a run of w words, one starting at every word. Advertisements, menus and link
lists are mostly nouns; sentences are not. A shingle without a stopword is therefore taken
for an advertisement and gives no feature (the essay tradition of simhash in web crawling;
Theobald, Siddharth and Paepcke 2008).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from dedup_filter.features.feature_hash import hash_shingles, hash_words
from dedup_filter.features.vocabulary import VOCABULARY

__all__ = ["Shingles"]

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Shingles:
    """The shingles of a text of n words: n - size + 1 of them, one for a shorter text."""

    word_hashes: npt.NDArray[np.uint64]
    """(n,)"""
    is_stopword: BoolArray
    """(n,)"""
    hashes: npt.NDArray[np.uint64]
    """(n - size + 1,)"""
    has_stopword: BoolArray
    """(n - size + 1,)"""
    feature_hash: str
    """By which function."""

    @classmethod
    def of(
        cls, words: Sequence[str], stopwords: frozenset[str], size: int, feature_hash: str = "xxh3"
    ) -> "Shingles":
        """Cut the words into shingles of `size` words. Cost: 0.05 ms for 1,000 words."""
        word_hashes, is_stopword = VOCABULARY.look_up(
            words,
            {
                feature_hash: partial(hash_words, feature_hash=feature_hash),
                stopwords: partial(_are_in, stopwords),
            },
        )
        hashes = hash_shingles(word_hashes, size)
        has_stopword = np.zeros(len(hashes), np.bool_)
        for start in range(min(size, len(words))):
            has_stopword |= is_stopword[start : start + len(hashes)]
        return cls(word_hashes, is_stopword, hashes, has_stopword, feature_hash)

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def in_sentence(self) -> BoolArray:
        """Which words, (n,), stand in a shingle that holds a stopword."""
        covered = np.zeros(len(self.word_hashes), np.bool_)
        size = len(covered) - len(self) + 1
        for start in range(size):
            covered[start : start + len(self)] |= self.has_stopword
        return covered


def _are_in(chosen: frozenset[str], words: Sequence[str]) -> BoolArray:
    return np.fromiter(map(chosen.__contains__, words), np.bool_, len(words))
