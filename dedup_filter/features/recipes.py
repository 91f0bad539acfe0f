"""Analysed text -> weighted features: what of a page the fingerprint is made of.

content     the words of the shingles that are a sentence's, without the stopwords
            among them, weight sqrt(tf). Words forgive a shifted boundary that shingles do
            not; the square root keeps one frequent word from deciding every bit. Measured
            best of all (docs/decisions/0001).
shingles    the shingles that are a sentence's (see `shingles`), weight tf: the classic recipe
            of simhash in web crawling (Manku, Jain and Das Sarma 2007).
words       all words, weight tf: as IKAnalyzer with FNV-1 in the classic Java program.
keywords    the 200 words of the highest tf-idf, weight tf-idf: as jieba with simhash.

A text that hardly has sentences (a table, a listing, a language without a word list)
would be judged by the few it has, which may be its template's. There every word counts.
Weights depend on what a feature is and how often it occurs, never on where it stands:
otherwise a paragraph put in front would change the weight of all others.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.features.analysis import Analysis
from dedup_filter.features.feature_hash import hash_words
from dedup_filter.features.keywords import keywords
from dedup_filter.features.shingles import Shingles

__all__ = ["RECIPES", "Features"]

_SENTENCES = 0.2
"""Share of shingles that are a sentence's below which a text does not consist of sentences."""
_WEIGHT_UNIT = 256
"""Weights that are no whole numbers are rounded to multiples of 1/256 (see `simhash`)."""


class Features(NamedTuple):
    """Distinct feature hashes, (n,), and the weight of each, (n,)."""

    hashes: npt.NDArray[np.uint64]
    weights: npt.NDArray[np.int64]


def content_features(analysis: Analysis) -> Features:
    """Return the content words of the sentences, weighted by the square root of their count."""
    shingles = analysis.shingles
    chosen = ~shingles.is_stopword
    if _consists_of_sentences(shingles):
        chosen &= shingles.in_sentence
    hashes, counts = np.unique(shingles.word_hashes[chosen], return_counts=True)
    return Features(hashes, _whole(np.sqrt(counts)))


def shingle_features(analysis: Analysis) -> Features:
    """Return the shingles that are a sentence's, weighted by their count."""
    shingles = analysis.shingles
    chosen = shingles.hashes
    if _consists_of_sentences(shingles):
        chosen = chosen[shingles.is_sentence]
    return Features(*np.unique(chosen, return_counts=True))


def word_features(analysis: Analysis) -> Features:
    """Return all words, weighted by their count."""
    return Features(*np.unique(analysis.shingles.word_hashes, return_counts=True))


def keyword_features(analysis: Analysis) -> Features:
    """Return the keywords, weighted by tf-idf."""
    weights = keywords(analysis)
    hashes = hash_words(list(weights), analysis.shingles.feature_hash)
    values = np.fromiter(weights.values(), np.float64, len(weights))
    return Features(hashes, _whole(values * len(analysis.words)))


RECIPES: dict[str, Callable[[Analysis], Features]] = {
    "content": content_features,
    "shingles": shingle_features,
    "words": word_features,
    "keywords": keyword_features,
}
"""The values of the option `features`."""


def _consists_of_sentences(shingles: Shingles) -> bool:
    return int(np.count_nonzero(shingles.is_sentence)) >= _SENTENCES * len(shingles)


def _whole(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    return np.rint(weights * _WEIGHT_UNIT).astype(np.int64)
