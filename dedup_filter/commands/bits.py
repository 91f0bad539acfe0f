"""`dedup-filter bits ...`: fingerprints, one a line -> a line of JSON for each result."""

from collections.abc import Callable
from typing import Any, BinaryIO

import click
import numpy as np

from dedup_filter.commands import CommandGroup, json_option, say, write, write_lines
from dedup_filter.commands.fingerprints import all_in, each_in
from dedup_filter.commands.options import filter_option, max_distance_option, pages_argument
from dedup_filter.commands.plan import plan_command
from dedup_filter.hamming.clusters import DisjointSets
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.near_pairs import pair_blocks
from dedup_filter.hamming.pairs import distinct
from dedup_filter.model import as_hex
from dedup_filter.review.recorded_pages import RecordedPages, require_pages

_Shown = Callable[[int], int | str]


@click.group("bits", cls=CommandGroup, no_args_is_help=False)
def bits_command() -> None:
    """Compare fingerprints, numbers of 64 bits, by their bits alone.

    A file has one fingerprint on each line, decimal or hexadecimal (0x...); - is standard input.
    Results are JSON, one value a line. A line that is not a fingerprint ends the command with exit
    code 2.
    """


bits_command.add_command(plan_command)


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
    values = distinct(all_in(stored))
    index = HammingIndex(max_distance, expected=max(len(values), 1))
    index.add_many(values, range(len(values)))
    for query in each_in(queries):
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
    for values in pair_blocks(all_in(fingerprints), max_distance):
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
    values = all_in(fingerprints)
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
