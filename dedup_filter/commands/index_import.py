"""`dedup-filter index import INDEX [FILE]`: an export, or an earlier crawl's items."""

from typing import TYPE_CHECKING, Any

import click

from dedup_filter.commands.index_options import (
    filter_options,
    index_argument,
    json_option,
    option_option,
)
from dedup_filter.commands.indexes import Index
from dedup_filter.commands.json_lines import write_lines
from dedup_filter.commands.terminal import by_outcome, printable, say, watched_file
from dedup_filter.wording import counted

if TYPE_CHECKING:
    from dedup_filter.upkeep import Imported, ImportOptions

__all__ = ["command"]


@click.command("import")
@index_argument
@click.argument("file", default="-")
@click.option("--crawl", default="import", show_default=True, help="Name of the crawl of items.")
@click.option(
    "--html-field",
    metavar="NAME",
    help="Field of items with a page's HTML; 'html' unless one is named.",
)
@click.option(
    "--text-fields",
    metavar="NAMES",
    help="Those with its text, with commas between; 'text' unless one is named.",
)
@click.option("--url-field", metavar="NAME", help="The one with its URL; 'url' unless it is named.")
@click.option(
    "--from-line", type=click.IntRange(1), default=1, help="Pass over the items before it."
)
@click.option("--skip-bad-lines", is_flag=True, help="Count bad lines instead of stopping.")
@option_option
@json_option
def command(index: Index, file: str, as_json: bool, **given: Any) -> None:
    """Put lines of JSON into an index, which is made if there is none.

    FILE, or standard input (-), is what `index export` wrote, or the feed of an earlier crawl.

    An export comes back as it was, verdicts and times included; the index must make its
    fingerprints in the same way. Pages that are there already are passed over. A shared index
    numbers pages anew and keeps nothing of dropped pages, texts and frames; no crawler may be at
    work on it. Items can be imported beside crawlers.

    The items of a feed (JSON lines) are judged like the pages of a crawl named "import". Each
    needs its page in the field html, else in text, and its URL in url, unless other fields are
    named. With -o keep_text=true texts are kept, for `index migrate`.

    A bad line ends it, with an error that names it; what came before is in the index. To go on
    when it is mended: --from-line for items; an export can be imported again as a whole.

    \b
    $ zcat items.jsonl.gz | dedup-filter index import DIR --json
    {"index": "DIR", "lines": 3, "outcomes": {"new": 2, "near": 1}, "bad_lines": 0, ...}

    Exit codes: 0 done, 2 a line is bad, FILE cannot be read, or the index cannot be used.
    """  # noqa: D301 - click must see the character
    from dedup_filter.commands.fingerprint_lines import opened
    from dedup_filter.upkeep import import_lines, read_lines

    options = _options(given)
    name = "standard input" if file == "-" else repr(file)
    with opened(file) as stream:
        lines = ((len(line.content), line) for line in read_lines(stream, name))
        with watched_file(lines, stream, "importing") as watched:
            imported = import_lines(watched, index.target(), options)
    _tell(index.shown, imported, as_json=as_json)


def _options(given: dict[str, Any]) -> "ImportOptions":
    from dedup_filter.text.page_fields import FieldNames
    from dedup_filter.upkeep import ImportOptions

    texts = (name.strip() for name in (given["text_fields"] or "").split(","))
    return ImportOptions(
        skip_bad_lines=given["skip_bad_lines"],
        crawl=given["crawl"],
        names=FieldNames(given["html_field"], tuple(filter(None, texts)), given["url_field"]),
        first_line=given["from_line"],
        filter_options=filter_options(given["options"]),
    )


def _tell(shown: str, imported: "Imported", *, as_json: bool) -> None:
    if as_json:
        write_lines([{"index": shown, **vars(imported)}])
        return
    outcomes = f" ({by_outcome(imported.outcomes)})" if imported.pages else ""
    say(f"{counted(imported.pages, 'page')}{outcomes}")
    if imported.there_already:
        say(f"{counted(imported.there_already, 'page')} there already")
    if imported.hosts:
        say(f"frames of {counted(imported.hosts, 'host')}")
    if imported.hosts_known:
        say(f"frames of {counted(imported.hosts_known, 'host')} known already")
    if imported.not_kept:
        say(
            f"{counted(imported.not_kept, 'line')} of dropped pages and frames, not kept on servers"
        )
    if imported.bad_lines:
        first = printable(imported.first_bad or "")
        click.echo(f"{counted(imported.bad_lines, 'bad line')}; the first: {first}", err=True)
