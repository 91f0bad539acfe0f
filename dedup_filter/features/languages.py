"""Words -> their language; language -> its stopwords and its function words.

Stopwords tell languages apart, and they are no features: pages share them whatever they say. The
lists are those of the `stopwords-iso` collection, 57 languages.

The language that a page declares is believed if enough of its words are stopwords of it, because
templates around the world carry `lang="en"`. Otherwise it is the language whose stopwords cover
most of a sample of the words.

Function words hold sentences together, and tell them from what is no sentence (see `shingles`). So
there must be few of them, and none of which advertisements are made. The stopword lists are too
long: the English one has 1,298 words, among them buy, free, order, home and page. But a stopword
that is frequent in running text is a function word, in any language: the, of, and, in, to, a, was.
So the function words of a language are those of its stopwords that are among the most frequent
words of its Wikipedia (the lists of `justext`, most frequent first), 100 at most. 49 languages have
such a list.

Japanese, whose words here are pairs of characters, has a list of our own. In other languages,
Chinese, Korean and Thai among them, all stopwords are function words: for Chinese they work as well
as the short lists do elsewhere, and the list of `justext` for Korean has whole words only.

Cost: some milliseconds a language, once; 0.1 ms to detect a language.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import distribution
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dedup_filter.features.tokens import tokens
from dedup_filter.features.vocabulary import VOCABULARY

__all__ = [
    "detect_language",
    "function_words",
    "is_borne_out",
    "language_of_script",
    "stopwords",
]

_SAMPLE = 400
"""Words of a sample: the first ones may be a title, and a thousand tell no more."""
_BELIEVABLE = 0.2
"""Share of stopwords from which a declared language is believed. Of running text in the languages
measured, 0.3 to 0.6 of the words are in its own list, and below 0.15 in any other."""
_DETECTABLE = 0.1

_OF_ITS_SCRIPT = 0.1
"""Share of the characters from which a script tells the language of a text. A word of Chinese has
fewer than two characters, one of English six with its space: so this is a fourth of the words."""
_LEAST_KANA = 0.2
"""Kana to each Chinese character from which a text is Japanese. Japanese prose has more than
one; a Chinese text has a brand name now and then."""
_ASCII = bytes(range(0x80))
_KANA = re.compile("[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f]+")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]+")
_HAN = re.compile("[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")

_MOST_FREQUENT = 100
"""With 80, 5 % of the shingles of English terms of service are no sentence's; with 130, fewer than
half of the shingles of calls to action are dropped (docs/decisions/0002)."""

_JUSTEXT_NAMES = dict(
    pair.split(":")
    for pair in """
    af:Afrikaans ar:Arabic bg:Bulgarian bn:Bengali br:Breton ca:Catalan cs:Czech da:Danish
    de:German el:Greek en:English eo:Esperanto es:Spanish et:Estonian eu:Basque fa:Persian
    fi:Finnish fr:French ga:Irish gl:Galician gu:Gujarati he:Hebrew hi:Hindi hr:Croatian
    hu:Hungarian hy:Armenian id:Indonesian it:Italian la:Latin lt:Lithuanian lv:Latvian mr:Marathi
    ms:Malay nl:Dutch no:Norwegian_Bokmal pl:Polish pt:Portuguese ro:Romanian ru:Russian sk:Slovak
    sl:Slovenian sv:Swedish sw:Swahili tl:Tagalog tr:Turkish uk:Ukrainian ur:Urdu vi:Vietnamese
    yo:Yoruba
    """.split()
)
"""The names of the lists of `justext` by language."""

_JAPANESE = """
する ます され こと てい して ある この しま れる ない いる でき るこ であ って れた では れて
した れま には ると から です その これ りま とが にな ため よう きま がで った とし いて きる
それ れば ませ せん によ だけ もの また なる いま るか より があ うに あり ての るの しな ので
れは すべ うこ べて なっ とに いな なり めに とも たと よっ るた たは とい とき けれ られ いう
とで われ えば のよ なく なけ らな つの にあ いた まで らの のみ とを なら どの はな ける れら
るよ さい ても れぞ ぞれ
"""
"""The 100 most frequent pairs of hiragana in Debian's Japanese manual pages (manpages-ja, 2022)."""


@cache
def stopwords(language: str | None) -> frozenset[str]:
    """Return a language's stopwords; none for an unknown language.

    Chinese, Japanese and Korean pages are full of English, so its stopwords count there too.
    """
    words = _own_stopwords(language)
    return words | stopwords("en") if language in ("zh", "ja", "ko") else words


@cache
def function_words(language: str | None) -> frozenset[str]:
    """Return a language's function words, cut by `tokens`; none for an unknown language.

    Chinese, Japanese and Korean pages are full of English, so its function words count there too.
    """
    words = frozenset(_own_function_words(language))
    return words | function_words("en") if language in ("zh", "ja", "ko") else words


def language_of_script(text: str) -> str | None:
    """Return the language that a script alone tells: "zh", "ja" or "ko"; None for other scripts.

    Such pages are full of English, and templates around the world declare `lang="en"`: stopwords
    could take two copies of one text for texts of two languages.

    >>> language_of_script("用 lxml 解析网页"), language_of_script("naïve words")
    ('zh', None)
    """
    if text.isascii():
        return None
    # Most pages have little beyond ASCII, and only that is searched.
    beyond_ascii = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    searched = beyond_ascii.decode("utf-8", "surrogatepass")
    kana, hangul, han = (
        sum(map(len, script.findall(searched))) for script in (_KANA, _HANGUL, _HAN)
    )
    least = _OF_ITS_SCRIPT * len(text)
    if kana + han >= least and kana >= _LEAST_KANA * han:
        return "ja"
    if hangul >= least:
        return "ko"
    return "zh" if han >= least else None


def is_borne_out(are_stopwords: npt.NDArray[np.bool_]) -> bool:
    """Tell whether to believe a declared language, given which words, (n,), are its stopwords."""
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
    (masks,) = VOCABULARY.look_up(sample, {"languages": _masks})
    are_stopwords = np.unpackbits(
        masks.astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little"
    )
    hits = are_stopwords.sum(axis=0, dtype=np.uint16)  # takes half the time of wider numbers
    # Of equal ones the first in the alphabet, so that a text has one language on every machine.
    best = int(hits.argmax())
    return _languages()[best] if hits[best] >= _DETECTABLE * len(sample) else None


def _own_stopwords(language: str | None) -> frozenset[str]:
    """Return a language's stopwords without those of English."""
    import stopwordsiso

    if language not in stopwordsiso.langs():
        return frozenset()
    return frozenset(stopwordsiso.stopwords(language))


def _own_function_words(language: str | None) -> list[str]:
    if language == "ja":
        return _JAPANESE.split()
    known = _own_stopwords(language)
    if language not in _JUSTEXT_NAMES:
        return _cut(known)
    frequent = (word for word in _by_frequency(_JUSTEXT_NAMES[language]) if word in known)
    return _cut(islice(frequent, _MOST_FREQUENT))


def _by_frequency(name: str) -> list[str]:
    """Return the frequent words of a language, each once, the most frequent first."""
    # The list is read as a file: importing justext needs packages that nothing else here needs.
    listed = distribution("justext").locate_file(f"justext/stoplists/{name}.txt")
    return list(dict.fromkeys(Path(str(listed)).read_text("utf-8").casefold().split()))


def _cut(words: Iterable[str]) -> list[str]:
    return [cut for word in words for cut in tokens(word).words]


def _masks(words: Sequence[str]) -> npt.NDArray[np.uint64]:
    """Return for each word, (n,), a bit for each of `_languages` that it is a stopword of."""
    masks = _mask_by_stopword()
    return np.fromiter((masks.get(word, 0) for word in words), np.uint64, len(words))


@cache
def _mask_by_stopword() -> dict[str, int]:
    masks: dict[str, int] = {}
    for number, language in enumerate(_languages()):
        for word in _own_stopwords(language):
            masks[word] = masks.get(word, 0) | 1 << number
    return masks


@cache
def _languages() -> list[str]:
    """Return the languages that have stopwords, in alphabetical order; there are 58."""
    import stopwordsiso

    return sorted(stopwordsiso.langs())
