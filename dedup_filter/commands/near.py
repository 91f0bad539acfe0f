"""`dedup-filter near STORED [ASKED]`: a line of answer for each fingerprint that is asked for."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from dedup_filter.commands.json_lines import Shown, fingerprint_options, shown_as, write_lines

if TYPE_CHECKING:
    from dedup_filter.commands.fingerprint_lines import UInt64Array
    from dedup_filter.hamming import HammingIndex

__all__ = ["command"]


@click.command("near")
@click.argument("stored")
@click.argument("asked", default="-")
@fingerprint_options
def command(stored: str, asked: str, max_distance: int, as_hex: bool, as_json: bool) -> None:
    """Answer each fingerprint in ASKED with those in STORED that are near to it.

    Both are files with a fingerprint on each line; ASKED is standard input (-) unless it is
    given. Each line is answered at once, and in its turn, by an array of the near ones, nearest
    first, empty if there are none. Lines that are blank get no answer.

    A line of STORED that is no fingerprint ends the command before it answers; one of ASKED
    after the answers to the lines before it. Exit code 2 in either case.

    \b
    $ printf '%s\\n' 8 11 4096 > stored.txt
    $ echo 15 | dedup-filter near stored.txt
    [11, 8]
    $ echo 15 | dedup-filter near stored.txt -d 2 --json
    {"fingerprint": 15, "near": [{"fingerprint": 11, "distance": 1}]}
    """  # noqa: D301 - click must see the character
    from dedup_filter.commands.fingerprint_lines import fingerprints_in, opened, read_fingerprints
    from dedup_filter.hamming import HammingIndex, distinct

    if stored == asked == "-":
        raise click.UsageError("only one of STORED and ASKED can be standard input")
    entries = distinct(read_fingerprints(stored))
    index = HammingIndex(max_distance, expected=max(len(entries), 1))
    index.add_many(entries, range(len(entries)))
    with opened(asked) as file:
        for queries in fingerprints_in(file, asked):
            write_lines(_answers(index, queries, shown_as(as_hex), as_json))


def _answers(
    index: "HammingIndex", queries: "UInt64Array", shown: Shown, as_json: bool
) -> Iterator[Any]:
    for query in queries.tolist():
        found = index.neighbours(query)
        near = [shown(fingerprint) for fingerprint in found.fingerprints.tolist()]
        if not as_json:
            yield near
            continue
        pairs = zip(near, found.distances.tolist(), strict=True)
        yield {
            "fingerprint": shown(query),
            "near": [{"fingerprint": entry, "distance": bits} for entry, bits in pairs],
        }
