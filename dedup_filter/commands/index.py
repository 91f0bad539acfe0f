"""`dedup-filter index ...`: the commands that look after an index."""

import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, TextIO

import click

from dedup_filter.commands import (
    filter_option,
    index_argument,
    json_option,
    progress,
    say,
    tell,
    write_lines,
)
from dedup_filter.config import FilterConfig
from dedup_filter.text.page_fields import FieldNames
from dedup_filter.upkeep import Index
from dedup_filter.upkeep.lines import exported, import_lines
from dedup_filter.wording import as_time

__all__ = ["index_command"]

_LONGEST_LINE = 128 * 2**20
"""Bytes. The largest page that is judged has 16 MiB of characters, six bytes each if escaped."""
_NO = 1
"""Exit code: done, and the answer is no."""


@click.group("index", no_args_is_help=False)
def index_command() -> None:
    """Look after an index: check it, seed it, move it, mend it.

    INDEX is what DEDUP_INDEX names: a folder, or the address of an index that crawlers share
    (redis://host:6379/0, redis+cluster://host:7000). `stats`, `check` and `export` only read, and
    work while a crawl writes to it. The others need a folder for themselves; a shared index they
    work on beside its crawlers, unless they say otherwise.
    """
    logging.getLogger("dedup_filter").addHandler(_ToTerminal())


class _ToTerminal(logging.Handler):
    """Writes what the layers below log to standard error, for people."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage(), err=True)


@index_command.command("check")
@index_argument
@json_option
@click.pass_context
def check_command(context: click.Context, index: Index, as_json: bool) -> None:
    """Verify an index: the record of pages, and the tables against it.

    Everything is read, nothing is written, and a crawl may go on meanwhile. Tables that are
    missing or out of date are no fault: they are made anew when the index is opened. Of a shared
    index, log, records and pages in flight are compared; what is under way is no fault.

    \b
    $ dedup-filter index check DIR --json
    {"index": "DIR", "is_clean": true, "faults": [], "notes": [], "pages": 3, "entries": 2}

    Exit codes: 0 it is clean, 1 faults were found, 2 there is no index, or it cannot be read.
    """  # noqa: D301 - click must see the character
    findings = index.check()
    tell({"index": str(index), "is_clean": not findings.faults, **vars(findings)}, as_json)
    if findings.faults:
        context.exit(_NO)


@index_command.command("compact")
@index_argument
@json_option
def compact_command(index: Index, as_json: bool) -> None:
    """Give back the room that forgotten pages have left in an index.

    The files of a directory are written anew. It takes as much room again while it lasts, and the
    index for itself.

    Of a shared index, the beginning of the log is deleted as far as it tells of no page, and so
    are records of no page, left by crawlers that crashed; pages that those had pending are
    released. Crawls may go on meanwhile. Bytes are estimated.

    \b
    $ dedup-filter index compact DIR --json
    {"index": "DIR", "before": {"record": 98304, "tables": 400}, "after": {...}}

    Exit codes: 0 done, 2 there is no index, it is in use, or cannot be written.
    """  # noqa: D301 - click must see the character
    tell({"index": str(index), **index.compact()}, as_json)


@index_command.command("export")
@index_argument
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write to a file, which must not exist; without it to standard output.",
)
@click.option("--overwrite", is_flag=True, help="Replace FILE if it exists.")
@json_option
def export_command(index: Index, output: Path | None, overwrite: bool, as_json: bool) -> None:
    """Write each page that an index has recorded as a line of JSON.

    The first line says how fingerprints were made and which crawls there were. Then comes a line
    for each page, dropped ones too, oldest first, and at last a line for each host whose frames
    are known. `index import` makes an equal index of these lines. Pages whose items are still
    under way are left out; a crawl may go on meanwhile. A shared index has no records of dropped
    pages, and exports no frames.

    \b
    {"dedup_filter_export": 2, "scheme": {...}, "crawls": [...]}
    {"page": 1, "url": "https://...", "outcome": "new", "first_seen": "2026-01-31T12:00:00Z",
     "fingerprint": "0x1f...", "digest": "base64", "sketch": "base64", ...}

    With --output a summary is written to standard output.

    Exit codes: 0 done, 1 the output cannot be written, 2 there is no index, it cannot be read,
    or FILE exists.
    """  # noqa: D301 - click must see the character
    with index.source() as source:
        values = exported(source)
        if output is None:
            write_lines(values)
            return
        count = 0
        with _new_file(output, overwrite=overwrite) as file:
            for value in values:
                file.write(json.dumps(value) + "\n")
                count += 1
    tell({"index": str(index), "output": str(output), "lines": count}, as_json)


@contextmanager
def _new_file(path: Path, *, overwrite: bool) -> Iterator[TextIO]:
    """Open a file that gets its name when it is whole; what was there stays until then."""
    if path.exists() and not overwrite:
        raise click.BadParameter(
            f"{str(path)!r} exists: choose another name, or replace it with --overwrite",
            param_hint="--output",
        )
    try:
        with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
            part = Path(folder, path.name)
            with part.open("w", encoding="ascii") as file:
                yield file
            part.replace(path)
    except OSError as error:
        raise click.ClickException(f"{str(path)!r} cannot be written: {error.strerror}") from error


@index_command.command("forget")
@index_argument
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@json_option
@click.pass_context
def forget_command(
    context: click.Context, index: Index, urls: tuple[str, ...], as_json: bool
) -> None:
    """Make an index forget all pages at URL, however that is spelt.

    Arguments of the URL may stand in another order, and it may have a fragment. Pages that
    repeat a forgotten one stay recorded as they are. Crawlers of a shared index may be at work:
    they forget pages too, but for those whose items are under way. All pages are read once.

    \b
    $ dedup-filter index forget DIR https://example.com/a --json
    {"url": "https://example.com/a", "forgotten": 1}

    Exit codes: 0 done, 1 no page was known at any URL, 2 there is no index, or it is in use.
    """  # noqa: D301 - click must see the character
    counts = index.forget(urls)
    for url, count in counts.items():
        tell({"url": url, "forgotten": count}, as_json)
    if not any(counts.values()):
        context.exit(_NO)


@index_command.command("import")
@index_argument
@click.argument("file", type=click.File("rb"), default="-")
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
@filter_option
@json_option
def import_command(index: Index, file: BinaryIO, as_json: bool, **given: Any) -> None:
    """Put lines of JSON into an index, which is made if there is none.

    FILE, or standard input (-), is what `index export` wrote, or the feed of an earlier crawl.

    An export comes back as it was, verdicts and times included; the index must make its
    fingerprints in the same way. Pages that are there already are passed over. A shared index
    numbers pages anew and keeps nothing of dropped pages, texts and frames; no crawler may be at
    work on it. Items can be imported beside crawlers.

    The items of a feed (JSON lines) are judged like the pages of a crawl named "import". Each
    needs its page in the field html, else in text, and its URL in url, unless other fields are
    named. With -o keep_text=true texts are kept, for `index migrate`.

    A bad line ends the import, with an error that names the line; the lines before it are in the
    index. When it is mended, go on with --from-line for items; import an export again as a whole.

    \b
    $ zcat items.jsonl.gz | dedup-filter index import DIR --json
    {"index": "DIR", "lines": 3, "outcomes": {"new": 2, "near": 1}, "bad_lines": 0, ...}

    Exit codes: 0 done, 2 a line is bad, FILE cannot be read, or the index cannot be used.
    """  # noqa: D301 - click must see the character
    html = given["html_field"]
    texts = tuple(filter(None, map(str.strip, (given["text_fields"] or "").split(","))))
    if not html and not texts:
        html, texts = "html", ("text",)
    numbered = enumerate(iter(partial(file.readline, _LONGEST_LINE), b""), 1)
    with progress(numbered, "importing", _length(file), lambda line: len(line[1])) as shown:
        imported = import_lines(
            (line for line in shown if line[0] >= given["from_line"]),
            index,
            FieldNames(html, texts, given["url_field"] or "url"),
            {"crawl": given["crawl"], **given["options"]},
            skip_bad_lines=given["skip_bad_lines"],
        )
    tell({"index": str(index), **imported}, as_json)


def _length(file: BinaryIO) -> int | None:
    """Return the length of a file, None if it has none, as a pipe."""
    with suppress(OSError):
        return os.fstat(file.fileno()).st_size or None
    return None


@index_command.command("migrate")
@index_argument
@filter_option
@click.option("--drop-unkept", is_flag=True, help="Leave pages behind whose texts were not kept.")
@click.option("--fresh", is_flag=True, help="Begin an empty index; no fingerprints are made.")
@json_option
def migrate_command(
    index: Index, options: dict[str, Any], drop_unkept: bool, fresh: bool, as_json: bool
) -> None:
    """Make the fingerprints of an index in a directory anew.

    A crawl refuses an index whose fingerprints were made in another way: with other options, or by
    another version of this package or of a dictionary. Where the texts of pages were kept
    (DEDUP_KEEP_TEXT), fingerprints are made of those, as this version does with these options;
    verdicts and times stay as they are.

    The index as it was is never deleted: it is moved to DIR.backup-<time>, which is printed.

    A shared index has no texts, so this is not for it: begin another one under a new name.

    \b
    $ dedup-filter index migrate DIR -o features=shingles --json
    {"index": "DIR", "pages": 3, "left_behind": 0, "backup": "DIR.backup-20260131-120000-123456"}

    Exit codes: 0 done, or nothing to do; 2 there is no index, it is in use, or texts are missing
    and neither --drop-unkept nor --fresh is given. Then it is as it was.
    """  # noqa: D301 - click must see the character
    if fresh and drop_unkept:
        raise click.UsageError("--fresh leaves all pages behind: give it without --drop-unkept")
    result = index.migrate(
        FilterConfig.of(options),
        drop_unkept=drop_unkept,
        fresh=fresh,
        watch=lambda records, total: progress(records, "migrating", total),
    )
    tell({"index": str(index), **result}, as_json)


@index_command.command("stats")
@index_argument
@json_option
def stats_command(index: Index, as_json: bool) -> None:
    """Tell what an index holds: pages, hosts, crawls, bytes.

    A page has the outcome that it had when it was seen last, so a page that came again at its
    URL in a later crawl counts as revisited. For each crawl, the kept pages are counted that were
    seen there first, and those that were seen there last. A repeat is recorded each time. Pending
    pages are those whose items are still under way. All pages are read: half a kilobyte each.

    Of a shared index the outcomes are those that all its crawlers have counted since it was made;
    the log is read, and what a page takes on the servers is estimated.

    \b
    $ dedup-filter index stats DIR --json
    {"index": "DIR", "pages": 3, "kept": 2, "outcomes": {"new": 2, "near": 1}, ...}

    Exit codes: 0 done, 2 there is no index, or it cannot be read.
    """  # noqa: D301 - click must see the character
    figures = _with_times(index.figures())
    figures["crawls"] = [_with_times(crawl) for crawl in figures["crawls"]]
    tell({"index": str(index), **figures}, as_json)


def _with_times(figures: dict[str, Any]) -> dict[str, Any]:
    times = ("first_seen", "last_seen", "started", "ended")
    return figures | {name: as_time(figures[name]) for name in times if figures.get(name)}
