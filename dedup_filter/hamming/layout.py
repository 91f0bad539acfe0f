"""How the 64 bits are cut -> which permuted tables there are, and what a look-up probes in them.

The bits are cut into m blocks of nearly equal width, and there is a table for each choice of l
blocks, which lead it; the bits that are left may be cut again (a nested layout):

    Layout(4)                    4 tables of 16 bits            k = 3   Manku et al., 3.1
    Layout(6, 3)                20 tables of 31 to 33 bits      k = 3   the same
    Layout(4, 1, Layout(4))     16 tables of 28 bits            k = 3   the same
    Layout(8, 2)                28 tables of 16 bits            k = 6   the essay on simhash
    Layout(k + 1)               k+1 tables, no neighbours       any k   the pigeonhole itself
    Layout(4)                    4 tables, neighbours probed    any k   Norouzi et al. 2012

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

A bit position is the power of two that it stands for: 63 leads.

Manku, Jain and Das Sarma (2007), section 3; Norouzi, Punjani and Fleet (2012).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise, product
from math import comb, prod

from dedup_filter.errors import ConfigError
from dedup_filter.hamming.pairs import FINGERPRINT_BITS

__all__ = [
    "MAX_DISTANCE",
    "Layout",
    "TableShape",
    "bit_flips",
    "cut",
    "require_whole",
]

MAX_DISTANCE = 12
"""Beyond it two unrelated pages meet too often for 64 bits, and no table narrows the search."""

_MAX_PROBES = 20_000
"""Of one look-up: among 10 million entries 12 thousand take 0.7 ms, as a scan of 1 million does."""

_MAX_TABLES = 128
"""A fingerprint takes 8 bytes in each, and up to 2 of its directory."""


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
        return max(map(sum, _flips(self.leads, distance)), default=-1)

    def probe_count(self, distance: int) -> int:
        """Count the probes without making them."""
        widths = [len(lead.positions) for lead in self.leads]
        return sum(prod(map(comb, widths, flips)) for flips in _flips(self.leads, distance))

    def probes(self, distance: int) -> Iterator[int]:
        """Yield the masks to be flipped in the fingerprint (not yet permuted), each once."""
        cuts = [lead.positions for lead in self.leads]
        for flips in _flips(self.leads, distance):
            yield from map(sum, product(*map(bit_flips, cuts, flips)))


@dataclass(frozen=True)
class Layout:
    """How the 64 bits are cut and which blocks lead the tables.

    `probe_radius` bounds how many prefix bits a probe may flip (0: the paper's way, no
    neighbours); None allows as many as the distance needs.

    Raises:
        ConfigError: a number out of range, or more than `_MAX_TABLES` tables.

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
        self._require_bits(FINGERPRINT_BITS)
        if self.table_count > _MAX_TABLES:
            raise ConfigError(
                f"{self} make {self.table_count} tables; at most {_MAX_TABLES} are allowed"
            )

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
        blocks = cut(positions, self.block_count)
        for number, chosen in enumerate(combinations(blocks, self.leading_blocks)):
            leading = tuple(bit for block in chosen for bit in block)
            rest = tuple(bit for bit in positions if bit not in leading)
            lead = Lead(self.block_count, self.leading_blocks, number, leading)
            if self.nested is None:
                yield TableShape((lead,), rest)
                continue
            for inner in self.nested.shapes_for(rest):
                yield TableShape((lead, *inner.leads), inner.rest)

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
        """Refuse a distance for which the layout would miss entries or probe beyond measure.

        Raises:
            ConfigError: with the reason and the nearest layout that serves the distance.
        """
        require_whole("max_distance", distance, 0, MAX_DISTANCE)
        fault = self._fault(distance)
        if fault is None:
            return
        raise ConfigError(
            f"{self} cannot serve max_distance={distance}: {fault}; "
            f"nearest that can: {self._nearest(distance)!r}"
        )

    def __str__(self) -> str:
        here = f"{self.block_count} blocks of which {self.leading_blocks} lead"
        return here if self.nested is None else f"{here}, then {self.nested}"

    def __repr__(self) -> str:
        shown = [str(self.block_count), str(self.leading_blocks)]
        if self.nested is not None:
            shown.append(repr(self.nested))
        if self.probe_radius is not None:
            shown.append(f"probe_radius={self.probe_radius}")
        return f"Layout({', '.join(shown)})"

    def _require_bits(self, width: int) -> None:
        """Refuse a cut into more blocks than there are bits, here or further in."""
        if self.block_count > width:
            raise ConfigError(f"{self.block_count} blocks cannot be cut from {width} bits")
        if self.nested is not None:
            widest = cut(range(width), self.block_count)[: self.leading_blocks]
            self.nested._require_bits(width - sum(map(len, widest)))

    def _fault(self, distance: int) -> str | None:
        radius = max(shape.radius(distance) for shape in self.table_shapes)
        if self.probe_radius is not None and radius > self.probe_radius:
            return (
                f"{distance} differing bits can put {radius} into every prefix, "
                f"and the probes flip at most {self.probe_radius}"
            )
        probes = self.probe_count(distance)
        if probes > _MAX_PROBES:
            return (
                f"a look-up would take {probes:,} probes, and at most {_MAX_PROBES:,} are allowed"
            )
        return None

    def _nearest(self, distance: int) -> "Layout":
        """Find the exact layout whose numbers are closest; there is one: `Layout(k + 1)`."""
        shapes = [
            (blocks, leading)
            for blocks in range(2, MAX_DISTANCE + 2)
            for leading in range(1, blocks)
            if comb(blocks, leading) <= _MAX_TABLES
        ]
        shapes.sort(
            key=lambda s: (abs(s[0] - self.block_count) + abs(s[1] - self.leading_blocks), s)
        )
        layouts = (Layout(*shape, probe_radius=self.probe_radius) for shape in shapes)
        return next(layout for layout in layouts if layout.is_exact(distance))


def require_whole(name: str, value: object, least: int, most: int) -> None:
    """Refuse anything but an int in a range; True is no number.

    Raises:
        ConfigError: naming what it is, the range and the value.
    """
    if type(value) is not int or not least <= value <= most:
        raise ConfigError(f"{name} must be a whole number from {least} to {most}, not {value!r}")


def cut(positions: Sequence[int], block_count: int) -> list[tuple[int, ...]]:
    """Cut positions into blocks whose widths differ by at most one, the wider ones first.

    Requires: 1 <= block_count <= len(positions).

    >>> [len(block) for block in cut(range(63, -1, -1), 6)]
    [11, 11, 11, 11, 10, 10]
    """
    width, wider = divmod(len(positions), block_count)
    ends = [number * width + min(number, wider) for number in range(block_count + 1)]
    return [tuple(positions[a:b]) for a, b in pairwise(ends)]


def bit_flips(positions: Sequence[int], count: int) -> Iterator[int]:
    """Yield each mask with exactly `count` of the bits at these positions set.

    >>> [f"{mask:03b}" for mask in bit_flips([2, 1, 0], 2)]
    ['110', '101', '011']
    """
    bits = [1 << position for position in positions]
    return (sum(chosen) for chosen in combinations(bits, count))


def _flips(leads: Sequence[Lead], distance: int) -> Iterator[tuple[int, ...]]:
    """Yield how many bits of each cut's leading blocks to flip, in all ways that are needed."""
    if not leads:
        yield ()
        return
    for here in range(leads[0].radius(distance) + 1):
        yield from ((here, *inner) for inner in _flips(leads[1:], distance - here))
