"""An index, a feed or an archive, by its path -> an index to read.

    a directory          the index in it; nothing is written there
    .warc, .warc.gz      HTML and plain texts with status 200, in their order
    any other file       a line of JSON for each page, or an export, as `index import` reads them;
                         also compressed

Pages of a feed or an archive are judged by a filter in a temporary folder; records that are too
damaged to be read are counted and skipped. Cost: 3 to 5 ms for a page of 100 KB, less with
`workers`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from dedup_filter.errors import DedupError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.scan.inputs import Record, format_of, records_in
from dedup_filter.scan.streams import Stream
from dedup_filter.store.sqlite.page_reader import Snapshot
from dedup_filter.text.page_fields import FieldNames, PageText
from dedup_filter.upkeep import index_at
from dedup_filter.upkeep.lines import LONGEST_LINE, import_lines
from dedup_filter.upkeep.results import Watch
from dedup_filter.wording import counted


class OpenedSource(NamedTuple):
    """An open index, and notes on the records that were skipped to make it."""

    snapshot: Snapshot
    notes: list[str]


@contextmanager
def opened(
    path: str, names: FieldNames, options: Mapping[str, Any], watch: Watch
) -> Iterator[OpenedSource]:
    """Open the source at a path. `names`: the fields of a feed. `options`: of its filter.

    Raises:
        DedupError: there is no source, no page in it, or an option is wrong.
        OSError: the source cannot be read.
    """
    where = Path(path).expanduser()
    if where.is_dir() or not where.exists():
        with Snapshot.open_to_read(path) as snapshot:
            yield OpenedSource(snapshot, [])
        return
    is_archive = format_of(where.name) == "warc"
    with TemporaryDirectory(prefix="dedup-filter-") as folder:
        index = str(Path(folder) / "index")
        notes = (
            _read_archive(where, index, options, watch)
            if is_archive
            else _read_feed(where, index, names, options, watch)
        )
        with Snapshot.open_to_read(index) as snapshot:
            yield OpenedSource(snapshot, notes)


def _read_feed(
    path: Path, index: str, names: FieldNames, options: Mapping[str, Any], watch: Watch
) -> list[str]:
    with Stream(path) as file:
        lines = enumerate(iter(partial(file.readline, LONGEST_LINE), b""), 1)
        with watch(lines, None) as shown:
            found = import_lines(shown, index_at(index), names, options, skip_bad_lines=True)
        damage = file.damage
    if not found["lines"]:
        raise DedupError(
            f"{path}: no page is in it; {damage or found['first_bad'] or 'it is empty'}"
        )
    bad = found["bad_lines"]
    notes = [f"{counted(bad, 'line')} passed over; {found['first_bad']}"] if bad else []
    return [*notes, *([f"{path}: {damage}"] if damage else [])]


def _read_archive(path: Path, index: str, options: Mapping[str, Any], watch: Watch) -> list[str]:
    counts = Counter[str]()

    def pages(records: Iterable[Record]) -> Iterator[dict[str, Any]]:
        for record in records:
            counts["damaged"] += record.problem is not None
            if isinstance(record.page, PageText):
                counts["pages"] += 1
                yield {"url": record.url, **record.page._asdict()}

    with (
        watch(records_in(str(path), None, FieldNames()), None) as records,
        NearDuplicateFilter.open(index, **options) as judged,
    ):
        for _ in judged.see_many(pages(records)):
            pass
    if not counts["pages"]:
        raise DedupError(f"{path}: no page is in it")
    damaged = counts["damaged"]
    return [f"{counted(damaged, 'damaged record')} passed over"] if damaged else []
