"""`dedup-filter near`, `pairs` and `clusters`: fingerprints in, a line of JSON for each result.

A line of input holds one fingerprint, decimal or hexadecimal (0x...), blanks around it allowed.
Blank lines count as lines and hold nothing. Cost: 0.3 us a decimal line, 0.7 us a hexadecimal one.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import click
import numpy as np
import numpy.typing as npt

from dedup_filter.commands.options import json_option, max_distance_option
from dedup_filter.commands.streams import BadInput, opened, write_lines
from dedup_filter.hamming import HammingIndex, distinct, pair_blocks
from dedup_filter.hamming.clusters import DisjointSets

__all__ = ["clusters_command", "near_command", "pairs_command"]

UInt64Array = npt.NDArray[np.uint64]

_CHUNK_BYTES = 1 << 20
_LONGEST_LINE = 1000
_DECIMAL_LINES = re.compile(rb"(?:[ \t]*[0-9]{1,20}[ \t]*\r?\n)*")
_FINGERPRINT = re.compile(rb"[0-9]+|0[xX][0-9a-fA-F]+")


def _fingerprint_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of all commands that compare fingerprints."""
    hex_option = click.option(
        "--hex",
        "as_hex",
        is_flag=True,
        help='Write fingerprints as strings like "0x1f", for readers that round large numbers.',
    )
    return max_distance_option(3)(hex_option(json_option(command)))


@click.command("near")
@click.argument("stored")
@click.argument("asked", default="-")
@_fingerprint_options
def near_command(stored: str, asked: str, max_distance: int, as_hex: bool, as_json: bool) -> None:
    """Answer each fingerprint in ASKED with those in STORED that are near to it.

    Both are files with a fingerprint on each line; ASKED is standard input (-) unless it is
    given. Each line is answered at once, and in its turn, by an array of the near ones, nearest
    first, empty if there are none. Blank lines get no answer.

    A line of STORED that is no fingerprint ends the command before it answers; one of ASKED
    after the answers to the lines before it. Exit code 2 in either case.

    \b
    $ printf '%s\\n' 8 11 4096 > stored.txt
    $ echo 15 | dedup-filter near stored.txt
    [11, 8]
    $ echo 15 | dedup-filter near stored.txt -d 2 --json
    {"fingerprint": 15, "near": [{"fingerprint": 11, "distance": 1}]}
    """  # noqa: D301 - click must see the character
    if stored == asked == "-":
        raise click.UsageError("only one of STORED and ASKED can be standard input")
    shown = hex if as_hex else int
    stored_ones = distinct(_read_all(stored))
    index = HammingIndex(max_distance, expected=max(len(stored_ones), 1))
    index.add_many(stored_ones, range(len(stored_ones)))

    def answer(query: int) -> Any:
        found = index.neighbours(query)
        near = [shown(entry) for entry in found.fingerprints.tolist()]
        if not as_json:
            return near
        pairs = zip(near, found.distances.tolist(), strict=True)
        entries = [{"fingerprint": entry, "distance": bits} for entry, bits in pairs]
        return {"fingerprint": shown(query), "near": entries}

    with opened(asked) as file:
        for queries in _read_parts(file, asked):
            write_lines(map(answer, queries.tolist()))


@click.command("pairs")
@click.argument("fingerprints", default="-")
@_fingerprint_options
def pairs_command(fingerprints: str, max_distance: int, as_hex: bool, as_json: bool) -> None:
    """Write all pairs of FINGERPRINTS that are near to one another.

    FINGERPRINTS is a file with one on each line, or standard input (-). Each pair is written
    once, the smaller number first, as soon as it is found; the order is the same in every run,
    but not that of the numbers. Fingerprints that occur several times count as one.

    \b
    $ printf '%s\\n' 8 11 11 4096 | dedup-filter pairs
    [8, 11]
    [8, 4096]
    $ printf '%s\\n' 8 11 11 4096 | dedup-filter pairs --max-distance 2 --json
    {"pair": [8, 11], "distance": 2}
    {"pair": [8, 4096], "distance": 2}

    A line that is no fingerprint ends the command before it writes anything, with exit code 2.
    """  # noqa: D301 - click must see the character
    shown = hex if as_hex else int
    for block in pair_blocks(_read_all(fingerprints), max_distance):
        pairs = block.tolist()
        found = ([shown(left), shown(right)] for left, right in pairs)
        if as_json:
            distances = ((left ^ right).bit_count() for left, right in pairs)
            both = zip(found, distances, strict=True)
            write_lines({"pair": pair, "distance": bits} for pair, bits in both)
        else:
            write_lines(found)


@click.command("clusters")
@click.argument("fingerprints", default="-")
@_fingerprint_options
def clusters_command(fingerprints: str, max_distance: int, as_hex: bool, as_json: bool) -> None:
    """Write the clusters that FINGERPRINTS form: each member is near to some other one.

    FINGERPRINTS is a file with one on each line, or standard input (-). Members and clusters
    are written in the order in which they first occur, so the first of each represents it. One
    that is near to no other is in no cluster; those that occur several times count as one. A
    chain of small steps is one cluster, though its ends may be far apart.

    \b
    $ printf '%s\\n' 11 8 12288 0 | dedup-filter clusters --max-distance 2
    [11, 8, 12288, 0]
    $ printf '%s\\n' 11 8 12288 0 | dedup-filter clusters --max-distance 2 --json
    {"representative": 11, "size": 4, "members": [11, 8, 12288, 0]}

    A line that is no fingerprint ends the command before it writes anything, with exit code 2.
    """  # noqa: D301 - click must see the character
    shown = hex if as_hex else int
    clusters = _clusters(_read_all(fingerprints), max_distance)
    found = ([shown(member) for member in cluster] for cluster in clusters)
    if as_json:
        write_lines({"representative": c[0], "size": len(c), "members": c} for c in found)
    else:
        write_lines(found)


def _clusters(fingerprints: UInt64Array, max_distance: int) -> Iterator[list[int]]:
    """Yield clusters: connected components of the positions at which fingerprints first occur."""
    order = np.argsort(fingerprints, kind="stable")
    ascending = fingerprints[order]
    sets = DisjointSets(len(fingerprints))
    for pairs in pair_blocks(fingerprints, max_distance):
        positions = order[np.searchsorted(ascending, pairs)]
        sets.unite(positions[:, 0], positions[:, 1])
    for cluster in sets.clusters():
        yield fingerprints[cluster].tolist()


def _read_all(path: str) -> UInt64Array:
    """Return all fingerprints of a file, in its order.

    Raises:
        BadInput: it cannot be read, or one of its lines is no fingerprint.
    """
    with opened(path) as file:
        return np.concatenate([np.empty(0, np.uint64), *_read_parts(file, path)])


def _read_parts(file: BinaryIO, path: str) -> Iterator[UInt64Array]:
    """Yield the fingerprints of an open file as they arrive, from whole lines each time.

    Raises:
        BadInput: a line is no fingerprint. What was yielded is from the lines before it.
    """
    number = 1
    for lines in _whole_lines(file):
        yield _parsed(lines, number, path)
        number += lines.count(b"\n")


def _whole_lines(file: BinaryIO) -> Iterator[bytes]:
    rest = b""
    while data := file.read1(_CHUNK_BYTES):  # type: ignore[attr-defined]
        data = rest + data
        end = data.rfind(b"\n") + 1
        if len(data) - end > _LONGEST_LINE:  # no fingerprint: let it be refused now
            end = len(data)
        rest = data[end:]
        if end:
            yield data[:end]
    if rest:
        yield rest


def _parsed(lines: bytes, number: int, path: str) -> UInt64Array:
    if _DECIMAL_LINES.fullmatch(lines):
        words = lines.split()
        try:
            return np.fromiter(map(int, words), np.uint64, len(words))
        except OverflowError:
            pass  # the line is found below
    values = [
        _value(line, number + place, path)
        for place, line in enumerate(lines.splitlines())
        if not line.isspace() and line
    ]
    return np.array(values, np.uint64)


def _value(line: bytes, number: int, path: str) -> int:
    word = line.strip()
    if len(word) <= _LONGEST_LINE and _FINGERPRINT.fullmatch(word):
        value = int(word, 16 if word[:2] in (b"0x", b"0X") else 10)
        if value < 1 << 64:
            return value
    shown = word[:40].decode(errors="backslashreplace") + ("..." if len(word) > 40 else "")
    name = "standard input" if path == "-" else repr(path)
    raise BadInput(
        f"{name}, line {number}: {shown!r} is no fingerprint; expected a number "
        "from 0 to 18446744073709551615, decimal or hexadecimal with 0x"
    )
