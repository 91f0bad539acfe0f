"""Text -> words, whatever scripts it mixes.

A text is cut into runs of one kind of script, and each run into words:

    spaced scripts (Latin, Cyrillic, Arabic, Devanagari …)   at what is no letter, mark or digit
    Chinese characters                                       by jieba's dictionary
    Japanese (kana, and Chinese characters among them)       into overlapping pairs
    Hangul                                                   into overlapping pairs, word by word
    Thai, Lao, Khmer, Burmese, Tibetan                       into overlapping triples

So "Python编程入门 for 初学者" gives words of both languages in their order, and no script is
passed over in silence. Pairs and triples of characters stand in for words where words are not
marked off (the CJK analysers of search engines do the same); a triple for alphabets, whose
pairs are too few to tell texts apart.

Expects text as `text.normalize` leaves it. Cost: 0.2 ms for 15,000 characters of English;
what `chinese` takes and a third more for Chinese.
"""

import re
from typing import NamedTuple

from dedup_filter.features.chinese import chinese_cutter

__all__ = ["Tokens", "tokens"]

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
_UNSPACED_ALPHABETS = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
# Python's \w leaves out the marks that carry the vowels of Hebrew, Arabic and the scripts of
# India: without them a word of Hindi falls to pieces.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0971-\u0df3"
)

_SPACED_WORD = re.compile(rf"[\w{_MARKS}]+(?:['’][\w{_MARKS}]+)*")
_ASCII = bytes(range(0x80))
_SPACE_BETWEEN_WORDS = bytes(
    code if code >= 0x80 or chr(code).isalnum() or chr(code) in "_'" else 0x20
    for code in range(256)
)
"""A table for bytes of UTF-8: what is ASCII and in no word becomes a space."""
_SEPARATOR_BEYOND_ASCII = re.compile(rf"[^\w{_MARKS}’]")
_MANY_SEPARATORS = 20
_LOOSE_APOSTROPHES = {
    apostrophe: re.compile(rf"{apostrophe}(?:(?![^\s'’])|(?<![^\s'’]{apostrophe}))")
    for apostrophe in "'’"
}
"""Those that are not within a word. The two kinds are searched for one after the other: what all
matches begin with is found four times as fast as one of two. What the first search makes spaces
is no more part of a word than it was."""
_BETWEEN_RUNS = "\n"
_WORDLESS = frozenset(" ,.:;!?()\"'。、“”‘’《》〈〉「」【】·—…\n")
"""What most often stands between runs of Chinese."""
_UNSPACED_RUNS = re.compile(f"([{_HAN}{_KANA}{_HANGUL}{_UNSPACED_ALPHABETS}]+)")
_UNSPACED_BUT_HAN = re.compile(f"[{_KANA}{_HANGUL}{_UNSPACED_ALPHABETS}]")
_HAN_CHARACTER = re.compile(f"[{_HAN}]")
_KANA_CHARACTER = re.compile(f"[{_KANA}]")
_CHINESE = re.compile(
    f"(?P<dictionary>[{_HAN}]+)|(?P<pairs>[{_KANA}{_HANGUL}]+)|(?P<triples>[{_UNSPACED_ALPHABETS}]+)"
)
_JAPANESE = re.compile(
    f"(?P<pairs>[{_HAN}{_KANA}]+|[{_HANGUL}]+)|(?P<triples>[{_UNSPACED_ALPHABETS}]+)"
)
_JAPANESE_KANA = 0.2
"""Kana to each Chinese character from which a text is Japanese. Japanese prose has more than
one; a Chinese text has a brand name now and then."""
_WORDS_A_PAIR, _WORDS_A_TRIPLE = 0.5, 0.2
"""What one n-gram counts for where words are counted: a word of Japanese or Korean takes two
characters, one of Thai five."""


class Tokens(NamedTuple):
    """The words of a text in their order, and how many words that text has."""

    words: list[str]
    word_count: int
    """Less than `len(words)` where overlapping n-grams stand for words."""


def tokens(text: str) -> Tokens:
    """Cut a normalised text into words.

    >>> tokens("don't 在网上 panic").words
    ["don't", '在', '网上', 'panic']
    >>> tokens("わかりました").words
    ['わか', 'かり', 'りま', 'まし', 'した']
    """
    body = text.encode("utf-8", "surrogatepass")
    # Looking for what is not ASCII takes less time in a text without what is.
    beyond_ascii = body.translate(None, _ASCII).decode("utf-8", "surrogatepass")
    if not _UNSPACED_RUNS.search(beyond_ascii):
        words = _spaced(text, body, beyond_ascii)
        return Tokens(words, len(words))
    parts = _UNSPACED_RUNS.split(text)
    if not _UNSPACED_BUT_HAN.search(beyond_ascii):
        return _chinese(parts)
    return _mixed(parts, _CHINESE if _is_chinese(text) else _JAPANESE)


def _spaced(text: str, body: bytes, beyond_ascii: str) -> list[str]:
    """Return the matches of `_SPACED_WORD` in a text, three times as fast.

    Everything that is in no word is made a space, which takes a table for ASCII and a
    replacement for each of the few other separators that a text has; then it is split.
    """
    separators = set(_SEPARATOR_BEYOND_ASCII.findall(beyond_ascii))
    if len(separators) > _MANY_SEPARATORS:
        return _SPACED_WORD.findall(text)
    spaced = body.translate(_SPACE_BETWEEN_WORDS).decode("utf-8", "surrogatepass")
    for separator in separators:
        spaced = spaced.replace(separator, " ")
    for apostrophe, loose in _LOOSE_APOSTROPHES.items():
        if apostrophe in spaced:
            spaced = loose.sub(" ", spaced)
    return spaced.split()


def _chinese(parts: list[str]) -> Tokens:
    """Cut runs of Chinese characters, at the odd places, and what is between them.

    All runs are cut in one call, which takes two thirds of the time: the dictionary's words do
    not reach over what parts them, and that comes back as a word of its own.
    """
    words = _SPACED_WORD.findall(parts[0])
    between = iter(parts[2::2])
    for word in chinese_cutter()(_BETWEEN_RUNS.join(parts[1::2])):
        if word != _BETWEEN_RUNS:
            words.append(word)
            continue
        spaced = next(between)
        if spaced not in _WORDLESS:
            words += _SPACED_WORD.findall(spaced)
    words += _SPACED_WORD.findall(parts[-1])
    return Tokens(words, len(words))


def _is_chinese(text: str) -> bool:
    kana = len(_KANA_CHARACTER.findall(text))
    return kana <= _JAPANESE_KANA * len(_HAN_CHARACTER.findall(text))


def _mixed(parts: list[str], scripts: re.Pattern[str]) -> Tokens:
    words: list[str] = []
    count = 0.0
    for number, part in enumerate(parts):
        if number % 2 == 0:  # re.split puts what its group matched at the odd places
            cut = _SPACED_WORD.findall(part)
            words += cut
            count += len(cut)
            continue
        for run in scripts.finditer(part):
            cut, worth = _cut_run(run[0], run.lastgroup)
            words += cut
            count += len(cut) * worth
    return Tokens(words, round(count))


def _cut_run(run: str, kind: str | None) -> tuple[list[str], float]:
    """Return the words of a run of one script, and what each of them counts for."""
    if kind == "dictionary":
        return chinese_cutter()(run), 1.0
    if kind == "pairs":
        return _character_ngrams(run, 2), _WORDS_A_PAIR
    return _character_ngrams(run, 3), _WORDS_A_TRIPLE


def _character_ngrams(run: str, size: int) -> list[str]:
    return [run[start : start + size] for start in range(max(len(run) - size + 1, 1))]
