"""`dedup-filter bits ...`: fingerprints, one a line -> a line of JSON for each result.

`bits plan` ranks layouts by estimates for a 2-core machine (`dedup_filter.hamming.planner`). They
were fitted to indexes of up to 10 million random fingerprints, and are extrapolated beyond.
"""

import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, BinaryIO

import click
import numpy as np

from dedup_filter.commands import CommandGroup, json_option, say, write, write_lines
from dedup_filter.commands.options import filter_option, max_distance_option, pages_argument
from dedup_filter.errors import DedupError
from dedup_filter.hamming.clusters import DisjointSets
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.near_pairs import pair_blocks
from dedup_filter.hamming.pairs import UInt64Array, distinct
from dedup_filter.hamming.planner import Estimate, chance_neighbours, papers, plan, ranked
from dedup_filter.model import as_hex
from dedup_filter.review.recorded_pages import RecordedPages, require_pages
from dedup_filter.wording import counted

_Shown = Callable[[int], int | str]
_FINGERPRINT = re.compile(rb"[0-9]+|0[xX][0-9a-fA-F]+")
_LONGEST = 1000
"""Bytes of a line; of a longer one no more is read."""
_MOST_PAGES = 10**15
_SHOWN = 8
"""Layouts that are shown to people."""
_HEADINGS = (
    "layout                      tables   bits  probes      candidates   look-up us"
    "    us a page  bytes  against the best"
)
_LINE = (
    "{name:<27}{tables:>7}{bits:>7}{probes:>8,}{candidates:>16,.0f}{look_up_us:>13,.1f}"
    "{page_us:>13,.1f}{bytes_per_entry:>7.0f}  {slower:,.3g} x{mark}"
)


@click.group("bits", cls=CommandGroup)
def bits_command() -> None:
    """Compare fingerprints, numbers of 64 bits, by their bits alone.

    A file has one fingerprint on each line, decimal or hexadecimal (0x...); - is standard input.
    Results are JSON, one value a line. A line that is not a fingerprint ends the command with exit
    code 2.
    """


def _fingerprints(file: BinaryIO) -> Iterator[int]:
    """Yield each fingerprint in a file, as its line arrives. Cost: 1 us a line.

    Raises:
        DedupError: a line is not a fingerprint; the message has the number of the line.
    """
    for number, line in enumerate(iter(partial(file.readline, _LONGEST), b""), 1):
        word = line.strip()
        if not word:
            continue
        value = 1 << 64
        if len(line) < _LONGEST and _FINGERPRINT.fullmatch(word):
            value = int(word, 16 if word[:2].lower() == b"0x" else 10)
        if value >> 64:
            shown = word[:40].decode(errors="backslashreplace")
            name = "standard input" if file is sys.stdin.buffer else repr(file.name)
            raise DedupError(
                f"{name}, line {number}: {shown!r} is no fingerprint; expected a number from 0 to "
                "18446744073709551615, decimal or hexadecimal with 0x"
            )
        yield value


def _all_in(file: BinaryIO) -> UInt64Array:
    return np.fromiter(_fingerprints(file), np.uint64)


_hex_option = click.option(
    "--hex",
    "shown",
    is_flag=True,
    callback=lambda _, __, is_hex: hex if is_hex else int,
    help='Write fingerprints as strings like "0x1f", for readers that round large numbers.',
)


@bits_command.command("near")
@click.argument("stored", type=click.File("rb"))
@click.argument("queries", type=click.File("rb"), default="-")
@max_distance_option()
@_hex_option
@json_option
def _near(
    stored: BinaryIO, queries: BinaryIO, max_distance: int, shown: _Shown, as_json: bool
) -> None:
    """Find, for each fingerprint, the stored fingerprints that are near to it.

    Each fingerprint of QUERIES is answered at once, in order, by an array of near fingerprints of
    STORED, nearest first. Blank lines get no answer. `dedup-filter find` looks up fingerprints in
    an index.

    \b
    $ printf '%s\\n' 8 11 4096 > stored.txt
    $ echo 15 | dedup-filter bits near stored.txt --max-distance 3
    [11, 8]
    $ echo 15 | dedup-filter bits near stored.txt --max-distance 2 --json
    {"fingerprint": 15, "near": [{"fingerprint": 11, "distance": 1}]}
    """  # noqa: D301 - click must see the character
    if stored is queries:
        raise click.UsageError("only one of STORED and QUERIES can be standard input")
    values = distinct(_all_in(stored))
    index = HammingIndex(max_distance, expected=max(len(values), 1))
    index.add_many(values, range(len(values)))
    for query in _fingerprints(queries):
        near = [(shown(match.fingerprint), match.distance) for match in index.within(query)]
        entries = [{"fingerprint": entry, "distance": bits} for entry, bits in near]
        answer = {"fingerprint": shown(query), "near": entries}
        write_lines([answer if as_json else [entry for entry, _ in near]])


@bits_command.command("pairs")
@click.argument("fingerprints", type=click.File("rb"), default="-")
@max_distance_option()
@_hex_option
@json_option
def _pairs(fingerprints: BinaryIO, max_distance: int, shown: _Shown, as_json: bool) -> None:
    """Write all pairs of fingerprints that are near to one another.

    FINGERPRINTS is a file; equal fingerprints count once. Each pair is written once, the smaller
    number first, as soon as it is found. Pairs are not sorted, but their order is the same in every
    run.

    \b
    $ printf '%s\\n' 8 11 11 4096 | dedup-filter bits pairs --max-distance 3
    [8, 11]
    [8, 4096]
    $ printf '%s\\n' 8 11 11 4096 | dedup-filter bits pairs --max-distance 2 --json
    {"pair": [8, 11], "distance": 2}
    {"pair": [8, 4096], "distance": 2}
    """  # noqa: D301 - click must see the character
    for values in pair_blocks(_all_in(fingerprints), max_distance):
        distances = np.bitwise_count(values[:, 0] ^ values[:, 1]).tolist()
        for values_of_pair, distance in zip(values.tolist(), distances, strict=True):
            pair = [shown(each) for each in values_of_pair]
            write_lines([{"pair": pair, "distance": distance} if as_json else pair])


@bits_command.command("clusters")
@click.argument("fingerprints", type=click.File("rb"), default="-")
@max_distance_option()
@_hex_option
@json_option
def _clusters(fingerprints: BinaryIO, max_distance: int, shown: _Shown, as_json: bool) -> None:
    """Group fingerprints that are near.

    FINGERPRINTS is a file; equal fingerprints count once. Clusters are connected components: a
    chain of near fingerprints is one cluster, so two members need not be near each other. Members
    and clusters are in the order of the input; the first member represents its cluster; a
    fingerprint near no other is left out. Spread is the most bits between the representative and a
    member.

    \b
    $ printf '%s\\n' 11 8 12288 0 | dedup-filter bits clusters --max-distance 2
    [11, 8, 12288, 0]
    $ printf '%s\\n' 11 8 | dedup-filter bits clusters --json
    {"representative": 11, "size": 2, "spread": 2, "members": [11, 8]}
    """  # noqa: D301 - click must see the character
    values = _all_in(fingerprints)
    order = np.argsort(values, kind="stable")
    sets = DisjointSets(len(values))
    for pairs in pair_blocks(values, max_distance):
        places = order[np.searchsorted(values, pairs, sorter=order)]
        sets.unite(places[:, 0], places[:, 1])
    for numbers in sets.clusters():
        spread = int(np.bitwise_count(values[numbers] ^ values[numbers[0]]).max())
        members = [shown(each) for each in values[numbers].tolist()]
        about = {"representative": members[0], "size": len(members), "spread": spread}
        write_lines([{**about, "members": members} if as_json else members])


@bits_command.command("fingerprint")
@pages_argument
@filter_option
@json_option
def _fingerprint(pages: tuple[str, ...], options: dict[str, Any], as_json: bool) -> None:
    """Write the fingerprint of each PAGE on a line of its own, for `near` and `pairs`.

    PAGE is a URL, the path of a file, or standard input (-). Nothing is known of its host; an index
    knows more (see `find`).

    If a page has no text of 20 words, or only stopwords, its line is empty, and standard error
    says why.

    \b
    $ dedup-filter bits fingerprint a.html b.html | dedup-filter bits pairs
    $ dedup-filter bits fingerprint a.html --json
    {"asked": "a.html", "fingerprint": "0x52d3...", "reason": null}

    Exit codes: 0 done, 1 a page has no fingerprint, 2 a page cannot be read.
    """  # noqa: D301 - click must see the character
    require_pages(pages)
    is_any_without = False
    with RecordedPages.open(None, options) as read:
        for name in pages:
            page = read.named(name)
            value = as_hex(page.measures and page.measures.fingerprint)
            reason = page.reason if value is None else None
            values = {"asked": name, "fingerprint": value, "reason": reason}
            write(values, [value or ""], as_json=as_json)
            if value is None:
                is_any_without = True
                say(f"{name}: it has no fingerprint ({reason})", err=True)
    if is_any_without:
        raise click.exceptions.Exit(1)


def _pages(value: str) -> int:
    try:
        pages = float(value)
    except ValueError:
        pages = 0
    if not 1 <= pages <= _MOST_PAGES or pages != int(pages):
        raise click.BadParameter(f"{value!r} is not a number of pages, 1 to {_MOST_PAGES:g}")
    return int(pages)


@bits_command.command("plan")
@click.option("--pages", type=_pages, metavar="NUMBER", required=True, help="Pages, like 1e9.")
@max_distance_option()
@json_option
def _plan(pages: int, max_distance: int, as_json: bool) -> None:
    """Rank the layouts of tables that an index can have, by time.

    An index takes the layout with a mark (*). The layouts of the literature come last. Compare the
    times, in microseconds, only with one another: they are estimates, without the confirmation of
    candidates.

    \b
    layout      blocks, leading blocks: Layout(6, 3) cuts the 64 bits into 6 blocks, and each choice
                of 3 leads one table
    bits        width of the prefix that a probe looks up
    candidates  stored fingerprints that a look-up compares
    us a page   time of a look-up and an insert; the last column compares it with the best
    bytes       memory for each stored page
    """  # noqa: D301 - click must see the character
    found, literature = ranked(max_distance, pages), papers(max_distance, pages)
    taken = plan(max_distance, pages)

    def row(one: Estimate, name: str = "") -> dict[str, Any]:
        layout = one.layout and repr(one.layout)
        chosen = not name and one.layout == taken
        name = name or layout or "no tables: all compared"
        values = {"name": name, **vars(one), "layout": layout, "page_us": one.page_us}
        return {**values, "from_literature": name in literature, "chosen": chosen}

    ours, others = [row(one) for one in found], [row(one, name) for name, one in literature.items()]
    if as_json:
        write_lines([*ours, *others])
        return

    def line(row: dict[str, Any]) -> str:
        bits = "-".join(map(str, sorted({*row["prefix_bits"]})))
        slower = row["page_us"] / found[0].page_us
        return _LINE.format(**row, bits=bits, slower=slower, mark=" *" if row["chosen"] else "")

    shown = [*ours[:_SHOWN], *(row for row in ours[_SHOWN:] if row["layout"] is None)]
    say(f"{counted(pages, 'page')}, at most {counted(max_distance, 'bit')} apart.")
    chance = chance_neighbours(max_distance, pages)
    say(f"Unrelated pages near to each by chance: {chance:.2g}, if all bits are random.")
    for each in ("", _HEADINGS, *map(line, shown), "", *map(line, others)):
        say(each)
