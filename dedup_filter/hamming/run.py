"""The sorted part of a permuted table: key -> the slice of the entries with that key.

        1010  ->  |      permuted    1010 1111…
        1011  ->  |                  1011 0010…   <- directory[1011]
        1100  ->  |                  1011 1100…
                                     1100 0001…   <- directory[1100]

An entry is a fingerprint and its row, in two arrays, in the order of the permuted forms. A
directory replaces a binary search: for each key (the first bits of a permuted form) it holds where
the entries with that key begin. Fingerprints are stored unpermuted, so that the candidates of all
tables can be compared with a query at once.

A run is never written to. Memory: 12 bytes an entry, or 16 if a row is 2**32 or more; and 4 for
each key, at most 2 an entry.
"""

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.layout import TableShape, directory_bits
from dedup_filter.hamming.pairs import FINGERPRINT_BITS, IntpArray, Pairs, RowArray, UInt64Array

Directory = npt.NDArray[np.integer]
PackedRows = npt.NDArray[np.integer]


class Run:
    """Entries of one permuted table in its order, and a directory of their keys."""

    def __init__(
        self, shape: TableShape, entries: UInt64Array, rows: PackedRows, directory: Directory
    ) -> None:
        self.shape, self.entries, self.rows, self.directory = shape, entries, rows, directory
        self.bits = len(directory).bit_length() - 1
        """Number of bits of a key."""
        self.key_moves = shape.key_moves(self.bits)
        # Reading a number from a memoryview takes a third of the time of a numpy array.
        self.offsets = memoryview(directory)  # type: ignore[arg-type] # Buffer: from 3.12 on

    @classmethod
    def of(cls, shape: TableShape, pairs: Pairs) -> "Run":
        """Sort pairs into a run. Cost: 0.1 us each."""
        permuted = shape.permuted(pairs.fingerprints)
        order = permuted.argsort(kind="stable")
        counts = _counts(permuted, directory_bits(len(permuted), shape.prefix_bits))
        rows = packed(pairs.rows[order])
        return cls(shape, pairs.fingerprints[order], rows, _directory_of(counts))

    def merged(self, coming: Pairs) -> "Run":
        """Return a run with more pairs.

        Only the new pairs are sorted. The directory gives the place of each new pair, and the two
        lists are merged. Cost: 15 to 30 ns an entry of the run.
        """
        permuted = self.shape.permuted(coming.fingerprints)
        order = permuted.argsort(kind="stable")
        permuted, rows = permuted[order], packed(coming.rows[order])
        places = self._places_after(permuted)
        bits = directory_bits(len(self.entries) + len(permuted), self.shape.prefix_bits)
        if bits == self.bits:
            counts = np.diff(self.directory).astype(np.intp)
        else:
            counts = _counts(self.shape.permuted(self.entries), bits)
        np.add.at(counts, keys_of(permuted, bits), 1)
        own_rows = self.rows.astype(np.result_type(self.rows, rows), copy=False)
        return Run(
            self.shape,
            np.insert(self.entries, places, coming.fingerprints[order]),
            np.insert(own_rows, places, rows),
            _directory_of(counts),
        )

    def ranges(self, keys: IntpArray) -> tuple[IntpArray, IntpArray]:
        """Return, for each key, where its entries begin and how many it has."""
        starts: IntpArray = self.directory[keys].astype(np.intp)
        lengths: IntpArray = self.directory[keys + 1].astype(np.intp) - starts
        return starts, lengths

    def _places_after(self, permuted: UInt64Array) -> IntpArray:
        """Count, for each permuted form, the entries whose permuted form is not greater."""
        low, lengths = self.ranges(keys_of(permuted, self.bits))
        high = low + lengths
        while (is_open := low < high).any():
            middle = (low + high) // 2
            entries = self.shape.permuted(self.entries.take(middle, mode="clip"))
            is_after = entries <= permuted
            low = np.where(is_open & is_after, middle + 1, low)
            high = np.where(is_open & ~is_after, middle, high)
        return low

    @property
    def pairs(self) -> Pairs:
        """All entries."""
        return Pairs(self.entries, self.rows.astype(np.int64))

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.entries.nbytes + self.rows.nbytes + self.directory.nbytes

    def check(self) -> None:
        """Verify order, directory and rows: else AssertionError."""
        assert self.entries.shape == self.rows.shape, "not one row for each entry"
        permuted = self.shape.permuted(self.entries)
        assert (permuted[1:] >= permuted[:-1]).all(), "a run out of order"
        assert np.array_equal(self.directory, _directory_of(_counts(permuted, self.bits)))
        assert not len(self.rows) or self.rows.min() >= 0, "a negative row"


def keys_of(permuted: UInt64Array, bits: int) -> IntpArray:
    """Return the first bits of permuted forms."""
    keys: IntpArray = (permuted >> np.uint64(FINGERPRINT_BITS - bits)).astype(np.intp)
    return keys


def packed(rows: RowArray) -> PackedRows:
    """Return rows in 4 bytes each if they fit."""
    fit = not len(rows) or int(rows.max()) < 2**32
    return rows.astype(np.uint32 if fit else np.int64)


def _counts(permuted: UInt64Array, bits: int) -> IntpArray:
    """Count the entries of each key."""
    return np.bincount(keys_of(permuted, bits), minlength=1 << bits)


def _directory_of(counts: npt.NDArray[np.integer]) -> Directory:
    """Turn the number of entries of each key into where they begin."""
    ends = counts.cumsum()
    directory = np.zeros(len(counts) + 1, np.int32 if ends[-1] < 2**31 else np.int64)
    directory[1:] = ends
    return directory
