"""Words -> 64-bit hashes, and what else is known of each word, looked up once for each page.

A word's hash is one of three functions of its UTF-8 bytes:

    xxh3     XXH3, 64 bits, seed 0: the default, the best mixed and the fastest
    fnv1a    Fowler-Noll-Vo 1a, 64 bits: the one that the simhash literature recommends
    fnv1     Fowler-Noll-Vo 1, 64 bits: that of older implementations, to compare with them

A shingle's hash is computed from those of its words, for a whole page at once, instead of hashing
every joined string: a polynomial in an odd constant, so that the order of the words counts, then
the finaliser of MurmurHash3, so that every word moves every bit. The name of a kind of features
(title, heading, image) is mixed into their hashes in the same way.

Pages repeat their words and one another's. So the vocabulary gives each word a number, and keeps
what is known of it in columns at that number: one column of hashes for each feature hash, one of
flags for each list of words, one of languages. The words of a page are looked up once, and numpy
takes their values from the columns: half the time of a dict of hashes and a set of stopwords.

Bounded: at 262,144 words (45 MB), or when they are very long, the vocabulary starts empty again,
which changes no value. Threads may share it.

Cost: 0.05 ms for 1,000 words that are known.
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from functools import partial
from itertools import islice
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

__all__ = [
    "FEATURE_HASHES",
    "MOST_WORDS",
    "VOCABULARY",
    "Vocabulary",
    "are_in",
    "hash_of_kind",
    "hash_shingles",
    "hash_words",
]

UInt64Array = npt.NDArray[np.uint64]
Compute = Callable[[Sequence[str]], npt.NDArray[Any]]

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio, odd (Knuth 6.4)
_FNV_OFFSET = np.uint64(0xCBF29CE484222325)  # draft-eastlake-fnv, section 5
_FNV_PRIME = np.uint64(0x100000001B3)
_LONGEST_PADDED = 64
"""Bytes up to which words are padded to one length. No word of a language has more, but a page may
have a word of a million bytes beside many short ones."""

MOST_WORDS = 1 << 18
_MOST_CHARACTERS = 1 << 22
"""Of all words together: twice as many as `MOST_WORDS` words of a language have."""


def hash_words(words: Sequence[str], feature_hash: str = "xxh3") -> UInt64Array:
    """Return the hash of each word, (n,)."""
    # A text may hold a lone surrogate, which has no UTF-8.
    return FEATURE_HASHES[feature_hash]([word.encode("utf-8", "surrogatepass") for word in words])


def are_in(chosen: frozenset[str], words: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Tell of each word, (n,), whether it is among the chosen."""
    return np.fromiter(map(chosen.__contains__, words), np.bool_, len(words))


def hash_shingles(word_hashes: UInt64Array, size: int) -> UInt64Array:
    """Return the hash of each run of `size` words, (n - size + 1,); of fewer words, of all."""
    count = max(len(word_hashes) - size + 1, min(len(word_hashes), 1))
    size = min(size, len(word_hashes))
    mixed = word_hashes[:count]
    for start in range(1, size):
        mixed = mixed * _MULTIPLIER + word_hashes[start : start + count]
    return _finalise(mixed)


def hash_of_kind(hashes: UInt64Array, kind: str) -> UInt64Array:
    """Return the hashes, (n,), of the same features as features of another kind."""
    return _finalise(hashes * _MULTIPLIER + hash_words([kind]))


class Vocabulary:
    """Numbered words and columns of what is known of them."""

    def __init__(self, most_words: int = MOST_WORDS) -> None:
        self._most_words = most_words
        self._lock = Lock()
        self._forget(most_words)

    def __len__(self) -> int:
        return len(self._numbers)

    def look_up(
        self, words: Collection[str], columns: dict[Hashable, Compute]
    ) -> list[npt.NDArray[Any]]:
        """Return for each column an array with a value for each word, (n,).

        The function given for a column computes the value of a new word, once. The same key must
        always come with the same function.
        """
        with self._lock:
            count = len(self._numbers) + len(words)
            if count > self._most_words or self._numbers.characters > _MOST_CHARACTERS:
                self._forget(max(self._most_words, len(words)))
            numbers = np.fromiter(map(self._numbers.__getitem__, words), np.intp, len(words))
            return [self._column(key, compute)[numbers] for key, compute in columns.items()]

    def _forget(self, capacity: int) -> None:
        self._capacity = capacity
        self._numbers = _Numbers()
        self._columns: dict[Hashable, npt.NDArray[Any]] = {}
        self._filled: dict[Hashable, int] = {}

    def _column(self, key: Hashable, compute: Compute) -> npt.NDArray[Any]:
        filled = self._filled.get(key, 0)
        new = len(self._numbers) - filled
        if new or key not in self._columns:
            values = compute(list(islice(reversed(self._numbers), new))[::-1])
            if not filled:
                # Room for all words: the system gives memory only to pages that are written to.
                self._columns[key] = np.empty(self._capacity, values.dtype)
            self._columns[key][filled : filled + new] = values
            self._filled[key] = filled + new
        return self._columns[key]


class _Numbers(dict[str, int]):
    """Words, numbered as they are met."""

    def __init__(self) -> None:
        super().__init__()
        self.characters = 0

    def __missing__(self, word: str) -> int:
        self.characters += len(word)
        number = self[word] = len(self)
        return number


def _xxh3(words: Collection[bytes]) -> UInt64Array:
    return np.fromiter(map(xxhash.xxh3_64_intdigest, words), np.uint64, len(words))


def _fnv(words: Collection[bytes], *, multiply_first: bool) -> UInt64Array:
    """Hash all words at once, byte position by byte position; overlong words one by one."""
    short = [word if len(word) <= _LONGEST_PADDED else b"" for word in words]
    hashes = _fnv_padded(short, multiply_first)
    for number, word in enumerate(words):
        if len(word) > _LONGEST_PADDED:
            hashes[number] = _fnv_of_one(word, multiply_first)
    return hashes


def _fnv_padded(words: Collection[bytes], multiply_first: bool) -> UInt64Array:
    lengths = np.fromiter(map(len, words), np.intp, len(words))
    longest = int(lengths.max(initial=0))
    padded = b"".join(word.ljust(longest, b"\0") for word in words)
    columns = np.frombuffer(padded, np.uint8).reshape(len(words), longest).T.astype(np.uint64)
    hashes = np.full(len(words), _FNV_OFFSET)
    for position, column in enumerate(columns):
        stepped = hashes * _FNV_PRIME ^ column if multiply_first else (hashes ^ column) * _FNV_PRIME
        hashes = np.where(lengths > position, stepped, hashes)
    return hashes


def _fnv_of_one(word: bytes, multiply_first: bool) -> int:
    hashed, prime = int(_FNV_OFFSET), int(_FNV_PRIME)
    for byte in word:
        stepped = hashed * prime ^ byte if multiply_first else (hashed ^ byte) * prime
        hashed = stepped & 0xFFFFFFFFFFFFFFFF
    return hashed


def _finalise(mixed: UInt64Array) -> UInt64Array:
    shift = np.uint64(33)
    for constant in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):  # MurmurHash3, fmix64
        mixed = (mixed ^ mixed >> shift) * np.uint64(constant)
    finalised: UInt64Array = mixed ^ mixed >> shift
    return finalised


FEATURE_HASHES: dict[str, Callable[[Collection[bytes]], UInt64Array]] = {
    "xxh3": _xxh3,
    "fnv1a": partial(_fnv, multiply_first=False),
    "fnv1": partial(_fnv, multiply_first=True),
}
"""The values of the option `feature_hash`: functions from byte strings to hashes, (n,)."""

VOCABULARY = Vocabulary()
"""The vocabulary of this process."""
