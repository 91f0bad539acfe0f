"""Text -> words -> hashes, and whatever else a recipe for features needs.

The hash of a word is one of three functions of its UTF-8 bytes:

    xxh3     XXH3, 64 bits, seed 0: the default, the best mixed and the fastest
    fnv1a    Fowler-Noll-Vo 1a, 64 bits: the one that the simhash literature recommends
    fnv1     Fowler-Noll-Vo 1, 64 bits: used by older implementations, to compare with them

A shingle is a run of w words; one starts at every word. Its hash is computed from the hashes of its
words, for a whole page at once: a polynomial in an odd constant, so that the order of the words
counts, then the finaliser of MurmurHash3, so that every word changes every bit. The name of a kind
of features (title, heading, image) is mixed into their hashes in the same way.

Sentences. Advertisements, menus and link lists are mostly nouns, while function words hold
sentences together. One of three rules decides which shingles belong to a sentence; all other
shingles are taken for advertisements and give no feature:

    window    at least a fifth of the words in the shingle and eight words on either side are
              function words: the default
    shingle   the shingle has a stopword: the rule of the essays on simhash in web crawling, and of
              Theobald, Siddharth and Paepcke (2008)
    off       every shingle

"shingle" works well with no list of stopwords: a list that drops 40 % of the shingles of calls to
action also drops 20 % of the shingles of prose. Three words without a function word are common in
prose, and single function words in advertisements; among nineteen words both are rare.

The language that a page declares is believed if enough of its words are stopwords of it, because
templates around the world carry `lang="en"`. Otherwise it is the language whose stopwords cover
most of a sample of the words.

A text is cut into words, and these are looked up, once (`Words`), part by part: a page has all of
its blocks as parts. The analysis of some parts, such as the blocks outside the frame, is numpy on
slices of the words' columns.

Cost: 0.3 ms for 1,000 words of English; 0.03 ms for the analysis of parts with so many words.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import compress, count, islice
from threading import Lock
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

from dedup_filter.features.languages import SAMPLE, detect_language, function_words, stopwords
from dedup_filter.features.tokens import Scripts, as_read, scripts_of, tokens_of_parts

UInt64Array = npt.NDArray[np.uint64]
Int32Array = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]
LanguageBy = Literal["script", "declaration", "stopwords", "nothing"]
"""How a language was found: by the script, by what the page declares, by its stopwords."""

_BELIEVABLE = 0.2
"""Share of stopwords from which a declared language is believed. Of running text in the languages
measured, 0.3 to 0.6 of the words are in its own list, and below 0.15 in any other."""
_AROUND = 8
"""Words on either side. With 4, three times as much prose is dropped; with 12 as much as with 8;
with 6, two versions of a Chinese text differ more."""
FUNCTION_WORD_IN = 5
"""In a sentence, one in so many words is a function word."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio, odd (Knuth 6.4)
_FNV_OFFSET = 0xCBF29CE484222325  # draft-eastlake-fnv, section 5
_FNV_PRIME = 0x100000001B3
_ALL_BITS = 0xFFFFFFFFFFFFFFFF

_MOST_CHARACTERS = 1 << 19
"""Of the words of a vocabulary together: twice as many as 32,768 words of a language have."""


class WordValues(NamedTuple):
    """The values of the n words of a text, (n,) each."""

    hashes: UInt64Array
    is_stopword: BoolArray
    """A stopword is no feature."""
    is_function_word: BoolArray
    """Function words show that words around them are a sentence."""

    def at(self, places: npt.NDArray[np.intp] | BoolArray) -> "WordValues":
        """Return the values of some words, given by places or by a mask."""
        hashes, is_stopword, is_function_word = self
        return WordValues(hashes[places], is_stopword[places], is_function_word[places])


@dataclass(frozen=True, eq=False)
class Words:
    """The n words of a text that consists of parts, in text order, as columns."""

    values: WordValues
    lengths: Int32Array
    """Number of words in each part, (parts,)."""
    worths: Int32Array
    """Number of words that a reader would count in each part, (parts,): see `Tokens`."""
    scripts: Scripts
    language: str | None
    language_by: LanguageBy
    feature_hash: str
    """The name of the function that hashed the words."""
    texts: Sequence[str]
    """The normalised parts."""

    @cached_property
    def count(self) -> int:
        """Number of words that a reader would count."""
        return as_read(self.worths)

    def part(self, chosen: BoolArray) -> "Words":
        """Return the words of chosen parts, (parts,), alone. Cost: 10 us for 1,000 words."""
        if chosen.all():
            return self
        return Words(
            self.values.at(np.repeat(chosen, self.lengths)),
            self.lengths[chosen],
            self.worths[chosen],
            self.scripts,
            self.language,
            self.language_by,
            self.feature_hash,
            list(compress(self.texts, chosen.tolist())),
        )


def words_of(
    texts: Sequence[str],
    language_parts: BoolArray | None = None,
    *,
    declared_language: str | None = None,
    feature_hash: str = "xxh3",
) -> Words:
    """Cut and look up the words of the normalised parts of a text.

    `language_parts`: the parts, (parts,), by which the language is found; None: all.
    """
    scripts = scripts_of(
        texts if language_parts is None else list(compress(texts, language_parts.tolist()))
    )
    words, lengths, worths = tokens_of_parts(texts, scripts)
    sample = words[:SAMPLE]
    if language_parts is not None:
        places = np.flatnonzero(np.repeat(language_parts, lengths))[:SAMPLE]
        sample = [words[place] for place in places.tolist()]
    language, by = _language(sample, scripts, declared_language)
    values = _vocabulary(language, feature_hash).look_up(words)
    return Words(values, lengths, worths, scripts, language, by, feature_hash, texts)


def _language(
    sample: Sequence[str], scripts: Scripts, declared: str | None
) -> tuple[str | None, LanguageBy]:
    if scripts.language is not None:
        return scripts.language, "script"
    hits = sum(map(stopwords(declared).__contains__, sample))
    if 0 < hits >= _BELIEVABLE * len(sample):
        return declared, "declaration"
    language = detect_language(sample)
    return language, "nothing" if language is None else "stopwords"


@dataclass(frozen=True, eq=False)
class Analysis:
    """The words of a text, and the shingles that they make."""

    words: Words
    size: int = 3
    """Words of a shingle."""
    ads: str = "window"
    """The name of the rule by which shingles are advertisements: a key of `ADS`."""
    is_part: bool = False
    """Whether the text is some parts of another one."""

    def of_parts(self, chosen: BoolArray) -> "Analysis":
        """Return the analysis of chosen parts, (parts,), alone."""
        if chosen.all():
            return self
        return Analysis(self.words.part(chosen), self.size, self.ads, is_part=True)

    @property
    def values(self) -> WordValues:
        """The values of the words, (n,) each."""
        return self.words.values

    @cached_property
    def hashes(self) -> UInt64Array:
        """The hashes of the shingles, (n - size + 1,); a shorter text is one shingle."""
        return hash_shingles(self.values.hashes, self.size)

    @cached_property
    def is_sentence(self) -> BoolArray:
        """Which shingles, (n - size + 1,), belong to a sentence."""
        size = min(self.size, len(self.values.hashes))
        return ADS[self.ads](self.values, size)[: len(self.hashes)]

    @property
    def in_sentence(self) -> BoolArray:
        """Which words, (n,), are in a shingle that belongs to a sentence."""
        return words_in(self.is_sentence, self.size, len(self.values.hashes))

    @property
    def text(self) -> str:
        """The normalised text; of some parts of another one, the words joined by spaces."""
        return " ".join(self.tokens if self.is_part else self.words.texts)

    @property
    def tokens(self) -> list[str]:
        """The words, in text order. Each call cuts the text again: few recipes need the words."""
        return tokens_of_parts(self.words.texts, self.words.scripts).words


def analyse(
    texts: Sequence[str],
    *,
    declared_language: str | None = None,
    shingle_size: int = 3,
    feature_hash: str = "xxh3",
    ads: str = "window",
) -> Analysis:
    """Analyse the normalised parts of a text, as the text that they make joined by spaces."""
    words = words_of(texts, declared_language=declared_language, feature_hash=feature_hash)
    return Analysis(words, shingle_size, ads)


def _in_window(values: WordValues, size: int) -> BoolArray:
    """Find the runs of `size` words with enough function words in and around them."""
    words = len(values.hashes)
    # The text is padded with words of score 0 at both ends.
    scores = np.zeros(words + 2 * _AROUND + 1, np.int32)
    scores[_AROUND + 1 : _AROUND + 1 + words] = FUNCTION_WORD_IN * values.is_function_word - 1
    sums = np.cumsum(scores)
    are_sentences: BoolArray = sums[size + 2 * _AROUND :] >= sums[: words - size + 1]
    return are_sentences


def _with_stopword(values: WordValues, size: int) -> BoolArray:
    sums = np.cumsum(np.concatenate([[0], values.is_stopword]))
    has_one: BoolArray = sums[size:] > sums[: len(sums) - size]
    return has_one


def _all(values: WordValues, size: int) -> BoolArray:
    return np.ones(len(values.hashes) - size + 1, np.bool_)


ADS: dict[str, Callable[[WordValues, int], BoolArray]] = {
    "window": _in_window,
    "shingle": _with_stopword,
    "off": _all,
}
"""The values of the option `ads`: which shingles, (n - size + 1,), belong to a sentence."""


class Vocabulary:
    """The words of texts in one language, numbered as they occur, and arrays of their values.

    Most words of a page have occurred before. So each word is looked up once, and numpy takes its
    values from the arrays: half the time of a dict of hashes and a set of stopwords.

    At most 6 MB: when it has too many words, or very long ones, it starts empty again, which
    changes no value. Threads may share it. Cost: 0.05 ms for 1,000 known words.
    """

    def __init__(
        self, language: str | None, feature_hash: str = "xxh3", most_words: int = 1 << 15
    ) -> None:
        self._lists = stopwords(language), function_words(language)
        self._feature_hash = feature_hash
        self._most_words = most_words
        self._lock = Lock()
        self._forget(most_words)

    def __len__(self) -> int:
        return len(self._numbers)

    def look_up(self, words: Sequence[str]) -> WordValues:
        """Return the values of each word."""
        with self._lock:
            most = self._most_words
            if len(self) + len(words) > most or self._characters > _MOST_CHARACTERS:
                self._forget(max(most, len(words)))
            numbers = np.fromiter(map(self._numbers.__getitem__, words), np.intp, len(words))
            if len(self) > self._filled:
                self._fill(list(islice(reversed(self._numbers), len(self) - self._filled))[::-1])
            return self._values.at(numbers)

    def _forget(self, capacity: int) -> None:
        self._numbers = defaultdict[str, int](count().__next__)
        self._filled = self._characters = 0
        # Room for all words: the system gives memory only to pages that are written to.
        is_stopword, is_function_word = np.empty((2, capacity), np.bool_)
        self._values = WordValues(np.empty(capacity, np.uint64), is_stopword, is_function_word)

    def _fill(self, new: Sequence[str]) -> None:
        last = self._filled + len(new)
        self._values.hashes[self._filled : last] = hash_words(new, self._feature_hash)
        for column, words in zip(self._values[1:], self._lists, strict=True):
            column[self._filled : last] = np.fromiter(map(words.__contains__, new), np.bool_)
        self._filled = last
        self._characters += sum(map(len, new))


_vocabulary = lru_cache(maxsize=16)(Vocabulary)


def hash_words(words: Sequence[str], feature_hash: str = "xxh3") -> UInt64Array:
    """Return the hash of each word, (n,)."""
    # A text may hold a lone surrogate, which has no UTF-8.
    encoded = (word.encode("utf-8", "surrogatepass") for word in words)
    return np.fromiter(map(FEATURE_HASHES[feature_hash], encoded), np.uint64, len(words))


def hash_shingles(word_hashes: UInt64Array, size: int) -> UInt64Array:
    """Return the hash of each run of `size` words, (n - size + 1,); fewer words are one run."""
    count = max(len(word_hashes) - size + 1, min(len(word_hashes), 1))
    size = min(size, len(word_hashes))
    mixed = word_hashes[:count]
    for start in range(1, size):
        mixed = mixed * _MULTIPLIER + word_hashes[start : start + count]
    return _finalise(mixed)


def words_in(shingles: BoolArray, size: int, count: int) -> BoolArray:
    """Return which of `count` words, (count,), are in some shingles, given by a mask."""
    covered = np.zeros(count, np.bool_)
    for start in range(min(size, count)):
        covered[start : start + len(shingles)] |= shingles
    return covered


def hash_of_kind(hashes: UInt64Array, kind: str) -> UInt64Array:
    """Return the hashes, (n,), that the same features have as features of another kind."""
    return _finalise(hashes * _MULTIPLIER + hash_words([kind]))


def _finalise(mixed: UInt64Array) -> UInt64Array:
    shift = np.uint64(33)
    for constant in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):  # MurmurHash3, fmix64
        mixed = (mixed ^ mixed >> shift) * np.uint64(constant)
    finalised: UInt64Array = mixed ^ mixed >> shift
    return finalised


def _fnv1(word: bytes) -> int:
    value = _FNV_OFFSET
    for byte in word:
        value = value * _FNV_PRIME & _ALL_BITS ^ byte
    return value


def _fnv1a(word: bytes) -> int:
    value = _FNV_OFFSET
    for byte in word:
        value = (value ^ byte) * _FNV_PRIME & _ALL_BITS
    return value


FEATURE_HASHES: dict[str, Callable[[bytes], int]] = {
    "xxh3": xxhash.xxh3_64_intdigest,
    "fnv1a": _fnv1a,
    "fnv1": _fnv1,
}
"""The values of the option `feature_hash`."""
