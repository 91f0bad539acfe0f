"""Words -> 64-bit feature hashes, and hashes of word runs from hashes of words.

A word's hash is one of three functions of its UTF-8 bytes:

xxh3     XXH3, 64 bits, seed 0: the default, the best mixed and the fastest
fnv1a    Fowler-Noll-Vo 1a, 64 bits: the one the simhash literature recommends
fnv1     Fowler-Noll-Vo 1, 64 bits: of older implementations, to compare with them

A shingle's hash is computed from its words' hashes, for a whole page at once, instead of
hashing every joined string: a polynomial in an odd constant (so that the order of the words
counts), then the finaliser of MurmurHash3 (so that every word moves every bit). In the same way
the name of a kind of features (of titles, say) is mixed into their hashes.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import xxhash

__all__ = ["FEATURE_HASHES", "hash_of_kind", "hash_shingles", "hash_words"]

UInt64Array = npt.NDArray[np.uint64]

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio, odd (Knuth 6.4)
_FNV_OFFSET = np.uint64(0xCBF29CE484222325)  # draft-eastlake-fnv, section 5
_FNV_PRIME = np.uint64(0x100000001B3)
_LONGEST_PADDED = 64
"""Bytes of a word up to which words are padded to one length. No word of a language has more, and
a page may hold one of a million beside many short ones."""


def _xxh3(words: Collection[bytes]) -> UInt64Array:
    return np.fromiter(map(xxhash.xxh3_64_intdigest, words), np.uint64, len(words))


def _fnv(words: Collection[bytes], *, multiply_first: bool) -> UInt64Array:
    """Hash all words at once, one byte position after the other; the overlong one by one."""
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


FEATURE_HASHES: dict[str, Callable[[Collection[bytes]], UInt64Array]] = {
    "xxh3": _xxh3,
    "fnv1a": partial(_fnv, multiply_first=False),
    "fnv1": partial(_fnv, multiply_first=True),
}
"""The values of the option `feature_hash`: functions from byte strings to hashes, (n,)."""


def hash_words(words: Sequence[str], feature_hash: str = "xxh3") -> UInt64Array:
    """Return the hash of each word, (n,)."""
    # A lone surrogate is no text, but it may be in a text: it still gets a hash.
    return FEATURE_HASHES[feature_hash]([word.encode("utf-8", "surrogatepass") for word in words])


def hash_shingles(word_hashes: UInt64Array, size: int) -> UInt64Array:
    """Return the hash of each run of `size` words, (n - size + 1,); of all, if there are fewer."""
    count = max(len(word_hashes) - size + 1, min(len(word_hashes), 1))
    size = min(size, len(word_hashes))
    mixed = np.zeros(count, np.uint64)
    for start in range(size):
        mixed = mixed * _MULTIPLIER + word_hashes[start : start + count]
    return _finalise(mixed)


def hash_of_kind(hashes: UInt64Array, kind: str) -> UInt64Array:
    """Return the hashes, (n,), of the same features as features of another kind."""
    return _finalise(hashes * _MULTIPLIER + hash_words([kind]))


def _finalise(mixed: UInt64Array) -> UInt64Array:
    shift = np.uint64(33)
    for constant in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):  # MurmurHash3, fmix64
        mixed = (mixed ^ mixed >> shift) * np.uint64(constant)
    finalised: UInt64Array = mixed ^ mixed >> shift
    return finalised
