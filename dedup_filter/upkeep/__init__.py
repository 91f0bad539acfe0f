"""Layer "upkeep": maintenance of an index between crawls, in a directory or on servers.

    figures    counts of pages, hosts, crawls and bytes
    check      verify the records; on servers, compare the log with them
    forget     URLs -> their pages are removed
    recorded   everything that is recorded: see `store.protocol.Recorded`
    lines      index -> lines of JSON -> index
    parquet    records -> a Parquet file

`DirectoryIndex` and `ServerIndex` have the same methods. These raise ConfigError if there is no
index (unless they make one), and StoreError if it cannot be read or written, or is in use. `str`
names the index without a password.
"""

from typing import Any

from dedup_filter.errors import ConfigError
from dedup_filter.store.location import folder_of
from dedup_filter.store.redis.connection import is_address
from dedup_filter.upkeep.directory import DirectoryIndex
from dedup_filter.upkeep.results import options_of
from dedup_filter.upkeep.servers import ServerIndex

Index = DirectoryIndex | ServerIndex


def index_at(location: str) -> Index:
    """Return the index at a location; nothing is opened yet.

    Raises:
        ConfigError: the location is wrong, or names an index in memory.
    """
    if folder_of(location) is not None:
        return DirectoryIndex(location)
    if is_address(location):
        return ServerIndex(location)
    raise ConfigError(
        f"{location!r} is not a folder, nor the address of a shared index: an index in memory "
        "ends with its process"
    )


def filter_options(index: Index) -> dict[str, Any]:
    """Return the options with which crawls fill an index; none if there is no index yet."""
    try:
        with index.recorded() as recorded:
            return options_of(recorded)
    except ConfigError:  # if something else is there, opening the index reports it
        return {}
