"""`dedup-filter rules`: an index -> rules that recognize duplicates by URL, before a request."""

from collections.abc import Iterator
from typing import Any

import click

from dedup_filter.commands import json_option, progress, say, write
from dedup_filter.commands.options import index_argument, number_option
from dedup_filter.errors import DedupError
from dedup_filter.upkeep import Index
from dedup_filter.upkeep.whole_file import require_free
from dedup_filter.urls.mining import Mined, mine
from dedup_filter.urls.recorded import judged_pages
from dedup_filter.urls.rules_file import as_objects, write_rules
from dedup_filter.wording import counted


@click.command("rules")
@index_argument
@click.option(
    "-o", "--output", metavar="FILE", help="Write the rules for duplicate-url-discarder here."
)
@click.option("--force", is_flag=True, help="Replace FILE.")
@number_option("--min-support", 1, "URLs that a rule must make equal to others, one page each.", 10)
@click.option(
    "--min-precision",
    type=click.FloatRange(0, 1),
    default=0.7,
    show_default=True,
    help="Least lower bound of the share of such URLs that have the same page.",
)
@json_option
def rules_command(
    index: Index, output: str | None, *, force: bool, as_json: bool, **least: Any
) -> None:
    """Learn from a crawl which URLs lead to duplicates, before they are requested.

    A rule is shown if all URLs that it makes equal had the same page in the crawl, and there are
    enough of them. It names a part that URLs can do without: a session parameter, /print/, www.

    The file is for DEDUP_URL_RULES_FILE, or, without this filter, for the Scrapy add-on
    duplicate-url-discarder (the extra `urls`):

    \b
    ADDONS = {"dedup_filter.urls.discarder.Addon": 600}
    DUD_LOAD_RULE_PATHS = ["rules.json"]

    Exit codes: 0 done, 1 no rule is proven, and FILE is not written, 2 INDEX cannot be read or has
    no duplicates, or no file can be at FILE.
    """  # noqa: D301 - click must see the character
    if output is not None:
        require_free(output, may_replace=lambda _: force)
    with index.recorded() as recorded:
        pages = judged_pages(recorded)
        with progress(pages, "reading", recorded.count()) as shown:
            mined = mine(shown, **least)
    if not mined.duplicates:
        raise DedupError("no page in the index repeats another, so its URLs prove no rules")
    if output is not None and mined.proven:
        write_rules(output, mined.proven, force=force)
    counts = {name: value for name, value in mined._asdict().items() if isinstance(value, int)}
    values = {"index": str(index), **counts, "rules": as_objects(mined.proven)}
    write(values, _lines(mined), as_json=as_json)
    if not mined.proven:
        if output is not None:
            say(f"no rule is proven: {output} is not written", err=True)
        raise click.exceptions.Exit(1)


def _lines(mined: Mined) -> Iterator[str]:
    yield (
        f"{counted(mined.urls, 'URL')}, {mined.duplicates:,} with the page of another; "
        f"{counted(len(mined.proven), 'rule')}, which would have saved "
        f"{counted(mined.saved, 'request')}"
    )
    for rule, evidence in mined.proven:
        urls = counted(evidence.support, "URL")
        yield f"{rule.meaning}: {urls}, precision {evidence.precision:.2f} or more"
        yield from (f"    {url}" for pair in evidence.examples[:1] for url in pair)
