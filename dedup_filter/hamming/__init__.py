"""Layer "hamming": which fingerprints are within k bits of one, or of one another.

    cut, Permutation   64 bits -> contiguous blocks; chosen blocks to the front, and back
    Run, merged        fingerprints sorted by one permutation, looked up by prefix; newer runs of it
    Layout, plan       which blocks lead which tables, for a distance and a number of entries
    FreshEntries       the last pairs of fingerprint and row
    SealedTables       all tables of a layout, sorted runs; one of them has the rows
    HammingIndex       all of these joined: add, remove, within; one fingerprint or many
    near_pairs         a batch of fingerprints -> all pairs within k bits, once each
    clusters           pairs -> connected components

Pure: knows nothing of pages, files or settings.
"""

from dedup_filter.hamming.blocks import FINGERPRINT_BITS, cut
from dedup_filter.hamming.distance import hamming_distance, hamming_distances
from dedup_filter.hamming.distinct import distinct
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.layout import MAX_DISTANCE, Layout
from dedup_filter.hamming.merging import STEP, NewRun, Steps, merged, pieces, sorted_in_steps
from dedup_filter.hamming.near_pairs import near_pairs, pair_blocks
from dedup_filter.hamming.neighbours import Neighbours, NeighboursOfMany
from dedup_filter.hamming.permutation import Move, Permutation
from dedup_filter.hamming.probes import bit_flips
from dedup_filter.hamming.ragged import places_in
from dedup_filter.hamming.run import Directory, Run
from dedup_filter.hamming.sealed_arrays import SealedArrays
from dedup_filter.hamming.table_plan import plan

__all__ = [
    "FINGERPRINT_BITS",
    "MAX_DISTANCE",
    "STEP",
    "Directory",
    "HammingIndex",
    "Layout",
    "Move",
    "Neighbours",
    "NeighboursOfMany",
    "NewRun",
    "Permutation",
    "Run",
    "SealedArrays",
    "Steps",
    "bit_flips",
    "cut",
    "distinct",
    "hamming_distance",
    "hamming_distances",
    "merged",
    "near_pairs",
    "pair_blocks",
    "pieces",
    "places_in",
    "plan",
    "sorted_in_steps",
]
