"""Sealed tables and pairs that are to join them -> newer sealed tables, in small steps.

    tables   1 2 3 4      2' 3' 4' each take the place of the old one as soon as they are
             | | | |      whole; 1', which has the rows, comes last, and with it the pairs
             1 2' 3' 4    that were merged stop to be asked elsewhere

Between two steps every look-up stays exact: what is in a new table but not yet in the first one
is still found where it came from, and what a new table has left out was removed before.

Marked pairs are taken out. Another layout, or tables where there was only the first one, are
sorted from its entries, a million at a time.

Cost: about 20 ms for every million entries of each table, in steps of a million (`merging`);
on top of the memory of the tables that of one new table, or of all of them if the layout
changes.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from dedup_filter.hamming.index_pairs import IntpArray, Pairs
from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.merging import STEP, merged, sorted_in_steps
from dedup_filter.hamming.permutation import Permutation
from dedup_filter.hamming.sealed_tables import SealedTables

if TYPE_CHECKING:
    from dedup_filter.hamming.run import Run

__all__ = ["Compaction", "compacted", "finished", "made_new", "stepped", "steps_of"]

Compaction = Generator[None, None, SealedTables]
"""Yields after every step and returns the new tables."""


def compacted(
    tables: SealedTables, removed: IntpArray, coming: Pairs, layout: Layout, *, is_scanned: bool
) -> Compaction:
    """Merge pairs into tables, leave out those at the removed places, arrange them by a layout.

    `is_scanned`: only the first table is wanted. Requires: none of the pairs is in the tables,
    but at the removed places; nobody else changes the tables, except for marks that are added.
    """
    one, *more = layout.tables_needed(tables.max_distance)
    others: list[Run] = []
    if not is_scanned and tables.others and layout == tables.layout:
        leaving = tables.first.run.entries[removed]
        for number, run in enumerate(tables.others):
            others.append((yield from merged(run, coming.fingerprints, leaving)))
            tables.replace(number, others[-1])
    elif not is_scanned:
        stay = np.delete(tables.first.run.entries, removed)
        entries = np.concatenate([stay, coming.fingerprints])
        for shape in more:
            permutation = Permutation(shape.order)
            others.append((yield from sorted_in_steps(permutation, shape.prefix_bits, entries)))
    first = yield from tables.first.merged(coming, removed, one.prefix_bits)
    return SealedTables(layout, tables.max_distance, first, others)


def finished(compaction: Compaction) -> SealedTables:
    """Take all steps that are left."""
    while True:
        newer = stepped(compaction)
        if newer is not None:
            return newer


def stepped(compaction: Compaction) -> SealedTables | None:
    """Take one step; return the new tables after the last."""
    try:
        next(compaction)
    except StopIteration as end:
        newer: SealedTables = end.value
        return newer
    return None


@contextmanager
def made_new(tables: SealedTables) -> Iterator[None]:
    """Guard a compaction of these tables, until the new ones are in their place.

    If it fails, for want of memory, they have all that they had, but some may have been
    replaced: then only the first, which never is, is used any longer.
    """
    try:
        yield
    except BaseException:
        tables.forget_others()
        raise


def steps_of(tables: SealedTables, coming: Pairs, layout: Layout) -> int:
    """Estimate how many steps a compaction takes, rather too many than too few."""
    pieces = 2 + (len(tables.fingerprints) + coming.size) // STEP
    count = pieces * len(layout.tables_needed(tables.max_distance))
    is_merge = tables.others and layout == tables.layout
    return count if is_merge else count * (1 + pieces.bit_length())
