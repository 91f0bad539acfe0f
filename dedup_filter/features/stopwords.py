"""Words -> the language they are written in, and which of them are stopwords.

Stopwords tell languages apart, and they are no features: pages share them whatever they say. The
lists are those of the `stopwords-iso` collection, 57 languages, and long; which words tell
sentences from what is not is told by `function_words`.

What the page says of its own language is believed if its words bear it out, because
templates carry `lang="en"` around the world. Otherwise the language whose stopwords cover
most of a sample of the words is taken.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from dedup_filter.features.vocabulary import VOCABULARY

__all__ = [
    "detect_language",
    "is_borne_out",
    "language_of_script",
    "own_stopwords",
    "stopwords",
]

_SAMPLE = 400
"""Words looked at: the first ones may be a title, a thousand would say no more."""
_BELIEVABLE = 0.2
"""Share of stopwords from which a declared language is believed. Running text of the
languages measured has 0.3 to 0.6 of them in their own list, other languages' below 0.15."""
_DETECTABLE = 0.1

_OF_ITS_SCRIPT = 0.1
"""Share of the characters of a text that are of the script of its language. A word of Chinese has
fewer than two characters where English has six, with the space: it is a fourth of the words."""
_JAPANESE = 0.2
"""Kana to each Chinese character from which a text is Japanese. Japanese prose has more than
one; a Chinese text has a brand name now and then."""
_ASCII = bytes(range(0x80))
_KANA = re.compile("[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f]+")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]+")
_HAN = re.compile("[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")


@cache
def stopwords(language: str | None) -> frozenset[str]:
    """Return a language's stopwords; none for an unknown language.

    Chinese, Japanese and Korean pages are full of English, so its stopwords count there too.
    """
    words = own_stopwords(language)
    return words | stopwords("en") if language in ("zh", "ja", "ko") else words


def own_stopwords(language: str | None) -> frozenset[str]:
    """Return a language's stopwords without those of English."""
    import stopwordsiso

    if language not in stopwordsiso.langs():
        return frozenset()
    return frozenset(stopwordsiso.stopwords(language))


def language_of_script(text: str) -> str | None:
    """Return the language that alone is written so: "zh", "ja" or "ko"; None for other scripts.

    Such pages are full of English, and templates around the world declare `lang="en"`: by their
    stopwords two copies of one text would be taken for texts of two languages.

    >>> language_of_script("用 lxml 解析网页"), language_of_script("naïve words")
    ('zh', None)
    """
    if text.isascii():
        return None
    # Most pages have little beyond ASCII, and so little is searched.
    beyond_ascii = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    searched = beyond_ascii.decode("utf-8", "surrogatepass")
    kana, hangul, han = (
        sum(map(len, script.findall(searched))) for script in (_KANA, _HANGUL, _HAN)
    )
    least = _OF_ITS_SCRIPT * len(text)
    if kana + han >= least and kana >= _JAPANESE * han:
        return "ja"
    if hangul >= least:
        return "ko"
    return "zh" if han >= least else None


def is_borne_out(are_stopwords: npt.NDArray[np.bool_]) -> bool:
    """Tell whether to believe that a text is in a language, given which words are its stopwords."""
    sample = are_stopwords[:_SAMPLE]
    return len(sample) > 0 and int(np.count_nonzero(sample)) / len(sample) >= _BELIEVABLE


def detect_language(words: Sequence[str]) -> str | None:
    """Return the language of the words as an ISO 639-1 code, None where nothing fits.

    >>> detect_language("der Hund und die Katze schlafen in dem Haus".lower().split())
    'de'
    """
    sample = words[:_SAMPLE]
    if not sample:
        return None
    language, hits = _best_covered(sample)
    return language if hits >= _DETECTABLE * len(sample) else None


def _best_covered(sample: Sequence[str]) -> tuple[str | None, int]:
    combinations = _combinations()
    (numbers,) = VOCABULARY.look_up(sample, {"languages": _numbers_of_combinations})
    hits: Counter[str] = Counter()
    for number, words in enumerate(np.bincount(numbers).tolist()):
        if words:
            for language in combinations[number]:
                hits[language] += words
    # Ties go to the first in the alphabet, so that a text has one language on every machine.
    return max(sorted(hits.items()), key=lambda item: item[1], default=(None, 0))


def _numbers_of_combinations(words: Sequence[str]) -> npt.NDArray[np.int16]:
    """Return the number of the combination of languages that each word is a stopword of."""
    numbers = _numbers_by_stopword()
    return np.fromiter((numbers.get(word, 0) for word in words), np.int16, len(words))


@cache
def _numbers_by_stopword() -> dict[str, int]:
    numbers = {languages: number for number, languages in enumerate(_combinations())}
    return {word: numbers[languages] for word, languages in _languages_by_stopword().items()}


@cache
def _combinations() -> list[tuple[str, ...]]:
    """List the distinct combinations of languages that share a stopword, first that of none."""
    return [(), *sorted(set(_languages_by_stopword().values()))]


@cache
def _languages_by_stopword() -> dict[str, tuple[str, ...]]:
    import stopwordsiso

    languages: dict[str, tuple[str, ...]] = {}
    for language in sorted(stopwordsiso.langs()):
        for word in stopwordsiso.stopwords(language):
            languages[word] = (*languages.get(word, ()), language)
    return languages
