"""`dedup-filter clusters [FINGERPRINTS]`: a line for each cluster."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from dedup_filter.commands.json_lines import fingerprint_options, shown_as, write_lines

if TYPE_CHECKING:
    from dedup_filter.commands.fingerprint_lines import UInt64Array

__all__ = ["command"]


@click.command("clusters")
@click.argument("fingerprints", default="-")
@fingerprint_options
def command(fingerprints: str, max_distance: int, as_hex: bool, as_json: bool) -> None:
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
    from dedup_filter.commands.fingerprint_lines import read_fingerprints

    shown = shown_as(as_hex)
    found = (
        [shown(m) for m in c] for c in _clusters(read_fingerprints(fingerprints), max_distance)
    )
    if as_json:
        write_lines({"representative": c[0], "size": len(c), "members": c} for c in found)
    else:
        write_lines(found)


def _clusters(fingerprints: "UInt64Array", max_distance: int) -> Iterator[list[int]]:
    """Yield clusters of fingerprints; their places of arrival are what is united."""
    import numpy as np

    from dedup_filter.hamming import pair_blocks
    from dedup_filter.hamming.clusters import DisjointSets

    order = np.argsort(fingerprints, kind="stable")
    ascending = fingerprints[order]
    sets = DisjointSets(len(fingerprints))
    for pairs in pair_blocks(fingerprints, max_distance):
        places = order[np.searchsorted(ascending, pairs)]  # where each came first
        sets.unite(places[:, 0], places[:, 1])
    for cluster in sets.clusters():
        yield fingerprints[cluster].tolist()
