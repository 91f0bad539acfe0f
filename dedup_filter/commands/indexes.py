"""A location -> what the commands can do with the index there.

The one place that tells a directory from servers. Each kind answers the same questions; what it
takes is imported when it is asked.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from dedup_filter.errors import ConfigError, StoreCorrupt

if TYPE_CHECKING:
    from dedup_filter.config import FilterConfig
    from dedup_filter.upkeep import Compaction, Findings, Migration, Source, Target
    from dedup_filter.upkeep.migrate import Watch

__all__ = ["Index", "index_at"]


class Index(Protocol):
    """An index to be looked after.

    Raises:
        ConfigError: by all methods, when there is none.
        StoreError: by all methods, when it cannot be read or written, or is in use.
    """

    @property
    def shown(self) -> str:
        """What it is called, without a password."""

    def figures(self) -> dict[str, Any]:
        """Count what it holds."""

    def check(self) -> "Findings":
        """Tell what is wrong with it."""

    def source(self) -> AbstractContextManager["Source"]:
        """Open it to be exported."""

    def target(self) -> "Target":
        """Name it as the place where an import leads; it may be new."""

    def forget(self, urls: Sequence[str]) -> dict[str, int]:
        """Forget pages; return how many at each URL."""

    def compact(self) -> "Compaction":
        """Give back room."""

    def migrate(self, config: "FilterConfig", *, drop_unkept: bool, watch: "Watch") -> "Migration":
        """Make its fingerprints anew."""

    def start_fresh(self, config: "FilterConfig", /) -> "Migration":
        """Move it aside and make an empty one."""


def index_at(location: str) -> Index:
    """Name the index at a location; nothing is looked at yet.

    Raises:
        ConfigError: the location is none, or that of an index that ends with its process.
    """
    from dedup_filter.pages.location import folder_of
    from dedup_filter.pages.redis import is_address

    is_folder = folder_of(location) is not None
    if is_address(location):
        return _OnServers(location)
    if not is_folder:
        raise ConfigError(
            f"{location!r} is not a folder, nor the address of a shared index: what is in memory "
            "ends with its process"
        )
    return _InDirectory(location)


class _InDirectory:
    def __init__(self, directory: str) -> None:
        self.shown = directory

    def figures(self) -> dict[str, Any]:
        from dedup_filter.pages.directory.page_reader import PageReader
        from dedup_filter.upkeep import figures

        with PageReader.open_to_read(self.shown) as reader:
            return figures(reader)

    def check(self) -> "Findings":
        from dedup_filter.pages.directory.page_reader import PageReader
        from dedup_filter.upkeep import Findings, check_index

        try:
            with PageReader.open_to_read(self.shown) as reader:
                return check_index(reader)
        except StoreCorrupt as damage:  # so much so that it cannot even be opened
            return Findings([str(damage)])

    def source(self) -> AbstractContextManager["Source"]:
        from dedup_filter.upkeep import directory_source

        return directory_source(self.shown)

    def target(self) -> "Target":
        from dedup_filter.upkeep import DirectoryTarget

        return DirectoryTarget(self.shown)

    def forget(self, urls: Sequence[str]) -> dict[str, int]:
        from dedup_filter.upkeep import forget

        return forget(self.shown, urls)

    def compact(self) -> "Compaction":
        from dedup_filter.upkeep import compact

        return compact(self.shown)

    def migrate(self, config: "FilterConfig", *, drop_unkept: bool, watch: "Watch") -> "Migration":
        from dedup_filter.upkeep import migrate

        return migrate(self.shown, config, drop_unkept=drop_unkept, watch=watch)

    def start_fresh(self, config: "FilterConfig") -> "Migration":
        from dedup_filter.upkeep import Migration, start_fresh

        return Migration(0, 0, start_fresh(self.shown, config))


class _OnServers:
    def __init__(self, address: str) -> None:
        from dedup_filter.pages.redis import Address

        self._address = address
        self.shown = str(Address.of(address))

    def figures(self) -> dict[str, Any]:
        from dedup_filter.pages.redis import SharedReader
        from dedup_filter.upkeep import server_figures

        with SharedReader.open(self._address) as reader:
            return server_figures(reader)

    def check(self) -> "Findings":
        from dedup_filter.pages.redis import SharedReader
        from dedup_filter.upkeep import check_server

        with SharedReader.open(self._address) as reader:
            return check_server(reader)

    def source(self) -> AbstractContextManager["Source"]:
        from dedup_filter.upkeep import server_source

        return server_source(self._address)

    def target(self) -> "Target":
        from dedup_filter.upkeep import ServerTarget

        return ServerTarget(self._address)

    def forget(self, urls: Sequence[str]) -> dict[str, int]:
        from dedup_filter.pages.redis import SharedReader
        from dedup_filter.upkeep import forget_on_server

        with SharedReader.open(self._address) as reader:
            return forget_on_server(reader, urls)

    def compact(self) -> "Compaction":
        from dedup_filter.pages.redis import SharedReader
        from dedup_filter.upkeep import compact_server

        with SharedReader.open(self._address) as reader:
            return compact_server(reader)

    def migrate(self, *_: object, **__: object) -> "Migration":
        raise self._no_texts()

    def start_fresh(self, _: object) -> "Migration":
        raise self._no_texts()

    def _no_texts(self) -> ConfigError:
        return ConfigError(
            f"the fingerprints of the shared index {self.shown} cannot be made anew, as no texts "
            "are kept on servers: begin another index under a new name (?name=...), and crawl, or "
            "import the items of earlier crawls"
        )
