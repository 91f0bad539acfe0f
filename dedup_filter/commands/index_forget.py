"""`dedup-filter index forget INDEX URL...`: a crawl that meets the page again finds it new."""

import click

from dedup_filter.commands.index_options import index_argument, json_option
from dedup_filter.commands.indexes import Index
from dedup_filter.commands.json_lines import write_lines
from dedup_filter.commands.terminal import say
from dedup_filter.wording import counted

__all__ = ["command"]

_NONE = 1


@click.command("forget")
@index_argument
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@json_option
@click.pass_context
def command(context: click.Context, index: Index, urls: tuple[str, ...], as_json: bool) -> None:
    """Make an index forget all pages at URL, however that is spelt.

    Arguments of the URL may stand in another order, and it may have a fragment. Pages that
    repeat a forgotten one stay recorded as they are. Crawlers of a shared index may be at work:
    they forget pages too, but for those whose items are under way.

    \b
    $ dedup-filter index forget DIR https://example.com/a --json
    {"url": "https://example.com/a", "forgotten": 1}

    Exit codes: 0 done, 1 no page was known at any URL, 2 there is no index, or it is in use.
    """  # noqa: D301 - click must see the character
    counts = index.forget(urls)
    for url, count in counts.items():
        if as_json:
            write_lines([{"url": url, "forgotten": count}])
        else:
            say(f"{url}: {counted(count, 'page')} forgotten")
    if not any(counts.values()):
        context.exit(_NONE)
