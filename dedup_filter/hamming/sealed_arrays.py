"""The tables of an index as plain arrays, to be kept somewhere and given back.

Derived data: whoever has the pairs can make them again (`HammingIndex.add_many`). They are given
out and taken back as they are, without a copy, so they may lie in files that are mapped into
memory; nothing ever writes into them.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.pairs import UInt64Array
from dedup_filter.hamming.permutation import Permutation
from dedup_filter.hamming.run import Directory, PackedRows, Run
from dedup_filter.hamming.tables import Tables

__all__ = ["SealedArrays"]


class SealedArrays(NamedTuple):
    """One run and one directory a table, and the rows of the first.

    A small index has only the first of its layout's tables.
    """

    layout: Layout
    max_distance: int
    rows: PackedRows
    runs: tuple[UInt64Array, ...]
    directories: tuple[Directory, ...]

    @classmethod
    def of(cls, tables: Tables) -> "SealedArrays":
        """Show the arrays of tables without marks."""
        return cls(
            tables.layout,
            tables.max_distance,
            tables.first.rows,
            tuple(run.entries for run in tables.runs),
            tuple(run.directory for run in tables.runs),
        )

    def tables(self) -> Tables:
        """Make tables that use these arrays.

        Verifies shapes and types at once; for the contents there is `HammingIndex.check`.

        Raises:
            ConfigError: the layout cannot be exact for the distance.
            ValueError: the arrays cannot be those of such tables.
        """
        self.layout.require_exact(self.max_distance)
        shapes = self.layout.tables_needed(self.max_distance)
        if len(self.runs) not in (1, len(shapes)) or len(self.directories) != len(self.runs):
            raise ValueError(
                f"{self.layout!r} needs 1 or {len(shapes)} runs with as many directories, not "
                f"{len(self.runs)} and {len(self.directories)}"
            )
        # asarray: slices of a numpy.memmap take eight times as long as those of an array
        rows = np.asarray(self.rows)
        if rows.ndim != 1 or rows.dtype not in (np.uint32, np.int64):
            raise ValueError(f"rows are uint32 or int64, not {rows.dtype} of shape {rows.shape}")
        runs: list[Run] = []
        for shape, entries, directory in zip(shapes, self.runs, self.directories, strict=False):
            _require_entries(entries, len(rows))
            _require_directory(directory, len(rows), shape.prefix_bits)
            run = Run(
                Permutation(shape.order),
                shape.prefix_bits,
                np.asarray(entries),
                np.asarray(directory),
            )
            runs.append(run)
        runs[0].rows = rows
        return Tables(self.layout, self.max_distance, runs)


def _require_entries(entries: npt.NDArray[np.generic], count: int) -> None:
    if entries.dtype != np.uint64 or entries.shape != (count,):
        raise ValueError(
            f"a run of {count} rows is uint64 of shape ({count},), not {entries.dtype} of shape "
            f"{entries.shape}"
        )


def _require_directory(directory: Directory, count: int, prefix_bits: int) -> None:
    bits = (len(directory) - 1).bit_length() - 1
    if directory.ndim != 1 or directory.dtype not in (np.int32, np.int64):
        raise ValueError(f"a directory is int32 or int64 in one row, not {directory.dtype}")
    if not 1 <= bits <= prefix_bits or len(directory) != (1 << bits) + 1:
        raise ValueError(f"a directory has 2**bits + 1 numbers, not {len(directory)}")
    if int(directory[0]) != 0 or int(directory[-1]) != count:
        raise ValueError(f"a directory of {count} entries ends with {directory[-1]}")
