"""A permuted sorted table: fingerprints in the order of their permuted forms, and a directory.

    fingerprint   63 | A | B | C | D | E | F | 0      leading blocks: A, C and E
    permuted      63 | A | C | E | B | D | F | 0      equal in A, C and E: neighbours when sorted

    directory     the first bits of the permuted form, as a number -> where their entries begin

        1010  ->  |      permuted    1010 1111…
        1011  ->  |                  1011 0010…   <- directory[1011]
        1100  ->  |                  1011 1100…
                                     1011 1101…
                                     1100 0001…   <- directory[1100]

Manku, Jain and Das Sarma (2007), section 3. Where we differ: an entry is kept as the fingerprint
that it is, in the place that its permuted form has, as distances do not change when two are
permuted alike. So the candidates of all tables are compared with the query at once, in three numpy
calls instead of three for each table (6 us instead of 15 for four tables of 10 million, both tried
in one script), and nothing has to be permuted back.

The directory takes the place of a binary search. It has at most as many bits as the table's prefix,
and fewer for few entries: then more entries share a key, and a look-up has more candidates, but
misses none.

Guarantee: all entries that begin with the bits of a key are among its candidates.

Cost: 8 bytes an entry, and 4 for each piece that the directory can tell apart (8 from 2 billion
entries on): at most 2 bytes an entry. Rows take 4 bytes each as long as none is 2**32 or more.

Equal fingerprints are separate entries. A run does not change; its arrays may be read-only and
lie in a file.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.pairs import (
    FINGERPRINT_BITS,
    IntpArray,
    RowArray,
    UInt64Array,
    places_in,
)

__all__ = ["Directory", "Move", "PackedRows", "Permutation", "Run", "moved"]

Directory = npt.NDArray[np.integer]
PackedRows = npt.NDArray[np.integer]
Number = TypeVar("Number", bound=np.integer[Any])

_LONG_PIECE = 24
"""From so many entries a piece (mean) on, slices are quicker than an array of places."""

_SMALL_ROWS = 2**32
_NO_ROWS: PackedRows = np.empty(0, np.uint32)


class Move(NamedTuple):
    """Bits under the mask, to the left; or to the right, if `by` is negative."""

    mask: int
    by: int


class Permutation:
    """A rearrangement of the 64 bits of a fingerprint.

    `order` names, from the most significant bit of the permuted word down, the position
    that each bit has in the fingerprint.

    Bits that travel equally far travel together: one mask and one shift for each distance
    travelled (2 to 5 for the usual tables, 0.15 us each), on ints as on whole arrays.
    simhash-cpp draws its permutations the same way, as masks of contiguous blocks.

    Raises:
        ValueError: `order` does not name each of the positions 63..0 once.

    >>> last_byte_first = Permutation([*range(7, -1, -1), *range(63, 7, -1)])
    >>> hex(last_byte_first.apply(0x11223344556677FF))
    '0xff11223344556677'
    """

    __slots__ = ("_back", "_forth", "order")

    def __init__(self, order: Sequence[int]) -> None:
        if sorted(order) != list(range(FINGERPRINT_BITS)):
            raise ValueError("a permutation names each of the bit positions 0..63 once")
        self.order = tuple(order)
        places = range(FINGERPRINT_BITS - 1, -1, -1)
        self._forth = _moves(zip(self.order, places, strict=True))
        self._back = _moves(zip(places, self.order, strict=True))

    @property
    def is_identity(self) -> bool:
        """Whether every bit stays where it is."""
        return [move.by for move in self._forth] == [0]

    def apply(self, fingerprint: int) -> int:
        """Return the fingerprint with its bits in this order."""
        return moved(fingerprint, self._forth)

    def undo(self, permuted: int) -> int:
        """Return the fingerprint of which this is the permuted form."""
        return moved(permuted, self._back)

    def apply_many(self, fingerprints: UInt64Array) -> UInt64Array:
        """Permute an array of fingerprints. Cost: about 1 ns each for every move."""
        return _moved_many(fingerprints, self._forth)

    def undo_many(self, permuted: UInt64Array) -> UInt64Array:
        """Bring an array of permuted fingerprints back."""
        return _moved_many(permuted, self._back)

    def prefix_moves(self, bits: int) -> tuple[Move, ...]:
        """Return the moves that make the first `bits` of the permuted form a number.

        >>> Permutation(range(63, -1, -1)).prefix_moves(16) == (Move(0xFFFF << 48, -48),)
        True
        """
        return _moves(zip(self.order[:bits], range(bits - 1, -1, -1), strict=True))


class Run:
    """Sorted entries of one permuted table, each with its row if there are rows.

    >>> run = Run.of(Permutation(range(63, -1, -1)), 16, np.array([3 << 62, 5, 1], np.uint64))
    >>> run.directory_bits, run.candidates(*run.spans(np.array([0]))).tolist()
    (1, [1, 5])
    """

    def __init__(
        self,
        permutation: Permutation,
        prefix_bits: int,
        entries: UInt64Array,
        directory: Directory,
        rows: PackedRows = _NO_ROWS,
    ) -> None:
        self.permutation = permutation
        self.prefix_bits = prefix_bits
        self.entries = entries
        self.directory = directory
        self.directory_bits = (len(directory) - 1).bit_length() - 1
        self.rows = rows

    @classmethod
    def of(
        cls,
        permutation: Permutation,
        prefix_bits: int,
        fingerprints: UInt64Array,
        rows: RowArray | None = None,
    ) -> "Run":
        """Sort fingerprints into a run. Cost: 0.1 us each."""
        permuted = permutation.apply_many(fingerprints)
        packed = _NO_ROWS
        if rows is None:
            permuted.sort()
        else:
            order = permuted.argsort(kind="stable")
            permuted, packed = permuted[order], _packed(rows[order])
        bits = _directory_bits(len(permuted), prefix_bits)
        directory = _directory_of(_counts(permuted, bits))
        entries = permuted if permutation.is_identity else permutation.undo_many(permuted)
        return cls(permutation, prefix_bits, entries, directory, packed)

    def merged(
        self, leaving: IntpArray, coming: UInt64Array, rows: RowArray | None = None
    ) -> "Run":
        """Make a run with the fingerprints `coming`, and without the entries at places `leaving`.

        `leaving` ascends; `rows` are those of `coming`, if the run has rows.

        Cost: 10 to 20 ns an entry, 0.1 to 0.2 s for 10 million. Memory meanwhile: one more copy of
        the entries, or two if some are leaving.
        """
        arriving = self.permutation.apply_many(coming)
        order = arriving.argsort(kind="stable")
        arriving = arriving[order]
        places = self._places_after(arriving)
        places -= leaving.searchsorted(places)
        entries = np.insert(_without(self.entries, leaving), places, coming[order])
        packed = self.rows
        if rows is not None:
            added = _packed(rows[order])
            packed = packed.astype(np.result_type(packed, added), copy=False)
            packed = np.insert(_without(packed, leaving), places, added)
        bits = _directory_bits(len(entries), self.prefix_bits)
        if bits == self.directory_bits:
            counts = np.diff(self.directory).astype(np.intp)
        else:
            counts = _counts(self.permutation.apply_many(self.entries), bits)
        gone = self.permutation.apply_many(self.entries[leaving])
        np.add.at(counts, _keys(arriving, bits), 1)
        np.subtract.at(counts, _keys(gone, bits), 1)
        return Run(self.permutation, self.prefix_bits, entries, _directory_of(counts), packed)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def nbytes(self) -> int:
        """Memory of the arrays in bytes."""
        return self.entries.nbytes + self.directory.nbytes + self.rows.nbytes

    @cached_property
    def key_moves(self) -> tuple[Move, ...]:
        """How a fingerprint becomes a key of the directory."""
        return self.permutation.prefix_moves(self.directory_bits)

    def keys(self, fingerprints: UInt64Array) -> IntpArray:
        """Return the keys of fingerprints."""
        return _keys(self.permutation.apply_many(fingerprints), self.directory_bits)

    @cached_property
    def offsets(self) -> memoryview:
        """The directory, to be asked for one number: 0.04 us instead of 0.11."""
        return memoryview(self.directory)  # type: ignore[arg-type] # Buffer: from 3.12 on

    @cached_property
    def values(self) -> memoryview:
        """The entries, to be asked for one number: a bisection takes a third of numpy's time."""
        return memoryview(self.entries)  # type: ignore[arg-type] # Buffer: from 3.12 on

    def spans(self, keys: IntpArray) -> tuple[IntpArray, IntpArray]:
        """Return where the entries of each key begin, and how many there are."""
        starts: IntpArray = self.directory[keys].astype(np.intp)
        lengths: IntpArray = self.directory[keys + 1].astype(np.intp) - starts
        return starts, lengths

    def candidates(self, starts: IntpArray, lengths: IntpArray) -> UInt64Array:
        """Return the entries of some spans, one span after the other."""
        if len(self.entries) < _LONG_PIECE << self.directory_bits or not len(starts):
            return self.entries.take(places_in(starts, lengths))
        ends = (starts + lengths).tolist()
        return np.concatenate(
            [self.entries[a:b] for a, b in zip(starts.tolist(), ends, strict=True)]
        )

    def places_of(self, fingerprints: UInt64Array) -> IntpArray:
        """Return the ascending places of fingerprints, another place for each of equal ones.

        Requires: each of them is an entry, as often as it is given.
        """
        permuted = np.sort(self.permutation.apply_many(fingerprints))
        not_before = permuted.searchsorted(permuted, "right") - np.arange(len(permuted))
        return self._places_after(permuted) - not_before

    def check(self) -> None:
        """Verify that the entries are in order and that the directory tells where they begin.

        Raises:
            AssertionError: they are not, or it does not.
        """
        assert self.entries.dtype == np.uint64, "entries that are no 64-bit numbers"
        assert self.directory_bits <= self.prefix_bits, "a directory of more bits than the prefix"
        assert len(self.directory) == (1 << self.directory_bits) + 1, "a directory cut short"
        permuted = self.permutation.apply_many(self.entries)
        assert (permuted[:-1] <= permuted[1:]).all(), "entries out of order"
        directory = _directory_of(_counts(permuted, self.directory_bits))
        assert np.array_equal(self.directory, directory), "a wrong directory"

    def _places_after(self, permuted: UInt64Array) -> IntpArray:
        """Count, for each permuted form, the entries whose permuted form is not greater."""
        low, lengths = self.spans(_keys(permuted, self.directory_bits))
        high = low + lengths
        while (is_open := low < high).any():
            middle = (low + high) // 2
            entries = self.permutation.apply_many(self.entries.take(middle, mode="clip"))
            is_after = entries <= permuted
            low = np.where(is_open & is_after, middle + 1, low)
            high = np.where(is_open & ~is_after, middle, high)
        return low


def _directory_bits(entries: int, prefix_bits: int) -> int:
    """Return how many bits a directory tells apart: two to four entries share a key, or more."""
    return max(min(prefix_bits, entries.bit_length() - 2), 1)


def _counts(permuted: UInt64Array, bits: int) -> IntpArray:
    """Count the entries of each key."""
    return np.bincount(_keys(permuted, bits), minlength=1 << bits)


def _directory_of(counts: npt.NDArray[np.integer]) -> Directory:
    """Add up how many entries each key has to where they begin."""
    ends = counts.cumsum()
    directory = np.zeros(len(counts) + 1, np.int32 if ends[-1] < 2**31 else np.int64)
    directory[1:] = ends
    return directory


def _keys(permuted: UInt64Array, bits: int) -> IntpArray:
    keys: IntpArray = (permuted >> np.uint64(FINGERPRINT_BITS - bits)).astype(np.intp)
    return keys


def _packed(rows: RowArray) -> PackedRows:
    """Return rows in 4 bytes each if they fit."""
    fit = not len(rows) or int(rows.max()) < _SMALL_ROWS
    return rows.astype(np.uint32 if fit else np.int64)


def _without(values: npt.NDArray[Number], leaving: IntpArray) -> npt.NDArray[Number]:
    return np.delete(values, leaving) if len(leaving) else values


def _moves(journeys: Iterable[tuple[int, int]]) -> tuple[Move, ...]:
    """Group the journeys of single bits (from, to) by distance and direction."""
    masks: dict[int, int] = defaultdict(int)
    for start, end in journeys:
        masks[end - start] |= 1 << start
    return tuple(Move(mask, by) for by, mask in masks.items())


def moved(word: int, moves: Iterable[Move]) -> int:
    """Return the number that the moves make of one."""
    result = 0
    for mask, by in moves:
        result |= (word & mask) << by if by >= 0 else (word & mask) >> -by
    return result


def _moved_many(words: UInt64Array, moves: tuple[Move, ...]) -> UInt64Array:
    result = np.empty(0, np.uint64)
    for number, (mask, by) in enumerate(moves):
        moved = words & np.uint64(mask)
        if by > 0:  # in place: with a new array it takes half as long again
            moved <<= np.uint64(by)
        elif by < 0:
            moved >>= np.uint64(-by)
        result = np.bitwise_or(result, moved, out=result) if number else moved
    return result
