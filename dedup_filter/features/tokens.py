"""Text -> words, whatever scripts it mixes.

A text is cut into runs of one kind of script, and each run into words:

    spaced scripts (Latin, Cyrillic, Arabic, Devanagari …)   at what is no letter, mark or digit
    Chinese characters                                       by jieba's dictionary
    Japanese (kana, and Chinese characters among them)       into overlapping pairs
    Hangul                                                   into overlapping pairs, word by word
    Thai, Lao, Khmer, Burmese, Tibetan                       into overlapping triples

So "Python编程入门 for 初学者" gives words of both languages in their order, and no script is left
out. Where nothing separates words, pairs and triples of characters stand for them, as in the CJK
analysers of search engines: triples in alphabets, whose pairs are too few to tell texts apart.

Expects normalised text (`text.normalize`). Cost: 0.2 ms for 15,000 characters of English;
what `chinese` takes and a third more for Chinese.
"""

import re
from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.features.chinese import chinese_cutter

__all__ = ["Tokens", "tokens", "tokens_of_parts"]

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
_UNSPACED_ALPHABETS = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
# Python's \w lacks the vowel marks of Hebrew, Arabic and the scripts of India: without them a word
# of Hindi falls to pieces.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0971-\u0df3"
)

_NEXT_PART = "\x1f"
"""Stands between the parts of a text: ASCII's unit separator, which no normal form has."""
_SPACED_WORD = re.compile(rf"[\w{_MARKS}]+(?:['’][\w{_MARKS}]+)*")
_SPACED_WORD_OR_NEXT_PART = re.compile(rf"{_SPACED_WORD.pattern}|{_NEXT_PART}")
_ASCII = bytes(range(0x80))
_SPACE_BETWEEN_WORDS = bytes(
    code if code >= 0x80 or chr(code).isalnum() or chr(code) in f"_'{_NEXT_PART}" else 0x20
    for code in range(256)
)
"""A table for bytes of UTF-8: ASCII that is in no word and not between parts becomes a space."""
_SEPARATOR_BEYOND_ASCII = re.compile(rf"[^\w{_MARKS}’]")
_MANY_SEPARATORS = 20
_LOOSE_APOSTROPHES = {
    apostrophe: re.compile(rf"{apostrophe}(?:(?![^\s'’])|(?<![^\s'’]{apostrophe}))")
    for apostrophe in "'’"
}
"""Apostrophes that are not within a word. Each kind has its own search: a pattern with one first
character is found four times as fast as one with two. What the first search makes spaces was in no
word, so the second finds what it would have found."""
_BETWEEN_RUNS = "\n"
_WORDLESS = frozenset(" ,.:;!?()\"'。、“”‘’《》〈〉「」【】·—…\n")
"""The most frequent texts between runs of Chinese: they have no word."""
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
_WORTH, _WORTH_OF_PAIR, _WORTH_OF_TRIPLE = 10, 5, 2
"""The worth of a word, a pair and a triple in the number of words, in tenths: a word of Japanese or
Korean takes two characters, one of Thai five."""


class Tokens(NamedTuple):
    """The words of a text in their order, and the worth of each in the number of words."""

    words: list[str]
    worths: npt.NDArray[np.uint8] | None = None
    """(n,), in tenths of a word; None: each counts as one."""

    @property
    def word_count(self) -> int:
        """How many words a reader would count: fewer than there are overlapping n-grams."""
        return len(self.words) if self.worths is None else _count(self.worths)

    def count(self, keep: npt.NDArray[np.bool_]) -> int:
        """Count in the same way the words where keep, (n,), is true."""
        return int(keep.sum()) if self.worths is None else _count(self.worths[keep])

    def part(self, keep: npt.NDArray[np.bool_]) -> "Tokens":
        """Return the words where keep, (n,), is true."""
        words = list(compress(self.words, keep.tolist()))
        return Tokens(words, None if self.worths is None else self.worths[keep])


def tokens(text: str) -> Tokens:
    """Cut a normalised text into words.

    >>> tokens("don't 在网上 panic").words
    ["don't", '在', '网上', 'panic']
    >>> tokens("わかりました").words
    ['わか', 'かり', 'りま', 'まし', 'した']
    """
    spaced = _spaced(text)
    if spaced is not None:
        return Tokens(spaced.split())
    (words,), worths = _unspaced([text])
    return Tokens(words, worths)


def tokens_of_parts(texts: Sequence[str]) -> tuple[Tokens, npt.NDArray[np.intp]]:
    """Cut the normalised parts of a text into words; return the number of each word's part, (n,).

    The words are those of the joined text, and none spans two parts. All parts together tell
    whether Chinese characters are Chinese or Japanese.

    >>> found, numbers = tokens_of_parts(["one two", "", "three"])
    >>> found.words, numbers.tolist()
    (['one', 'two', 'three'], [0, 0, 2])
    """
    spaced = _spaced(_NEXT_PART.join(texts))
    if spaced is not None:
        parts, worths = list(map(str.split, spaced.split(_NEXT_PART))), None
    else:
        parts, worths = _unspaced(texts)
    words = []
    for part in parts:
        words += part
    lengths = np.fromiter(map(len, parts), np.intp, len(parts))
    return Tokens(words, worths), np.repeat(np.arange(len(parts)), lengths)


def _spaced(text: str) -> str | None:
    """Return the matches of `_SPACED_WORD` separated by spaces; None: scripts without spaces.

    Whatever is in no word becomes a space, by a table for ASCII and one replacement for each of the
    few other separators of a text: three times as fast as the search.
    """
    body = text.encode("utf-8", "surrogatepass")
    # A search for what is not ASCII takes less time if the ASCII is left out.
    beyond_ascii = body.translate(None, _ASCII).decode("utf-8", "surrogatepass")
    if _UNSPACED_RUNS.search(beyond_ascii):
        return None
    separators = set(_SEPARATOR_BEYOND_ASCII.findall(beyond_ascii))
    if len(separators) > _MANY_SEPARATORS:
        return " ".join(_SPACED_WORD_OR_NEXT_PART.findall(text))
    spaced = body.translate(_SPACE_BETWEEN_WORDS).decode("utf-8", "surrogatepass")
    for separator in separators:
        spaced = spaced.replace(separator, " ")
    for apostrophe, loose in _LOOSE_APOSTROPHES.items():
        if apostrophe in spaced:
            spaced = loose.sub(" ", spaced)
    return spaced


def _unspaced(texts: Sequence[str]) -> tuple[list[list[str]], npt.NDArray[np.uint8] | None]:
    """Return the words of each text, and the worths of all of them."""
    runs = [_UNSPACED_RUNS.split(text) for text in texts]
    whole = " ".join(texts)
    if not _UNSPACED_BUT_HAN.search(whole):
        return _chinese(runs), None
    scripts = _CHINESE if _is_chinese(whole) else _JAPANESE
    parts = [_mixed(of_text, scripts) for of_text in runs]
    worths = b"".join([worths for _, worths in parts])
    return [words for words, _ in parts], np.frombuffer(worths, np.uint8)


def _chinese(runs: list[list[str]]) -> list[list[str]]:
    """Cut the runs of Chinese characters of each text, at the odd places, and the texts between.

    One call cuts all runs, in two thirds of the time: no word of the dictionary spans a line's end,
    which is returned as a word of its own.
    """
    body = _BETWEEN_RUNS.join([run for of_text in runs for run in of_text[1::2]])
    next_word = iter(chinese_cutter()(body)).__next__
    parts = []
    for of_text in runs:
        words = _SPACED_WORD.findall(of_text[0])
        for spaced in of_text[2::2]:
            words += iter(next_word, _BETWEEN_RUNS)
            if spaced not in _WORDLESS:
                words += _SPACED_WORD.findall(spaced)
        parts.append(words)
    return parts


def _is_chinese(text: str) -> bool:
    kana = len(_KANA_CHARACTER.findall(text))
    return kana <= _JAPANESE_KANA * len(_HAN_CHARACTER.findall(text))


def _mixed(runs: list[str], scripts: re.Pattern[str]) -> tuple[list[str], bytearray]:
    """Return the words of a text, and the worth of each."""
    words: list[str] = []
    worths = bytearray()
    for number, run in enumerate(runs):
        if number % 2 == 0:  # re.split puts what its group matched at the odd places
            cut = _SPACED_WORD.findall(run)
            words += cut
            worths += bytes([_WORTH]) * len(cut)
            continue
        for of_script in scripts.finditer(run):
            cut, worth = _cut_run(of_script[0], of_script.lastgroup)
            words += cut
            worths += bytes([worth]) * len(cut)
    return words, worths


def _cut_run(run: str, kind: str | None) -> tuple[list[str], int]:
    """Return the words of a run of one script, and the worth of each."""
    if kind == "dictionary":
        return chinese_cutter()(run), _WORTH
    if kind == "pairs":
        return _character_ngrams(run, 2), _WORTH_OF_PAIR
    return _character_ngrams(run, 3), _WORTH_OF_TRIPLE


def _character_ngrams(run: str, size: int) -> list[str]:
    return [run[start : start + size] for start in range(max(len(run) - size + 1, 1))]


def _count(worths: npt.NDArray[np.uint8]) -> int:
    return round(int(worths.sum(dtype=np.int64)) / _WORTH)
