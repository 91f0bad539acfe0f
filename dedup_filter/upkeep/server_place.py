"""A shared index, to be exported and to be imported into; its processes need not wait."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dedup_filter.errors import ConfigError
from dedup_filter.pages.directory.crawls import Crawl
from dedup_filter.pages.directory.records import PageRecord
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.snapshot import KnownHost
from dedup_filter.pages.redis import Address, SharedKeeper, SharedReader, entry_of
from dedup_filter.upkeep.places import Source, options_in

__all__ = ["ServerTarget", "server_source"]

_BATCH = 1_000


@contextmanager
def server_source(address: str) -> Iterator[Source]:
    """Read a shared index."""
    with SharedReader.open(address) as reader:
        yield ServerSource(reader)


class ServerTarget:
    """A shared index."""

    def __init__(self, address: str) -> None:
        self.location = address

    def __str__(self) -> str:
        return str(Address.of(self.location))

    def keeper(self, scheme: Scheme) -> SharedKeeper:
        """Open it for records."""
        return SharedKeeper.open(self.location, scheme)

    def options(self) -> dict[str, Any]:
        """Return those of its fingerprints, and those of the process that joined last."""
        try:
            with SharedReader.open(self.location) as reader:
                return {**options_in(reader.scheme.parts), **reader.options}
        except ConfigError:  # there is none; if other keys are there, who opens it will say so
            return {}


class ServerSource:
    """A shared index, to be exported beside the processes that are at work."""

    def __init__(self, reader: SharedReader) -> None:
        self._reader = reader
        self.scheme = reader.scheme

    def crawls(self) -> list[Crawl]:
        """List its crawls."""
        return self._reader.crawls()

    def records(self) -> Iterator[PageRecord]:
        """Yield the records of pages that are there when this begins, but for pending ones."""
        log = self._reader.standing()
        for at in range(0, len(log.pages), _BATCH):
            pages: list[int] = log.pages[at : at + _BATCH].tolist()
            pending = {record.page for record in self._reader.pending_records(pages)}
            for record in self._reader.records([page for page in pages if page not in pending]):
                if log.entry(record.page) == entry_of(record):
                    yield record

    def has_texts(self) -> bool:
        """Return False: servers keep none."""
        return False

    def text(self, _: int) -> str | None:
        """Return None: servers keep none."""
        return None

    def original_url(self, _: int | None) -> str | None:
        """Return None: dropped pages have no records."""
        return None

    def hosts(self) -> Iterator[KnownHost]:
        """Yield nothing: what crawlers tell one another of frames is not exported."""
        return iter(())
