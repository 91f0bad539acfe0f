"""Language -> its function words: those that hold its sentences together.

They tell sentences from what is not (see `shingles`), so there must be few of them, and none that
advertisements are made of. The lists of `stopwords` are too long: the English one has 1,298 words,
among them buy, free, order, home and page. But words that are frequent in running text and stand
in such a list are function words, in any language: the, of, and, in, to, a, was. Those of a
language are the 100 most frequent words of its Wikipedia (the lists of `justext`, most frequent
first) that are stopwords too. 49 languages have such a list.

Japanese, whose words here are pairs of characters, has a list of our own. In other languages,
Chinese, Korean and Thai among them, all stopwords are function words: in Chinese these hold
advertisements back as the short lists do elsewhere, and of Korean `justext` knows whole words only.

Cost: some milliseconds a language, once.
"""

from collections.abc import Iterable
from functools import cache
from importlib.metadata import distribution
from itertools import islice
from pathlib import Path

from dedup_filter.features.stopwords import own_stopwords
from dedup_filter.features.tokens import tokens

__all__ = ["function_words"]

_MOST_FREQUENT = 100
"""With 80, 5 % of the shingles of English terms of service are no sentence's; with 130, fewer than
half of those of calls to action are dropped (docs/decisions/0002)."""

_JUSTEXT_NAMES = {
    "af": "Afrikaans",
    "ar": "Arabic",
    "bg": "Bulgarian",
    "bn": "Bengali",
    "br": "Breton",
    "ca": "Catalan",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "eo": "Esperanto",
    "es": "Spanish",
    "et": "Estonian",
    "eu": "Basque",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "ga": "Irish",
    "gl": "Galician",
    "gu": "Gujarati",
    "he": "Hebrew",
    "hi": "Hindi",
    "hr": "Croatian",
    "hu": "Hungarian",
    "hy": "Armenian",
    "id": "Indonesian",
    "it": "Italian",
    "la": "Latin",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "mr": "Marathi",
    "ms": "Malay",
    "nl": "Dutch",
    "no": "Norwegian_Bokmal",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sv": "Swedish",
    "sw": "Swahili",
    "tl": "Tagalog",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "ur": "Urdu",
    "vi": "Vietnamese",
    "yo": "Yoruba",
}

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
def function_words(language: str | None) -> frozenset[str]:
    """Return a language's function words, cut as texts are; none for an unknown language.

    Chinese, Japanese and Korean pages are full of English, so its function words count there too.
    """
    words = frozenset(_own(language))
    return words | function_words("en") if language in ("zh", "ja", "ko") else words


def _own(language: str | None) -> list[str]:
    if language == "ja":
        return _JAPANESE.split()
    known = own_stopwords(language)
    if language not in _JUSTEXT_NAMES:
        return _cut(known)
    frequent = (word for word in _by_frequency(_JUSTEXT_NAMES[language]) if word in known)
    return _cut(islice(frequent, _MOST_FREQUENT))


def _by_frequency(name: str) -> list[str]:
    """Return the frequent words of a language, each once, the most frequent first."""
    # Only the list is read: to import justext takes packages that nothing else here needs.
    listed = distribution("justext").locate_file(f"justext/stoplists/{name}.txt")
    return list(dict.fromkeys(Path(str(listed)).read_text("utf-8").casefold().split()))


def _cut(words: Iterable[str]) -> list[str]:
    return [cut for word in words for cut in tokens(word).words]
