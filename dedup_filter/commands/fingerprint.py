"""`dedup-filter fingerprint`: pages -> a fingerprint for each."""

from typing import Any

import click

from dedup_filter.commands import json_option, say, write_lines
from dedup_filter.commands.options import filter_option
from dedup_filter.config import FilterConfig
from dedup_filter.model import as_hex
from dedup_filter.review.recorded_pages import fingerprints_of, require_pages


@click.command("fingerprint")
@click.argument("pages", metavar="PAGE...", nargs=-1, required=True)
@filter_option
@json_option
def fingerprint_command(pages: tuple[str, ...], options: dict[str, Any], *, as_json: bool) -> None:
    """Write the fingerprint of each PAGE on a line of its own, for `near` and `pairs`.

    PAGE is a URL, the path of a file, or standard input (-). HTML is recognized by the name of a
    file, or by its first tag. Other pages of the host are not known, so text that all its pages
    have is left out only if it looks like a menu; an index knows more (see `find`).

    If a page has no text of 20 words, or only stopwords, its line is empty, and standard error
    says why.

    \b
    $ dedup-filter fingerprint a.html b.html | dedup-filter pairs
    $ dedup-filter fingerprint a.html --json
    {"asked": "a.html", "fingerprint": "0x52d3...", "reason": null}

    Exit codes: 0 done, 1 a page has no fingerprint, 2 a page cannot be read.
    """  # noqa: D301 - click must see the character
    require_pages(pages)
    is_any_without = False
    for name, value, reason in fingerprints_of(pages, FilterConfig.of(options)):
        is_any_without = is_any_without or value is None
        shown = as_hex(value)
        if as_json:
            write_lines([{"asked": name, "fingerprint": shown, "reason": reason}])
        else:
            click.echo(shown or "")
        if value is None:
            say(f"{name}: it has no fingerprint ({reason})", err=True)
    if is_any_without:
        raise click.exceptions.Exit(1)
