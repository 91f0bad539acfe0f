"""Layer "upkeep": what is done to an index between crawls, wherever it is kept.

    figures    how much of what it holds
    check      are the records whole, and do tables or log agree with them?
    forget     URLs -> their pages are gone
    compact    less room on disk or servers
    migrate    fingerprints made anew, in another way; the index as it was is kept as a backup
    recorded   what is found by fingerprint, read for questions about pages
    searched   many fingerprints -> the kept pages near to each
    lines      index -> lines of JSON; these, or items of a feed -> index

`DirectoryIndex` and `ServerIndex` do it and are alike in use: their methods raise ConfigError if
there is no index, unless they make one, and StoreError if it cannot be read or written, or is in
use; `str` names the index without a password. Nothing here starts a crawl but the import of items.
"""

from dedup_filter.errors import ConfigError
from dedup_filter.pages.location import folder_of
from dedup_filter.pages.redis.connection import is_address
from dedup_filter.upkeep.directory import DirectoryIndex
from dedup_filter.upkeep.servers import ServerIndex

Index = DirectoryIndex | ServerIndex


def index_at(location: str) -> Index:
    """Name the index at a location; nothing is looked at yet.

    Raises:
        ConfigError: the location is wrong, or that of an index that ends with its process.
    """
    if folder_of(location) is not None:
        return DirectoryIndex(location)
    if is_address(location):
        return ServerIndex(location)
    raise ConfigError(
        f"{location!r} is not a folder, nor the address of a shared index: what is in memory "
        "ends with its process"
    )
