"""Analysed text -> weighted features; title, headings and images -> features of other kinds.

Recipes for the features of a text:

    content     the words of the shingles that are a sentence's, without stopwords, weight sqrt(tf).
                Words tolerate a shifted boundary that shingles do not; the square root keeps one
                frequent word from deciding every bit. The best that can be afforded
                (docs/decisions/0002).
    shingles    the shingles that are a sentence's (see `shingles`), weight tf: the classic recipe
                of simhash in web crawling (Manku, Jain and Das Sarma 2007).
    words       all words, weight tf: as IKAnalyzer with FNV-1 in the classic Java program.
    keywords    the 200 words of the highest tf-idf, weight tf-idf: as jieba with simhash.

A text with hardly any sentences (a table, a listing, a language without a word list) would be
judged by the few it has, which may be its template's. So in such a text every word counts.
Weights depend on a feature and how often it occurs, never on where it stands: otherwise a paragraph
put in front would change all other weights.

Keywords of Chinese are those of `jieba.analyse.extract_tags(topK=200, withWeight=True)`, by the idf
table that comes with jieba. Other languages have no such table. jieba takes words that its table
lacks for equally rare, and so are all of theirs: the most frequent words that are no stopwords,
weighted by their frequency.

Parts of a page. The essay tradition of simhash in web crawling adds "other features, such as
document title, text styled as headings", and a plain hash of each embedded image, with a weight
that is constant for a kind:

    title     the shingles of the page's title
    heading   the shingles of each heading within the main content
    image     the URL, or the bytes, of each image within the main content

Each distinct feature counts once, whatever its number and place. The name of a kind is hashed into
its features, so the same words in the text are another feature: otherwise the weight of a heading
would be added to a shingle that the text has anyway. Titles and headings hardly have stopwords, so
they need not be sentences. With weight 0 (the default) a kind gives no features and costs nothing.
The confirming sketch is made of the text's shingles alone: these features decide which pages are
compared, not whether two pages share their text.
"""

import logging
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Set
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from dedup_filter.features.analysis import Analysis
from dedup_filter.features.languages import stopwords
from dedup_filter.features.shingles import Shingles
from dedup_filter.features.tokens import tokens
from dedup_filter.features.vocabulary import hash_of_kind, hash_shingles, hash_words

__all__ = [
    "RECIPES",
    "Features",
    "PartWeights",
    "image_features",
    "joined",
    "shingles_of_kind",
]

_SENTENCES = 0.2
"""Share of shingles that are a sentence's from which a text consists of sentences."""
_WEIGHT_UNIT = 256
"""Fractional weights are rounded to multiples of 1/256: `simhash` needs whole numbers."""
_TOP_KEYWORDS = 200


class Features(NamedTuple):
    """Distinct feature hashes, (n,), and the weight of each, (n,)."""

    hashes: npt.NDArray[np.uint64]
    weights: npt.NDArray[np.int64]


class PartWeights(NamedTuple):
    """The weight of each feature of a kind, whole numbers; 0: the kind gives no features."""

    title: int = 0
    heading: int = 0
    image: int = 0


class _Extractor(Protocol):
    def extract_tags(
        self,
        sentence: str,
        topK: int,  # noqa: N803
        withWeight: bool,  # noqa: N803
    ) -> list[tuple[str, float]]: ...


def content_features(analysis: Analysis) -> Features:
    """Return the content words of the sentences, weighted by the square root of their count."""
    shingles = analysis.shingles
    chosen = ~shingles.is_stopword
    if _consists_of_sentences(shingles):
        chosen &= shingles.in_sentence
    hashes, counts = _counted(shingles.word_hashes[chosen])
    return Features(hashes, _whole(np.sqrt(counts)))


def shingle_features(analysis: Analysis) -> Features:
    """Return the shingles that are a sentence's, weighted by their count."""
    shingles = analysis.shingles
    chosen = shingles.hashes
    if _consists_of_sentences(shingles):
        chosen = chosen[shingles.is_sentence]
    return _counted(chosen)


def word_features(analysis: Analysis) -> Features:
    """Return all words, weighted by their count."""
    return _counted(analysis.shingles.word_hashes)


def keyword_features(analysis: Analysis) -> Features:
    """Return the keywords, weighted by tf-idf."""
    weights = _keywords(analysis)
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


def shingles_of_kind(
    texts: Iterable[str], kind: str, weight: int, size: int, feature_hash: str = "xxh3"
) -> Features:
    """Return the shingles of normalised texts, each cut by itself, as features of a kind."""
    hashes = [
        hash_shingles(hash_words(words, feature_hash), size)
        for words in (tokens(text).words for text in texts)
        if words
    ]
    return _of_kind(hashes, kind, weight)


def image_features(images: Iterable[int], weight: int) -> Features:
    """Return images, given as 64-bit hashes, as features.

    These hashes are XXH3 whatever the option `feature_hash`: an image may have megabytes.
    """
    return _of_kind([np.array(list(images), np.uint64)], "image", weight)


def joined(parts: Iterable[Features]) -> Features:
    """Join features of several kinds."""
    hashes, weights = zip(*parts, strict=True)
    return Features(np.concatenate(hashes), np.concatenate(weights))


def _consists_of_sentences(shingles: Shingles) -> bool:
    return int(np.count_nonzero(shingles.is_sentence)) >= _SENTENCES * len(shingles)


def _counted(hashes: npt.NDArray[np.uint64]) -> Features:
    """Weigh hashes by their count. Cost: half of that of `np.unique`."""
    ordered = np.sort(hashes)
    is_first = np.ones(len(ordered) + 1, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:-1])
    (starts,) = is_first.nonzero()  # and the end
    return Features(ordered[starts[:-1]], starts[1:] - starts[:-1])


def _whole(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    return np.rint(weights * _WEIGHT_UNIT).astype(np.int64)


def _keywords(analysis: Analysis) -> dict[str, float]:
    """Return up to 200 keywords and the weight of each, which sum up to about one."""
    if analysis.language == "zh":
        extractor = _chinese_extractor()
        return dict(extractor.extract_tags(analysis.text, topK=_TOP_KEYWORDS, withWeight=True))
    return _frequent_words(analysis, stopwords(analysis.language))


def _frequent_words(analysis: Analysis, left_out: Set[str]) -> dict[str, float]:
    counts = Counter(w for w in analysis.words if len(w) > 1 and w not in left_out)
    total = sum(counts.values())
    # Of equally frequent words the first in the alphabet are taken: not the first in the text, for
    # nothing may depend on where a word stands.
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {word: count / total for word, count in ranked[:_TOP_KEYWORDS]}


@cache
def _chinese_extractor() -> _Extractor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba's own: pkg_resources, string escapes, open files
        import jieba
        from jieba.analyse import TFIDF

        jieba.setLogLevel(logging.WARNING)
        return TFIDF()  # type: ignore[no-any-return]


def _of_kind(hashes: list[npt.NDArray[np.uint64]], kind: str, weight: int) -> Features:
    distinct = np.unique(np.concatenate([np.zeros(0, np.uint64), *hashes]))
    return Features(hash_of_kind(distinct, kind), np.full(len(distinct), weight, np.int64))
