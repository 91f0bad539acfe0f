"""`dedup-filter bits ...`: fingerprints, one a line -> a line of JSON for each result.

`pairs` and `clusters` also take an index, and then write URLs.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO

import click
import numpy as np

from dedup_filter.commands import CommandGroup, json_option, say, write_lines
from dedup_filter.commands.fingerprints import all_in, each_in
from dedup_filter.commands.options import filter_option, max_distance_option
from dedup_filter.commands.plan import plan_command
from dedup_filter.config import FilterConfig
from dedup_filter.hamming.clusters import DisjointSets
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.near_pairs import pair_blocks
from dedup_filter.hamming.pairs import FINGERPRINT_BITS, UInt64Array, distinct
from dedup_filter.model import as_hex
from dedup_filter.review.page_pairs import page_clusters, page_pairs
from dedup_filter.review.recorded_pages import RecordedPages, require_pages
from dedup_filter.store.protocol import Recorded
from dedup_filter.store.redis.connection import is_address
from dedup_filter.upkeep import Index, index_at

_Shown = Callable[[int], int | str]


@click.group("bits", cls=CommandGroup, no_args_is_help=False)
def bits_command() -> None:
    """Compare fingerprints, numbers of 64 bits, by their bits alone.

    A file has one fingerprint on each line, decimal or hexadecimal (0x...); - is standard input.
    Results are JSON, one value a line. A line that is not a fingerprint ends the command with exit
    code 2.
    """


bits_command.add_command(plan_command)


class _Input(click.File):
    """A file of fingerprints; or an index, which is a folder or an address."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if isinstance(value, str) and (Path(value).is_dir() or is_address(value)):
            return index_at(value)
        return super().convert(value, param, ctx)


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
        if as_json:
            entries = [{"fingerprint": entry, "distance": bits} for entry, bits in near]
            write_lines([{"fingerprint": shown(query), "near": entries}])
        else:
            write_lines([[entry for entry, _ in near]])


@bits_command.command("pairs")
@click.argument("fingerprints", type=_Input("rb"), default="-")
@max_distance_option()
@_hex_option
@json_option
def _pairs(fingerprints: BinaryIO | Index, max_distance: int, shown: _Shown, as_json: bool) -> None:
    """Write all pairs of fingerprints that are near to one another.

    FINGERPRINTS is a file; equal fingerprints count once. Each pair is written once, the smaller
    number first, as soon as it is found. Pairs are not sorted, but their order is the same in every
    run.

    FINGERPRINTS can also be an index, a folder or an address (redis://...): then its pages, dropped
    pages too, are paired and their URLs are written. A crawl may be writing to the index.

    \b
    $ printf '%s\\n' 8 11 11 4096 | dedup-filter bits pairs --max-distance 3
    [8, 11]
    [8, 4096]
    $ printf '%s\\n' 8 11 11 4096 | dedup-filter bits pairs --max-distance 2 --json
    {"pair": [8, 11], "distance": 2}
    {"pair": [8, 4096], "distance": 2}
    """  # noqa: D301 - click must see the character

    def write(values: UInt64Array, names: Iterable[list[Any]]) -> None:
        distances = np.bitwise_count(values[:, 0] ^ values[:, 1]).tolist()
        write_lines(
            {"pair": pair, "distance": distance} if as_json else pair
            for pair, distance in zip(names, distances, strict=True)
        )

    if isinstance(fingerprints, Index):
        with fingerprints.recorded() as recorded:
            entries, written = recorded.entries, set[int]()
            for places in page_pairs(entries, max_distance):
                pages = entries.pages[places]
                urls = _urls(recorded, np.unique(pages).tolist())
                found = {}
                # Each crawl that met a page may have recorded it: a pair of URLs is written once.
                for number, pair in enumerate([urls[page] for page in of] for of in pages.tolist()):
                    if pair[0] != pair[1] and (key := hash(frozenset(pair))) not in written:
                        written.add(key)
                        found[number] = pair
                write(entries.fingerprints[places][[*found]], found.values())
        return
    for values in pair_blocks(all_in(fingerprints), max_distance):
        write(values, ([shown(each) for each in pair] for pair in values.tolist()))


@bits_command.command("clusters")
@click.argument("fingerprints", type=_Input("rb"), default="-")
@max_distance_option(
    default=None, show_default=f"{FilterConfig.max_distance}; for an index, all that were dropped"
)
@_hex_option
@json_option
def _clusters(
    fingerprints: BinaryIO | Index, max_distance: int | None, shown: _Shown, as_json: bool
) -> None:
    """Group fingerprints that are near, or an index's pages that repeat one another.

    FINGERPRINTS is a file; equal fingerprints count once. Clusters are connected components: a
    chain of near fingerprints is one cluster, so two members need not be near each other. Members
    and clusters are in the order of the input; the first member represents its cluster; a
    fingerprint near no other is left out. Spread is the most bits between the representative and a
    member.

    FINGERPRINTS can also be an index, a folder or an address (redis://...): then a kept page
    represents the pages that were dropped for it within --max-distance; each was confirmed to
    repeat it.

    \b
    $ printf '%s\\n' 11 8 12288 0 | dedup-filter bits clusters --max-distance 2
    [11, 8, 12288, 0]
    $ printf '%s\\n' 11 8 | dedup-filter bits clusters --json
    {"representative": 11, "size": 2, "spread": 2, "members": [11, 8]}
    """  # noqa: D301 - click must see the character

    def write(members: list[Any], spread: int) -> None:
        about = {"representative": members[0], "size": len(members), "spread": spread}
        write_lines([{**about, "members": members} if as_json else members])

    if isinstance(fingerprints, Index):
        with fingerprints.recorded() as recorded:
            most = FINGERPRINT_BITS if max_distance is None else max_distance
            repeats = (each for each in recorded.repeats() if each[2] <= most)
            for pages, spread in page_clusters(repeats):
                urls = _urls(recorded, pages)
                # Each crawl that met a page may have recorded it.
                write([*dict.fromkeys(urls[page] for page in pages)], spread)
        return
    k = FilterConfig.max_distance if max_distance is None else max_distance
    values = all_in(fingerprints)
    order = np.argsort(values, kind="stable")
    sets = DisjointSets(len(values))
    for pairs in pair_blocks(values, k):
        places = order[np.searchsorted(values, pairs, sorter=order)]
        sets.unite(places[:, 0], places[:, 1])
    for numbers in sets.clusters():
        members = values[numbers]
        spread = int(np.bitwise_count(members ^ members[0]).max())
        write([shown(each) for each in members.tolist()], spread)


@bits_command.command("fingerprint")
@click.argument("pages", metavar="PAGE...", nargs=-1, required=True)
@filter_option
@json_option
def _fingerprint(pages: tuple[str, ...], options: dict[str, Any], as_json: bool) -> None:
    """Write the fingerprint of each PAGE on a line of its own, for `near` and `pairs`.

    PAGE is a URL, the path of a file, or standard input (-). HTML is recognized by the name of a
    file, or by its first tag. Other pages of the host are not known, so text that all its pages
    have is left out only if it looks like a menu; an index knows more (see `find`).

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
            if as_json:
                write_lines([{"asked": name, "fingerprint": value, "reason": reason}])
            else:
                click.echo(value or "")
            if value is None:
                is_any_without = True
                say(f"{name}: it has no fingerprint ({reason})", err=True)
    if is_any_without:
        raise click.exceptions.Exit(1)


def _urls(recorded: Recorded, pages: list[int]) -> dict[int, str]:
    """Return page -> URL. A page of a shared index may have been forgotten since it was listed."""
    urls = {record.page: record.url for record in recorded.records(pages)}
    return {page: urls.get(page, "(forgotten meanwhile)") for page in pages}
