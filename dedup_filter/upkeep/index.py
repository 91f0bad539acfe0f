"""Where an index is -> the class that works on it. Each kind of index has one, all alike in use."""

from dedup_filter.errors import ConfigError
from dedup_filter.pages.directory.page_store import StoreKeeper
from dedup_filter.pages.location import folder_of
from dedup_filter.pages.redis import SharedKeeper, is_address
from dedup_filter.upkeep.directory import DirectoryIndex
from dedup_filter.upkeep.servers import ServerIndex

__all__ = ["Index", "Target", "index_at"]

Index = DirectoryIndex | ServerIndex
"""`str` names it without a password. Methods raise ConfigError if there is no index, unless they
make one, and StoreError if it cannot be read or written, or is in use."""
Target = StoreKeeper | SharedKeeper
"""An index that is open for the records of an export."""


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
