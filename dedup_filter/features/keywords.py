"""Analysed text -> its keywords with tf-idf weights.

Chinese is jieba's own recipe, `jieba.analyse.extract_tags(topK=200, withWeight=True)`, with
the idf table that comes with it. For other languages there is no such table, and jieba's
rule for words that its table does not hold applies to all: they count as equally rare. What
is left are the most frequent words that are not stopwords, weighted by their frequency.
"""

import logging
import warnings
from collections import Counter
from collections.abc import Set
from functools import cache
from typing import Protocol

from dedup_filter.features.analysis import Analysis
from dedup_filter.features.stopwords import stopwords

__all__ = ["TOP_KEYWORDS", "keywords"]

TOP_KEYWORDS = 200


class _Extractor(Protocol):
    def extract_tags(
        self,
        sentence: str,
        topK: int,  # noqa: N803
        withWeight: bool,  # noqa: N803
    ) -> list[tuple[str, float]]: ...


def keywords(analysis: Analysis) -> dict[str, float]:
    """Return up to 200 keywords and the weight of each, which sum up to about one."""
    if analysis.language == "zh":
        extractor = _chinese_extractor()
        return dict(extractor.extract_tags(analysis.text, topK=TOP_KEYWORDS, withWeight=True))
    return _frequent_words(analysis, stopwords(analysis.language))


def _frequent_words(analysis: Analysis, left_out: Set[str]) -> dict[str, float]:
    counts = Counter(w for w in analysis.words if len(w) > 1 and w not in left_out)
    total = sum(counts.values())
    # Equally frequent words are taken in the order of the alphabet, not of the text: which
    # of them come last in the list must not depend on where they stand.
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {word: count / total for word, count in ranked[:TOP_KEYWORDS]}


@cache
def _chinese_extractor() -> _Extractor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba's own: pkg_resources, string escapes, open files
        import jieba
        from jieba.analyse import TFIDF

        jieba.setLogLevel(logging.WARNING)
        return TFIDF()  # type: ignore[no-any-return]
