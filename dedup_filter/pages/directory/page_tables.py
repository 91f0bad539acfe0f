"""Index <-> named arrays and a note, as table files keep them.

The note says for which distance and by which layout the tables were made. Arrays that are given
back are used as they are, mapped into memory; `HammingIndex` verifies their shapes.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming import HammingIndex, Layout, SealedArrays

__all__ = ["DIGESTS", "from_tables", "to_tables"]

DIGESTS = "digest_"
"""What the names of the arrays of an index of digests begin with."""

Arrays = dict[str, npt.NDArray[Any]]


def to_tables(index: HammingIndex, prefix: str = "") -> tuple[Arrays, dict[str, Any]]:
    """Compact an index and return its arrays by name, and the note.

    With a prefix to their names the arrays of several indices can be kept together.
    """
    sealed = index.sealed()
    arrays: Arrays = {f"{prefix}rows": sealed.rows}
    for number, (run, directory) in enumerate(zip(sealed.runs, sealed.directories, strict=True)):
        arrays[f"{prefix}run{number}"] = run
        arrays[f"{prefix}directory{number}"] = directory
    return arrays, {"max_distance": sealed.max_distance, "layout": _described(sealed.layout)}


def from_tables(
    arrays: Mapping[str, npt.NDArray[Any]], note: Mapping[str, Any], prefix: str = ""
) -> HammingIndex:
    """Make an index that uses the arrays.

    Raises:
        ValueError, KeyError, TypeError: they cannot be those of an index.
    """
    count = sum(name.startswith(f"{prefix}run") for name in arrays)
    return HammingIndex.from_sealed(
        SealedArrays(
            _layout(note["layout"]),
            note["max_distance"],
            np.asarray(arrays[f"{prefix}rows"]),
            tuple(arrays[f"{prefix}run{number}"] for number in range(count)),
            tuple(arrays[f"{prefix}directory{number}"] for number in range(count)),
        )
    )


def _described(layout: Layout) -> list[Any]:
    nested = None if layout.nested is None else _described(layout.nested)
    return [layout.block_count, layout.leading_blocks, nested, layout.probe_radius]


def _layout(described: list[Any]) -> Layout:
    blocks, leading, nested, radius = described
    return Layout(blocks, leading, None if nested is None else _layout(nested), radius)
