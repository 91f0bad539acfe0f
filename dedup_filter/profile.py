"""Document -> profile: everything of a page that its judgement is made from.

    text -> normalised -> digest                                        (exact repeats)
                       -> words -> shingles -> features -> fingerprint  (candidates)
                                            -> sketch                   (confirmation)

Pure: the same document and options give the same profile on every machine. What shapes a
profile must not change under an index that was filled with it.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import xxhash

from dedup_filter.config import FilterConfig
from dedup_filter.features import (
    RECIPES,
    Analysis,
    Features,
    analyse,
    image_features,
    joined,
    shingles_of_kind,
    tokens,
)
from dedup_filter.fingerprints import simhash, sketch
from dedup_filter.model import Document
from dedup_filter.text import normalize

__all__ = ["MIN_WORDS", "PageProfile", "fingerprint", "is_long_enough", "profile"]

MIN_WORDS = 60
"""With fewer words one edited sentence moves a quarter of the bits, and two pages of one
template lie closer than two versions of one page: no near-duplicate verdict is given."""

MIN_WORDS_OF_REPEATS = 20
"""With fewer words (an ordinary sentence) even the same text is no proof: "Photo: Reuters",
"No results". Then title and all other text of the page must be the same too."""


@dataclass(frozen=True, slots=True)
class PageProfile:
    """What is kept in mind of one page."""

    digest: bytes
    """16 bytes; equal for pages with the same normalised main text or, where that is too short
    to be judged by, with the same title (often all that tells them apart) and whole text."""
    word_count: int
    """Of the text that the page is judged by."""
    is_blank: bool
    """Whether nothing on the whole page is a letter or a digit."""
    language: str | None
    fingerprint: int
    sketch: npt.NDArray[np.uint8]
    shingles: int
    shingles_without_stopword: int

    @property
    def is_long_enough(self) -> bool:
        """Whether there are enough words for a near-duplicate verdict."""
        return self.word_count >= MIN_WORDS


def profile(document: Document, config: FilterConfig) -> PageProfile:
    """Measure a document. Cost: 0.5 ms for 1,000 words."""
    text = normalize(document.text)
    analysis = analyse(
        text,
        declared_language=document.language,
        shingle_size=config.shingle_size,
        feature_hash=config.feature_hash,
    )
    features = _features(document, analysis, config)
    shingles = analysis.shingles
    is_caption = analysis.word_count < MIN_WORDS_OF_REPEATS
    whole_text = (document.whole_text or document.text) if is_caption else text
    return PageProfile(
        digest=_digest(normalize(f"{document.title}\n{whole_text}") if is_caption else text),
        word_count=analysis.word_count,
        is_blank=is_caption and not any(map(str.isalnum, whole_text)),
        language=analysis.language,
        fingerprint=simhash(features.hashes, features.weights),
        sketch=sketch(shingles.hashes),
        shingles=len(shingles),
        shingles_without_stopword=int(np.count_nonzero(~shingles.has_stopword)),
    )


def is_long_enough(text: str) -> bool:
    """Tell whether a text has enough words for a near-duplicate verdict."""
    return tokens(normalize(text)).word_count >= MIN_WORDS


def fingerprint(text: str, **options: object) -> int:
    """Return the 64-bit fingerprint of a text; options as for `NearDuplicateFilter.open`."""
    if not isinstance(text, str):
        raise TypeError(f"a text is a str, not {type(text).__name__}")
    return profile(Document(text), FilterConfig.of(options)).fingerprint


def _features(document: Document, analysis: Analysis, config: FilterConfig) -> Features:
    """Return the features of a text by its recipe, and of the page around it where asked for."""
    features = RECIPES[config.features](analysis)
    weights = config.part_weights
    if not any(weights):
        return features
    shingles = partial(shingles_of_kind, size=config.shingle_size, feature_hash=config.feature_hash)
    return joined(
        [
            features,
            shingles([normalize(document.title)], "title", weights.title),
            shingles(map(normalize, document.headings), "heading", weights.heading),
            image_features(document.images, weights.image),
        ]
    )


def _digest(text: str) -> bytes:
    return xxhash.xxh3_128_digest(text.encode("utf-8", "surrogatepass"))
