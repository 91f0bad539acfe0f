"""Layer "index": fingerprints with rows -> every row within k bits of a fingerprint.

    Layout          how the bits are cut and which blocks lead the tables
    TableShape      one of its tables: which prefixes to probe
    plan            the layout for a distance and an expected number of entries
    PermutedTables  all tables of a layout as one
    RowMap          fingerprint -> rows
    HammingIndex    these joined, with a packed list to scan while that is quicker

Stands on `dedup_filter.tables`; knows nothing of pages, files or settings.
"""

from dedup_filter.index.hamming_index import HammingIndex
from dedup_filter.index.layout import MAX_DISTANCE, Layout
from dedup_filter.index.permuted_tables import PermutedTables
from dedup_filter.index.row_map import RowMap
from dedup_filter.index.table_plan import plan

__all__ = ["MAX_DISTANCE", "HammingIndex", "Layout", "PermutedTables", "RowMap", "plan"]
