"""A run and what is to come to it and to leave it -> a new run, in small steps.

    run          A A B C | C D E | E F F          cut where the keys of the directory change
    added        . . B . | D . . | . F .
    removed      . A . . | . . . | E . .
    new run      A B B C   C D D E   F F F        a step each, until the last is done

The old run answers until the new one is whole, so that a look-up between two steps is exact.

Cost: a step takes 20 to 60 ms for its million entries (more only where more than a million begin
alike), whatever the size of the run. The memory of the new run comes on top meanwhile.
"""

from collections.abc import Generator, Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.permutation import Permutation
from dedup_filter.hamming.ragged import IntpArray
from dedup_filter.hamming.run import Run, directory_bits, directory_of

__all__ = ["STEP", "NewRun", "Steps", "merged", "pieces", "sorted_in_steps"]

UInt64Array = npt.NDArray[np.uint64]

STEP = 1_000_000
"""Entries that one step moves."""

Steps = Generator[None, None, Run]
"""Yields after every step and returns the new run."""


class NewRun:
    """A run that is being written from its first entry to its last."""

    def __init__(self, permutation: Permutation, prefix_bits: int, length: int) -> None:
        self._permutation, self._prefix_bits = permutation, prefix_bits
        self._entries = np.empty(length, np.uint64)
        self._bits = directory_bits(length, prefix_bits)
        self._counts = np.zeros(1 << self._bits, np.intp)
        self._length = 0

    @property
    def capacity(self) -> int:
        """How many entries it will have."""
        return len(self._entries)

    def __len__(self) -> int:
        return self._length

    def extend(self, entries: UInt64Array, permuted: UInt64Array) -> None:
        """Append entries; `permuted` is their permuted form."""
        if not len(entries):
            return
        self._entries[self._length : self._length + len(entries)] = entries
        self._length += len(entries)
        keys = (permuted >> np.uint64(64 - self._bits)).astype(np.intp)
        first, last = int(keys[0]), int(keys[-1])
        self._counts[first : last + 1] += np.bincount(keys - first, minlength=last - first + 1)

    def finish(self) -> Run:
        """Return the run when all its entries are there."""
        assert self._length == len(self._entries), "entries lost or doubled in a merge"
        directory = directory_of(self._counts)
        return Run(self._permutation, self._prefix_bits, self._entries, directory)


def merged(run: Run, added: UInt64Array, removed: UInt64Array) -> Steps:
    """Merge fingerprints into a run and leave others out, each as often as it is given.

    Requires: what is removed is in the run, as often at least.
    """
    # A stable sort of what is in order already, another run, takes no time to speak of.
    coming = np.sort(run.permutation.apply_many(added), kind="stable")
    leaving = np.sort(run.permutation.apply_many(removed), kind="stable")
    new = NewRun(run.permutation, run.prefix_bits, len(run) + len(added) - len(removed))
    for start, end, least, most in pieces(run):
        permuted = run.permutation.apply_many(run.entries[start:end])
        entries = run.entries[start:end]
        gone = _places_of(_between(leaving, least, most), permuted)
        if len(gone):
            permuted, entries = np.delete(permuted, gone), np.delete(entries, gone)
        here = _between(coming, least, most)
        if len(here):
            places = permuted.searchsorted(here, "right")
            permuted = np.insert(permuted, places, here)
            entries = np.insert(entries, places, run.permutation.undo_many(here))
        new.extend(entries, permuted)
        yield
    return new.finish()


def sorted_in_steps(permutation: Permutation, prefix_bits: int, entries: UInt64Array) -> Steps:
    """Sort fingerprints into a run: a million at a time, then two runs of like length into one."""
    nothing = np.empty(0, np.uint64)
    runs: list[Run] = []
    for start in range(0, max(len(entries), 1), STEP):
        runs.append(Run.of(permutation, prefix_bits, entries[start : start + STEP]))
        yield
        is_last = start + STEP >= len(entries)
        while len(runs) > 1 and (is_last or len(runs[-2]) <= len(runs[-1])):
            shorter = runs.pop()
            runs.append((yield from merged(runs.pop(), shorter.entries, nothing)))
    return runs[0]


def pieces(run: Run) -> Iterator[tuple[int, int, int, int]]:
    """Cut a run into pieces of about `STEP` entries: start, end, least and most permuted form."""
    wanted = np.arange(STEP, len(run), STEP)
    keys = set(run.directory.searchsorted(wanted).tolist())
    cuts = [0, *sorted(key for key in keys if run.directory[key] < len(run))]
    cuts.append(1 << run.directory_bits)
    shift = 64 - run.directory_bits
    for first, end in pairwise(cuts):
        yield (
            int(run.directory[first]),
            int(run.directory[end]),
            first << shift,
            (end << shift) - 1,
        )


def _between(values: UInt64Array, least: int, most: int) -> UInt64Array:
    """Return the ascending values from `least` to `most`."""
    start = values.searchsorted(np.uint64(least))
    end = values.searchsorted(np.uint64(most), "right")
    return values[start:end]


def _places_of(leaving: UInt64Array, permuted: UInt64Array) -> IntpArray:
    """Find a place for each of the ascending values, another one for each of equal values."""
    rank = np.arange(len(leaving)) - leaving.searchsorted(leaving)
    return permuted.searchsorted(leaving) + rank
