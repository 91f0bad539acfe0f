"""Text -> everything that a recipe for features may ask of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from dedup_filter.features.shingles import Shingles
from dedup_filter.features.stopwords import detect_language, is_borne_out, stopwords
from dedup_filter.features.tokens import tokens

__all__ = ["Analysis", "analyse"]


@dataclass(frozen=True, slots=True)
class Analysis:
    """A text taken apart."""

    text: str
    """As it was given: normalised."""
    words: Sequence[str]
    word_count: int
    """As a reader would count, see `Tokens`."""
    language: str | None
    shingles: Shingles


def analyse(
    text: str,
    *,
    declared_language: str | None = None,
    shingle_size: int = 3,
    feature_hash: str = "xxh3",
) -> Analysis:
    """Take a normalised text apart. Cost: 0.5 ms for 1,000 words."""
    words, word_count = tokens(text)
    cut = partial(Shingles.of, words, size=shingle_size, feature_hash=feature_hash)
    if declared_language is not None:
        shingles = cut(stopwords(declared_language))
        if is_borne_out(shingles.is_stopword):
            return Analysis(text, words, word_count, declared_language, shingles)
    language = detect_language(words)
    return Analysis(text, words, word_count, language, cut(stopwords(language)))
