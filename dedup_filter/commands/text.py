"""`dedup-filter text`: pages, an index -> the clean text of each page."""

from typing import Any

import click

from dedup_filter.commands import json_option, say, write
from dedup_filter.commands.options import filter_option, index_argument, pages_argument, url_option
from dedup_filter.review.recorded_pages import RecordedPages, require_pages
from dedup_filter.upkeep import Index


@click.command("text")
@index_argument
@pages_argument
@url_option
@filter_option
@json_option
def text_command(
    index: Index, pages: tuple[str, ...], url: str, options: dict[str, Any], *, as_json: bool
) -> None:
    """Print the main text of each PAGE, without the frame that INDEX knows of its host.

    PAGE is a URL, the path of a file, or standard input (-). A URL that is in the index is not
    fetched: its text is known if the index keeps texts (keep_text). Nothing is recorded.

    \b
    Exit codes: 0 done, 1 the text of a PAGE is not known, 2 a page or the index cannot be read.
    """  # noqa: D301 - click must see the character
    require_pages(pages)
    are_known = True
    with RecordedPages.open(index, options) as recorded:
        for name in pages:
            text = recorded.named(name, url).clean_text
            write({"page": name, "text": text}, (text or "").splitlines(), as_json=as_json)
            if text is None:
                are_known = False
                if not as_json:
                    say(f"{name}: its text was not kept, or cannot be read", err=True)
    if not are_known:
        raise click.exceptions.Exit(1)
