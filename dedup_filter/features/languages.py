"""Words -> their language; language -> its stopwords and its function words.

Stopwords distinguish languages. They are no features, because pages share them whatever their
topic. The lists come from the `stopwords-iso` collection, 57 languages.

Function words occur in every sentence, but hardly in other text (see `analysis`). So the list must
be short, without typical words of advertisements. The stopword lists are too long: the English list
has 1,298 words, among them buy, free, order, home and page. But a stopword that is frequent in
running text is a function word, in any language: the, of, and, in, to, a, was.
So the function words of a language are its stopwords among the most frequent words of its
Wikipedia (the lists of `justext`, most frequent first), at most 100. 49 languages have such a list.

Japanese, whose words here are pairs of characters, has our own list. In other languages, including
Chinese, Korean and Thai, all stopwords are function words: for Chinese they work as well as the
short lists do elsewhere, and the list of `justext` for Korean has whole words only.

Cost: some milliseconds a language, once; 0.03 ms to detect a language.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import numpy as np

from dedup_filter.features.tokens import tokens_of_parts

SAMPLE = 400
"""First words by which a language is detected: a few may be a title; a thousand are no better."""
_COUNTER = np.dtype("<u2")
"""Counts words of a sample, up to 65,535."""
_DETECTABLE = 0.1
"""Minimum share of stopwords to detect a language."""

_FULL_OF_ENGLISH = ("zh", "ja", "ko")
"""Languages in whose pages English stopwords and function words count too."""

_MOST_FREQUENT = 100
"""With 80, 5 % of the shingles of English terms of service belong to no sentence; with 130, fewer
than half of the shingles of calls to action are dropped (docs/decisions/0002)."""

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
    """Return a language's stopwords; none for an unknown language."""
    words = _own_stopwords(language)
    return words | stopwords("en") if language in _FULL_OF_ENGLISH else words


@cache
def function_words(language: str | None) -> frozenset[str]:
    """Return a language's function words, cut by `tokens`; none for an unknown language."""
    known = _own_stopwords(language)
    words = list(known)
    if language == "ja":
        words = _JAPANESE.split()
    elif language in _JUSTEXT_NAMES:
        frequent = _by_frequency(_JUSTEXT_NAMES[language])
        words = [word for word in frequent if word in known][:_MOST_FREQUENT]
    cut = frozenset(tokens_of_parts(words).words)
    return cut | function_words("en") if language in _FULL_OF_ENGLISH else cut


def detect_language(words: Sequence[str]) -> str | None:
    """Return the language whose stopwords cover most of the words, as an ISO 639-1 code.

    None if no language fits.

    >>> detect_language("der Hund und die Katze schlafen in dem Haus".lower().split())
    'de'
    """
    sample = words[:SAMPLE]
    languages, counters = _counters_by_stopword()
    counts = sum(filter(None, map(counters.get, sample)))
    hits = np.frombuffer(counts.to_bytes(_COUNTER.itemsize * len(languages), "little"), _COUNTER)
    # Ties go to the first in the alphabet, so that a text has one language on every machine.
    best = int(hits.argmax())
    return languages[best] if 0 < hits[best] >= _DETECTABLE * len(sample) else None


@cache
def _counters_by_stopword() -> tuple[list[str], dict[str, int]]:
    """Return the languages in order, and for each stopword a 1 in the counters of its languages.

    The counters of all languages are one number, so that one addition counts a word in all of them.
    """
    import stopwordsiso

    languages, counters = sorted(stopwordsiso.langs()), defaultdict[str, int](int)
    for number, language in enumerate(languages):
        for word in _own_stopwords(language):
            counters[word] |= 1 << number * 8 * _COUNTER.itemsize
    return languages, dict(counters)


def _own_stopwords(language: str | None) -> frozenset[str]:
    """Return a language's stopwords, without added English ones."""
    import stopwordsiso

    return frozenset(stopwordsiso.stopwords(language or ""))


def _by_frequency(name: str) -> list[str]:
    """Return the frequent words of a language, each once, the most frequent first."""
    # The list is read as a file: importing justext needs packages that nothing else here needs.
    listed = distribution("justext").locate_file(f"justext/stoplists/{name}.txt")
    return list(dict.fromkeys(Path(str(listed)).read_text("utf-8").casefold().split()))
