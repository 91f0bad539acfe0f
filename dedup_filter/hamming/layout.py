"""A cut of the 64 bits into blocks -> the permuted tables, and the prefixes that a look-up probes.

The bits are cut into m blocks of nearly equal width. Each choice of l leading blocks makes one
table. The remaining bits may be cut again (a nested layout):

    Layout(4)                    4 tables of 16 bits            k = 3   Manku et al., 3.1
    Layout(6, 3)                20 tables of 31 to 33 bits      k = 3   the same
    Layout(4, 1, Layout(4))     16 tables of 28 bits            k = 3   the same
    Layout(8, 2)                28 tables of 16 bits            k = 6   the essay on simhash
    Layout(k + 1)               k+1 tables, no neighbours       any k   the pigeonhole principle
    Layout(4)                    4 tables, neighbours probed    any k   Norouzi et al. 2012

A table orders fingerprints by their permuted form, in which its leading blocks come first:

    fingerprint   63 | A | B | C | D | E | F | 0      leading blocks: A, C and E
    permuted      63 | A | C | E | B | D | F | 0      equal in A, C and E: neighbours when sorted

The key of a permuted form is the number that its first bits make. A probe is a mask of bits to flip
in the key of a query. Bit position 63 is the most significant.

Why a look-up misses nothing. Let k = q*m + s differing bits fall into m blocks, s < m. The l least
damaged blocks then hold at most r = q*l + max(0, s - (m - l)) differing bits. If they held one
more, the most damaged of the l would hold at least q+1, and so would each of the other m-l blocks:
more than k in all. So the look-up probes all prefixes that differ from the query's in at most r
bits. For l = 1 fewer suffice (Norouzi et al., section 3): block j, counted from 0, is probed to
radius (k - j) // m. If every block j held one differing bit more, the blocks would hold k + 1. If
the radius is negative, the table is not needed: so m > k blocks make k + 1 tables. A nested cut
shares the budget: if x bits differ in the outer leading blocks, the inner cut allows for k - x.

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
"""Beyond it unrelated pages are near too often with 64 bits, and no table narrows the search."""

_MAX_PROBES = 20_000
"""Of one look-up: 12 thousand among 10 million entries take 0.7 ms, like a scan of 1 million."""

_MAX_TABLES = 128
"""An entry takes 12 bytes in each table, and up to 2 in its directory."""

Words = TypeVar("Words", int, UInt64Array)
Move = tuple[int, int]
"""A mask, and by how many places the bits under it move left (negative: right)."""


@dataclass(frozen=True)
class LeadingBlocks:
    """One choice of leading blocks in one cut: the number of the choice and its bits."""

    block_count: int
    leading_blocks: int
    number: int
    positions: tuple[int, ...]

    @property
    def mask(self) -> int:
        """The bits as a 64-bit mask."""
        return sum(1 << bit for bit in self.positions)

    def radius(self, distance: int) -> int:
        """Return r for `distance` differing bits; negative if the other choices suffice."""
        if self.leading_blocks == 1:
            return (distance - self.number) // self.block_count
        everywhere, more = divmod(distance, self.block_count)
        spared = self.block_count - self.leading_blocks
        return everywhere * self.leading_blocks + max(0, more - spared)


@dataclass(frozen=True)
class TableShape:
    """One table of a layout: the leading bits of each cut, and the bits left over."""

    leads: tuple[LeadingBlocks, ...]
    rest: tuple[int, ...]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The permutation: the bit position that moves to 63, the one that moves to 62, ..."""
        return (*(bit for lead in self.leads for bit in lead.positions), *self.rest)

    @cached_property
    def prefix_bits(self) -> int:
        """Number of leading bits; cached, because every look-up needs it."""
        return len(self.order) - len(self.rest)

    def permuted(self, words: Words) -> Words:
        """Return the permuted form of a fingerprint, or of each in an array (1 ns a move).

        >>> hex(Layout(4).table_shapes[3].permuted(0x111122223333FFFF))
        '0xffff111122223333'
        """
        return moved(words, self.key_moves(FINGERPRINT_BITS))

    def restored(self, words: Words) -> Words:
        """Return the fingerprint with this permuted form, or each in an array."""
        forth = self.key_moves(FINGERPRINT_BITS)
        return moved(words, [(moved(mask, [(mask, by)]), -by) for mask, by in forth])

    def key_moves(self, bits: int) -> list[Move]:
        """Return the moves that turn a fingerprint into its key of `bits` bits.

        Bits that move equally far share a move: the usual tables need 2 to 5 moves.
        simhash-cpp draws its permutations the same way, as masks of contiguous blocks.
        """
        masks: dict[int, int] = defaultdict(int)
        for start, end in zip(self.order[:bits], range(bits - 1, -1, -1), strict=True):
            masks[end - start] |= 1 << start
        return [(mask, by) for by, mask in masks.items()]

    def radius(self, distance: int) -> int:
        """Return how many bits of the prefix a probe may flip; -1: the table is not needed."""
        return max(map(sum, _flips(self.leads, distance)), default=-1)

    def finds(self, differing: UInt64Array, distance: int) -> npt.NDArray[np.bool_]:
        """Return, for the XOR of each pair of fingerprints, whether a probe finds the pair.

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
        """Yield the masks to flip in an unpermuted fingerprint, each once."""
        cuts = [[1 << position for position in lead.positions] for lead in self.leads]
        for flips in _flips(self.leads, distance):
            for chosen in product(*map(combinations, cuts, flips)):
                yield sum(chain.from_iterable(chosen))


@dataclass(frozen=True)
class Layout:
    """How the 64 bits are cut and which blocks lead the tables.

    ConfigError: too many tables or blocks.

    >>> Layout(6, 3).table_count, sorted({s.prefix_bits for s in Layout(6, 3).table_shapes})
    (20, [31, 32, 33])
    """

    block_count: int
    leading_blocks: int = 1
    nested: "Layout | None" = None

    def __post_init__(self) -> None:
        require_whole("block_count", self.block_count, 2, FINGERPRINT_BITS)
        require_whole("leading_blocks", self.leading_blocks, 1, self.block_count - 1)
        if self.table_count > _MAX_TABLES:
            raise ConfigError(f"{self} makes {self.table_count} tables, more than {_MAX_TABLES}")
        _ = self.table_shapes  # raises ConfigError if a cut has more blocks than bits

    @classmethod
    def of(cls, written: str) -> "Layout":
        """Return the layout with this `repr`; ConfigError: no layout has it."""
        numbers = [int(number) for number in re.findall(r"\d{1,2}", written)]
        layout = None
        for blocks, leading in zip(numbers[-2::-2], numbers[::-2], strict=False):
            layout = cls(blocks, leading, layout)
        if layout is None or repr(layout) != written:
            raise ConfigError(f"{written!r} is not written like Layout(4, 1, Layout(4, 1))")
        return layout

    @property
    def table_count(self) -> int:
        """Number of tables: one for each choice of leading blocks."""
        inner = 1 if self.nested is None else self.nested.table_count
        return comb(self.block_count, self.leading_blocks) * inner

    @cached_property
    def table_shapes(self) -> tuple[TableShape, ...]:
        """Every table of the layout, whether a distance needs it or not."""
        return tuple(self.shapes_for(range(FINGERPRINT_BITS - 1, -1, -1)))

    def shapes_for(self, positions: Sequence[int]) -> Iterator[TableShape]:
        """Yield the tables of this cut of some bits: all 64, or the rest of an outer cut."""
        blocks = _cut(positions, self.block_count)
        for number, chosen in enumerate(combinations(blocks, self.leading_blocks)):
            leading = tuple(chain.from_iterable(chosen))
            rest = tuple(filterfalse(set(leading).__contains__, positions))
            lead = LeadingBlocks(self.block_count, self.leading_blocks, number, leading)
            inner = [TableShape((), rest)] if self.nested is None else self.nested.shapes_for(rest)
            yield from (TableShape((lead, *shape.leads), shape.rest) for shape in inner)

    def tables_needed(self, distance: int) -> tuple[TableShape, ...]:
        """Return the tables that find everything within a distance."""
        return tuple(shape for shape in self.table_shapes if shape.radius(distance) >= 0)

    def probe_count(self, distance: int) -> int:
        """Count the probes of one look-up in all tables."""
        return sum(shape.probe_count(distance) for shape in self.table_shapes)

    def is_exact(self, distance: int) -> bool:
        """Return whether a look-up finds all within a distance by at most `_MAX_PROBES` probes."""
        return self.probe_count(distance) <= _MAX_PROBES

    def require_exact(self, distance: int) -> None:
        """Raise ConfigError if the distance is out of range, or the layout probes too much."""
        require_whole("max_distance", distance, 0, MAX_DISTANCE)
        if not self.is_exact(distance):
            raise ConfigError(
                f"{self} cannot serve max_distance={distance}: a look-up would take "
                f"{self.probe_count(distance):,} probes, more than {_MAX_PROBES:,}; "
                f"one that can: {Layout(max(distance + 1, 2))}"
            )

    def __repr__(self) -> str:
        nested = "" if self.nested is None else f", {self.nested!r}"
        return f"Layout({self.block_count}, {self.leading_blocks}{nested})"


def require_whole(name: str, value: object, least: int, most: int) -> None:
    """Raise ConfigError unless a value is an int in a range; True is not accepted."""
    if type(value) is not int or not least <= value <= most:
        raise ConfigError(f"{name} must be a whole number from {least} to {most}, not {value!r}")


def directory_bits(entries: int, prefix_bits: int) -> int:
    """Return the number of bits of a key: two to four entries share a key, or more."""
    return max(min(prefix_bits, entries.bit_length() - 2), 1)


@lru_cache(maxsize=1024)
def probe_keys(shape: TableShape, distance: int, bits: int) -> IntpArray:
    """Return the distinct probes of a table for keys of `bits` bits, ascending.

    If a key is shorter than the prefix, probes that are equal in the key's bits become one. The
    array is empty if the distance does not need the table.

    >>> first = Layout(4).table_shapes[0]
    >>> probe_keys(first, 3, 16).tolist(), len(probe_keys(first, 7, 16))
    ([0], 17)
    """
    permuted = shape.permuted(np.fromiter(shape.probes(distance), np.uint64))
    keys = np.unique(permuted >> np.uint64(FINGERPRINT_BITS - bits)).astype(np.intp)
    keys.flags.writeable = False  # shared by all callers
    return keys


def moved(words: Words, moves: Iterable[Move]) -> Words:
    """Apply moves to a number, or to each number in an array."""
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


def _flips(leads: Sequence[LeadingBlocks], distance: int) -> Iterator[tuple[int, ...]]:
    """Yield each needed combination: how many bits to flip in the leading blocks of each cut."""
    if not leads:
        yield ()
        return
    for here in range(leads[0].radius(distance) + 1):
        yield from ((here, *inner) for inner in _flips(leads[1:], distance - here))
