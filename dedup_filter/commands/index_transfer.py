"""`dedup-filter index export` and `import`: an index -> lines of JSON -> an index."""

import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import click

from dedup_filter.commands.options import filter_option, filter_options, index_argument, json_option
from dedup_filter.commands.streams import by_outcome, opened, progress, say, write_lines
from dedup_filter.text.page_fields import FieldNames
from dedup_filter.upkeep import Imported, ImportOptions, Index, exported, import_lines, read_lines
from dedup_filter.wording import counted, printable

__all__ = ["export_command", "import_command"]


@click.command("export")
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
    """Write every page that an index has recorded, dropped ones too, as lines of JSON.

    The first line says how fingerprints were made and which crawls there were. Then comes a line
    for each page, oldest first, and at last a line for each host whose frames are known. `index
    import` makes an equal index of these lines. Pages whose items are still under way are left
    out; a crawl may go on meanwhile. A shared index has no records of dropped pages, and exports
    no frames.

    \b
    {"dedup_filter_export": 2, "scheme": {...}, "crawls": [...]}
    {"page": 1, "url": "https://...", "outcome": "new", "first_seen": "2026-01-31T12:00:00Z",
     "fingerprint": "0x1f...", "digest": "base64", "sketch": "base64", ...}

    With --output and --json a summary is written to standard output, too.

    Exit codes: 0 done, 1 the output cannot be written, 2 there is no index, it cannot be read,
    or FILE exists.
    """  # noqa: D301 - click must see the character
    with index.source() as source, closing(exported(source)) as values:
        if output is None:
            _write(values, sys.stdout)
            return
        with _new_file(output, overwrite=overwrite) as file:
            count = _write(values, file)
    if as_json:
        write_lines([{"index": str(index), "output": str(output), "lines": count}])
    else:
        click.echo(printable(f"{counted(count, 'line')} in {output}"), err=True)


def _write(values: Iterable[Any], file: TextIO) -> int:
    count = 0
    for value in values:
        file.write(json.dumps(value) + "\n")
        count += 1
    file.flush()
    return count


@contextmanager
def _new_file(path: Path, *, overwrite: bool) -> Iterator[TextIO]:
    """Open a file that gets its name when it is whole; what was there stays until then."""
    if path.exists() and not overwrite:
        raise click.BadParameter(
            f"{str(path)!r} exists: choose another name, or replace it with --overwrite",
            param_hint="--output",
        )
    part = path.with_name(f"{path.name}.part")
    try:
        file = part.open("x", encoding="ascii")
    except FileExistsError:
        raise click.BadParameter(
            f"{str(part)!r} exists, left by an export that was cut short: remove it",
            param_hint="--output",
        ) from None
    except OSError as error:
        raise _unwritable(part, error) from error
    try:
        with file:
            yield file
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise _unwritable(path, error) from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _unwritable(path: Path, error: OSError) -> click.ClickException:
    return click.ClickException(f"{str(path)!r} cannot be written: {error.strerror}")


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
@filter_option
@json_option
def import_command(index: Index, file: str, as_json: bool, **given: Any) -> None:
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
    texts = (name.strip() for name in (given["text_fields"] or "").split(","))
    options = ImportOptions(
        skip_bad_lines=given["skip_bad_lines"],
        first_line=given["from_line"],
        crawl=given["crawl"],
        names=FieldNames(given["html_field"], tuple(filter(None, texts)), given["url_field"]),
        filter_options=filter_options(given["options"]),
    )
    with opened(file) as stream:
        lines = read_lines(stream, "standard input" if file == "-" else repr(file))
        with progress(lines, "importing", _size(stream), lambda line: len(line.content)) as shown:
            imported = import_lines(shown, index, options)
    if as_json:
        write_lines([{"index": str(index), **vars(imported)}])
    else:
        _tell(imported)


def _size(file: BinaryIO) -> int | None:
    """Return the length of an ordinary file, None for anything else."""
    with suppress(OSError):
        status = os.fstat(file.fileno())
        return status.st_size or None if stat.S_ISREG(status.st_mode) else None
    return None


def _tell(imported: Imported) -> None:
    outcomes, pages = imported.outcomes, imported.outcomes.total()
    say(f"{counted(pages, 'page')}{f' ({by_outcome(outcomes)})' if pages else ''}")
    for count, noun, before, behind in (
        (imported.there_already, "page", "", " there already"),
        (imported.hosts, "host", "frames of ", ""),
        (imported.hosts_known, "host", "frames of ", " known already"),
        (imported.not_kept, "line", "", " of dropped pages and frames, not kept on servers"),
    ):
        if count:
            say(f"{before}{counted(count, noun)}{behind}")
    if imported.bad_lines:
        first = printable(imported.first_bad or "")
        click.echo(f"{counted(imported.bad_lines, 'bad line')}; the first: {first}", err=True)
