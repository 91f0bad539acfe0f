"""Layer "tables": distinct 64-bit fingerprints -> those in reach of a query, one table at a time.

    cut          64 bits -> contiguous blocks
    Permutation  chosen blocks to the front, and back
    bit_flips    a prefix -> its neighbours
    SortedTable  fingerprints sorted by one permutation, looked up by prefix
    PackedList   fingerprints in no order, scanned

A table knows its own order of bits and nothing of the other tables, of rows or of pages;
which tables are needed for a distance is the business of `dedup_filter.index`.
"""

from dedup_filter.tables.blocks import FINGERPRINT_BITS, cut
from dedup_filter.tables.packed_list import PackedList
from dedup_filter.tables.permutation import Permutation
from dedup_filter.tables.probes import bit_flips
from dedup_filter.tables.sorted_table import SortedTable

__all__ = ["FINGERPRINT_BITS", "PackedList", "Permutation", "SortedTable", "bit_flips", "cut"]
