"""URLs -> no page at them is known any more."""

from collections.abc import Iterable
from pathlib import Path

from dedup_filter.pages.directory.page_reader import PageReader
from dedup_filter.pages.directory.page_store import StoreKeeper

__all__ = ["forget", "open_to_keep"]


def open_to_keep(directory: str | Path) -> StoreKeeper:
    """Open an index for writing, in whatever way its fingerprints were made.

    Raises:
        ConfigError: there is no index at this path.
        StoreBusy: another process writes to it.
        StoreError: it cannot be read or written.
    """
    with PageReader.open_to_read(directory) as reader:
        scheme = reader.scheme
    return StoreKeeper.open(directory, scheme)


def forget(directory: str | Path, urls: Iterable[str]) -> dict[str, int]:
    """Forget all pages at some URLs, however they are spelt; return how many there were at each.

    Tables follow when the index is opened next. Raises what `open_to_keep` does.
    """
    counts = {}
    with open_to_keep(directory) as store:
        for url in urls:
            pages = store.at_url(url)
            store.delete(pages)
            counts[url] = len(pages)
    return counts
