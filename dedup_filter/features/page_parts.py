"""Title, headings and images of a page -> features of their own kinds, of constant weight.

The essay tradition of simhash in web crawling adds them to a page's shingles: "other features,
such as document title, text styled as headings", and embedded images by a plain hash of each,
with a weight that is constant for a type of feature.

    title     the shingles of the page's title
    heading   the shingles of each heading within the main content
    image     the URL, or the bytes, of each image within the main content

Each distinct feature counts once, with the weight of its kind: never by how often or where it
stands. A kind's name is hashed into its features, so that a title's shingle is another feature
than the same words in the text. Were it the same, a heading's weight would be added to that of
a shingle which the text has anyway, and its weight would no longer be that of a kind. The rule
of the stopword is not for them: titles and headings hardly have any.

With weight 0 (the default) a kind gives no features and costs nothing. The confirming sketch is
made of the text's shingles alone, so these features decide which pages are compared, not
whether the two share their text.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.features.feature_hash import hash_of_kind, hash_shingles, hash_words
from dedup_filter.features.recipes import Features
from dedup_filter.features.tokens import tokens

__all__ = ["PartWeights", "image_features", "joined", "shingles_of_kind"]


class PartWeights(NamedTuple):
    """The weight of each feature of a kind, whole numbers; 0: not a feature."""

    title: int = 0
    heading: int = 0
    image: int = 0


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

    These hashes are XXH3 whatever the option `feature_hash` says: an image may have megabytes.
    """
    return _of_kind([np.array(list(images), np.uint64)], "image", weight)


def joined(parts: Iterable[Features]) -> Features:
    """Put features of several kinds together."""
    hashes, weights = zip(*parts, strict=True)
    return Features(np.concatenate(hashes), np.concatenate(weights))


def _of_kind(hashes: list[npt.NDArray[np.uint64]], kind: str, weight: int) -> Features:
    distinct = np.unique(np.concatenate([np.zeros(0, np.uint64), *hashes]))
    return Features(hash_of_kind(distinct, kind), np.full(len(distinct), weight, np.int64))
