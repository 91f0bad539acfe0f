"""A directory -> an index whose fingerprints are made in another way, of the texts that were kept.

    DIR -> a new folder beside it, filled -> DIR moved to DIR.backup-<time>, the new one to DIR

Nothing in DIR is touched until the folders change names, and what was there is never deleted.
Pages keep their numbers, times, crawls and verdicts. The frames of hosts are taken over if both
schemes read text in the same way.

Of a page only its text was kept. Titles, headings and images were not, so no scheme in which
these count can be made of it.

Cost: 0.5 ms for a page of 1,000 words.
"""

import shutil
import tempfile
import time
from contextlib import ExitStack
from itertools import count
from os import name as system
from pathlib import Path

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError, StoreError
from dedup_filter.fingerprints.profile import PageTexts, profile
from dedup_filter.model import Document
from dedup_filter.pages.directory.index_directory import IndexDirectory, OwnerLock
from dedup_filter.pages.directory.page_reader import Snapshot
from dedup_filter.pages.directory.page_store import PageStore
from dedup_filter.pages.directory.records import PageRecord, measures_of
from dedup_filter.pages.location import scheme_of
from dedup_filter.upkeep.results import Migration, Watch
from dedup_filter.wording import counted

__all__ = ["migrate"]


def migrate(
    files: IndexDirectory, config: FilterConfig, *, drop_unkept: bool, fresh: bool, watch: Watch
) -> Migration:
    """Make the fingerprints of an index anew, as a filter with this configuration does.

    With `fresh` the new index is empty, and the old one is not read: it may be damaged.

    Raises:
        ConfigError: there is no index, or not all of its pages' texts were kept.
        StoreBusy: another process writes to it.
        StoreError: it cannot be read, or the new one cannot be written; it is as it was.
    """
    files.require_index()
    files = IndexDirectory.at(files.path.resolve())
    lock = OwnerLock(files)
    with ExitStack() as cleanup:
        cleanup.callback(lock.release)
        if fresh:
            total = pages = 0
            folder = _new_folder(files.path, cleanup)
            PageStore.open(folder, scheme_of(config)).close()
        else:
            with Snapshot.open_to_read(files.path) as snapshot:
                total = snapshot.count()
                if snapshot.scheme == scheme_of(config):
                    return Migration(total, 0, None)
                _require_kept(config, files, 0 if drop_unkept else snapshot.without_text(), total)
                folder = _new_folder(files.path, cleanup)
                pages = _fill(folder, snapshot, config, watch)
        return Migration(pages, total - pages, _replace(files.path, folder, lock))


def _require_kept(config: FilterConfig, files: IndexDirectory, without: int, total: int) -> None:
    """Refuse to make fingerprints of what was not kept."""
    if any(config.part_weights):
        raise ConfigError(
            "titles, headings and images were not kept, so they cannot count: leave their "
            "weights at 0, or begin a new index with --fresh"
        )
    if without:
        raise ConfigError(
            f"the texts of {without:,} of {counted(total, 'page')} in {files} were not kept, so "
            "their fingerprints cannot be made anew: leave these pages behind with --drop-unkept, "
            "or begin a new index with --fresh (either way a backup keeps them)"
        )


def _new_folder(path: Path, cleanup: ExitStack) -> Path:
    """Make a folder beside another, with its rights; what is left of it in the end is removed."""
    try:
        folder = tempfile.TemporaryDirectory(
            prefix=f".{path.name}.new-", dir=path.parent, ignore_cleanup_errors=True
        )
        cleanup.enter_context(folder)
        shutil.copymode(path, folder.name)
    except OSError as error:
        raise StoreError(
            f"no folder can be made in {path.parent}: {error.strerror}; give this user the right "
            "to write there"
        ) from error
    return Path(folder.name)


def _fill(folder: Path, snapshot: Snapshot, config: FilterConfig, watch: Watch) -> int:
    """Put all pages whose texts were kept into a new folder; return how many these are."""
    scheme = scheme_of(config)
    pages = 0
    with PageStore.open(folder, scheme) as store:
        for crawl in snapshot.crawls():
            store.restore_crawl(crawl)
        with watch(snapshot.records(), snapshot.count()) as records:
            for record in records:
                text = snapshot.text(record.page)
                if text is not None:
                    store.restore(_measured_anew(record, text, config), text)
                    pages += 1
        if scheme.parts.get("text") == snapshot.scheme.parts.get("text"):
            for known in snapshot.frames.with_forms():
                store.restore_host(known)
        store.database.sync()
    return pages


def _measured_anew(record: PageRecord, text: str, config: FilterConfig) -> PageRecord:
    texts = PageTexts.of(Document(text, language=record.language))
    measures = measures_of(profile(texts, config))
    # These stay: they are made of more than the text, and the rest was not kept.
    return record._replace(**measures | {"digest": record.digest, "headline": record.headline})


def _replace(path: Path, folder: Path, lock: OwnerLock) -> Path:
    """Put a new folder in the place of an index; return where the index was moved to."""
    stem = f"{path.name}.backup-{time.strftime('%Y%m%d-%H%M%S')}"
    names = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
    backup = next(free for name in names if not (free := path.with_name(name)).exists())
    if system == "nt":  # a folder with an open file in it cannot be moved there
        lock.release()
    try:
        path.rename(backup)
        try:
            folder.rename(path)
        except OSError:
            backup.rename(path)
            raise
    except OSError as error:
        raise StoreError(
            f"{path} cannot be moved to {backup}: {error.strerror}; it is as it was"
        ) from error
    IndexDirectory.at(backup).owner.unlink(missing_ok=True)
    return backup
