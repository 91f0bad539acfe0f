"""`dedup-filter near`, `pairs` and `clusters`: fingerprints in, a line of JSON for each result.

A line of input holds one fingerprint, decimal or hexadecimal (0x...), blanks around it allowed.
Blank lines count as lines and hold nothing. Cost: 1 us a line.
"""

import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, BinaryIO

import click
import numpy as np

from dedup_filter.commands import json_option, max_distance_option, write_lines
from dedup_filter.errors import DedupError
from dedup_filter.hamming.clusters import DisjointSets
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.near_pairs import pair_blocks
from dedup_filter.hamming.pairs import UInt64Array, distinct

Shown = Callable[[int], int | str]

_LONGEST_LINE = 1000
_FINGERPRINT = re.compile(rb"[0-9]+|0[xX][0-9a-fA-F]+")


def _options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of all commands that compare fingerprints."""
    hex_option = click.option(
        "--hex",
        "shown",
        is_flag=True,
        callback=lambda _, __, is_hex: hex if is_hex else int,
        help='Write fingerprints as strings like "0x1f", for readers that round large numbers.',
    )
    return max_distance_option(default=3)(hex_option(json_option(command)))


@click.command("near")
@click.argument("stored", type=click.File("rb"))
@click.argument("asked", type=click.File("rb"), default="-")
@_options
def near_command(
    stored: BinaryIO, asked: BinaryIO, max_distance: int, shown: Shown, as_json: bool
) -> None:
    """Answer each fingerprint with the stored ones that are near to it.

    STORED and ASKED are files with one on each line; ASKED is standard input (-) unless it is
    given. Each line is answered at once, in its turn, by an array of the near ones, nearest
    first. Blank lines get no answer. A line that is no fingerprint ends the command with exit
    code 2: one of STORED before it answers, one of ASKED after the answers to those before it.

    \b
    $ printf '%s\\n' 8 11 4096 > stored.txt
    $ echo 15 | dedup-filter near stored.txt
    [11, 8]
    $ echo 15 | dedup-filter near stored.txt -d 2 --json
    {"fingerprint": 15, "near": [{"fingerprint": 11, "distance": 1}]}
    """  # noqa: D301 - click must see the character
    if stored is asked:
        raise click.UsageError("only one of STORED and ASKED can be standard input")
    stored_ones = distinct(_read_all(stored))
    index = HammingIndex(max_distance, expected=max(len(stored_ones), 1))
    index.add_many(stored_ones, range(len(stored_ones)))
    for query in _read(asked):
        near = [(shown(match.fingerprint), match.distance) for match in index.within(query)]
        if as_json:
            entries = [{"fingerprint": entry, "distance": bits} for entry, bits in near]
            write_lines([{"fingerprint": shown(query), "near": entries}])
        else:
            write_lines([[entry for entry, _ in near]])


@click.command("pairs")
@click.argument("fingerprints", type=click.File("rb"), default="-")
@_options
def pairs_command(fingerprints: BinaryIO, max_distance: int, shown: Shown, as_json: bool) -> None:
    """Write all pairs of fingerprints that are near to one another.

    FINGERPRINTS is a file with one on each line, or standard input (-); one that occurs several
    times counts once. Each pair is written once, the smaller number first, as soon as it is
    found; the order is the same in every run, but not that of the numbers. A line that is no
    fingerprint ends the command before it writes anything, with exit code 2.

    \b
    $ printf '%s\\n' 8 11 11 4096 | dedup-filter pairs
    [8, 11]
    [8, 4096]
    $ printf '%s\\n' 8 11 11 4096 | dedup-filter pairs --max-distance 2 --json
    {"pair": [8, 11], "distance": 2}
    {"pair": [8, 4096], "distance": 2}
    """  # noqa: D301 - click must see the character

    def line(left: int, right: int) -> Any:
        pair = [shown(left), shown(right)]
        return {"pair": pair, "distance": (left ^ right).bit_count()} if as_json else pair

    for block in pair_blocks(_read_all(fingerprints), max_distance):
        write_lines(line(*pair) for pair in block.tolist())


@click.command("clusters")
@click.argument("fingerprints", type=click.File("rb"), default="-")
@_options
def clusters_command(
    fingerprints: BinaryIO, max_distance: int, shown: Shown, as_json: bool
) -> None:
    """Group fingerprints: connected components of those that are near to one another.

    FINGERPRINTS is a file with one on each line, or standard input (-); one that occurs several
    times counts once. Members and clusters are written in the order in which they first occur,
    so the first of each represents it; one that is near to no other is in no cluster. A chain of
    small steps is one cluster, though its ends may be far apart. A line that is no fingerprint
    ends the command before it writes anything, with exit code 2.

    \b
    $ printf '%s\\n' 11 8 12288 0 | dedup-filter clusters --max-distance 2
    [11, 8, 12288, 0]
    $ printf '%s\\n' 11 8 12288 0 | dedup-filter clusters --max-distance 2 --json
    {"representative": 11, "size": 4, "members": [11, 8, 12288, 0]}
    """  # noqa: D301 - click must see the character
    members = _read_all(fingerprints)
    order = np.argsort(members, kind="stable")
    sets = DisjointSets(len(members))
    for pairs in pair_blocks(members, max_distance):
        positions = order[np.searchsorted(members, pairs, sorter=order)]
        sets.unite(positions[:, 0], positions[:, 1])
    found = ([shown(each) for each in members[cluster].tolist()] for cluster in sets.clusters())
    if as_json:
        write_lines({"representative": c[0], "size": len(c), "members": c} for c in found)
    else:
        write_lines(found)


def _read_all(file: BinaryIO) -> UInt64Array:
    """Return all fingerprints of a file, in its order."""
    return np.fromiter(_read(file), np.uint64)


def _read(file: BinaryIO) -> Iterator[int]:
    """Yield the fingerprints of a file, each when its line has arrived.

    Raises:
        DedupError: a line is no fingerprint.
    """
    for number, line in enumerate(iter(partial(file.readline, _LONGEST_LINE), b""), 1):
        word = line.strip()
        if not word:
            continue
        is_one = _FINGERPRINT.fullmatch(word)
        value = int(word, 16 if word[:2].lower() == b"0x" else 10) if is_one else 1 << 64
        if value >> 64:
            shown = word[:40].decode(errors="backslashreplace") + "..." * (len(word) > 40)
            name = "standard input" if file is sys.stdin.buffer else repr(file.name)
            raise DedupError(
                f"{name}, line {number}: {shown!r} is no fingerprint; expected a number from 0 to "
                "18446744073709551615, decimal or hexadecimal with 0x"
            )
        yield value
