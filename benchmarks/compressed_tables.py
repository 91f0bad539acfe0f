"""Measure ways to keep the permuted tables in fewer bytes: size, look-up, and what a merge takes.

    python benchmarks/compressed_tables.py [--json] [--size 1e7] [--distances 3,12] [--kinds random]

Every way stores the same fingerprints for the same layout and answers the same queries; all hits
are compared with those of today's tables before anything is timed. Bytes include rows and
directories. Ways:

    today     the fingerprints in every table, 8 bytes each, and rows of 4 bytes
    short     without the bits that their place in the directory tells: 5 or 6 bytes; rows of 3
    deltas    blocks of 64: the first, and differences in as many bits as the largest takes
    paper     Manku et al. (2007), 3.3: XOR with the neighbour; the position of its first bit in a
              Huffman code, then the bits after it; blocks of 1,024 bytes, a directory of blocks
    places    fingerprints in the first table only; the others hold places in it, of 3 bytes
    bound     what no code of single tables can do without: log2 of the number of sets, and rows

"within" is `HammingIndex.within` itself. The paper's code is decoded one by one, here by Python, so
two queries are timed. "Pages" are those of 4,096 bytes that a look-up reads: what it costs where
tables are not in memory. A merge of a table is that of today; with places, `numpy.insert` is
replaced by what moves places, and packs them.

Skewed fingerprints are those of benchmarks/index.py. All of it takes about ten minutes and 2 GB.
"""

import argparse
import heapq
import math
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from index import fingerprints, microseconds, numbers, queries
from index_peers import LookUp, UInt64Array
from stopwatch import figure

from dedup_filter import HammingIndex
from dedup_filter.hamming.layout import TableShape, directory_bits, moved, probe_keys
from dedup_filter.hamming.pairs import IntpArray, places_in
from dedup_filter.hamming.planner import plan
from dedup_filter.hamming.run import Run

PAGE = 4096
BLOCK_BYTES = 1024
BLOCK = 64
FEW = 12
"""Probes up to which a look-up takes slices, as the index does, instead of single places."""
UINT64 = np.uint64
Spans = tuple[Any, Any, Any]
"""Keys, starts and ends: lists of few, or arrays."""


def bits_of(values: UInt64Array) -> IntpArray:
    """Return how many bits each takes, 0 for 0."""
    high, low = (values >> UINT64(32)).astype(float), (values & UINT64(2**32 - 1)).astype(float)
    in_high, in_low = np.frexp(high)[1], np.frexp(low)[1]
    bits: IntpArray = np.where(high > 0, in_high + 32, in_low).astype(np.intp)
    return bits


class Table:
    """One table: what all ways have in common."""

    def __init__(self, shape: TableShape, stored: UInt64Array) -> None:
        self.shape = shape
        order = np.argsort(shape.permuted(stored))
        self.order = order.astype(np.uint32)
        """Of each entry, its place in the first table."""
        self.permuted = shape.permuted(stored[order])
        self.bits = directory_bits(len(stored), shape.prefix_bits)
        keys = (self.permuted >> UINT64(64 - self.bits)).astype(np.intp)
        ends = np.bincount(keys, minlength=1 << self.bits).cumsum()
        self.directory = np.concatenate([[0], ends]).astype(np.int32)

        self.moves, self.all_moves = shape.key_moves(self.bits), shape.key_moves(64)
        self.offsets = memoryview(self.directory)  # type: ignore[arg-type] # Buffer: from 3.12 on

    def spans(self, query: int, distance: int) -> Spans:
        """Return the keys that a look-up probes, and where their entries begin and end."""
        key = moved(query, self.moves)
        probes = probe_keys(self.shape, distance, self.bits)
        if len(probes) <= FEW:
            keys = [key ^ probe for probe in probes.tolist()]
            offsets = self.offsets
            return keys, [offsets[each] for each in keys], [offsets[each + 1] for each in keys]
        of_all = probes ^ key
        starts = self.directory[of_all].astype(np.intp)
        return of_all, starts, self.directory[of_all + 1].astype(np.intp)


class Way:
    """A way to keep tables: `candidates` of one table, in its permuted form."""

    row_bytes = 3

    def __init__(self, tables: list[Table], stored: UInt64Array) -> None:
        self.tables, self.stored = tables, stored

    def nbytes(self) -> float:
        """Return all bytes."""
        directories = sum(table.directory.nbytes for table in self.tables)
        return directories + self.row_bytes * len(self.stored) + self.entry_bytes()

    def entry_bytes(self) -> float:
        """Return the bytes of all entries in all tables."""
        raise NotImplementedError

    def candidates(self, number: int, spans: Spans) -> UInt64Array:
        """Return the permuted forms of a table's entries in some spans."""
        raise NotImplementedError

    def pages(self, number: int, spans: Spans) -> int:
        """Return how many pages it reads for them."""
        raise NotImplementedError

    def look_up(self, query: int, distance: int) -> UInt64Array:
        """Return the near fingerprints, each as often as tables have it."""
        found = []
        for number, table in enumerate(self.tables):
            candidates = self.candidates(number, table.spans(query, distance))
            near = near_of([candidates], moved(query, table.all_moves), distance)
            found.append(table.shape.restored(near))
        return np.concatenate(found)


def pieces(array: np.ndarray, spans: Spans) -> np.ndarray:
    """Take some spans of an array: slices of few, single places of many."""
    _, starts, ends = spans
    if isinstance(starts, list):
        found = [array[start:end] for start, end in zip(starts, ends, strict=True)]
        return found[0] if len(found) == 1 else np.concatenate(found)
    return array.take(places_in(starts, ends - starts))


def listed(values: Any) -> list[int]:
    """Return an array, or a list, as a list."""
    return values if isinstance(values, list) else [*values.tolist()]


def near_of(parts: list[UInt64Array], query: int, distance: int) -> UInt64Array:
    """Return the candidates within a distance."""
    candidates: UInt64Array = np.concatenate(parts)
    near: IntpArray = (np.bitwise_count(candidates ^ UINT64(query)) <= distance).nonzero()[0]
    return candidates[near]


def pages_of(spans: Spans, width: float) -> set[int]:
    """Return the pages of an array with entries of so many bytes that spans lie on."""
    found: set[int] = set()
    for start, end in zip(*map(listed, spans[1:]), strict=True):
        if end > start:
            found.update(range(int(start * width) // PAGE, int(end * width - 1) // PAGE + 1))
    return found


class Today(Way):
    """The fingerprints in every table."""

    row_bytes = 4

    def __init__(self, tables: list[Table], stored: UInt64Array) -> None:
        super().__init__(tables, stored)
        self.runs = [table.shape.restored(table.permuted) for table in tables]

    def entry_bytes(self) -> float:
        """See `Way`."""
        return sum(run.nbytes for run in self.runs)

    def pages(self, number: int, spans: Spans) -> int:  # noqa: ARG002 - all tables are alike
        """See `Way`."""
        return len(pages_of(spans, 8))

    def look_up(self, query: int, distance: int) -> UInt64Array:
        """See `Way`."""
        spans = (table.spans(query, distance) for table in self.tables)
        return near_of(
            [pieces(*each) for each in zip(self.runs, spans, strict=True)], query, distance
        )


class Low:
    """The low bits of numbers: 4 bytes of each in one array, the other one or two in another."""

    def __init__(self, values: UInt64Array, bits: int) -> None:
        self.low = values.astype(np.uint32)
        high = values >> UINT64(32) & UINT64(2 ** (bits - 32) - 1)
        self.high = high.astype(np.min_scalar_type(2 ** (bits - 32) - 1))

    def at(self, spans: Spans) -> UInt64Array:
        """Return those in some spans."""
        high = pieces(self.high, spans).astype(np.uint64)
        high <<= UINT64(32)
        high |= pieces(self.low, spans)
        return high

    @property
    def width(self) -> int:
        """Bytes of each."""
        return 4 + int(self.high.itemsize)


class Short(Way):
    """Without the bits that the directory tells."""

    def __init__(self, tables: list[Table], stored: UInt64Array) -> None:
        super().__init__(tables, stored)
        self.lows = [Low(table.permuted, 64 - table.bits) for table in tables]

    def entry_bytes(self) -> float:
        """See `Way`."""
        return sum(low.width * len(self.stored) for low in self.lows)

    def candidates(self, number: int, spans: Spans) -> UInt64Array:
        """See `Way`."""
        keys, starts, ends = map(np.asarray, spans)
        found = self.lows[number].at(spans)
        found |= (keys.astype(np.uint64) << UINT64(64 - self.tables[number].bits)).repeat(
            ends - starts
        )
        return found

    def pages(self, number: int, spans: Spans) -> int:
        """See `Way`."""
        return len(pages_of(spans, 4)) + len(pages_of(spans, self.lows[number].width - 4))


class Deltas(Way):
    """Blocks of 64 entries: the first one, and differences of a width of the table's own."""

    def __init__(self, tables: list[Table], stored: UInt64Array) -> None:
        super().__init__(tables, stored)
        self.firsts, self.widths, self.begins, self.data = [], [], [], []
        for table in tables:
            permuted = np.pad(table.permuted, (0, -len(table.permuted) % BLOCK), mode="edge")
            differences = np.diff(permuted.reshape(-1, BLOCK), axis=1)
            widths = bits_of(differences.max(axis=1))
            total = np.concatenate([[0], (widths * (BLOCK - 1)).cumsum()])
            data = np.zeros(total[-1] // 8 + 16, np.uint8)
            for width in np.unique(widths).tolist():
                of_width = np.flatnonzero(widths == width)
                for some in np.array_split(of_width, len(of_width) // 10_000 + 1):
                    bits = np.unpackbits(
                        differences[some].astype(">u8").view(np.uint8), axis=1
                    ).reshape(len(some), BLOCK - 1, 64)[:, :, 64 - width :]
                    where = total[some, np.newaxis] + np.arange(width * (BLOCK - 1))
                    ones = where[bits.reshape(len(some), -1).astype(bool)]
                    np.bitwise_or.at(data, ones >> 3, (128 >> (ones & 7)).astype(np.uint8))
            self.firsts.append(permuted[::BLOCK].copy())
            self.widths.append(widths.astype(np.uint8))
            self.begins.append(total[:-1])
            self.data.append(data)

    def entry_bytes(self) -> float:
        """See `Way`."""
        blocks = len(self.firsts[0])
        # Where blocks begin takes 4 bytes each if it counts bytes.
        return sum(data.nbytes for data in self.data) + len(self.data) * blocks * (8 + 1 + 4)

    def candidates(self, number: int, spans: Spans) -> UInt64Array:
        """See `Way`."""
        _, starts, ends = map(np.asarray, spans)
        some = ends > starts
        first, last = starts[some] // BLOCK, (ends[some] - 1) // BLOCK + 1
        blocks = np.unique(places_in(first, last - first))
        width = self.widths[number][blocks].astype(np.intp)
        begin = self.begins[number][blocks, np.newaxis] + width[:, np.newaxis] * np.arange(
            BLOCK - 1
        )
        data = self.data[number]
        eight = np.lib.stride_tricks.as_strided(data, (len(data) - 8, 8), (1, 1))
        words = eight[begin >> 3].view(">u8")[..., 0].astype(np.uint64)
        words <<= (begin & 7).astype(np.uint64)
        words >>= (64 - width).astype(np.uint64)[:, np.newaxis]
        all_of_block = np.empty((len(blocks), BLOCK), np.uint64)
        all_of_block[:, 0] = self.firsts[number][blocks]
        all_of_block[:, 1:] = words
        found: UInt64Array = all_of_block.cumsum(axis=1, dtype=np.uint64).ravel()
        places = places_in(starts, ends - starts)
        wanted: IntpArray = blocks.searchsorted(places // BLOCK) * BLOCK + places % BLOCK
        return found.take(wanted)

    def pages(self, number: int, spans: Spans) -> int:
        """See `Way`."""
        return len(pages_of(spans, self.data[number].nbytes / len(self.stored)))


class Places(Way):
    """The fingerprints in the first table; in the others, places in it."""

    def __init__(self, tables: list[Table], stored: UInt64Array) -> None:
        super().__init__(tables, stored)
        self.entries = stored  # in the order of the first table
        self.of_table = [
            (t.order.astype(np.uint16), (t.order >> 16).astype(np.uint8)) for t in tables
        ]

    def entry_bytes(self) -> float:
        """See `Way`."""
        return len(self.stored) * (8 + 3 * (len(self.tables) - 1))

    def places(self, number: int, spans: Spans) -> IntpArray:
        """Return the places in the first table that a table holds in some spans."""
        low, high = self.of_table[number]
        places = pieces(high, spans).astype(np.intp)
        places <<= 16
        places |= pieces(low, spans)
        return places

    def look_up(self, query: int, distance: int) -> UInt64Array:
        """See `Way`."""
        first, *others = (table.spans(query, distance) for table in self.tables)
        numbered = list(zip(self.of_table[1:], others, strict=True))
        places = np.concatenate([pieces(high, each) for (_, high), each in numbered]).astype(
            np.intp
        )
        places <<= 16
        places |= np.concatenate([pieces(low, each) for (low, _), each in numbered])
        return near_of([pieces(self.entries, first), self.entries.take(places)], query, distance)

    def pages(self, number: int, spans: Spans) -> int:
        """See `Way`."""
        if not number:
            return len(pages_of(spans, 8))
        there = len(np.unique(self.places(number, spans) * 8 // PAGE))
        return len(pages_of(spans, 2)) + len(pages_of(spans, 1)) + there


class Paper(Way):
    """Section 3.3 of the paper, decoded by Python."""

    def __init__(self, tables: list[Table], stored: UInt64Array) -> None:
        super().__init__(tables, stored)
        self.sizes = []
        self.codes = []
        for table in tables:
            differing = table.permuted[1:] ^ table.permuted[:-1]
            position = np.maximum(bits_of(differing) - 1, 0)  # 0: the same, or the last bit
            # The last fingerprint of each block is in the directory: it is not coded.
            lengths = huffman(Counter(position.tolist()))
            width_of = np.zeros(64, np.intp)
            for each, (length, _) in lengths.items():
                width_of[each] = length
            # A repeat is coded as a difference in the last bit, and a bit tells the two apart.
            bits = width_of[position] + np.maximum(position, 1)
            self.sizes.append(int(bits.sum()) / 8 * (1 + 8 / BLOCK_BYTES))
            self.codes.append((lengths, width_of, position, bits.cumsum()))

    def nbytes(self) -> float:
        """Return all bytes; its directory is one of blocks."""
        return self.row_bytes * len(self.stored) + self.entry_bytes()

    def entry_bytes(self) -> float:
        """See `Way`."""
        return sum(self.sizes)

    def encoded(self, number: int, start: int, end: int) -> tuple[int, int, int]:
        """Return the first entry of some, the code of the others as one number, and its bits."""
        lengths, _, position, _ = self.codes[number]
        values = self.tables[number].permuted[start:end].tolist()
        code = bits = 0
        for before, value, where in zip(
            values, values[1:], position[start : end - 1].tolist(), strict=False
        ):
            length, word = lengths[where]
            rest = max(where, 1)
            code = code << length | word
            code = code << rest | (
                (before ^ value) & ((1 << rest) - 1) if where else before ^ value
            )
            bits += length + rest
        return values[0], code, bits

    def block(self, number: int, place: int) -> tuple[int, int]:
        """Return which entries are in the block of a place."""
        ends = self.codes[number][3]
        begin = int(ends[place - 1]) if place else 0
        block = begin // (8 * BLOCK_BYTES)
        first, last = ends.searchsorted([block * 8 * BLOCK_BYTES, (block + 1) * 8 * BLOCK_BYTES])
        return int(first), int(last) + 1

    def decoder(self, number: int) -> Callable[[int, int, int], list[int]]:
        """Return what decodes a block."""
        lengths = self.codes[number][0]
        longest = max(length for length, _ in lengths.values())
        decode: list[tuple[int, int]] = [(0, 0)] * (1 << longest)
        for where, (length, word) in lengths.items():
            spare = longest - length
            decode[word << spare : (word + 1) << spare] = [(length, where)] * (1 << spare)
        mask = (1 << longest) - 1

        def decoded(value: int, code: int, bits: int) -> list[int]:
            values, code = [value], code << longest
            left = bits
            while left:
                length, where = decode[code >> left & mask]
                rest = max(where, 1)
                left -= length + rest
                low = code >> (left + longest) & ((1 << rest) - 1)
                value ^= (1 << where | low) if where else low
                values.append(value)
            return values

        return decoded

    def pages(self, number: int, spans: Spans) -> int:
        """See `Way`."""
        return len(pages_of(spans, self.sizes[number] / len(self.stored)))


def huffman(counts: Counter[int]) -> dict[int, tuple[int, int]]:
    """Return the length and the word of each symbol's canonical Huffman code."""
    heap = [(count, number, [symbol]) for number, (symbol, count) in enumerate(counts.items())]
    heapq.heapify(heap)
    lengths = Counter(dict.fromkeys(counts, 0))
    number = len(heap)
    while len(heap) > 1:
        (a, _, left), (b, _, right) = heapq.heappop(heap), heapq.heappop(heap)
        lengths.update(left + right)
        heapq.heappush(heap, (a + b, number, left + right))
        number += 1
    words, word, before = {}, 0, 0
    for symbol, length in sorted(lengths.items(), key=lambda each: (each[1], each[0])):
        word <<= max(length, 1) - before
        before = max(length, 1)
        words[symbol] = before, word
        word += 1
    return words


def time_paper(way: Paper, asked: list[int], distance: int, today: Way) -> float:
    """Return the microseconds of a look-up: the blocks of all its spans, decoded one by one."""
    decoders = [way.decoder(number) for number in range(len(way.tables))]
    taken, few = 0.0, asked[:2]
    for query in few:
        found: list[int] = []
        for number, table in enumerate(way.tables):
            form = table.shape.permuted(query)
            _, starts, ends = table.spans(query, distance)
            for begin, end in zip(listed(starts), listed(ends), strict=True):
                start = begin
                while start < end:
                    first, last = way.block(number, start)
                    block = way.encoded(number, first, last)
                    begun = time.process_time()
                    values = decoders[number](*block)
                    wanted = values[max(start - first, 0) : end - first]
                    near = [each for each in wanted if (each ^ form).bit_count() <= distance]
                    taken += time.process_time() - begun
                    found += [table.shape.restored(each) for each in near]
                    start = last
        assert set(found) == set(today.look_up(query, distance).tolist())
    return taken / len(few) * 1e6


def counting(way: Way, distance: int) -> LookUp:
    """Return a look-up that tells how many hits there are."""
    return lambda query: len(way.look_up(query, distance))


def bound(tables: list[Table], stored: UInt64Array, kind: str) -> float:
    """Return the bytes that a sorted table takes at least by its entropy, and rows."""
    count = len(stored)
    of_bits = [1.0] * 16 + [-(0.25 * math.log2(0.25) + 0.75 * math.log2(0.75))] * 48
    entropy = 64.0 if kind == "random" else sum(of_bits)
    of_entry = entropy - (math.log2(count) - 1 / math.log(2))
    return len(tables) * count * of_entry / 8 + count * math.log2(count) / 8


def time_merges(table: Table, stored: UInt64Array) -> dict[str, float]:
    """Return milliseconds to put 1.4 % more into a table: the best of three rounds."""
    count = len(stored)
    generator = np.random.default_rng(8)
    coming = generator.integers(0, 2**64, count // 70, np.uint64)
    run = Run.of(table.shape, stored)
    # What is compared is how the arrays are moved: where entries come to lie is found alike.
    arriving = np.sort(generator.integers(0, count, len(coming)))
    in_first = np.sort(generator.integers(0, count, len(coming)))
    low, high = table.order.astype(np.uint16), (table.order >> 16).astype(np.uint8)

    def places() -> None:
        before = np.zeros(count, np.uint32)
        np.add.at(before, in_first, 1)
        np.cumsum(before, out=before)
        packed = []
        for begin in range(0, count, 1 << 16):
            piece = high[begin : begin + (1 << 16)].astype(np.uint32)
            piece <<= np.uint32(16)
            piece |= low[begin : begin + (1 << 16)]
            piece += before.take(piece)
            packed.append((piece.astype(np.uint16), (piece >> np.uint32(16)).astype(np.uint8)))
        for part, column in enumerate(zip(*packed, strict=True)):
            np.insert(np.concatenate(column), arriving, in_first >> 16 * part)

    def best(work: Callable[[], object]) -> float:
        times = []
        for _ in range(3):
            begun = time.process_time()
            work()
            times.append(time.process_time() - begun)
        return min(times) * 1e3

    whole = best(lambda: run.merged(coming[:0], coming))
    inserted, moving = best(lambda: np.insert(run.entries, arriving, coming)), best(places)
    return {
        "today merge of a table": whole,
        "places merge of a table": whole - inserted + moving,
        "places merge / today": (whole - inserted + moving) / whole,
    }


def run_case(kind: str, size: int, distance: int, *, as_json: bool) -> None:
    """Measure all ways with one layout."""
    layout = plan(distance, size)
    stored = np.sort(fingerprints(size, kind, seed=1))
    tables = [Table(shape, stored) for shape in layout.tables_needed(distance)]
    asked = queries(stored, kind, distance, 400 if distance > 3 else 2000)
    case = f"{kind} {size:,} k={distance} {layout!r}"
    today = Today(tables, stored)
    ways: dict[str, Way] = {
        "today": today,
        "short": Short(tables, stored),
        "deltas": Deltas(tables, stored),
        "places": Places(tables, stored),
    }
    for query in asked[:40]:
        expected = np.sort(today.look_up(query, distance))
        for name, way in ways.items():
            assert np.array_equal(np.sort(way.look_up(query, distance)), expected), name
    look_ups: dict[str, LookUp] = {name: counting(way, distance) for name, way in ways.items()}
    index = HammingIndex(distance, layout)
    index.add_many(stored, np.arange(size))
    look_ups["within"] = lambda query: len(index.within(query))
    times = microseconds(look_ups, asked)
    figure(case, "within", times["within"], "us", as_json=as_json)
    paper = Paper(tables, stored)
    times["paper"] = time_paper(paper, asked, distance, today)
    ways["paper"] = paper
    for name, way in ways.items():
        nbytes = way.nbytes() / size
        saved = 1 - nbytes / (today.nbytes() / size)
        read = [
            sum(
                way.pages(number, table.spans(query, distance))
                for number, table in enumerate(tables)
            )
            for query in asked[:20]
        ]
        for metric, value, unit in (
            ("bytes", nbytes, "bytes/entry"),
            ("saved", saved, "share"),
            ("look-up", times[name], "us"),
            ("look-up / today", times[name] / times["today"], "times"),
            ("pages read", float(np.mean(read)), "pages"),
        ):
            figure(case, f"{name} {metric}", value, unit, as_json=as_json)
    least = bound(tables, stored, kind) / size
    figure(case, "bound bytes", least, "bytes/entry", as_json=as_json)
    figure(case, "bound saved", 1 - least / (today.nbytes() / size), "share", as_json=as_json)
    for metric, value in time_merges(tables[1], stored).items():
        unit = "times" if "/" in metric else "ms"
        figure(case, metric, value, unit, as_json=as_json)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", type=lambda text: int(float(text)), default=10_000_000)
    parser.add_argument("--distances", type=numbers, default=[3, 12])
    parser.add_argument("--kinds", default="random,skewed")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for kind in options.kinds.split(","):
        for distance in options.distances:
            run_case(kind, options.size, distance, as_json=options.json)


if __name__ == "__main__":
    main()
