"""An order of the 64 bits -> fingerprints rearranged in that order, and back, exactly.

    fingerprint   63 | A | B | C | D | E | F | 0      chosen: A, C and E
    permuted      63 | A | C | E | B | D | F | 0      equal in A, C and E: neighbours when sorted

Distances do not change: two fingerprints permuted alike differ in as many bits as before, so
tables may be put in permuted order and hold the fingerprints as they are.

Bits that travel equally far travel together: one mask and one shift for each distance
travelled (2 to 5 for the usual tables, 0.15 us each), on ints as on whole arrays.
simhash-cpp draws its permutations the same way, as masks of contiguous blocks.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.layout import FINGERPRINT_BITS

__all__ = ["Move", "Permutation"]

UInt64Array = npt.NDArray[np.uint64]


class Move(NamedTuple):
    """Bits under the mask, to the left by `left` or to the right by `right`; one is 0."""

    mask: int
    left: int
    right: int


class Permutation:
    """A rearrangement of the 64 bits of a fingerprint.

    `order` names, from the most significant bit of the permuted word down, the position
    that each bit has in the fingerprint.

    Raises:
        ValueError: `order` does not name each of the positions 63..0 once.

    >>> last_byte_first = Permutation([*range(7, -1, -1), *range(63, 7, -1)])
    >>> hex(last_byte_first.apply(0x11223344556677FF))
    '0xff11223344556677'
    """

    __slots__ = ("_back", "_forth", "order")

    def __init__(self, order: Sequence[int]) -> None:
        if sorted(order) != list(range(FINGERPRINT_BITS)):
            raise ValueError("a permutation names each of the bit positions 0..63 once")
        self.order = tuple(order)
        places = range(FINGERPRINT_BITS - 1, -1, -1)
        self._forth = _moves(zip(self.order, places, strict=True))
        self._back = _moves(zip(places, self.order, strict=True))

    @property
    def is_identity(self) -> bool:
        """Whether every bit stays where it is."""
        return len(self._forth) == 1 and self._forth[0].left == self._forth[0].right == 0

    def apply(self, fingerprint: int) -> int:
        """Return the fingerprint with its bits in this order."""
        return _moved(fingerprint, self._forth)

    def undo(self, permuted: int) -> int:
        """Return the fingerprint of which this is the permuted form."""
        return _moved(permuted, self._back)

    def apply_many(self, fingerprints: UInt64Array) -> UInt64Array:
        """Permute an array of fingerprints. Cost: about 1 ns each for every move."""
        return _moved_many(fingerprints, self._forth)

    def undo_many(self, permuted: UInt64Array) -> UInt64Array:
        """Bring an array of permuted fingerprints back."""
        return _moved_many(permuted, self._back)

    def prefix_moves(self, bits: int) -> tuple[Move, ...]:
        """Return the moves that make the first `bits` of the permuted form a number.

        >>> one, = Permutation(range(63, -1, -1)).prefix_moves(16)
        >>> hex((0xAAAA_5555_5555_5555 & one.mask) << one.left >> one.right)
        '0xaaaa'
        """
        return _moves(zip(self.order[:bits], range(bits - 1, -1, -1), strict=True))


def _moves(journeys: Iterable[tuple[int, int]]) -> tuple[Move, ...]:
    """Group the journeys of single bits (from, to) by distance and direction."""
    masks: dict[int, int] = defaultdict(int)
    for start, end in journeys:
        masks[end - start] |= 1 << start
    return tuple(Move(mask, max(by, 0), max(-by, 0)) for by, mask in masks.items())


def _moved(word: int, moves: tuple[Move, ...]) -> int:
    result = 0
    for mask, left, right in moves:
        result |= (word & mask) << left >> right
    return result


def _moved_many(words: UInt64Array, moves: tuple[Move, ...]) -> UInt64Array:
    first, *others = moves
    result = _moved_once(words, first)
    for move in others:
        result |= _moved_once(words, move)
    return result


def _moved_once(words: UInt64Array, move: Move) -> UInt64Array:
    result: UInt64Array = words & np.uint64(move.mask)
    if move.left:
        result <<= np.uint64(move.left)
    elif move.right:
        result >>= np.uint64(move.right)
    return result
