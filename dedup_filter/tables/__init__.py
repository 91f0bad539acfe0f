"""Layer "tables": 64-bit fingerprints -> those in reach of a query, one table at a time.

    cut              64 bits -> contiguous blocks
    Permutation      chosen blocks to the front, and back
    bit_flips        a prefix -> its neighbours
    Run              fingerprints sorted by one permutation, looked up by prefix
    merged           a run -> a newer run, in small steps
    sorted_in_steps  fingerprints -> a run, in small steps
    places_in        pieces of an array -> the places in them

A table knows its own order of bits and nothing of the other tables, of rows or of pages;
which tables are needed for a distance is the business of `dedup_filter.index`.
"""

from dedup_filter.tables.blocks import FINGERPRINT_BITS, cut
from dedup_filter.tables.merging import STEP, NewRun, Steps, merged, pieces, sorted_in_steps
from dedup_filter.tables.permutation import Move, Permutation
from dedup_filter.tables.probes import bit_flips
from dedup_filter.tables.ragged import places_in
from dedup_filter.tables.run import Directory, Run

__all__ = [
    "FINGERPRINT_BITS",
    "STEP",
    "Directory",
    "Move",
    "NewRun",
    "Permutation",
    "Run",
    "Steps",
    "bit_flips",
    "cut",
    "merged",
    "pieces",
    "places_in",
    "sorted_in_steps",
]
