"""Bits that may differ -> XOR masks that lead from a prefix to its neighbours.

    prefix      1 0 1 1        flips of 1 bit:   1000  0100  0010  0001
    neighbours  0 0 1 1  1 1 1 1  1 0 0 1  1 0 1 0

Looking up the neighbours too lets a prefix differ in a few bits, so that few tables serve a
larger distance: multi-index hashing, Norouzi, Punjani and Fleet (2012), section 3. The
price is their number: comb(w, r) neighbours at distance r of a prefix of w bits.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

__all__ = ["bit_flips"]


def bit_flips(positions: Sequence[int], count: int) -> Iterator[int]:
    """Yield each mask with exactly `count` of the bits at these positions set.

    >>> [f"{mask:03b}" for mask in bit_flips([2, 1, 0], 2)]
    ['110', '101', '011']
    """
    bits = [1 << position for position in positions]
    return (sum(chosen) for chosen in combinations(bits, count))
