"""Groups of one table -> which of them a probe leads between.

    prefixes that occur   0010   0011   0110   1110       probes   0001   0100
    pairs of groups       0-1 (0010 ^ 0001 = 0011)   0-2 (0010 ^ 0100 = 0110)

A probe leads both ways, so each pair of groups is listed once, from its smaller prefix.

Cost: a probe takes 10 ns or less for each prefix that occurs, and an array of 4 * 2**bits
bytes tells which group has a prefix: hence not for long prefixes.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from dedup_filter.hamming.prefix_groups import IntArray, PrefixGroups

__all__ = ["neighbours"]

_LISTED = 1 << 20
"""Pairs of groups that are listed, to be compared together, before the next are."""


def neighbours(
    groups: PrefixGroups, prefix_bits: int, probes: Iterable[int]
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield numbers of groups whose prefixes differ by a probe, in lists of about a million.

    A probe is a mask of prefix bits, the lowest being 1.
    """
    number_of = np.full(1 << prefix_bits, -1, np.int32)
    number_of[groups.prefixes] = np.arange(len(groups.prefixes))
    lefts: list[IntArray] = []
    rights: list[IntArray] = []
    for probe in probes:
        others = number_of[groups.prefixes ^ probe]
        left = np.flatnonzero(others > np.arange(len(others)))
        lefts.append(left)
        rights.append(others[left].astype(np.intp))
        if sum(map(len, lefts)) >= _LISTED:
            yield np.concatenate(lefts), np.concatenate(rights)
            lefts, rights = [], []
    if lefts:
        yield np.concatenate(lefts), np.concatenate(rights)
