"""Layer "pairs": a batch of fingerprints -> all pairs within k bits, once each.

    distinct       any fingerprints -> an ascending array without repetitions
    pair_layout    how many, and k -> the layout that is soonest done
    group          one table of it: groups of entries that share a prefix
    neighbours     which groups a probe leads between
    inside, between    groups -> the entries in them that are near one another
    near_pairs     these joined; `pair_blocks` the same, bounded in memory

Stands on `dedup_filter.index` for its layouts; keeps nothing.
"""

from dedup_filter.pairs.distinct import distinct
from dedup_filter.pairs.near_pairs import near_pairs, pair_blocks

__all__ = ["distinct", "near_pairs", "pair_blocks"]
