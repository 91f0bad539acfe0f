"""A cut of the 64 bits into blocks -> the permuted tables, and the prefixes that a look-up probes.

The bits are cut into m blocks of nearly equal width. Each choice of l leading blocks makes one
table:

    Layout(4)         4 tables of 16 bits            k = 3   Manku et al., 3.1
    Layout(6, 3)     20 tables of 31 to 33 bits      k = 3   the same
    Layout(8, 2)     28 tables of 16 bits            k = 6   the essay on simhash
    Layout(k + 1)    k+1 tables, no neighbours       any k   the pigeonhole principle
    Layout(4)         4 tables, neighbours probed    any k   Norouzi et al. 2012

A table orders fingerprints by their permuted form, in which its leading blocks come first:

    fingerprint   63 | A | B | C | D | E | F | 0      leading blocks: A, C and E
    permuted      63 | A | C | E | B | D | F | 0      equal in A, C and E: neighbours when sorted

The prefix of a fingerprint is the number that its leading blocks make. A probe is a mask of bits to
flip in the prefix of a query. Bit position 63 is the most significant.

Why a look-up misses nothing. Let k = q*m + s differing bits fall into m blocks, s < m. The l least
damaged blocks then hold at most r = q*l + max(0, s - (m - l)) differing bits. If they held one
more, the most damaged of the l would hold at least q+1, and so would each of the other m-l blocks:
more than k in all. So the look-up probes all prefixes that differ from the query's in at most r
bits. For l = 1 fewer suffice (Norouzi et al., section 3): block j, counted from 0, is probed to
radius (k - j) // m. If every block j held one differing bit more, the blocks would hold k + 1. If
the radius is negative, the table is not needed: so m > k blocks make k + 1 tables.

Manku, Jain and Das Sarma (2007), section 3; Norouzi, Punjani and Fleet (2012). Where we differ: the
paper also cuts the other blocks of a table again (4 x 4: 16 tables of 28 bits). Such tables are
quicker from a billion entries on.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, combinations, filterfalse, pairwise
from math import comb
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
class TableShape:
    """One table of a layout."""

    block_count: int
    leading_blocks: int
    number: int
    """Of its choice of leading blocks, from 0."""
    prefix_bits: int
    """Number of bits in these blocks."""
    order: tuple[int, ...]
    """The permutation: the bit position that moves to 63, the one that moves to 62, ..."""

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
        """Return the moves that turn a fingerprint into the first bits of its permuted form.

        Bits that move equally far share a move: the usual tables need 2 to 5 moves, and 1 or 2 for
        the prefix. simhash-cpp draws its permutations the same way, as masks of contiguous blocks.
        """
        masks: dict[int, int] = defaultdict(int)
        for start, end in zip(self.order[:bits], range(bits - 1, -1, -1), strict=True):
            masks[end - start] |= 1 << start
        return [(mask, by) for by, mask in masks.items()]

    def prefixes(self, words: UInt64Array) -> IntpArray:
        """Return the prefix of each fingerprint."""
        found: IntpArray = moved(words, self.key_moves(self.prefix_bits)).astype(np.intp)
        return found

    def radius(self, distance: int) -> int:
        """Return how many bits of the prefix a probe may flip; negative: no need of this table."""
        if self.leading_blocks == 1:
            return (distance - self.number) // self.block_count
        everywhere, more = divmod(distance, self.block_count)
        spared = self.block_count - self.leading_blocks
        return everywhere * self.leading_blocks + max(0, more - spared)

    def finds(self, differing: UInt64Array, distance: int) -> npt.NDArray[np.bool_]:
        """Return, for the XOR of each pair of fingerprints, whether a probe finds the pair.

        >>> Layout(4).table_shapes[0].finds(np.array([0, 7, 7 << 61], np.uint64), 3).tolist()
        [True, True, False]
        """
        leading = np.uint64(sum(1 << bit for bit in self.order[: self.prefix_bits]))
        found: npt.NDArray[np.bool_] = np.bitwise_count(differing & leading) <= self.radius(
            distance
        )
        return found

    def probe_count(self, distance: int) -> int:
        """Count the probes without making them."""
        return sum(comb(self.prefix_bits, flips) for flips in range(self.radius(distance) + 1))

    def probes(self, distance: int) -> Iterator[int]:
        """Yield the masks to flip in a prefix, each once."""
        bits = [1 << bit for bit in range(self.prefix_bits)]
        for flips in range(self.radius(distance) + 1):
            yield from map(sum, combinations(bits, flips))


@dataclass(frozen=True)
class Layout:
    """How the 64 bits are cut and which blocks lead the tables.

    ConfigError: too many tables or blocks.

    >>> Layout(6, 3).table_count, sorted({s.prefix_bits for s in Layout(6, 3).table_shapes})
    (20, [31, 32, 33])
    """

    block_count: int
    leading_blocks: int = 1

    def __post_init__(self) -> None:
        require_whole("block_count", self.block_count, 2, FINGERPRINT_BITS)
        require_whole("leading_blocks", self.leading_blocks, 1, self.block_count - 1)
        if self.table_count > _MAX_TABLES:
            raise ConfigError(f"{self} makes {self.table_count} tables, more than {_MAX_TABLES}")

    @property
    def table_count(self) -> int:
        """Number of tables: one for each choice of leading blocks."""
        return comb(self.block_count, self.leading_blocks)

    @property
    def reach(self) -> int:
        """The distance up to which a look-up probes each table at most once."""
        return self.block_count - self.leading_blocks

    @cached_property
    def table_shapes(self) -> tuple[TableShape, ...]:
        """Every table of the layout, whether a distance needs it or not."""
        return tuple(self.shapes_for(range(FINGERPRINT_BITS - 1, -1, -1)))

    def shapes_for(self, positions: Sequence[int]) -> Iterator[TableShape]:
        """Yield the tables of this cut of some bits, in a layout all 64."""
        blocks = _cut(positions, self.block_count)
        for number, chosen in enumerate(combinations(blocks, self.leading_blocks)):
            leading = tuple(chain.from_iterable(chosen))
            rest = filterfalse(set(leading).__contains__, positions)
            order = (*leading, *rest)
            yield TableShape(self.block_count, self.leading_blocks, number, len(leading), order)

    def needed(self, distance: int) -> int:
        """Return how many tables, from the first on, find everything within a distance."""
        return min(distance + 1, self.block_count) if self.leading_blocks == 1 else self.table_count

    def tables_needed(self, distance: int) -> tuple[TableShape, ...]:
        """Return the tables that find everything within a distance."""
        return self.table_shapes[: self.needed(distance)]

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
        return f"Layout({self.block_count}, {self.leading_blocks})"


def require_whole(name: str, value: object, least: int, most: int) -> None:
    """Raise ConfigError unless a value is an int in a range; True is not accepted."""
    if type(value) is not int or not least <= value <= most:
        raise ConfigError(f"{name} must be a whole number from {least} to {most}, not {value!r}")


def directory_bits(entries: int, prefix_bits: int) -> int:
    """Return the number of bits of a key: two to four entries share a key, or more."""
    return max(min(prefix_bits, entries.bit_length() - 2), 1)


@lru_cache(maxsize=1024)
def probe_keys(shape: TableShape, distance: int, bits: int) -> IntpArray:
    """Return the distinct probes of a table in the first `bits` bits of a prefix, ascending.

    Probes that are equal in these bits become one. The array is empty if the distance does not need
    the table.

    >>> first = Layout(4).table_shapes[0]
    >>> probe_keys(first, 3, 16).tolist(), len(probe_keys(first, 7, 16))
    ([0], 17)
    """
    probes = np.fromiter(shape.probes(distance), np.uint64)
    keys = np.unique(probes >> np.uint64(shape.prefix_bits - bits)).astype(np.intp)
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
    ends = [number * width + min(number, wider) for number in range(block_count + 1)]
    return [positions[a:b] for a, b in pairwise(ends)]
