"""Analysed text -> weighted features; title, headings and images -> features of other kinds.

Recipes for the features of a text:

    content     the words of the shingles within sentences, without stopwords, weight sqrt(tf).
                Words tolerate a shifted boundary, shingles do not; with the square root, no
                frequent word decides every bit. The best affordable recipe
                (docs/decisions/0002).
    shingles    the shingles within sentences (see `analysis`), weight tf: the classic recipe
                of simhash in web crawling (Manku, Jain and Das Sarma 2007).
    words       all words, weight tf: as IKAnalyzer with FNV-1 in the classic Java program.
    keywords    the 200 words of the highest tf-idf, weight tf-idf: as jieba with simhash.

A text with hardly any sentences (a table, a listing, a language without a word list) would be
judged by its few sentences, which may belong to its template. So in such a text every word counts.
Weights depend on a feature and its frequency, never on its place: otherwise a paragraph put in
front would change all other weights.

Chinese keywords come from `jieba.analyse.extract_tags(topK=200, withWeight=True)`, with the idf
table of jieba. jieba gives all words outside its table the same rarity. Other languages have no
such table, so all their words are equally rare: their keywords are the most frequent words that are
no stopwords, weighted by their frequency.

Parts of a page. Essays on simhash in web crawling often add "other features, such as
document title, text styled as headings", and a plain hash of each embedded image, with a constant
weight for each kind:

    title     the shingles of the page's title
    heading   the shingles of each heading within the main content
    image     the URL, or the bytes, of each image within the main content

Each distinct feature counts once, whatever its number and place. The name of a kind is hashed into
its features, so the same words in the text are another feature: otherwise the weight of a heading
would be added to a shingle that the text has anyway. Titles and headings hardly have stopwords, so
they need not be sentences. The confirming sketch is made of the text's shingles alone: features of
parts decide which pages are compared, not whether two pages share their text.
"""

import logging
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from functools import cache, partial
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.features.analysis import Analysis, hash_of_kind, hash_shingles, hash_words
from dedup_filter.features.languages import stopwords
from dedup_filter.features.tokens import tokens

_SENTENCES = 0.2
"""A text with at least this share of its shingles within sentences consists of sentences."""
WEIGHT_UNIT = 256
"""Fractional weights, of "content" and "keywords", are rounded to multiples of 1/256, and stored as
numbers of 1/256: `simhash` needs whole numbers."""
_TOP_KEYWORDS = 200


class Features(NamedTuple):
    """Distinct feature hashes, (n,), and the weight of each, (n,)."""

    hashes: npt.NDArray[np.uint64]
    weights: npt.NDArray[np.int64]


class PartWeights(NamedTuple):
    """The weight of each feature of a kind, whole numbers."""

    title: int = 0
    heading: int = 0
    image: int = 0


def content_features(analysis: Analysis) -> Features:
    """Return the content words of the sentences, weighted by the square root of their count."""
    chosen = ~analysis.words.values.is_stopword
    if consists_of_sentences(analysis):
        chosen &= analysis.in_sentence
    hashes, counts = _counted(analysis.words.values.hashes[chosen])
    return Features(hashes, _whole(np.sqrt(counts)))


def shingle_features(analysis: Analysis) -> Features:
    """Return the shingles within sentences, weighted by their count."""
    is_chosen = analysis.is_sentence if consists_of_sentences(analysis) else slice(None)
    return _counted(analysis.hashes[is_chosen])


def word_features(analysis: Analysis) -> Features:
    """Return all words, weighted by their count."""
    return _counted(analysis.words.values.hashes)


def keyword_features(analysis: Analysis) -> Features:
    """Return the keywords, weighted by tf-idf."""
    found = keywords(analysis)
    hashes = hash_words([word for word, _ in found], analysis.words.feature_hash)
    weights = np.array([weight for _, weight in found])
    return Features(hashes, _whole(weights * len(analysis.words.values.hashes)))


def keywords(analysis: Analysis) -> list[tuple[str, float]]:
    """Return the keywords of a text with their tf-idf."""
    language = analysis.words.language
    if language == "zh":
        return _chinese_keywords()(analysis.text)
    return _frequent_words(analysis.tokens, stopwords(language))


RECIPES: dict[str, Callable[[Analysis], Features]] = {
    "content": content_features,
    "shingles": shingle_features,
    "words": word_features,
    "keywords": keyword_features,
}
"""The values of the option `features`."""


def part_features(
    title: str,
    headings: Iterable[str],
    images: Sequence[int],
    weights: PartWeights,
    size: int = 3,
    feature_hash: str = "xxh3",
) -> Features:
    """Return the features of a normalised title, normalised headings and 64-bit hashes of images.

    Image hashes are XXH3, whatever the option `feature_hash`: an image may have megabytes.
    """

    def shingles(text: str) -> list[int]:
        hashes: list[int] = hash_shingles(hash_words(tokens(text), feature_hash), size).tolist()
        return hashes

    kinds = {"title": shingles(title), "heading": chain(*map(shingles, headings)), "image": images}
    distinct = [
        hash_of_kind(np.unique(np.array(list(hashes), np.uint64)), kind)
        for kind, hashes in kinds.items()
    ]
    return Features(
        np.concatenate(distinct), np.repeat(np.array(weights), list(map(len, distinct)))
    )


def consists_of_sentences(analysis: Analysis) -> bool:
    """Return whether enough shingles of a text are within sentences; else all its words count."""
    return int(np.count_nonzero(analysis.is_sentence)) >= _SENTENCES * len(analysis.hashes)


def _counted(hashes: npt.NDArray[np.uint64]) -> Features:
    """Weigh hashes by their count. Cost: half as much as `np.unique`."""
    ordered = np.sort(hashes)
    is_first = np.ones(len(ordered) + 1, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:-1])
    (starts,) = is_first.nonzero()  # and the end
    return Features(ordered[starts[:-1]], starts[1:] - starts[:-1])


def _whole(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    return np.rint(weights * WEIGHT_UNIT).astype(np.int64)


def _frequent_words(words: Iterable[str], left_out: Set[str]) -> list[tuple[str, float]]:
    counts = Counter(word for word in words if len(word) > 1 and word not in left_out)
    total = counts.total()
    # Ties go to the first words in the alphabet, not in the text, because the choice must not
    # depend on the place of a word.
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(word, count / total) for word, count in ranked[:_TOP_KEYWORDS]]


@cache
def _chinese_keywords() -> Callable[[str], list[tuple[str, float]]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba's own: pkg_resources, string escapes, open files
        import jieba
        from jieba.analyse import TFIDF

        jieba.setLogLevel(logging.WARNING)
        return partial(TFIDF().extract_tags, topK=_TOP_KEYWORDS, withWeight=True)
