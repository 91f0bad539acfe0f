"""Where an index is -> its record, opened, with a crawl begun.

"memory:"      a record that is gone when it is closed
a path         that of a directory
"redis://..."  not in this release
"""

import os
from pathlib import Path
from time import time as now

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError
from dedup_filter.store import PageStore, Scheme

__all__ = ["MEMORY", "folder_of", "open_store", "scheme_of"]

MEMORY = "memory:"
_REDIS = ("redis:", "rediss:", "redis+cluster:")


def folder_of(location: object) -> Path | None:
    """Return the path of a directory, None for an index in memory. Nothing is looked at.

    Raises:
        ConfigError: it is neither.
    """
    if location == MEMORY:
        return None
    if isinstance(location, os.PathLike):
        location = os.fspath(location)
    if not isinstance(location, str) or not location.strip():
        raise ConfigError(f'location must be "{MEMORY}" or a directory, not {location!r}')
    if location.startswith(_REDIS):
        raise ConfigError(
            f'location must be "{MEMORY}" or a directory: an index on Redis, {location!r}, is not '
            "in this release"
        )
    if "://" in location or "\0" in location:
        raise ConfigError(f'location must be "{MEMORY}" or a directory, not {location!r}')
    return Path(location)


def open_store(
    location: str | os.PathLike[str], config: FilterConfig, crawl: str | None
) -> PageStore:
    """Open the record at a location and begin a crawl, or go on with the one of this name.

    Raises:
        ConfigError: the location is none, or something else is there.
        StoreError: the index cannot be opened.
    """
    scheme, folder = scheme_of(config), folder_of(location)
    store = PageStore.in_memory(scheme) if folder is None else PageStore.open(folder, scheme)
    try:
        store.crawls.start(int(now()), crawl)
    except BaseException:
        store.close()
        raise
    return store


def scheme_of(config: FilterConfig) -> Scheme:
    """Name what shapes the fingerprints that are made with these options."""
    return Scheme.of(
        features=config.features,
        feature_hash=config.feature_hash,
        shingle_size=config.shingle_size,
        title_weight=config.title_weight,
        heading_weight=config.heading_weight,
        image_weight=config.image_weight,
    )
