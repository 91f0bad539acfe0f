"""One permuted table: all pairs of fingerprint and row, sorted by one permutation.

        1010  ->  |      permuted    1010 1111…
        1011  ->  |                  1011 0010…   <- directory[1011]
        1100  ->  |                  1011 1100…
                                     1100 0001…   <- directory[1100]

The run of a table has the older pairs, as two arrays in the order of the permuted forms. A
directory replaces a binary search: for each key (the first bits of a prefix) it holds where the
entries with that key begin. Fingerprints are stored unpermuted, so that the candidates of all
tables can be compared with a query at once. A run is never written to; a merge makes a new table.

Fresh pairs, which were added after the run was made, are in a SortedList, by prefix and then by
fingerprint, if look-ups read it: those that probe one prefix of each table (`Layout.reach`).

Memory: 12 bytes an entry, or 16 if a row is 2**32 or more; 4 for each key, at most 2 an entry; 56
for a fresh pair.
"""

from itertools import islice

import numpy as np
import numpy.typing as npt
from sortedcontainers import SortedList

from dedup_filter.hamming.layout import TableShape, directory_bits, moved, probe_keys
from dedup_filter.hamming.pairs import (
    FINGERPRINT_BITS,
    ROW_BITS,
    IntpArray,
    Pairs,
    UInt64Array,
    places_in,
)

Places = slice | IntpArray

_MOST_ALIKE = 64
"""Up to this many fresh pairs of one prefix are compared one by one."""
_PAIR_BITS = FINGERPRINT_BITS + ROW_BITS
_FINGERPRINT, _ROW = (1 << FINGERPRINT_BITS) - 1, (1 << ROW_BITS) - 1
_FRESH_BYTES = 56
"""Memory of a fresh pair: a number of up to 150 bits and its slot in the SortedList (measured)."""


class Table:
    """Pairs in the order of one permutation.

    `end`: how many pairs had been added to the index when the run was made; later ones are fresh.
    """

    def __init__(
        self,
        shape: TableShape,
        entries: UInt64Array,
        rows: npt.NDArray[np.integer],
        counts: npt.NDArray[np.integer],
        end: int = 0,
    ) -> None:
        self.shape, self.entries, self.rows, self.end = shape, entries, rows, end
        self.directory = _directory_of(counts)
        self.bits = len(counts).bit_length() - 1
        """Number of bits of a key."""
        self.fresh: SortedList[int] = SortedList()
        """Prefix, fingerprint and row of each fresh pair as one number; empty if it is not read."""
        self._spare = shape.prefix_bits - self.bits
        self._prefix_moves = shape.key_moves(shape.prefix_bits)
        # Reading a number from a memoryview takes a third of the time of a numpy array.
        self._offsets = memoryview(self.directory)  # type: ignore[arg-type] # Buffer: from 3.12 on
        self._known_probes: dict[int, IntpArray] = {}

    @classmethod
    def of(cls, shape: TableShape, pairs: Pairs, end: int = 0) -> "Table":
        """Make a table of pairs that are sorted by fingerprint. Cost: 30 to 100 ns each."""
        prefixes = shape.prefixes(pairs.fingerprints)
        if (prefixes[1:] >= prefixes[:-1]).all():
            entries, rows = pairs.fingerprints.copy(), packed(pairs.rows)
        else:
            order = _stable_order(prefixes, shape.prefix_bits)
            entries, rows = pairs.fingerprints.take(order), packed(pairs.rows).take(order)
        bits = directory_bits(pairs.size, shape.prefix_bits)
        return cls(shape, entries, rows, _counts(prefixes, shape.prefix_bits - bits, bits), end)

    def merged(self, coming: Pairs, end: int) -> "Table":
        """Return a table with more pairs in its run.

        Only the new pairs are sorted. The directory gives the place of each new pair, and the two
        lists are merged. Cost: 15 to 30 ns an entry of the run.
        """
        permuted = self.shape.permuted(coming.fingerprints)
        order = permuted.argsort(kind="stable")
        rows, places = packed(coming.rows[order]), self._places_after(permuted[order])
        bits = directory_bits(len(self.entries) + coming.size, self.shape.prefix_bits)
        spare = self.shape.prefix_bits - bits
        if bits == self.bits:
            counts = np.diff(self.directory).astype(np.intp)
        else:
            counts = _counts(self.shape.prefixes(self.entries), spare, bits)
        np.add.at(counts, self.shape.prefixes(coming.fingerprints) >> spare, 1)
        own_rows = self.rows.astype(np.result_type(self.rows, rows), copy=False)
        return Table(
            self.shape,
            np.insert(self.entries, places, coming.fingerprints[order]),
            np.insert(own_rows, places, rows),
            counts,
            end,
        )

    def places(self, query: int, distance: int) -> Places:
        """Return the places of a look-up's candidates in the run."""
        key, probes = moved(query, self._prefix_moves) >> self._spare, self._probes(distance)
        if len(probes) == 1:
            return slice(self._offsets[key], self._offsets[key + 1])
        return places_in(*self.ranges(probes ^ key))

    def at(self, places: Places) -> UInt64Array:
        """Return the fingerprints at some places; `take` needs three quarters of the time."""
        if isinstance(places, slice):
            return self.entries[places]
        return self.entries.take(places)

    def ranges(self, keys: IntpArray) -> tuple[IntpArray, IntpArray]:
        """Return, for each key, where its entries begin and how many it has."""
        starts: IntpArray = self.directory.take(keys).astype(np.intp)
        lengths: IntpArray = self.directory.take(keys + 1).astype(np.intp) - starts
        return starts, lengths

    def add_fresh(self, pair: tuple[int, int]) -> None:
        """Add a fresh pair that is not stored yet. Cost: 2 us."""
        self.fresh.add(self.entry(*pair))

    def entry(self, fingerprint: int, row: int) -> int:
        """Return a pair in the order of the list."""
        prefix = moved(fingerprint, self._prefix_moves)
        return prefix << _PAIR_BITS | fingerprint << ROW_BITS | row

    def fresh_near(self, query: int, distance: int) -> list[tuple[int, int]] | None:
        """Return the fresh pairs with the query's prefix within a distance; None: they are many."""
        first = moved(query, self._prefix_moves) << _PAIR_BITS
        last = first + (1 << _PAIR_BITS) - 1
        alike = list(islice(self.fresh.irange(first, last), _MOST_ALIKE + 1))
        if len(alike) > _MOST_ALIKE:
            return None
        pairs = [(each >> ROW_BITS & _FINGERPRINT, each & _ROW) for each in alike]
        return [pair for pair in pairs if (pair[0] ^ query).bit_count() <= distance]

    @property
    def pairs(self) -> Pairs:
        """All pairs of the run."""
        return Pairs(self.entries, self.rows.astype(np.int64))

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        of_run = self.entries.nbytes + self.rows.nbytes + self.directory.nbytes
        return of_run + len(self.fresh) * _FRESH_BYTES

    def check(self) -> None:
        """Verify the run and the order of fresh pairs: else AssertionError."""
        assert self.entries.shape == self.rows.shape, "not one row for each entry"
        permuted = self.shape.permuted(self.entries)
        assert (permuted[1:] >= permuted[:-1]).all(), "a run out of order"
        counts = _counts(self.shape.prefixes(self.entries), self._spare, self.bits)
        assert np.array_equal(self.directory, _directory_of(counts)), "a directory is wrong"
        assert not len(self.rows) or self.rows.min() >= 0, "a negative row"
        self.fresh._check()

    def _places_after(self, permuted: UInt64Array) -> IntpArray:
        """Count, for each permuted form, the entries whose permuted form is not greater."""
        keys: IntpArray = (permuted >> np.uint64(FINGERPRINT_BITS - self.bits)).astype(np.intp)
        low, lengths = self.ranges(keys)
        high = low + lengths
        while (is_open := low < high).any():
            middle = (low + high) // 2
            entries = self.shape.permuted(self.entries.take(middle, mode="clip"))
            is_after = entries <= permuted
            low = np.where(is_open & is_after, middle + 1, low)
            high = np.where(is_open & ~is_after, middle, high)
        return low

    def _probes(self, distance: int) -> IntpArray:
        """Return the masks to flip in a key."""
        known = self._known_probes.get(distance)
        if known is None:
            known = self._known_probes[distance] = probe_keys(self.shape, distance, self.bits)
        return known


def packed(rows: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
    """Return rows in 4 bytes each if they fit."""
    fit = not len(rows) or int(rows.max()) < 2**32
    return rows.astype(np.uint32 if fit else np.int64)


def _stable_order(prefixes: IntpArray, bits: int) -> IntpArray:
    """Return the order that sorts prefixes, equal ones as they are now."""
    # numpy sorts numbers of 16 bits by counting, in a sixth of the time of longer ones.
    order = prefixes.astype(np.uint16).argsort(kind="stable")
    for shift in range(16, bits, 16):
        digits = (prefixes >> shift).astype(np.uint16).take(order)
        order = order.take(digits.argsort(kind="stable"))
    return order


def _counts(prefixes: IntpArray, spare: int, bits: int) -> IntpArray:
    """Count the entries of each key, which is a prefix without its last `spare` bits."""
    return np.bincount(prefixes >> spare, minlength=1 << bits)


def _directory_of(counts: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
    """Turn the number of entries of each key into where they begin."""
    ends = counts.cumsum()
    directory = np.zeros(len(counts) + 1, np.int32 if ends[-1] < 2**31 else np.int64)
    directory[1:] = ends
    return directory
