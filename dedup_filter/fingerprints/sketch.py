"""A page's hashes -> the numbers that are stored of it: a fingerprint, a sketch and keys.

    weighted features          -> fingerprint   8 bytes, which look-ups find within k bits
    shingles and blocks        -> sketch        at most 1.5 KB: how much of a page is in another
    hashes of all shingles     -> keys          48 bytes, which find pages with much of the text

Fingerprint: simhash. Charikar (2002), "Similarity estimation techniques from rounding algorithms",
in the form of Manku, Jain and Das Sarma (2007), section 2: a tally for each bit position starts at
zero; every feature adds its weight where its hash has a 1 and subtracts it where it has a 0; bit i
of the fingerprint is 1 where tally i is above zero.

    feature hash   1 0 1 1 …   weight 2   ->   +2 -2 +2 +2 …
    feature hash   0 0 1 0 …   weight 1   ->   -1 -1 +1 -1 …
    tallies                                    +1 -3 +3 +1 …
    fingerprint                                 1  0  1  1 …

The same features give the same fingerprint on every machine and in every order. So weights are
whole numbers: sums of floats depend on their order, and a tally near zero would differ between
numpy builds.

Sketch: FracMinHash (Irber et al. 2022, "Lightweight compositional analysis of metagenomes with
FracMinHash and minimum metagenome covers"; "scaled" MinHash in sourmash). The sketch keeps the
32-bit hashes below 2**32 / 2**s, where the scale s is the smallest at which they fit into the
bytes. Up to 240 shingles the sketch is the whole set.

    containment of A in B = |hashes of A below B's bound that B has| / |hashes of A below B's bound|

All hashes of A are given, so B's scale alone decides how many are compared. Unlike Jaccard
similarity, containment is not lower if B holds more than A: another frame, comments.

    scale s   1 byte
    bits b    1 byte: of each kept hash, only the b bits after its s leading zeros are stored
    n         2 bytes: the number of gaps
    gaps      2 bytes each: from one hash to the next; a gap of 65,535 leads to no hash
    blocks    2 bytes each: the page's blocks in page order, see `row_of`

With b = 14 + the bits of the count, most gaps fit, and a shingle that is not in the page matches by
chance once in 16,384 times. The same bytes would hold half as many hashes of 32 bits, and more
hashes sample shorter blocks of a long page. The standard error of a containment c of a long page is
sqrt(c (1 - c) / 180): 0.027 at c = .85; of a page of up to 240 shingles 0.

A sample of phrases seldom holds a price, and cannot say where a phrase stands. So a sketch also
holds a row: 16 bits of the hash of each block that is no frame of the host. A block that differs
has the bits of one of 60 blocks by chance once in 1,000 times.

Keys: the 8 smallest distinct hashes, of each its lower 48 bits. Two texts with a share s of common
shingles have a key in common with a probability of about 1 - (1 - s)^8: the smallest hashes are a
random sample, mostly the same in both texts (MinHash, Broder 1997). The lower bits of a hash are
independent of its rank, so they take any value: one of 80 billion keys (10 billion pages) is met by
chance once in 3,500 times. A directory indexes 32 of these bits: one of 80 million keys (10 million
pages) is met once in 54 times.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

UInt32Array = npt.NDArray[np.uint32]
UInt64Array = npt.NDArray[np.uint64]
UInt16Array = npt.NDArray[np.uint16]
CountArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
UInt = TypeVar("UInt", np.uint16, np.uint32, np.uint64)

_MOST_HASH_BYTES = 512
MOST_BLOCKS = 512
"""Blocks in a row; where more blocks follow, only shingles tell whether a page has them."""
MOST_SKETCH_BYTES = _MOST_HASH_BYTES + 2 * MOST_BLOCKS
"""Sketches are stored with the pages: never change this or their format under an old index."""
_HEAD_BYTES = 4
_GAP = np.dtype("<u2")
_LONGEST_GAP = 0xFFFF
_MOST_HASHES = 240
_SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")
_BITS_BEYOND_COUNT = 14
_MOST_BITS = 32
KEYS = 8
"""Number of keys of a page. Among 63 copies that the rule accepts and that have no candidate within
12 bits, 4 keys find 49, 8 find 59, and 16 find 62 (docs/decisions/0014)."""
_KEY_BYTES = 6
KEYS_BYTES = KEYS * _KEY_BYTES
"""Keys are stored with the pages: never change them under an old index."""


def simhash(hashes: UInt64Array, weights: npt.NDArray[np.integer]) -> int | None:
    """Return the fingerprint of features given as hashes and whole-number weights, both (n,).

    None: there are no features. With any number instead, all texts without features would be equal.
    Cost: about 64 multiplications a feature.

    >>> simhash(np.array([0b1011, 0b0010], np.uint64), np.array([2, 1]))
    11
    """
    ones, total = _ones(hashes, weights)
    if not total:
        return None
    return int.from_bytes(np.packbits(2 * ones > total).tobytes(), "big")


def distinct_hashes(shingle_hashes: npt.NDArray[np.uint64]) -> UInt32Array:
    """Return the 32-bit hashes of a set of shingles, distinct and in ascending order."""
    return _ordered(short_hashes(shingle_hashes))


def short_hashes(shingle_hashes: UInt64Array) -> UInt32Array:
    """Return 32 bits of each hash, (n,)."""
    # The upper half; the lower half would do as well, because the finaliser mixes all bits.
    short: UInt32Array = (shingle_hashes >> np.uint64(32)).astype(np.uint32)
    return short


def union(sets: Sequence[UInt32Array]) -> UInt32Array:
    """Return the hashes that are in any of some sets, distinct and in ascending order."""
    return _ordered(np.concatenate(sets)) if len(sets) > 1 else sets[0]


_NO_BLOCKS = np.empty(0, np.uint16)


def sketch(hashes: UInt32Array, row: UInt16Array = _NO_BLOCKS) -> bytes:
    """Return the sketch of a set of 32-bit hashes, (n,), distinct and ascending, and of a row.

    Cost: 20 us.
    """
    scale = 0
    if len(hashes) > _MOST_HASHES:
        # The first scale whose bound is below the first hash beyond the limit.
        scale = _MOST_BITS + 1 - int(hashes[_MOST_HASHES]).bit_length()
    while len(packed := _packed(hashes[: _below(hashes, scale)], scale)) > _MOST_HASH_BYTES:
        scale += 1
    return packed + row[:MOST_BLOCKS].astype(_GAP).tobytes()


def row_of(hashes: UInt64Array) -> UInt16Array:
    """Return the row of blocks by their 64-bit hashes, (n,), in page order: 16 bits of each."""
    row: UInt16Array = (hashes & np.uint64(0xFFFF)).astype(np.uint16)
    return row


def row_in(packed: bytes) -> UInt16Array:
    """Return the row of a sketch, (n,), n <= `MOST_BLOCKS`."""
    return np.frombuffer(packed, np.uint16, offset=_end_of_gaps(packed))


def thinned(packed: bytes, most_bytes: int) -> bytes:
    """Return a sketch of the same set with fewer hashes: half of them, or a quarter, or less.

    `most_bytes`: for the hashes, two bytes each; the row of blocks stays. Cost: 20 us.

    >>> hashes = np.arange(0, 2**32, 2**24, dtype=np.uint32)
    >>> [len(thinned(sketch(hashes), most)) for most in (600, 132, 100)]
    [260, 132, 68]
    """
    row, packed = packed[_end_of_gaps(packed) :], packed[: _end_of_gaps(packed)]
    while len(packed) > most_bytes:
        scale, bits = packed[0] + 1, packed[1] - 1
        stored = _stored(packed)
        packed = _with_gaps(stored[stored < 1 << bits], scale, bits)
    return packed + row


def is_sketch(packed: bytes) -> bool:
    """Return whether some bytes have the format of a sketch."""
    if len(packed) % _GAP.itemsize or len(packed) < _HEAD_BYTES:
        return False
    of_hashes = _end_of_gaps(packed)
    if len(packed) < of_hashes or of_hashes > _MOST_HASH_BYTES or len(row_in(packed)) > MOST_BLOCKS:
        return False
    stored = _stored(packed)
    return packed[0] + packed[1] <= _MOST_BITS and int(stored.max(initial=0)) < 1 << packed[1]


def contained(
    hashes: UInt32Array, sketches: Sequence[bytes]
) -> tuple[CountArray, CountArray, CountArray]:
    """Return for each of n sketches: hashes in common with a set, comparable ones, sketch size.

    Hashes below the bound of a sketch are comparable. The hashes are distinct and ascending; the
    counts are (n,) each.

    Cost: 40 us, and 5 us a sketch.
    """
    counts = np.zeros((3, len(sketches)), np.intp)
    of_form = defaultdict[bytes, list[int]](list)
    for number, packed in enumerate(sketches):
        of_form[packed[:2]].append(number)
    for (scale, bits), numbers in of_form.items():
        below = hashes[: _below(hashes, scale)]
        wanted = _shortened(below, scale, bits).astype(np.int64)
        stored, owners = _stored_of([sketches[number] for number in numbers])
        # Two hashes may have the same first bits.
        first, end = (np.searchsorted(wanted, stored, side) for side in _SIDES)
        counts[0, numbers] = np.bincount(owners, end - first, len(numbers))
        counts[1, numbers] = len(below)
        counts[2, numbers] = np.bincount(owners, minlength=len(numbers))
    return counts[0], counts[1], counts[2]


def shared(
    ones: Sequence[bytes], others: Sequence[bytes]
) -> tuple[CountArray, CountArray, CountArray]:
    """Count, for n pairs of sketches, the shared hashes, and the comparable hashes of each.

    Hashes below the smaller of the two bounds are comparable, by the bits that both sketches have
    stored. The first count divided by the second is the containment of the one in the other. The
    counts are (n,) each.

    Cost: 10 us a pair where there are many; memory: 10 KB a pair.
    """
    heads = np.array([[*one[:2], *other[:2]] for one, other in zip(ones, others, strict=True)])
    heads = heads.reshape(-1, 4).astype(np.int64)
    scales = np.maximum(heads[:, 0], heads[:, 2])
    known = np.minimum(heads[:, 0] + heads[:, 1], heads[:, 2] + heads[:, 3])
    mine = _first_bits(ones, heads[:, 0] + heads[:, 1], scales, known)
    theirs = _first_bits(others, heads[:, 2] + heads[:, 3], scales, known)
    places = np.minimum(np.searchsorted(theirs, mine), max(len(theirs) - 1, 0))
    there = mine[theirs[places] == mine] if len(theirs) else mine[:0]
    pairs = np.arange(len(heads) + 1, dtype=np.uint64) << np.uint64(_MOST_BITS)
    there, mine, theirs = (np.diff(np.searchsorted(each, pairs)) for each in (there, mine, theirs))
    return there, mine, theirs


def jaccard(one: bytes, other: bytes) -> float:
    """Estimate the Jaccard similarity of two sets from their sketches, 0 to 1; empty sets: 0."""
    there, mine, theirs = (int(each[0]) for each in shared([one], [other]))
    return there / max(mine + theirs - there, 1)


def smallest(hashes: UInt64Array) -> UInt64Array:
    """Return the smallest distinct hashes, (KEYS,) or fewer, ascending."""
    return _without_repeats(np.sort(hashes))[:KEYS]


def keys_of(texts: Sequence[UInt64Array]) -> bytes:
    """Return the keys of a page from the `smallest` hashes of its texts: `KEYS_BYTES` bytes.

    If the page has fewer shingles, zeros stand for the missing keys.
    """
    keys = np.zeros(KEYS, "<u8")
    of_all = smallest(np.concatenate(texts)) if len(texts) > 1 else texts[0]
    keys[: len(of_all)] = of_all
    return keys.view(np.uint8).reshape(KEYS, -1)[:, :_KEY_BYTES].tobytes()


def phrases_in(keys: bytes) -> set[int]:
    """Return the keys of the phrases of a text, as `keys_of` packed them."""
    return {*keys_in(keys).tolist()} - {0}


def keys_in(packed: bytes) -> UInt64Array:
    """Return the keys that `keys_of` packed, of one page or of several, (n,); 0 for none."""
    keys = np.zeros((len(packed) // _KEY_BYTES, 8), np.uint8)
    keys[:, :_KEY_BYTES] = np.frombuffer(packed, np.uint8).reshape(-1, _KEY_BYTES)
    return keys.view("<u8").reshape(-1)


def _ones(
    hashes: UInt64Array, weights: npt.NDArray[np.integer]
) -> tuple[npt.NDArray[np.floating], int]:
    """Return the weight of the features that have each bit, 63 first, and the total weight."""
    bits = np.unpackbits(hashes.astype(">u8").view(np.uint8).reshape(-1, 8), axis=1)
    total = int(weights.sum())
    # Sums of whole numbers are exact below 2**24 in float32, which takes half the memory.
    kind = np.float32 if total < 2**24 else np.float64
    return weights.astype(kind) @ bits.astype(kind), total


def _first_bits(
    sketches: Sequence[bytes], stored_bits: CountArray, scales: CountArray, known: CountArray
) -> npt.NDArray[np.uint64]:
    """Return the first bits of the hashes of n sketches that are below the bounds of n scales.

    The results are ordered by sketch, ascending and distinct; each has the number of its sketch in
    its high bits. `stored_bits`: how many first bits each sketch has; `known`: how many to return.
    """
    # A hash is stored without its leading zeros, so as a number it equals its first bits.
    stored, owners = _stored_of(sketches)
    first = stored >> (stored_bits - known)[owners]
    # With fewer bits than leading zeros, it is unknown which hashes are below the bound.
    ends = np.where(known < scales, 0, 1 << np.maximum(known - scales, 0))
    is_asked = first < ends[owners]
    numbered = (owners[is_asked] << _MOST_BITS) | first[is_asked]
    return _without_repeats(numbered.astype(np.uint64))


def _stored_of(sketches: Sequence[bytes]) -> tuple[CountArray, CountArray]:
    """Return the shortened hashes in n sketches, one after the other, and the number of each's."""
    of_hashes = [packed[_HEAD_BYTES : _end_of_gaps(packed)] for packed in sketches]
    gaps = np.frombuffer(b"".join(of_hashes), _GAP)
    lengths = [len(each) // _GAP.itemsize for each in of_hashes]
    starts = np.cumsum([0, *lengths])[:-1]
    sums = np.cumsum(gaps, dtype=np.int64)
    owners = np.repeat(np.arange(len(sketches)), lengths)
    stored = sums - np.concatenate([[0], sums])[starts][owners]
    are_hashes = gaps != _LONGEST_GAP
    return stored[are_hashes], owners[are_hashes]


def found_in(hashes: UInt32Array, packed: bytes) -> tuple[BoolArray, BoolArray]:
    """Return which hashes, (n,), in any order, a sketch samples, (n,), and has, (n,).

    Cost: 30 us for 1,000.
    """
    are_asked = hashes <= _largest(packed[0])
    are_there = np.zeros(len(hashes), np.bool_)
    wanted = _shortened(hashes[are_asked], packed[0], packed[1])
    are_there[are_asked] = are_among(wanted, _stored(packed))
    return are_asked, are_there


def are_among(values: npt.NDArray[UInt], members: npt.NDArray[UInt]) -> BoolArray:
    """Return which values are among some others, ascending; for few, `np.isin` takes ten times."""
    if not len(members):
        return np.zeros(values.shape, np.bool_)
    places = np.minimum(np.searchsorted(members, values), len(members) - 1)
    are_among: BoolArray = members[places] == values
    return are_among


def _packed(hashes: UInt32Array, scale: int) -> bytes:
    bits = min(_BITS_BEYOND_COUNT + len(hashes).bit_length(), _MOST_BITS - scale)
    return _with_gaps(_without_repeats(_shortened(hashes, scale, bits)), scale, bits)


def _with_gaps(stored: UInt32Array, scale: int, bits: int) -> bytes:
    steps = stored.copy()
    steps[1:] -= stored[:-1]
    skips, rest = np.divmod(steps, np.uint32(_LONGEST_GAP))
    gaps = np.full(len(stored) + int(skips.sum()), _LONGEST_GAP, _GAP)
    gaps[np.cumsum(skips + 1) - 1] = rest
    return bytes([scale, bits]) + len(gaps).to_bytes(2, "little") + gaps.tobytes()


def _end_of_gaps(packed: bytes) -> int:
    return _HEAD_BYTES + _GAP.itemsize * int.from_bytes(packed[2:_HEAD_BYTES], "little")


def _stored(packed: bytes) -> UInt32Array:
    """Return the shortened hashes in a sketch, ascending."""
    gaps = np.frombuffer(packed, _GAP, (_end_of_gaps(packed) - _HEAD_BYTES) // 2, _HEAD_BYTES)
    stored: UInt32Array = np.cumsum(gaps, dtype=np.uint32)[gaps != _LONGEST_GAP]
    return stored


def _below(hashes: UInt32Array, scale: int) -> int:
    """Count the hashes below the bound of a scale; they are in ascending order."""
    return int(np.searchsorted(hashes, _largest(scale), "right"))


def _largest(scale: int) -> np.uint32:
    largest: np.uint32 = np.uint32(0xFFFFFFFF >> scale)
    return largest


def _shortened(hashes: UInt32Array, scale: int, bits: int) -> UInt32Array:
    shortened: UInt32Array = hashes << np.uint32(scale) >> np.uint32(_MOST_BITS - bits)
    return shortened


def _ordered(hashes: UInt32Array) -> UInt32Array:
    """Sort hashes in place and leave out repeats; `np.unique` takes four times as long."""
    hashes.sort()
    return _without_repeats(hashes)


def _without_repeats(ascending: npt.NDArray[UInt]) -> npt.NDArray[UInt]:
    is_first = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=is_first[1:])
    return ascending[is_first]
