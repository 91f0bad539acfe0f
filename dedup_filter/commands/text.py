"""`dedup-filter text`: pages, an index -> the clean text of each page."""

from typing import Any

import click

from dedup_filter.commands import folders, json_option, say, write_lines
from dedup_filter.commands.options import filter_option
from dedup_filter.review.recorded_pages import RecordedPages, require_pages
from dedup_filter.upkeep import index_at


@click.command("text")
@click.argument("index", shell_complete=folders)
@click.argument("pages", metavar="PAGE...", nargs=-1, required=True)
@click.option("--url", default="", help="URL of a page in a file; its host has a frame.")
@filter_option
@json_option
def text_command(
    index: str, pages: tuple[str, ...], url: str, options: dict[str, Any], *, as_json: bool
) -> None:
    """Print the main text of each PAGE, without the frame that INDEX knows of its host.

    PAGE is a URL, the path of a file, or standard input (-). A URL that is in the index is not
    fetched: its text is known if the index keeps texts (keep_text). Nothing is recorded.

    \b
    Exit codes: 0 done, 1 the text of a PAGE is not known, 2 a page or the index cannot be read.
    """  # noqa: D301 - click must see the character
    require_pages(pages)
    are_known = True
    with RecordedPages.open(index_at(index), options) as recorded:
        for name in pages:
            text = recorded.named(name, url).clean_text
            are_known = are_known and text is not None
            if as_json:
                write_lines([{"page": name, "text": text}])
            elif text is None:
                say(f"{name}: its text was not kept, or cannot be read", err=True)
            else:
                for line in text.splitlines():
                    say(line)
    if not are_known:
        raise click.exceptions.Exit(1)
