"""`dedup-filter pairs [FINGERPRINTS]`: a line for each pair that is near."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from dedup_filter.commands.json_lines import Shown, fingerprint_options, shown_as, write_lines

if TYPE_CHECKING:
    from dedup_filter.commands.fingerprint_lines import UInt64Array

__all__ = ["command"]


@click.command("pairs")
@click.argument("fingerprints", default="-")
@fingerprint_options
def command(fingerprints: str, max_distance: int, as_hex: bool, as_json: bool) -> None:
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
    from dedup_filter.commands.fingerprint_lines import read_fingerprints
    from dedup_filter.hamming import pair_blocks

    for pairs in pair_blocks(read_fingerprints(fingerprints), max_distance):
        write_lines(_shown(pairs, shown_as(as_hex), as_json))


def _shown(pairs: "UInt64Array", shown: Shown, as_json: bool) -> Iterator[Any]:
    for left, right in pairs.tolist():
        pair = [shown(left), shown(right)]
        yield {"pair": pair, "distance": (left ^ right).bit_count()} if as_json else pair
