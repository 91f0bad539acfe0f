"""`dedup-filter index export INDEX`: a line of JSON for each page."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TextIO

import click

from dedup_filter.commands.index_options import index_argument, json_option
from dedup_filter.commands.indexes import Index
from dedup_filter.commands.json_lines import write_lines
from dedup_filter.commands.terminal import printable
from dedup_filter.wording import counted

__all__ = ["command"]


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
def command(index: Index, output: Path | None, overwrite: bool, as_json: bool) -> None:
    """Write every page that an index has recorded, dropped ones too, as lines of JSON.

    The first line says how fingerprints were made and which crawls there were. Then comes a line
    for each page, oldest first, and last what is known of the frames of hosts. `index import`
    makes an equal index of it. Pages whose items are still under way are left out; a crawl may
    go on meanwhile. A shared index has no records of dropped pages, and exports no frames.

    \b
    {"dedup_filter_export": 1, "scheme": {...}, "crawls": [...]}
    {"page": 1, "url": "https://...", "outcome": "new", "first_seen": "2026-01-31T12:00:00Z",
     "fingerprint": "0x1f...", "digest": "base64", "sketch": "base64", ...}

    With --output and --json a summary is written to standard output, too.

    Exit codes: 0 done, 1 the output cannot be written, 2 there is no index, it cannot be read,
    or FILE exists.
    """  # noqa: D301 - click must see the character
    from dedup_filter.upkeep import exported

    with index.source() as source, closing(exported(source)) as values:
        if output is None:
            _write(values, sys.stdout)
            return
        with _new_file(output, overwrite=overwrite) as file:
            count = _write(values, file)
    if as_json:
        write_lines([{"index": index.shown, "output": str(output), "lines": count}])
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
