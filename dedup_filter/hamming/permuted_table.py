"""One permuted table: all pairs sorted by one permutation; pairs can be added at any time.

    add     ->  fresh   SortedList of (permuted fingerprint, row): what was added last
                run     sorted arrays of all older pairs, with a directory (see `run`)
    within  ->  for each probe (see `layout`), a range of the SortedList and a slice of the run
    merge   ->  fresh and run, two ordered lists, become one run; fresh is empty again

Each table holds every pair, so each table can be merged on its own.
"""

from itertools import islice

import numpy as np
from sortedcontainers import SortedList

from dedup_filter.hamming.layout import moved, probe_keys
from dedup_filter.hamming.pairs import (
    FINGERPRINT_BITS,
    ROW_BITS,
    IntpArray,
    Pairs,
    places_in,
)
from dedup_filter.hamming.run import Run

FEW_PROBES = 12
"""Up to this many probes of a table are looked up one by one: 0.4 us each in the run, 2 us in the
SortedList. More are looked up in the run by one numpy call: 8 us, and 0.04 us each."""
_MOST_ALIKE = 64
"""Up to this many fresh entries of one prefix are compared one by one; more by numpy."""
_ROW_MASK = (1 << ROW_BITS) - 1
_ENTRY_BYTES = 56
"""Memory of a fresh entry: a number of 127 bits and its slot in the SortedList (measured)."""

Places = slice | IntpArray


class PermutedTable:
    """Pairs in the order of one permutation."""

    def __init__(self, run: Run) -> None:
        self.run, self.shape = run, run.shape
        self.fresh: SortedList[int] = SortedList()
        """The permuted fingerprint of each fresh pair and its row, as one number."""
        self._moves = self.shape.key_moves(FINGERPRINT_BITS)  # making them takes 20 us
        self._known_probes: dict[tuple[int, int], list[int] | IntpArray] = {}

    def __len__(self) -> int:
        return len(self.run.entries) + len(self.fresh)

    def __contains__(self, pair: tuple[int, int]) -> bool:
        fingerprint, row = pair
        if self._entry(fingerprint, row) in self.fresh:
            return True
        (here,) = self.places(fingerprint, 0)
        entries, rows = self.run.entries[here], self.run.rows[here]
        return bool(((entries == np.uint64(fingerprint)) & (rows == row)).any())

    def add(self, fingerprint: int, row: int) -> None:
        """Add a pair that is not stored yet. Cost: 3 us."""
        self.fresh.add(self._entry(fingerprint, row))

    def places(self, query: int, distance: int) -> list[Places]:
        """Return the places of a look-up's candidates in the run."""
        key, probes = moved(query, self.run.key_moves), self._probes(distance, self.run.bits)
        if not isinstance(probes, list):
            return [places_in(*self.run.ranges(probes ^ key))]
        offsets, keys = self.run.offsets, [key ^ each for each in probes]
        return [slice(offsets[each], offsets[each + 1]) for each in keys]

    def fresh_within(self, query: int, distance: int) -> list[tuple[int, int]] | None:
        """Return the fresh pairs within a distance that a probe leads to.

        None: there are too many probes, or entries of one prefix, to compare one by one.
        """
        probes = self._probes(distance, self.shape.prefix_bits)
        if not isinstance(probes, list):
            return None
        permuted, rest = moved(query, self._moves), FINGERPRINT_BITS - self.shape.prefix_bits
        found = []
        for probe in probes:
            first = (permuted >> rest ^ probe) << rest + ROW_BITS
            last = first + (1 << rest + ROW_BITS) - 1
            alike = list(islice(self.fresh.irange(first, last), _MOST_ALIKE + 1))
            if len(alike) > _MOST_ALIKE:
                return None
            found += [
                each for each in alike if (each >> ROW_BITS ^ permuted).bit_count() <= distance
            ]
        return [(self.shape.restored(each >> ROW_BITS), each & _ROW_MASK) for each in found]

    def merge(self) -> None:
        """Move the fresh pairs into the run. A failure leaves the table as it was."""
        self.run = self.run.merged(self._fresh_pairs)
        self.fresh.clear()

    def fresh_count(self) -> int:
        """Count the pairs that are not in the run."""
        return len(self.fresh)

    @property
    def pairs(self) -> Pairs:
        """All pairs."""
        return Pairs.joined([self.run.pairs, self._fresh_pairs])

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.run.nbytes + len(self.fresh) * _ENTRY_BYTES

    def check(self) -> None:
        """Verify run and fresh entries: else AssertionError."""
        self.run.check()
        self.fresh._check()

    def _entry(self, fingerprint: int, row: int) -> int:
        return moved(fingerprint, self._moves) << ROW_BITS | row

    @property
    def _fresh_pairs(self) -> Pairs:
        """The fresh pairs, in the order of the table."""
        count = len(self.fresh)
        permuted = np.fromiter((entry >> ROW_BITS for entry in self.fresh), np.uint64, count)
        rows = np.fromiter((entry & _ROW_MASK for entry in self.fresh), np.int64, count)
        return Pairs(self.shape.restored(permuted), rows)

    def _probes(self, distance: int, bits: int) -> list[int] | IntpArray:
        """Return the masks to flip in a key of `bits` bits; a list if they are few."""
        known = self._known_probes.get((distance, bits))
        if known is None:
            keys = probe_keys(self.shape, distance, bits)
            known = keys if len(keys) > FEW_PROBES else keys.tolist()
            self._known_probes[distance, bits] = known
        return known
