"""An index -> another whose fingerprints are made in another way, of the texts that were kept.

    DIR -> a new folder beside it, filled -> DIR moved to DIR.backup-<time>, the new one to DIR

Until the folders change names nothing in DIR is touched, and what was there is never deleted.
Pages keep their numbers, times, crawls and verdicts: what was said of them is history. What
hosts have shown is taken over unless texts are read in another way now.

What was kept of a page is its text. Titles, headings and images, where they are to count, were
not, so such a scheme cannot be made of it.

Cost: 0.5 ms for a page of 1,000 words.
"""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from os import name as system
from pathlib import Path
from typing import NamedTuple

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError, StoreError
from dedup_filter.fingerprints.profile import PageTexts, profile
from dedup_filter.model import Document
from dedup_filter.pages.directory.index_directory import IndexDirectory, OwnerLock
from dedup_filter.pages.directory.kept_pages import measured_of
from dedup_filter.pages.directory.page_reader import PageReader
from dedup_filter.pages.directory.page_store import StoreKeeper
from dedup_filter.pages.directory.records import PageRecord
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.snapshot import Snapshot
from dedup_filter.pages.location import scheme_of
from dedup_filter.wording import counted

__all__ = ["Migration", "migrate", "start_fresh"]

Watch = Callable[[Iterable[PageRecord], int], AbstractContextManager[Iterable[PageRecord]]]


class Migration(NamedTuple):
    """What came of it."""

    pages: int
    """In the index as it is now."""
    dropped: int
    """Pages that are only in the backup: their texts were not kept."""
    backup: Path | None
    """Where the index is as it was; None: it is in the wanted scheme already."""


def migrate(
    directory: str | Path,
    config: FilterConfig,
    *,
    drop_unkept: bool = False,
    watch: Watch = lambda records, _: nullcontext(records),
) -> Migration:
    """Make the fingerprints of an index anew, as a filter with this configuration does.

    `watch` may look on as the records pass; it is told how many there are.

    Raises:
        ConfigError: there is no index at this path, or not all of its pages' texts were kept.
        StoreBusy: another process writes to it.
        StoreError: it cannot be read, or the new one not be written; it is as it was.
    """
    wanted = scheme_of(config)
    with _held(directory) as (files, lock):
        with PageReader.open_to_read(files.path) as reader, Snapshot(reader) as snapshot:
            count = snapshot.count()
            if reader.scheme == wanted:
                return Migration(count, 0, None)
            without = snapshot.without_text()
            _require_enough(config, files, without if not drop_unkept else 0, count)
            fresh = _new_folder(files.path)
            try:
                pages = _fill(fresh, snapshot, config, watch)
            except BaseException:
                shutil.rmtree(fresh, ignore_errors=True)
                raise
        return Migration(pages, count - pages, _change_places(files.path, fresh, lock))


def start_fresh(directory: str | Path, config: FilterConfig) -> Path:
    """Move an index aside, whatever state it is in, and make an empty one; return where it is.

    Raises:
        ConfigError: there is no index at this path.
        StoreBusy: another process writes to it.
        StoreError: it cannot be moved.
    """
    with _held(directory) as (files, lock):
        fresh = _new_folder(files.path)
        try:
            StoreKeeper.open(fresh, scheme_of(config)).close()
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        return _change_places(files.path, fresh, lock)


@contextmanager
def _held(directory: str | Path) -> Iterator[tuple[IndexDirectory, OwnerLock]]:
    """Keep writers away from an index; what it is called is where it lies."""
    files = IndexDirectory.at(directory)
    files.require_index()
    files = IndexDirectory.at(files.path.resolve())
    lock = OwnerLock(files)
    try:
        yield files, lock
    finally:
        lock.release()


def _require_enough(config: FilterConfig, files: IndexDirectory, without: int, count: int) -> None:
    if any(config.part_weights):
        raise ConfigError(
            "titles, headings and images were not kept, so they cannot count: leave their "
            "weights at 0, or begin a new index with --fresh"
        )
    if without:
        raise ConfigError(
            f"the texts of {without:,} of {counted(count, 'page')} in {files} were not kept, so "
            "their fingerprints cannot be made anew: leave these pages behind with --drop-unkept, "
            "or begin a new index with --fresh (either way a backup keeps them)"
        )


def _new_folder(path: Path) -> Path:
    try:
        fresh = Path(tempfile.mkdtemp(prefix=f".{path.name}.new-", dir=path.parent))
        shutil.copymode(path, fresh)
    except OSError as error:
        raise StoreError(
            f"no folder can be made in {path.parent}: {error.strerror}; give this user the right "
            "to write there"
        ) from error
    return fresh


def _fill(fresh: Path, snapshot: Snapshot, config: FilterConfig, watch: Watch) -> int:
    scheme = scheme_of(config)
    pages = 0
    with StoreKeeper.open(fresh, scheme) as store:
        for crawl in snapshot.crawls():
            store.restore_crawl(crawl)
        with watch(snapshot.records(), snapshot.count()) as records:
            for record in records:
                text = snapshot.text(record.page)
                if text is not None:
                    store.restore(_measured_anew(record, text, config), text)
                    pages += 1
        if _reads_alike(scheme, snapshot.reader.scheme):
            for known in snapshot.hosts():
                store.restore_host(known)
        store.sync()
    return pages


def _measured_anew(record: PageRecord, text: str, config: FilterConfig) -> PageRecord:
    texts = PageTexts.of(Document(text, language=record.language))
    measured = measured_of(profile(texts, config))
    # A page is known by more than its text, which was not kept: its digest stays.
    return record._replace(
        fingerprint=measured.fingerprint,
        sketch=measured.sketch,
        words=measured.words,
        language=measured.language,
    )


def _reads_alike(scheme: Scheme, other: Scheme) -> bool:
    return scheme.parts.get("text") == other.parts.get("text")


def _change_places(path: Path, fresh: Path, lock: OwnerLock) -> Path:
    """Put a new folder in the place of one, which is moved aside; return where to."""
    backup = _backup_name(path)
    if system == "nt":  # a folder with an open file in it cannot be moved there
        lock.release()
    try:
        path.rename(backup)
        try:
            fresh.rename(path)
        except OSError:
            backup.rename(path)
            raise
    except OSError as error:
        shutil.rmtree(fresh, ignore_errors=True)
        raise StoreError(
            f"{path} cannot be moved to {backup}: {error.strerror}; it is as it was"
        ) from error
    IndexDirectory.at(backup).owner.unlink(missing_ok=True)
    return backup


def _backup_name(path: Path) -> Path:
    name = f"{path.name}.backup-{time.strftime('%Y%m%d-%H%M%S')}"
    backup = path.with_name(name)
    number = 1
    while backup.exists():
        number += 1
        backup = path.with_name(f"{name}-{number}")
    return backup
