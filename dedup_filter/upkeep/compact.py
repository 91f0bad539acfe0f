"""Files of an index -> the same without the room that forgotten pages have left in them."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from dedup_filter.pages.directory.index_directory import IndexDirectory
from dedup_filter.pages.directory.table_files import TableFiles
from dedup_filter.pages.page_index import PageIndex
from dedup_filter.upkeep.forget import open_to_keep

__all__ = ["Compaction", "Sizes", "compact", "sizes"]


class Compaction(NamedTuple):
    """Bytes before and after, by what takes them, and how many things were put right."""

    before: Mapping[str, int]
    after: Mapping[str, int]
    counts: Mapping[str, int] = MappingProxyType({})


class Sizes(NamedTuple):
    """Bytes on disk."""

    record: int
    tables: int

    @property
    def total(self) -> int:
        """All files."""
        return self.record + self.tables


def sizes(directory: str | Path) -> Sizes:
    """Measure the files of an index."""
    files = IndexDirectory.at(directory)
    return Sizes(files.page_bytes(), TableFiles(files.tables).nbytes)


def compact(directory: str | Path) -> Compaction:
    """Write record and tables anew.

    Cost: reads and writes everything, and takes as much room again while it lasts.

    Raises:
        ConfigError: there is no index at this path.
        StoreBusy: another process writes to it.
        StoreError: it cannot be read or written; it is as it was.
    """
    with open_to_keep(directory) as store:
        before = sizes(directory)
        store.vacuum()
        files = TableFiles(IndexDirectory.at(directory).tables)
        saved = files.load()
        if not isinstance(saved, str):
            about = saved.about
            del saved  # files that are mapped cannot be removed everywhere
            index = PageIndex(store, about["max_distance"], by_host=about["by_host"])
            index.save()
    return Compaction(before._asdict(), sizes(directory)._asdict())
