"""`dedup-filter find`: pages, an index -> the kept pages that are similar to each."""

from typing import Any

import click

from dedup_filter.commands import folders, json_option, named, say, write_lines
from dedup_filter.commands.options import filter_option
from dedup_filter.model import as_hex
from dedup_filter.review.recorded_pages import Answer, RecordedPages, require_pages
from dedup_filter.upkeep import index_at

_BITS = 64


@click.command("find")
@click.argument("index", shell_complete=folders)
@click.argument("pages", metavar="PAGE...", nargs=-1, required=True)
@click.option(
    "--max-distance",
    type=click.IntRange(0, _BITS),
    metavar="BITS",
    help="Find pages differing in at most this many bits (0 to 64); default: the index's distance.",
)
@click.option("--url", default="", help="URL of a page in a file; its host has a frame.")
@filter_option
@json_option
def find_command(
    index: str,
    pages: tuple[str, ...],
    max_distance: int | None,
    url: str,
    options: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """List the kept pages that are similar to PAGE, nearest first; nothing is recorded.

    PAGE is a URL, the path of a file, standard input (-), or a fingerprint in hexadecimal
    (0x...). A URL that is in the index is not fetched: it is looked up as it was recorded.
    INDEX is a folder, or the address of a shared index; a crawl may be writing to it.

    Each line has the differing bits, the share of PAGE's phrases that the page has, and its URL.
    As in a crawl, pages that differ in more bits are found by shared phrases.
    Pages found are not confirmed: a crawl may keep PAGE all the same (see `compare`).

    \b
    Exit codes: 0 done, 1 no kept page is similar to any PAGE, 2 a page or the index cannot be read.
    """  # noqa: D301 - click must see the character
    require_pages(pages)
    found = False
    with RecordedPages.open(index_at(index), options) as recorded:
        most = recorded.config.max_distance if max_distance is None else max_distance
        for name in pages:
            answer = recorded.answer(name, most, url=url)
            found = found or bool(answer.near)
            if as_json:
                write_lines([named(answer) | {"fingerprint": as_hex(answer.fingerprint)}])
            else:
                _write(answer, most)
    if not found:
        raise click.exceptions.Exit(1)


def _write(answer: Answer, most: int) -> None:
    why = "" if answer.reason is None else f" (it is unjudged: {answer.reason})"
    say(
        f"{answer.asked}:"
        if answer.near
        else f"{answer.asked}: no kept page within {most} bits{why}"
    )
    for url, distance, similarity, _, source in answer.near:
        share = "    " if similarity is None else f"{similarity:4.0%}"
        by = "" if source is None else f"  ({source.replace('_', ' ')})"
        say(f"  {distance:2} bits  {share}  {url}{by}")
