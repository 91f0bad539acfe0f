"""How the 64 bits are cut -> which permuted tables there are, and what a look-up probes in them.

The bits are cut into m blocks of nearly equal width, and there is a table for each choice of l
blocks, which lead it; the bits that are left may be cut again (a nested layout):

    Layout(4)                    4 tables of 16 bits            k = 3   Manku et al., 3.1
    Layout(6, 3)                20 tables of 31 to 33 bits      k = 3   the same
    Layout(4, 1, Layout(4))     16 tables of 28 bits            k = 3   the same
    Layout(8, 2)                28 tables of 16 bits            k = 6   the essay on simhash
    Layout(k + 1)               k+1 tables, no neighbours       any k   the pigeonhole itself
    Layout(4)                    4 tables, neighbours probed    any k   Norouzi et al. 2012

A table orders fingerprints by their permuted form, in which its leading blocks come first:

    fingerprint   63 | A | B | C | D | E | F | 0      leading blocks: A, C and E
    permuted      63 | A | C | E | B | D | F | 0      equal in A, C and E: neighbours when sorted

The first bits of a permuted form, as a number, are its key; a probe is what is to be flipped in the
key of a query. A bit position is the power of two that it stands for: 63 leads.

Why a look-up misses nothing. Let k = q*m + s differing bits fall into m blocks, s < m. The l least
damaged blocks then hold at most r = q*l + max(0, s - (m - l)) of them. If they held one more, the
most damaged of the l would hold at least q+1, and so would each of the other m-l blocks: more than
k in all. So the
table that these blocks lead holds the wanted entry among the prefixes that differ from the query's
in at most r bits: these are probed.

For l = 1 fewer will do (Norouzi et al., section 3): block j, counted from 0, need only be probed to
radius (k - j) // m, for if every block j held one bit more than that, they would hold k + 1. Below
0 the table is not needed at all: so m > k blocks make k + 1 tables.

Nested cuts spend one budget: if x of the k bits fell into the first leading blocks, the inner cut
need only allow for k - x.

Manku, Jain and Das Sarma (2007), section 3; Norouzi, Punjani and Fleet (2012).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, combinations, filterfalse, pairwise, product
from math import comb, prod
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dedup_filter.errors import ConfigError
from dedup_filter.hamming.pairs import FINGERPRINT_BITS, IntpArray, UInt64Array

MAX_DISTANCE = 12
"""Beyond it two unrelated pages meet too often for 64 bits, and no table narrows the search."""

_MAX_PROBES = 20_000
"""Of one look-up: among 10 million entries 12 thousand take 0.7 ms, as a scan of 1 million does."""

_MAX_TABLES = 128
"""A fingerprint takes 8 bytes in each, and up to 2 of its directory."""

_WRITTEN = re.compile(
    r"Layout\((\d{1,2})(?:, (\d{1,2}))?(?:, (Layout\(.*\)))?(?:, probe_radius=(\d{1,2}))?\)"
)

Words = TypeVar("Words", int, UInt64Array)
Move = tuple[int, int]
"""A mask, and how far the bits under it go to the left, or to the right if that is negative."""


@dataclass(frozen=True)
class Lead:
    """One choice of leading blocks in one cut: the number of the choice and its bits."""

    block_count: int
    leading_blocks: int
    number: int
    positions: tuple[int, ...]

    @property
    def mask(self) -> int:
        """Its bits as a number of 64 bits."""
        return sum(1 << bit for bit in self.positions)

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

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The permutation: bit positions from the most significant of the permuted word down."""
        return (*(bit for lead in self.leads for bit in lead.positions), *self.rest)

    @cached_property
    def prefix_bits(self) -> int:
        """How many bits lead; cached, because every look-up needs it."""
        return len(self.order) - len(self.rest)

    def permuted(self, words: Words) -> Words:
        """Return the permuted form of a fingerprint, or of each in an array (1 ns a move).

        >>> hex(Layout(4).table_shapes[3].permuted(0x111122223333FFFF))
        '0xffff111122223333'
        """
        return moved(words, self.key_moves(FINGERPRINT_BITS))

    def restored(self, words: Words) -> Words:
        """Return the fingerprint of which this is the permuted form, or those in an array."""
        forth = self.key_moves(FINGERPRINT_BITS)
        return moved(words, [(moved(mask, [(mask, by)]), -by) for mask, by in forth])

    def key_moves(self, bits: int) -> list[Move]:
        """Return the moves that make a fingerprint its key of so many bits.

        Bits that travel equally far travel together: 2 to 5 moves for the usual tables.
        simhash-cpp draws its permutations the same way, as masks of contiguous blocks.
        """
        masks: dict[int, int] = defaultdict(int)
        for start, end in zip(self.order[:bits], range(bits - 1, -1, -1), strict=True):
            masks[end - start] |= 1 << start
        return [(mask, by) for by, mask in masks.items()]

    def radius(self, distance: int) -> int:
        """Return how far from the prefix the probes go; -1 when the table is not needed."""
        return max(map(sum, _flips(self.leads, distance)), default=-1)

    def finds(self, differing: UInt64Array, distance: int) -> npt.NDArray[np.bool_]:
        """Tell, by the bits in which two fingerprints differ, whether a probe leads to the pair.

        >>> Layout(4).table_shapes[0].finds(np.array([0, 7, 7 << 61], np.uint64), 3).tolist()
        [True, True, False]
        """
        left = np.full(len(differing), distance)
        found = np.ones(len(differing), np.bool_)
        for lead in self.leads:
            radii = np.array([lead.radius(bits) for bits in range(distance + 1)])
            damage = np.bitwise_count(differing & np.uint64(lead.mask))
            found &= damage <= radii[np.maximum(left, 0)]
            left -= damage
        return found

    def probe_count(self, distance: int) -> int:
        """Count the probes without making them."""
        widths = [len(lead.positions) for lead in self.leads]
        return sum(prod(map(comb, widths, flips)) for flips in _flips(self.leads, distance))

    def probes(self, distance: int) -> Iterator[int]:
        """Yield the masks to be flipped in the fingerprint (not yet permuted), each once."""
        cuts = [[1 << position for position in lead.positions] for lead in self.leads]
        for flips in _flips(self.leads, distance):
            for chosen in product(*map(combinations, cuts, flips)):
                yield sum(chain.from_iterable(chosen))


@dataclass(frozen=True)
class Layout:
    """How the 64 bits are cut and which blocks lead the tables.

    `probe_radius` bounds how many prefix bits a probe may flip (0: the paper's way, no
    neighbours); None allows as many as the distance needs. ConfigError: too many tables or blocks.

    >>> Layout(6, 3).table_count, sorted({s.prefix_bits for s in Layout(6, 3).table_shapes})
    (20, [31, 32, 33])
    """

    block_count: int
    leading_blocks: int = 1
    nested: "Layout | None" = None
    probe_radius: int | None = None

    def __post_init__(self) -> None:
        require_whole("block_count", self.block_count, 2, FINGERPRINT_BITS)
        require_whole("leading_blocks", self.leading_blocks, 1, self.block_count - 1)
        if self.probe_radius is not None:
            require_whole("probe_radius", self.probe_radius, 0, MAX_DISTANCE)
        if self.nested is not None and self.nested.probe_radius is not None:
            raise ConfigError("probe_radius belongs to the outermost layout, not to a nested one")
        if self.table_count > _MAX_TABLES:
            raise ConfigError(f"{self} makes {self.table_count} tables, more than {_MAX_TABLES}")
        _ = self.table_shapes  # refuses more blocks than there are bits, here or further in

    @classmethod
    def of(cls, written: str) -> "Layout":
        """Return the layout with this `repr`; ConfigError: there is none."""
        found = _WRITTEN.fullmatch(written)
        if found is None:
            raise ConfigError(f"{written!r} is not written like Layout(4, 1, Layout(4))")
        blocks, leading, nested, radius = found.groups()
        inner = None if nested is None else cls.of(nested)
        return cls(int(blocks), int(leading or 1), inner, None if radius is None else int(radius))

    @property
    def table_count(self) -> int:
        """The tables that all choices of leading blocks make."""
        inner = 1 if self.nested is None else self.nested.table_count
        return comb(self.block_count, self.leading_blocks) * inner

    @cached_property
    def table_shapes(self) -> tuple[TableShape, ...]:
        """Every table of the layout, whether a distance needs it or not."""
        return tuple(self.shapes_for(range(FINGERPRINT_BITS - 1, -1, -1)))

    def shapes_for(self, positions: Sequence[int]) -> Iterator[TableShape]:
        """Yield the tables of this cut of any bits: all 64, or those that an outer cut left."""
        blocks = _cut(positions, self.block_count)
        for number, chosen in enumerate(combinations(blocks, self.leading_blocks)):
            leading = tuple(chain.from_iterable(chosen))
            rest = tuple(filterfalse(set(leading).__contains__, positions))
            lead = Lead(self.block_count, self.leading_blocks, number, leading)
            inner = [TableShape((), rest)] if self.nested is None else self.nested.shapes_for(rest)
            yield from (TableShape((lead, *shape.leads), shape.rest) for shape in inner)

    def tables_needed(self, distance: int) -> tuple[TableShape, ...]:
        """Return the tables that find everything within a distance."""
        return tuple(shape for shape in self.table_shapes if shape.radius(distance) >= 0)

    def probe_count(self, distance: int) -> int:
        """Count the probes of one look-up in all tables."""
        return sum(shape.probe_count(distance) for shape in self.table_shapes)

    def is_exact(self, distance: int) -> bool:
        """Tell whether the allowed probes find everything within a distance."""
        return self._fault(distance) is None

    def require_exact(self, distance: int) -> None:
        """Refuse, by ConfigError, a distance for which it would miss entries or probe too much."""
        require_whole("max_distance", distance, 0, MAX_DISTANCE)
        fault = self._fault(distance)
        if fault is not None:
            better = f"one that can: {Layout(max(distance + 1, 2))}"
            raise ConfigError(f"{self} cannot serve max_distance={distance}: {fault}; {better}")

    def __repr__(self) -> str:
        shown = [str(self.block_count), str(self.leading_blocks)]
        if self.nested is not None:
            shown.append(repr(self.nested))
        if self.probe_radius is not None:
            shown.append(f"probe_radius={self.probe_radius}")
        return f"Layout({', '.join(shown)})"

    def _fault(self, distance: int) -> str | None:
        radius = max(shape.radius(distance) for shape in self.table_shapes)
        if self.probe_radius is not None and radius > self.probe_radius:
            return f"it would have to flip {radius} bits of a prefix, not {self.probe_radius}"
        probes = self.probe_count(distance)
        if probes > _MAX_PROBES:
            return f"a look-up would take {probes:,} probes, more than {_MAX_PROBES:,}"
        return None


def require_whole(name: str, value: object, least: int, most: int) -> None:
    """Refuse anything but an int in a range by a ConfigError; True is no number."""
    if type(value) is not int or not least <= value <= most:
        raise ConfigError(f"{name} must be a whole number from {least} to {most}, not {value!r}")


def directory_bits(entries: int, prefix_bits: int) -> int:
    """Return how many bits a key has: two to four entries share one, or more."""
    return max(min(prefix_bits, entries.bit_length() - 2), 1)


@lru_cache(maxsize=1024)
def probe_keys(shape: TableShape, distance: int, bits: int) -> IntpArray:
    """Return the distinct probes of a table, to be flipped in keys of so many bits, ascending.

    Where a key has fewer bits than the prefix, those that differ only beyond them are made once.
    Empty where the distance does not need the table.

    >>> first = Layout(4).table_shapes[0]
    >>> probe_keys(first, 3, 16).tolist(), len(probe_keys(first, 7, 16))
    ([0], 17)
    """
    permuted = shape.permuted(np.fromiter(shape.probes(distance), np.uint64))
    keys = np.unique(permuted >> np.uint64(FINGERPRINT_BITS - bits)).astype(np.intp)
    keys.flags.writeable = False  # shared by all who ask
    return keys


def moved(words: Words, moves: Iterable[Move]) -> Words:
    """Return what the moves make of a number, or of each in an array."""
    taken: Any = words  # for mypy, int and array have no operators in common
    result: Words = taken & 0
    for mask, by in moves:
        result |= (taken & mask) << by if by >= 0 else (taken & mask) >> -by
    return result


def _cut(positions: Sequence[int], block_count: int) -> list[Sequence[int]]:
    """Cut positions into blocks whose widths differ by at most one, the wider ones first."""
    width, wider = divmod(len(positions), block_count)
    if not width:
        raise ConfigError(f"{block_count} blocks cannot be cut from {len(positions)} bits")
    ends = [number * width + min(number, wider) for number in range(block_count + 1)]
    return [positions[a:b] for a, b in pairwise(ends)]


def _flips(leads: Sequence[Lead], distance: int) -> Iterator[tuple[int, ...]]:
    """Yield how many bits of each cut's leading blocks to flip, in all ways that are needed."""
    if not leads:
        yield ()
        return
    for here in range(leads[0].radius(distance) + 1):
        yield from ((here, *inner) for inner in _flips(leads[1:], distance - here))
