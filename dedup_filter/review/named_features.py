"""A judged page -> the features of its fingerprint by name, with their weights and tallies.

Features are hashes. Their names are recovered by hashing all possible names: the words of the text,
its shingles or keywords, and the shingles of title and headings.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dedup_filter.config import FilterConfig
from dedup_filter.features.analysis import Analysis, hash_of_kind, hash_shingles, hash_words
from dedup_filter.features.recipes import WEIGHT_UNIT, keywords
from dedup_filter.features.tokens import tokens
from dedup_filter.fingerprints.profile import features_of
from dedup_filter.fingerprints.sketch import simhash, tallies
from dedup_filter.model import Document
from dedup_filter.text.plain_text import normalize

_IN_UNITS = ("content", "keywords")
"""Recipes with weights in `WEIGHT_UNIT`."""


class Feature(NamedTuple):
    """One feature of a text."""

    name: str
    kind: str
    """"text", "title", "heading" or "image"."""
    weight: float
    """As the recipe says: sqrt(count) for "content"."""


class Simhash(NamedTuple):
    """A fingerprint, with its features and tallies."""

    fingerprint: int | None
    """None: there are no features."""
    features: list[Feature]
    """By descending weight, then by name."""
    tallies: list[float]
    """For each bit, 63 first, the sum of the weights, added or subtracted."""


def simhash_of(document: Document, analysis: Analysis, config: FilterConfig) -> Simhash:
    """Make the fingerprint of a text of a page again, with its features and tallies."""
    found = features_of(document, analysis, config)
    unit = WEIGHT_UNIT if config.features in _IN_UNITS else 1
    names = dict(_names(document, analysis, config))
    features = [
        Feature(*names[each], weight / unit)
        for each, weight in zip(found.hashes.tolist(), found.weights.tolist(), strict=True)
    ]
    return Simhash(
        simhash(*found),
        sorted(features, key=lambda each: (-each.weight, each.name)),
        [each / unit for each in tallies(*found)],
    )


def advertisements(analysis: Analysis) -> list[str]:
    """Return the words, in rows, whose shingles belong to no sentence.

    They give no features, unless hardly any shingle belongs to a sentence.
    """
    rows: list[list[str]] = [[]]
    for word, is_in in zip(analysis.tokens, analysis.in_sentence.tolist(), strict=True):
        if not is_in:
            rows[-1].append(word)
        elif rows[-1]:
            rows.append([])
    return [" ".join(row) for row in rows if row]


def _names(
    document: Document, analysis: Analysis, config: FilterConfig
) -> Iterator[tuple[int, tuple[str, str]]]:
    """Yield the hash, the name and the kind of each possible feature."""
    if config.features == "shingles":
        hashes, names = analysis.hashes.tolist(), _shingles(analysis.tokens, config.shingle_size)
    elif config.features == "keywords":
        names = [word for word, _ in keywords(analysis)]
        hashes = hash_words(names, config.feature_hash).tolist()
    else:
        hashes, names = analysis.values.hashes.tolist(), analysis.tokens
    yield from ((each, (name, "text")) for each, name in zip(hashes, names, strict=True))
    size, parts = config.shingle_size, [("title", document.title)]
    parts += [("heading", each) for each in document.headings]
    for kind, text in parts if any(config.part_weights) else ():
        words = tokens(normalize(text))
        of_text = hash_shingles(hash_words(words, config.feature_hash), size)
        for each, name in zip(hash_of_kind(of_text, kind), _shingles(words, size), strict=True):
            yield int(each), (name, kind)
    images = np.array(document.images, np.uint64)
    for each, image in zip(hash_of_kind(images, "image"), document.images, strict=True):
        yield int(each), (f"{image:#018x}", "image")


def _shingles(words: list[str], size: int) -> list[str]:
    starts = range(max(len(words) - size + 1, min(len(words), 1)))
    return [" ".join(words[start : start + size]) for start in starts]
