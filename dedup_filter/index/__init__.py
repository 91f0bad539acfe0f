"""Layer "index": fingerprints with rows -> every row within k bits of a fingerprint.

    Layout            how the bits are cut and which blocks lead the tables
    TableShape        one of its tables: which prefixes to probe
    plan              the layout for a distance and an expected number of entries
    FreshEntries      the last pairs, sorted and packed
    SealedTables      all tables of a layout, sorted runs of fingerprints; one of them has the rows
    compacted         sealed tables and more pairs -> newer sealed tables, in small steps
    LayoutChoice      the layout at present, and when another is due
    Levels            these joined: what is fresh, young and old, and when it moves on
    HammingIndex      add, remove, within; one fingerprint or many
    SealedArrays      the whole index as plain arrays, to be kept somewhere

Stands on `dedup_filter.tables`; knows nothing of pages, files or settings.
"""

from dedup_filter.index.hamming_index import HammingIndex
from dedup_filter.index.layout import MAX_DISTANCE, Layout
from dedup_filter.index.neighbours import Neighbours, NeighboursOfMany
from dedup_filter.index.sealed_arrays import SealedArrays
from dedup_filter.index.table_plan import plan

__all__ = [
    "MAX_DISTANCE",
    "HammingIndex",
    "Layout",
    "Neighbours",
    "NeighboursOfMany",
    "SealedArrays",
    "plan",
]
