"""One permuted table: the bits that lead it -> which prefixes a look-up must probe.

Why a look-up misses nothing. Let k = q*m + s differing bits fall into m blocks, s < m. The
l least damaged blocks then hold at most

    r = q*l + max(0, s - (m - l))

of them. Were it one more, the l-th smallest damage would be at least q+1, and with it each
of the other m-l: together over k. So the table that these blocks lead holds the wanted
entry among the prefixes that differ from the query's in at most r bits: these are probed.

For l = 1 fewer will do (Norouzi et al., section 3): block j, counted from 0, need only be
probed to radius (k - j) // m, for if every block j held one bit more than that, they would
hold k + 1. Below 0 the table is not needed at all: so m > k blocks make k + 1 tables.

Nested cuts spend one budget: if x of the k bits fell into the first leading blocks, the
inner cut need only allow for k - x.

Manku, Jain and Das Sarma (2007), section 3; Norouzi, Punjani and Fleet (2012).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb

from dedup_filter.hamming.blocks import FINGERPRINT_BITS
from dedup_filter.hamming.probes import bit_flips

__all__ = ["Lead", "TableShape"]


@dataclass(frozen=True)
class Lead:
    """One choice of leading blocks in one cut: the number of the choice and its bits."""

    block_count: int
    leading_blocks: int
    number: int
    positions: tuple[int, ...]

    def radius(self, distance: int) -> int:
        """Return r for `distance` differing bits; -1 where another choice suffices."""
        if self.leading_blocks == 1:
            return (distance - self.number) // self.block_count
        everywhere, more = divmod(distance, self.block_count)
        spared = self.block_count - self.leading_blocks
        return everywhere * self.leading_blocks + max(0, more - spared)


@dataclass(frozen=True)
class TableShape:
    """One table of a layout: the leading bits of each cut, and the bits left over."""

    leads: tuple[Lead, ...]
    rest: tuple[int, ...]

    @property
    def order(self) -> tuple[int, ...]:
        """The permutation: bit positions from the most significant of the permuted word down."""
        return (*(bit for lead in self.leads for bit in lead.positions), *self.rest)

    @property
    def prefix_bits(self) -> int:
        """How many bits lead."""
        return FINGERPRINT_BITS - len(self.rest)

    def radius(self, distance: int) -> int:
        """Return how far from the prefix the probes go; -1 when the table is not needed."""
        return _radius(self.leads, distance)

    def probe_count(self, distance: int) -> int:
        """Count the probes without making them."""
        return _probe_count(self.leads, distance)

    def probes(self, distance: int) -> Iterator[int]:
        """Yield the masks to be flipped in the fingerprint (not yet permuted), each once."""
        return _probes(self.leads, distance)


def _radius(leads: Sequence[Lead], distance: int) -> int:
    if not leads:
        return 0
    first, *inner = leads
    radii = [
        (flips, _radius(inner, distance - flips)) for flips in range(first.radius(distance) + 1)
    ]
    return max((flips + radius for flips, radius in radii if radius >= 0), default=-1)


def _probe_count(leads: Sequence[Lead], distance: int) -> int:
    if not leads:
        return 1
    first, *inner = leads
    return sum(
        comb(len(first.positions), flips) * _probe_count(inner, distance - flips)
        for flips in range(first.radius(distance) + 1)
    )


def _probes(leads: Sequence[Lead], distance: int) -> Iterator[int]:
    if not leads:
        yield 0
        return
    first, *inner = leads
    for flips in range(first.radius(distance) + 1):
        inner_masks = list(_probes(inner, distance - flips))
        for mask in bit_flips(first.positions, flips):
            yield from (mask | inner_mask for inner_mask in inner_masks)
