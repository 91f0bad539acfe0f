"""Text -> words, whatever scripts it mixes.

A text is cut into runs of one kind of script, and each run into words:

    spaced scripts (Latin, Cyrillic, Arabic, Devanagari …)   at all but letters, marks and digits
    Chinese characters                                       by jieba's dictionary
    Japanese (kana, and Chinese characters among them)       into overlapping pairs
    Hangul                                                   into overlapping pairs, word by word
    Thai, Lao, Khmer, Burmese, Tibetan                       into overlapping triples

A sign with a meaning is a word or a part of one (`signs`): "wifi ✓" and "wifi ✗", "-5" and "5".

So "Python编程入门 for 初学者" gives words of both languages in their order, and no script is left
out. In scripts without spaces, pairs and triples of characters replace words, as in the CJK
analysers of search engines: triples in alphabets, whose pairs are too few to distinguish texts.

Two programs use jieba's dictionary and give the same words: jieba (Python) and, if installed (the
extra "fast"), rjieba (Rust, the crate jieba-rs), in a twentieth of the time. Both run without the
hidden Markov model, which guesses words that the dictionary lacks: with it they differ in 2 % of
pages. Guessed words also depend on the words around them, so one edited character would change its
neighbours.

Expects normalised text (`text.normalize`). Cost: 0.2 ms for 15,000 characters of English; for 3,000
characters of Chinese 2.4 ms by jieba, 0.6 ms by rjieba.
"""

import logging
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from sys import intern
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.features.signs import NEXT_PART, PART_SIGNS, SIGNS, with_signs

Cutter = Callable[[str], list[str]]

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

_LETTER = rf"[\w{_MARKS}{PART_SIGNS}]"
_SPACED_WORD = re.compile(rf"{_LETTER}+(?:['’]{_LETTER}+)*|[{SIGNS}]")
_SPACED_WORD_OR_NEXT_PART = re.compile(rf"{_SPACED_WORD.pattern}|{NEXT_PART}")
_ASCII = bytes(range(0x80))
_SPACE_BETWEEN_WORDS = bytes(
    code if code >= 0x80 or chr(code).isalnum() or chr(code) in f"_'{NEXT_PART}" else 0x20
    for code in range(256)
)
"""A table for UTF-8 bytes: ASCII that is in no word and no part separator becomes a space."""
_SEPARATOR_BEYOND_ASCII = re.compile(rf"[^\w{_MARKS}{PART_SIGNS}’]")
_SIGN = re.compile(f"[{SIGNS}]")
_MANY_SEPARATORS = 20
_LOOSE_APOSTROPHES = {
    apostrophe: re.compile(rf"{apostrophe}(?:(?![^\s'’])|(?<![^\s'’]{apostrophe}))")
    for apostrophe in "'’"
}
"""Apostrophes that are not within a word. Each kind has its own search: a pattern with one first
character is four times as fast as a pattern with two. The first search replaces only characters
outside words, so it does not change the result of the second."""

_BETWEEN_RUNS = "\n"
_MOST_CUT, _LONGEST_CUT = 32_768, 32
"""Number of runs whose words are cached, 7 MB, and the most characters of such a run."""
_cut_before: dict[str, list[str]] = {}
_MOST_PARTS, _LONGEST_PART = 16_384, 256
"""Number of text parts whose words are cached, 7 MB, and the most characters of such a part."""
_parts_before: tuple[dict[str, tuple[list[str], int]], ...] = ({}, {})
"""Part -> its words and the deficit of their worth; for Chinese texts, and for Japanese texts."""
_WORDLESS = frozenset(" -,.:;!?()\"'。、“”‘’《》〈〉「」【】·—…\n")
"""The most frequent texts between runs of Chinese; they contain no word."""
_UNSPACED_RUNS = re.compile(f"([{_HAN}{_KANA}{_HANGUL}{_UNSPACED_ALPHABETS}]+)")
_SCRIPTS = [re.compile(f"[{script}]+") for script in (_HAN, _KANA, _HANGUL)]
_NOT_CHINESE = re.compile(f"[{_KANA}{_HANGUL}{_UNSPACED_ALPHABETS}]")
_IN_CHINESE = re.compile(
    f"(?P<dictionary>[{_HAN}]+)|(?P<pairs>[{_KANA}{_HANGUL}]+)|(?P<triples>[{_UNSPACED_ALPHABETS}]+)"
)
_IN_JAPANESE = re.compile(
    f"(?P<pairs>[{_HAN}{_KANA}]+|[{_HANGUL}]+)|(?P<triples>[{_UNSPACED_ALPHABETS}]+)"
)
_JAPANESE_KANA = 0.2
"""A text with more kana than this for each Chinese character is Japanese. Japanese prose has more
than one; a Chinese text has a brand name now and then."""
_OF_ITS_SCRIPT = 0.1
"""Minimum share of the characters for a script to decide the language of a text. A Chinese word has
fewer than two characters, an English word six with its space: so this is a fourth of the words."""
_TENTHS = 10
_NGRAMS = {"pairs": (2, 5), "triples": (3, 2)}
"""Characters of a pair and a triple, and the worth of each in tenths of a word: a Japanese or
Korean word has two characters, a Thai word five."""


class Scripts(NamedTuple):
    """The language of a text by its scripts."""

    language: str | None = None
    """The language given by a script alone: "zh", "ja" or "ko"; None for other scripts. Such pages
    are full of English, and templates around the world declare `lang="en"`: by stopwords, two
    copies of one text could get different languages."""
    is_japanese: bool = False
    """Whether Chinese characters are cut as Japanese."""


class Tokens(NamedTuple):
    """The words of a text that consists of parts."""

    words: list[str]
    """In text order; no word spans two parts."""
    lengths: npt.NDArray[np.int32]
    """Number of words in each part, (parts,)."""
    worths: npt.NDArray[np.int32]
    """Number of words that a reader would count in each part, (parts,), in tenths: fewer than the
    overlapping pairs and triples."""


def tokens(text: str) -> list[str]:
    """Cut a normalised text into words.

    >>> tokens("don't 在网上 panic")
    ["don't", '在', '网上', 'panic']
    >>> tokens("わかりました")
    ['わか', 'かり', 'りま', 'まし', 'した']
    """
    return tokens_of_parts([text]).words


def tokens_of_parts(texts: Sequence[str], scripts: Scripts | None = None) -> Tokens:
    """Cut the normalised parts of a text into words.

    `scripts` decides whether Chinese characters are cut as Japanese; None: computed from all parts.

    >>> found = tokens_of_parts(["one two", "", "three"])
    >>> found.words, found.lengths.tolist(), found.worths.tolist()
    (['one', 'two', 'three'], [2, 0, 1], [20, 0, 10])
    """
    text = NEXT_PART.join(texts)
    beyond_ascii = _beyond_ascii(text.encode("utf-8", "surrogatepass"))
    signed = with_signs(text, beyond_ascii)
    parts: Sequence[list[str]]
    lacking: Sequence[int] = [0]
    if _UNSPACED_RUNS.search(beyond_ascii):
        scripts = scripts_of(texts) if scripts is None else scripts
        signed_texts = texts if signed == text else signed.split(NEXT_PART, len(texts) - 1)
        parts, lacking = _unspaced(signed_texts, beyond_ascii, scripts)
    else:
        parts = [part.split() for part in _spaced(signed, beyond_ascii).split(NEXT_PART)]
    words = []
    for part in parts:
        words += part
    # Even without texts, `parts` has one empty part.
    lengths = np.fromiter(map(len, parts), np.int32, len(texts))
    return Tokens(words, lengths, (_TENTHS * lengths - lacking).astype(np.int32))


def scripts_of(texts: Sequence[str]) -> Scripts:
    """Return the language of a text by the scripts of all parts. Cost: 5 us for 5,000 characters.

    >>> scripts_of(["用 lxml 解析网页"]), scripts_of(["わかりました"])
    (Scripts(language='zh', is_japanese=False), Scripts(language='ja', is_japanese=True))
    """
    text = NEXT_PART.join(texts)
    beyond_ascii = _beyond_ascii(text.encode("utf-8", "surrogatepass"))
    if not _UNSPACED_RUNS.search(beyond_ascii):
        return Scripts()
    han, kana, hangul = (sum(map(len, script.findall(beyond_ascii))) for script in _SCRIPTS[:3])
    is_japanese = kana > _JAPANESE_KANA * han
    least = _OF_ITS_SCRIPT * len(text)
    if kana + han >= least and kana >= _JAPANESE_KANA * han:
        return Scripts("ja", is_japanese)
    if hangul >= least:
        return Scripts("ko", is_japanese)
    return Scripts("zh" if han >= least else None, is_japanese)


def as_read(worths: npt.NDArray[np.int32]) -> int:
    """Return the number of words that a reader would count, given `Tokens.worths` of parts."""
    return round(int(worths.sum()) / _TENTHS)


def _beyond_ascii(body: bytes) -> str:
    """Return a text without its ASCII: to search the rest takes less time."""
    return body.translate(None, _ASCII).decode("utf-8", "surrogatepass")


def _spaced(text: str, beyond_ascii: str) -> str:
    """Return the matches of `_SPACED_WORD` separated by spaces, with the part separators.

    Characters outside words become spaces, by a table for ASCII and one replacement for each of the
    few other separators of a text: three times as fast as the search.
    """
    separators = set(_SEPARATOR_BEYOND_ASCII.findall(beyond_ascii))
    if len(separators) > _MANY_SEPARATORS:
        return " ".join(_SPACED_WORD_OR_NEXT_PART.findall(text))
    body = text.encode("utf-8", "surrogatepass")
    spaced = body.translate(_SPACE_BETWEEN_WORDS).decode("utf-8", "surrogatepass")
    for separator in separators:
        word = f" {separator} " if _SIGN.match(separator) else " "
        spaced = spaced.replace(separator, word)
    for apostrophe, loose in _LOOSE_APOSTROPHES.items():
        if apostrophe in spaced:
            spaced = loose.sub(" ", spaced)
    return spaced


def _unspaced(
    texts: Sequence[str], beyond_ascii: str, scripts: Scripts
) -> tuple[Sequence[list[str]], Sequence[int]]:
    """Return the words of each text, and the deficit of their worth, in tenths of a word.

    Texts of a host's frame are short, and most of them are in the cache.
    """
    known = _parts_before[scripts.is_japanese]
    cut = {text: known.get(text) for text in texts}
    new = [text for text, part in cut.items() if part is None]
    runs = [_UNSPACED_RUNS.split(text) for text in new]
    if not _NOT_CHINESE.search(beyond_ascii):
        found = [(words, 0) for words in _chinese(runs)]
    else:
        of_scripts = _IN_JAPANESE if scripts.is_japanese else _IN_CHINESE
        found = [_mixed(of_text, of_scripts) for of_text in runs]
    made = dict(zip(new, found, strict=True))
    if len(known) > _MOST_PARTS:
        known.clear()
    known.update((text, part) for text, part in made.items() if len(text) <= _LONGEST_PART)
    parts, lacking = zip(*(made.get(text) or cut[text] for text in texts), strict=True)
    return parts, lacking


def _chinese(runs: list[list[str]]) -> list[list[str]]:
    """Cut the runs of Chinese characters of each text (at odd places) and the texts between."""
    cut = _cut_once([run for of_text in runs for run in of_text[1::2]])
    parts = []
    for of_text in runs:
        words = _SPACED_WORD.findall(of_text[0])
        for run, spaced in zip(of_text[1::2], of_text[2::2], strict=True):
            words += cut[run]
            if spaced not in _WORDLESS:
                words += _SPACED_WORD.findall(spaced)
        parts.append(words)
    return parts


def _cut_once(runs: Iterable[str]) -> Mapping[str, list[str]]:
    """Return the words of each run of Chinese characters: half the runs of a crawl are cached.

    One call cuts all other runs, in two thirds of the time: no word of the dictionary spans a line
    end, and the cutter returns each line end as a word.
    """
    cut = {run: _cut_before.get(run, []) for run in runs}
    new = [run for run, words in cut.items() if not words]
    next_word = iter(chinese_cutter()(_BETWEEN_RUNS.join(new))).__next__
    for run in new:
        cut[run] = list(map(intern, iter(next_word, _BETWEEN_RUNS)))
    if len(_cut_before) > _MOST_CUT:
        _cut_before.clear()
    _cut_before.update((run, cut[run]) for run in new if len(run) <= _LONGEST_CUT)
    return cut


def _mixed(runs: list[str], scripts: re.Pattern[str]) -> tuple[list[str], int]:
    """Cut the runs of a text; also return the deficit of their worth, in tenths of a word."""
    words: list[str] = []
    lacking = 0
    for number, run in enumerate(runs):
        if number % 2 == 0:  # re.split puts the matches of its group at odd places
            words += _SPACED_WORD.findall(run)
            continue
        for of_script in scripts.finditer(run):
            cut = of_script[0]
            if of_script.lastgroup in _NGRAMS:
                size, worth = _NGRAMS[of_script.lastgroup]
                starts = range(max(len(cut) - size + 1, 1))
                words += [cut[start : start + size] for start in starts]
                lacking += (_TENTHS - worth) * len(starts)
            else:
                words += chinese_cutter()(cut)
    return words, lacking


@cache
def chinese_cutter() -> Cutter:
    """Load the fastest installed program. Called when the first Chinese page arrives."""
    try:
        return rjieba_cutter()
    except ImportError:
        return jieba_cutter()


def jieba_cutter() -> Cutter:
    """Load jieba and its dictionary, 0.5 s.

    The dictionary is its own: no other user of jieba in this process adds words to it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba's own: pkg_resources, string escapes
        import jieba
    jieba.setLogLevel(logging.WARNING)
    tokenizer = jieba.Tokenizer()
    tokenizer.initialize()
    return partial(tokenizer.lcut, cut_all=False, HMM=False)


def rjieba_cutter() -> Cutter:
    """Load rjieba and its dictionary, 0.08 s.

    Raises:
        ImportError: rjieba is not installed, or older than 0.2.
    """
    from rjieba import Jieba

    return partial(Jieba().cut, hmm=False)
