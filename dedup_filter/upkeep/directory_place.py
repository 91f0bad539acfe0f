"""An index in a directory, to be exported and to be imported into."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dedup_filter.errors import ConfigError
from dedup_filter.pages.directory.crawls import Crawl
from dedup_filter.pages.directory.index_directory import IndexDirectory
from dedup_filter.pages.directory.page_reader import PageReader
from dedup_filter.pages.directory.page_store import StoreKeeper
from dedup_filter.pages.directory.records import PageRecord
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.snapshot import KnownHost, Snapshot
from dedup_filter.pages.directory.table_files import TableFiles
from dedup_filter.upkeep.places import Source, options_in

__all__ = ["DirectoryTarget", "directory_source"]


@contextmanager
def directory_source(directory: str) -> Iterator[Source]:
    """Hold the index in a folder still."""
    with PageReader.open_to_read(directory) as reader, Snapshot(reader) as snapshot:
        yield snapshot


class DirectoryTarget:
    """An index in a folder."""

    def __init__(self, directory: str) -> None:
        self.location = directory

    def __str__(self) -> str:
        return self.location

    def keeper(self, scheme: Scheme) -> "DirectoryKeeper":
        """Open it for writing."""
        return DirectoryKeeper.open(self.location, scheme)

    def options(self) -> dict[str, Any]:
        """Return those of its fingerprints, and distance and scope of its tables."""
        files = IndexDirectory.at(self.location)
        try:
            files.require_index()
        except ConfigError:
            return {}
        with PageReader.open_to_read(self.location) as reader:
            options = options_in(reader.scheme.parts)
        saved = TableFiles(files.tables).load()
        if not isinstance(saved, str) and {"max_distance", "by_host"} <= saved.about.keys():
            options["max_distance"] = saved.about["max_distance"]
            options["scope"] = "host" if saved.about["by_host"] else "all"
        return options


class DirectoryKeeper:
    """An index in a directory that records can be put back into.

    Raises:
        StoreError: by all methods, when it cannot be written.
    """

    def __init__(self, store: StoreKeeper) -> None:
        self._store = store

    @classmethod
    def open(cls, directory: str, scheme: Scheme) -> "DirectoryKeeper":
        """Open it for writing, and make it if there is none. Raises what a store does."""
        return cls(StoreKeeper.open(directory, scheme))

    @property
    def scheme(self) -> Scheme:
        """How its fingerprints are made."""
        return self._store.scheme

    def records(self) -> Iterator[PageRecord]:
        """Yield the records that are there."""
        return self._store.records()

    def known_hosts(self) -> set[str]:
        """Return the hosts of whose frames something is known."""
        return {known.host for known in self._store.frames.all()}

    def restore_crawl(self, crawl: Crawl) -> int:
        """Put a crawl back and return its number here."""
        return self._store.restore_crawl(crawl)

    def restore(self, record: PageRecord, text: str | None) -> int:
        """Put a record back and return its number here: its own, or the next that is free."""
        number = max(record.page, self._store.last_page + 1)
        self._store.restore(record._replace(page=number), text)
        return number

    def restore_host(self, known: KnownHost) -> bool:
        """Put back what was known of a host's frames."""
        self._store.restore_host(known)
        return True

    def close(self) -> None:
        """Write everything to disk and let go of the index."""
        self._store.close()
