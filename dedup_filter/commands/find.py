"""`dedup-filter find`: pages, an index -> the kept pages that are similar to each."""

from collections.abc import Iterator
from typing import Any

import click

from dedup_filter.commands import json_option, named, write
from dedup_filter.commands.options import filter_option, index_argument, pages_argument, url_option
from dedup_filter.model import as_hex
from dedup_filter.review.recorded_pages import Answer, RecordedPages, require_pages
from dedup_filter.upkeep import Index


@click.command("find")
@index_argument
@pages_argument
@click.option(
    "--max-distance",
    type=click.IntRange(0, 64),
    metavar="BITS",
    help="Find pages differing in at most this many bits (0 to 64); default: the index's distance.",
)
@url_option
@filter_option
@json_option
def find_command(
    index: Index, pages: tuple[str, ...], options: dict[str, Any], *, as_json: bool, **given: Any
) -> None:
    """List the kept pages that are similar to PAGE, nearest first; nothing is recorded.

    PAGE is a URL, the path of a file, standard input (-), or a fingerprint in hexadecimal
    (0x...). A URL that is in the index is not fetched: it is looked up as it was recorded.

    Each line has the differing bits, the share of PAGE's phrases that the page has, and its URL.
    As in a crawl, pages that differ in more bits are found by shared phrases.
    Pages found are not confirmed: a crawl may keep PAGE all the same (see `compare`).

    \b
    Exit codes: 0 done, 1 no kept page is similar to any PAGE, 2 a page or the index cannot be read.
    """  # noqa: D301 - click must see the character
    require_pages(pages)
    is_any_found = False
    with RecordedPages.open(index, options) as recorded:
        most = given["max_distance"]
        most = recorded.config.max_distance if most is None else most
        for name in pages:
            answer = recorded.answer(name, most, url=given["url"])
            is_any_found = is_any_found or bool(answer.near)
            values = named(answer) | {"fingerprint": as_hex(answer.fingerprint)}
            write(values, _lines(answer, most), as_json=as_json)
    if not is_any_found:
        raise click.exceptions.Exit(1)


def _lines(answer: Answer, most: int) -> Iterator[str]:
    why = "" if answer.reason is None else f" (it is unjudged: {answer.reason})"
    yield f"{answer.asked}:" + ("" if answer.near else f" no kept page within {most} bits{why}")
    for url, distance, similarity, _, source in answer.near:
        share = "    " if similarity is None else f"{similarity:4.0%}"
        by = "" if source is None else f"  ({source.replace('_', ' ')})"
        yield f"  {distance:2} bits  {share}  {url}{by}"
