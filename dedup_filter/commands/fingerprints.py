"""`dedup-filter near`, `pairs` and `clusters`: fingerprints -> a line of JSON for each result.

All take an index, too, and then write URLs.

A line of input holds one fingerprint, decimal or hexadecimal (0x...), with or without blanks around
it; or is a line of `dedup-filter fingerprint --json`. Blank lines, and lines of pages without a
fingerprint, are counted but hold nothing. Cost: 1 us a line.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import click
import numpy as np
import numpy.typing as npt

from dedup_filter.commands import json_option, say, write_lines
from dedup_filter.commands.options import max_distance_option
from dedup_filter.config import FilterConfig
from dedup_filter.errors import DedupError
from dedup_filter.hamming.clusters import DisjointSets, split_cluster
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.near_pairs import pair_blocks
from dedup_filter.hamming.pairs import IntpArray, UInt64Array, distinct
from dedup_filter.review.page_pairs import page_clusters, page_pairs, recorded_pairs
from dedup_filter.store.redis.connection import is_address
from dedup_filter.upkeep import Index, index_at
from dedup_filter.upkeep.results import Recorded
from dedup_filter.upkeep.servers import ServerIndex
from dedup_filter.wording import counted

Shown = Callable[[int], int | str]

_DISTANCE = 3
_LONGEST_WORD = 1000
_LONGEST_LINE = 100_000
"""A line may hold a URL of 10,000 characters and more."""
_BATCH = 1_000_000
"""Fingerprints that are looked up in an index at a time: 65 MB."""
_QUERY = np.dtype([("line", np.int64), ("query", np.uint64)])
_SHOWN = 10
"""Bad lines that are reported; more are only counted."""
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
    return hex_option(json_option(command))


class _Input(click.File):
    """A file of fingerprints; or an index, which is a folder or an address."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if isinstance(value, str) and (Path(value).is_dir() or is_address(value)):
            return index_at(value)
        return super().convert(value, param, ctx)


_distance_option = max_distance_option(show_default=f"{_DISTANCE}, or the index's")


@click.command("near")
@click.argument("files", metavar="[STORED] [QUERIES]", type=click.File("rb"), nargs=-1)
@click.option("--index", metavar="INDEX", help="Look up pages of this index instead of STORED.")
@_distance_option
@_options
def near_command(
    files: tuple[BinaryIO, ...],
    index: str | None,
    max_distance: int | None,
    shown: Shown,
    as_json: bool,
) -> None:
    """Find, for each fingerprint, the stored fingerprints that are near to it.

    STORED and QUERIES are files with one fingerprint on each line; QUERIES is standard input (-)
    by default. Each query is answered at once, in order, by an array of near fingerprints, nearest
    first. Blank lines get no answer. A line that is not a fingerprint ends the command with exit
    code 2: in STORED before any answer, in QUERIES after the answers to earlier lines.

    With --index, the kept pages of an index are looked up. INDEX is a folder or an address
    (redis://...); a crawl may be writing to it. A million queries at a time pass over each table
    once. For each near page a line [line of QUERIES, its fingerprint, page, URL, distance] is
    written; these lines are not in order. Lines that are not fingerprints are skipped and
    reported, and the exit code is 1.

    \b
    $ printf '%s\\n' 8 11 4096 > stored.txt
    $ echo 15 | dedup-filter near stored.txt
    [11, 8]
    $ echo 15 | dedup-filter near stored.txt -d 2 --json
    {"fingerprint": 15, "near": [{"fingerprint": 11, "distance": 1}]}
    """  # noqa: D301 - click must see the character
    most = 2 if index is None else 1
    if not most - 1 <= len(files) <= most:
        raise click.UsageError("give either STORED or --index, and at most one file of QUERIES")
    queries = files[-1] if len(files) == most else sys.stdin.buffer
    if index is not None:
        _write_near_pages(index_at(index), queries, max_distance, shown, as_json=as_json)
        return
    if files[0] is queries:
        raise click.UsageError("only one of STORED and QUERIES can be standard input")
    stored = distinct(_read_all(files[0]))
    k = _DISTANCE if max_distance is None else max_distance
    found = HammingIndex(k, expected=max(len(stored), 1))
    found.add_many(stored, range(len(stored)))
    for _, query in _read(queries):
        near = [(shown(match.fingerprint), match.distance) for match in found.within(query)]
        if as_json:
            entries = [{"fingerprint": entry, "distance": bits} for entry, bits in near]
            write_lines([{"fingerprint": shown(query), "near": entries}])
        else:
            write_lines([[entry for entry, _ in near]])


@click.command("pairs")
@click.argument("fingerprints", type=_Input("rb"), default="-")
@_distance_option
@_options
def pairs_command(
    fingerprints: BinaryIO | Index, max_distance: int | None, shown: Shown, as_json: bool
) -> None:
    """Write all pairs of fingerprints, or of an index's pages, that are near to one another.

    FINGERPRINTS is a file with one fingerprint on each line, or standard input (-); equal
    fingerprints count once. Each pair is written once, the smaller number first, as soon as it is
    found. Pairs are not sorted, but their order is the same in every run. A line that is not a
    fingerprint ends the command before it writes anything, with exit code 2.

    FINGERPRINTS can also be an index, a folder or an address (redis://...): then its pages, dropped
    pages too, are paired and their URLs are written. A crawl may be writing to the index.

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

    if isinstance(fingerprints, Index):
        _write_page_pairs(fingerprints, max_distance, as_json=as_json)
        return
    k = _DISTANCE if max_distance is None else max_distance
    for block in pair_blocks(_read_all(fingerprints), k):
        write_lines(line(*pair) for pair in block.tolist())


@click.command("clusters")
@click.argument("fingerprints", type=_Input("rb"), default="-")
@_distance_option
@click.option("--split", "is_split", is_flag=True, help="Every member is near the representative.")
@click.option(
    "--unconfirmed",
    is_flag=True,
    help="With an index: also group pages near in bits, though the filter found that they differ.",
)
@_options
def clusters_command(
    fingerprints: BinaryIO | Index,
    max_distance: int | None,
    shown: Shown,
    *,
    is_split: bool,
    unconfirmed: bool,
    as_json: bool,
) -> None:
    """Group fingerprints that are near, or an index's pages that repeat one another.

    FINGERPRINTS is a file with one fingerprint on each line, or standard input (-); equal
    fingerprints count once. Members and clusters are in the order of the input; the first member
    represents its cluster; a fingerprint near no other is left out. A chain of near fingerprints is
    one cluster, so two members need not be near each other. With --split the first member makes a
    cluster with all members near it, the first remaining member does the same, and so on. Spread is
    the most bits between the representative and a member. A line that is not a fingerprint ends the
    command before it writes anything, with exit code 2.

    FINGERPRINTS can also be an index, a folder or an address (redis://...): then a kept page
    represents the pages that were dropped for it, each confirmed to repeat it (-d: within this many
    bits). --unconfirmed also joins pages that are near in bits, in chains (--split cuts them). A
    shared index records no dropped pages, so it needs --unconfirmed.

    \b
    $ printf '%s\\n' 11 8 12288 0 | dedup-filter clusters --max-distance 2
    [11, 8, 12288, 0]
    $ printf '%s\\n' 11 8 12288 0 | dedup-filter clusters -d 2 --split --json
    {"representative": 11, "size": 2, "spread": 2, "members": [11, 8]}
    {"representative": 12288, "size": 2, "spread": 2, "members": [12288, 0]}
    """  # noqa: D301 - click must see the character

    def write(members: list[Any], spread: int) -> None:
        about = {"representative": members[0], "size": len(members), "spread": spread}
        write_lines([{**about, "members": members} if as_json else members])

    if isinstance(fingerprints, Index):
        near = _distance_of(fingerprints, max_distance) if unconfirmed else None
        with fingerprints.recorded() as recorded:
            if near is None and isinstance(fingerprints, ServerIndex):
                raise DedupError(
                    "a shared index has no records of dropped pages, so it has no confirmed "
                    "clusters; --unconfirmed groups kept pages that are near in bits"
                )
            for each in page_clusters(
                recorded.entries, recorded.repeats(), max_distance, near=near, is_split=is_split
            ):
                urls = _urls(recorded, each.places)
                write([urls[place] for place in each.places.tolist()], each.spread)
        return
    if unconfirmed:
        raise click.UsageError("--unconfirmed is for an index; fingerprints alone confirm nothing")
    k = _DISTANCE if max_distance is None else max_distance
    values = _read_all(fingerprints)
    for cluster in _clusters(values, k, is_split=is_split):
        members = values[cluster]
        spread = int(np.bitwise_count(members ^ members[0]).max())
        write([shown(each) for each in members.tolist()], spread)


def _clusters(values: UInt64Array, k: int, *, is_split: bool) -> Iterator[IntpArray]:
    """Yield, for each cluster, the places of its fingerprints."""
    order = np.argsort(values, kind="stable")
    sets = DisjointSets(len(values))
    for pairs in pair_blocks(values, k):
        places = order[np.searchsorted(values, pairs, sorter=order)]
        sets.unite(places[:, 0], places[:, 1])

    def are_near(one: int, others: IntpArray) -> npt.NDArray[np.bool_]:
        are: npt.NDArray[np.bool_] = np.bitwise_count(values[others] ^ values[one]) <= k
        return are

    for cluster in sets.clusters():
        yield from split_cluster(cluster, are_near) if is_split else [cluster]


def _write_near_pages(
    index: Index, queries: BinaryIO, max_distance: int | None, shown: Shown, *, as_json: bool
) -> None:
    """Write a line for each kept page near to a fingerprint of a file.

    Raises:
        Exit: with code 1, lines were skipped.
    """
    bad_lines = 0

    def pass_over(error: DedupError) -> None:
        nonlocal bad_lines
        bad_lines += 1
        if bad_lines <= _SHOWN:
            say(str(error), err=True)

    numbered, k = _read(queries, pass_over), _distance_of(index, max_distance)
    names = ("line", "query", "page", "url", "distance")
    with index.searched(k) as searched:
        while len(batch := np.fromiter(islice(numbered, _BATCH), _QUERY)):
            lines, values = batch["line"], batch["query"].copy()
            for found in searched.fingerprints.within_blocks(values, k):
                urls = searched.urls(np.unique(found.rows).tolist())
                columns = (
                    lines[found.queries].tolist(),
                    map(shown, values[found.queries].tolist()),
                    found.rows.tolist(),
                    [urls.get(page) for page in found.rows.tolist()],
                    found.distances.tolist(),
                )
                near = (each for each in zip(*columns, strict=True) if each[3] is not None)
                write_lines(
                    dict(zip(names, each, strict=True)) if as_json else each for each in near
                )
    if bad_lines:
        say(f"{counted(bad_lines, 'line')} passed over: no fingerprints", err=True)
        raise click.exceptions.Exit(1)


def _write_page_pairs(index: Index, max_distance: int | None, *, as_json: bool) -> None:
    with index.recorded() as recorded:
        entries, k = recorded.entries, _distance_of(index, max_distance)

        def write(places: IntpArray, distances: list[int]) -> None:
            urls = _urls(recorded, places)
            pairs = [[urls[a], urls[b]] for a, b in places.tolist()]
            write_lines(
                {"pair": pair, "distance": distance} if as_json else pair
                for pair, distance in zip(pairs, distances, strict=True)
            )

        for places in page_pairs(entries, k):
            values = entries.fingerprints[places]
            write(places, np.bitwise_count(values[:, 0] ^ values[:, 1]).tolist())
        write(*recorded_pairs(entries, k, recorded.repeats()))


def _distance_of(index: Index, given: int | None) -> int:
    if given is not None:
        return given
    return int(index.filter_options().get("max_distance", FilterConfig.max_distance))


def _urls(recorded: Recorded, places: IntpArray) -> dict[int, str]:
    """Return place -> URL for places in the entries, which ascend by page."""
    distinct_places = np.unique(places)
    numbers = recorded.entries.pages[distinct_places].tolist()
    urls = {record.page: record.url for record in recorded.records(numbers)}
    # A page of a shared index may have been forgotten since the log was read.
    gone = "(forgotten meanwhile)"
    return {
        place: urls.get(number, gone)
        for place, number in zip(distinct_places.tolist(), numbers, strict=True)
    }


def _read_all(file: BinaryIO) -> UInt64Array:
    """Return all fingerprints of a file, in its order."""
    return np.fromiter((value for _, value in _read(file)), np.uint64)


def _fail(error: DedupError) -> None:
    raise error


def _read(
    file: BinaryIO, on_bad: Callable[[DedupError], None] = _fail
) -> Iterator[tuple[int, int]]:
    """Yield the line number and value of each fingerprint in a file, as its line arrives."""
    for number, line in enumerate(iter(partial(file.readline, _LONGEST_LINE), b""), 1):
        word = line.strip()
        is_cut = len(line) == _LONGEST_LINE and line[-1:] != b"\n"
        while is_cut and (more := file.readline(_LONGEST_LINE)):
            is_cut = more[-1:] != b"\n"
        if word[:1] == b"{":
            word = _in_json(word)
        if not word:
            continue
        is_one = len(word) <= _LONGEST_WORD and _FINGERPRINT.fullmatch(word)
        value = int(word, 16 if word[:2].lower() == b"0x" else 10) if is_one else 1 << 64
        if not value >> 64:
            yield number, value
            continue
        shown = line.strip()[:40].decode(errors="backslashreplace") + "..." * (
            len(line.strip()) > 40
        )
        name = "standard input" if file is sys.stdin.buffer else repr(file.name)
        on_bad(
            DedupError(
                f"{name}, line {number}: {shown!r} is no fingerprint; expected a number from 0 to "
                "18446744073709551615, decimal or hexadecimal with 0x"
            )
        )


def _in_json(line: bytes) -> bytes:
    """Return the fingerprint in a line of `fingerprint --json`; empty if its page has none.

    Any other line is returned unchanged.
    """
    try:
        value = json.loads(line)["fingerprint"]
    except (ValueError, KeyError, RecursionError):
        return line
    return b"" if value is None else str(value).encode(errors="replace").strip() or line
