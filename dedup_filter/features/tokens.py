"""Text -> words, whatever scripts it mixes.

A text is cut into runs of one kind of script, and each run into words:

    spaced scripts (Latin, Cyrillic, Arabic, Devanagari …)   at what is no letter, mark or digit
    Chinese characters                                       by jieba's dictionary
    Japanese (kana, and Chinese characters among them)       into overlapping pairs
    Hangul                                                   into overlapping pairs, word by word
    Thai, Lao, Khmer, Burmese, Tibetan                       into overlapping triples

A sign that says something is a word, too: "wifi ✓" and "wifi ✗", "−5" and "5", "€ 5" and "£ 5".

So "Python编程入门 for 初学者" gives words of both languages in their order, and no script is left
out. Where nothing separates words, pairs and triples of characters stand for them, as in the CJK
analysers of search engines: triples in alphabets, whose pairs are too few to tell texts apart.

Two programs hold jieba's dictionary and give the same words: jieba (Python) and, if installed (the
extra "fast"), rjieba (Rust, the crate jieba-rs), in a twentieth of the time. They are the same only
without the hidden Markov model, which guesses words that the dictionary lacks: with it they differ
in 2 % of pages. Guessed words also depend on their surroundings, so one edited character would
change its neighbours.

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

_SIGNS = (
    "\u00a2-\u00a5\u00b1\u20a0-\u20cf\u2212\u2605\u2606\u2610-\u2612\u2705\u2713-\u2718\u274c\u274e"
)
"""Beyond ASCII: currencies, plus-minus and minus, stars, boxes, ticks and crosses."""

_NEXT_PART = "\x1f"
"""Stands between the parts of a text: ASCII's unit separator, which no normal form has."""
_SPACED_WORD = re.compile(rf"[\w{_MARKS}]+(?:['’][\w{_MARKS}]+)*|[{_SIGNS}]")
_SPACED_WORD_OR_NEXT_PART = re.compile(rf"{_SPACED_WORD.pattern}|{_NEXT_PART}")
_ASCII = bytes(range(0x80))
_SPACE_BETWEEN_WORDS = bytes(
    code if code >= 0x80 or chr(code).isalnum() or chr(code) in f"_'{_NEXT_PART}" else 0x20
    for code in range(256)
)
"""A table for bytes of UTF-8: ASCII that is in no word and not between parts becomes a space."""
_SEPARATOR_BEYOND_ASCII = re.compile(rf"[^\w{_MARKS}’]")
_SIGN = re.compile(f"[{_SIGNS}]")
_MANY_SEPARATORS = 20
_LOOSE_APOSTROPHES = {
    apostrophe: re.compile(rf"{apostrophe}(?:(?![^\s'’])|(?<![^\s'’]{apostrophe}))")
    for apostrophe in "'’"
}
"""Apostrophes that are not within a word. Each kind has its own search: a pattern with one first
character is found four times as fast as one with two. What the first search makes spaces was in no
word, so the second finds what it would have found."""

_BETWEEN_RUNS = "\n"
_MOST_CUT, _LONGEST_CUT = 32_768, 32
"""Runs whose words are remembered, 7 MB, and the characters of such a run at most."""
_cut_before: dict[str, list[str]] = {}
_MOST_PARTS, _LONGEST_PART = 16_384, 256
"""Parts of texts whose words are remembered, 7 MB, and the characters of such a part at most."""
_parts_before: tuple[dict[str, tuple[list[str], int]], ...] = ({}, {})
"""The words of parts, and what these lack; of Chinese texts, and of Japanese ones."""
_WORDLESS = frozenset(" ,.:;!?()\"'。、“”‘’《》〈〉「」【】·—…\n")
"""The most frequent texts between runs of Chinese: they have no word."""
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
"""Kana to each Chinese character from which a text is Japanese. Japanese prose has more than
one; a Chinese text has a brand name now and then."""
_OF_ITS_SCRIPT = 0.1
"""Share of the characters from which a script tells the language of a text. A word of Chinese has
fewer than two characters, one of English six with its space: so this is a fourth of the words."""
_TENTHS = 10
_NGRAMS = {"pairs": (2, 5), "triples": (3, 2)}
"""Characters of a pair and a triple, and what each is worth in the number of words, in tenths: a
word of Japanese or Korean takes two characters, one of Thai five."""


class Scripts(NamedTuple):
    """What the scripts of a text tell."""

    language: str | None = None
    """What a script alone tells: "zh", "ja" or "ko"; None for other scripts. Such pages are full of
    English, and templates around the world declare `lang="en"`: stopwords could take two copies of
    one text for texts of two languages."""
    is_japanese: bool = False
    """Whether Chinese characters are cut as Japanese."""


class Tokens(NamedTuple):
    """The words of a text that consists of parts."""

    words: list[str]
    """In text order; none spans two parts."""
    lengths: npt.NDArray[np.int32]
    """How many of the words each part has, (parts,)."""
    worths: npt.NDArray[np.int32]
    """How many words a reader would count in each part, (parts,), in tenths: fewer than there are
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

    `scripts` tells whether Chinese characters are Chinese or Japanese; None: all parts together do.

    >>> found = tokens_of_parts(["one two", "", "three"])
    >>> found.words, found.lengths.tolist(), found.worths.tolist()
    (['one', 'two', 'three'], [2, 0, 1], [20, 0, 10])
    """
    text = _NEXT_PART.join(texts)
    body = text.encode("utf-8", "surrogatepass")
    beyond_ascii = _beyond_ascii(body)
    parts: Sequence[list[str]]
    lacking: Sequence[int] = [0]
    if _UNSPACED_RUNS.search(beyond_ascii):
        scripts = scripts_of(texts) if scripts is None else scripts
        parts, lacking = _unspaced(texts, beyond_ascii, scripts)
    else:
        parts = [part.split() for part in _spaced(text, body, beyond_ascii).split(_NEXT_PART)]
    words = []
    for part in parts:
        words += part
    # Without any part, `parts` has an empty one all the same.
    lengths = np.fromiter(map(len, parts), np.int32, len(texts))
    return Tokens(words, lengths, (_TENTHS * lengths - lacking).astype(np.int32))


def scripts_of(texts: Sequence[str]) -> Scripts:
    """Return what the scripts of all parts of a text tell. Cost: 5 us for 5,000 characters.

    >>> scripts_of(["用 lxml 解析网页"]), scripts_of(["わかりました"])
    (Scripts(language='zh', is_japanese=False), Scripts(language='ja', is_japanese=True))
    """
    text = _NEXT_PART.join(texts)
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
    """Return how many words a reader would count in parts of a text, by their `Tokens.worths`."""
    return round(int(worths.sum()) / _TENTHS)


def _beyond_ascii(body: bytes) -> str:
    """Return a text without its ASCII: to search the rest takes less time."""
    return body.translate(None, _ASCII).decode("utf-8", "surrogatepass")


def _spaced(text: str, body: bytes, beyond_ascii: str) -> str:
    """Return the matches of `_SPACED_WORD` separated by spaces, and what separates parts.

    Whatever is in no word becomes a space, by a table for ASCII and one replacement for each of the
    few other separators of a text: three times as fast as the search.
    """
    separators = set(_SEPARATOR_BEYOND_ASCII.findall(beyond_ascii))
    if len(separators) > _MANY_SEPARATORS:
        return " ".join(_SPACED_WORD_OR_NEXT_PART.findall(text))
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
    """Return the words of each text, and what they lack to be worth a word each.

    Most texts of a host's frame, which are short, were cut before.
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
    """Cut the runs of Chinese characters of each text, at the odd places, and the texts between."""
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
    """Return the words of each run of Chinese characters: half of a crawl's were cut before.

    One call cuts all others, in two thirds of the time: no word of the dictionary spans a line's
    end, which is returned as a word of its own.
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
    """Cut the runs of a text; return what its words lack, too, in tenths of a word."""
    words: list[str] = []
    lacking = 0
    for number, run in enumerate(runs):
        if number % 2 == 0:  # re.split puts what its group matched at the odd places
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
    """Load the faster program that is installed. Called when the first Chinese page arrives."""
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
        ImportError: it is not installed, or older than 0.2.
    """
    from rjieba import Jieba

    return partial(Jieba().cut, hmm=False)
