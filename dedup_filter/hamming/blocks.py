"""Bit positions -> contiguous blocks of nearly equal width, the most significant first.

    63------53|52------42|41-----31|30------20|19-----10|09------0
    |   11    |    11    |   11    |    11    |   10    |   10   |      64 bits in 6 blocks

Two fingerprints that differ in k bits cannot differ in many blocks much: that is what
every table rests on. Manku, Jain and Das Sarma (2007), section 3.1.

A position is the power of two it stands for (63 leads). Cuts work on any sequence of
positions, so that what one cut left over can be cut again.
"""

from collections.abc import Sequence
from itertools import pairwise

__all__ = ["FINGERPRINT_BITS", "cut"]

FINGERPRINT_BITS = 64


def cut(positions: Sequence[int], block_count: int) -> list[tuple[int, ...]]:
    """Cut positions into blocks whose widths differ by at most one, the wider ones first.

    Requires: 1 <= block_count <= len(positions).

    >>> [len(block) for block in cut(range(63, -1, -1), 6)]
    [11, 11, 11, 11, 10, 10]
    """
    width, wider = divmod(len(positions), block_count)
    ends = [number * width + min(number, wider) for number in range(block_count + 1)]
    return [tuple(positions[a:b]) for a, b in pairwise(ends)]
