"""The location of an index -> the opened index, with a crawl begun or joined.

"memory:"              an index that is gone when it is closed
a path                 an index in that directory
"redis://..."          an index on a server, shared with other processes
"redis+cluster://..."  the same on the servers of a cluster
"""

import os
import re
from pathlib import Path
from time import time as now

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError
from dedup_filter.store.protocol import KeptPages
from dedup_filter.store.records import Scheme
from dedup_filter.store.redis.connection import Address, Connection, closed_if_it_fails, is_address
from dedup_filter.store.redis.process import Process
from dedup_filter.store.redis.redis_pages import RedisPages
from dedup_filter.store.sqlite.page_store import PageStore
from dedup_filter.store.sqlite.sqlite_pages import SqlitePages

MEMORY = "memory:"
_SHAPING = (
    "features feature_hash shingle_size ads title_weight heading_weight image_weight"
).split()
"""Options that shape fingerprints."""
_NOTED = (
    "max_distance min_similarity max_missing ignore content ignore_numbers learn_frames scope "
    "shared_phrases canonical same_template payloads read_pdf"
).split()
"""Further options that shape verdicts, recorded with each crawl."""
_ALIKE = (
    "max_distance min_similarity max_missing ignore content ignore_numbers shared_phrases scope "
    "canonical changes same_template expire_days max_pages payloads read_pdf"
).split()
"""Further options that all processes of a shared index should have alike."""
_MISTYPED = re.compile(r"rediss?(\+cluster)?//")
"""An address without its colon, which would make a folder with a password in its name."""
_PLACES = f'"{MEMORY}", a directory, redis://... or redis+cluster://...'


def folder_of(location: object) -> Path | None:
    """Return the path of a directory, None for an index elsewhere. The file system is not read.

    Raises:
        ConfigError: the location is invalid.
    """
    if location == MEMORY:
        return None
    if isinstance(location, os.PathLike):
        location = os.fspath(location)
    if not isinstance(location, str) or not location.strip():
        raise ConfigError(f"location must be {_PLACES}, not {location!r}")
    if is_address(location):
        Address.of(location)
        return None
    if "://" in location or "\0" in location or _MISTYPED.match(location):
        # This may be a mistyped address with a password, so only its beginning is shown.
        raise ConfigError(f"location must be {_PLACES}, not {location.partition(':')[0]!r}:...")
    return Path(location)


def open_index(
    location: str | os.PathLike[str], config: FilterConfig, crawl: str | None
) -> KeptPages:
    """Open the index at a location, and begin a crawl or join the running one.

    Raises:
        ConfigError: the location is invalid, or holds something other than an index.
        StoreError: the index cannot be opened; nothing stays open.
    """
    if isinstance(location, str) and is_address(location):
        process = join_index(location, config, crawl)
        with closed_if_it_fails(process):
            return RedisPages(config, process)
    store = open_store(location, config, crawl)
    with closed_if_it_fails(store):
        return SqlitePages(config, store)


def join_index(location: str, config: FilterConfig, crawl: str | None) -> Process:
    """Join the shared index at an address. Raises the errors of `open_index`."""
    options = {name: getattr(config, name) for name in _ALIKE}
    process = Process(Connection(Address.of(location)), scheme_of(config), crawl, options)
    with closed_if_it_fails(process):
        process.join()
    return process


def open_store(
    location: str | os.PathLike[str], config: FilterConfig, crawl: str | None
) -> PageStore:
    """Open the store of an index that is not shared. Raises the errors of `open_index`."""
    scheme, folder = scheme_of(config), folder_of(location)
    store = PageStore.in_memory(scheme) if folder is None else PageStore.open(folder, scheme)
    with closed_if_it_fails(store):
        options = {name: getattr(config, name) for name in _NOTED}
        store.start_crawl(int(now()), crawl, options)
    return store


def scheme_of(config: FilterConfig) -> Scheme:
    """Return the scheme of fingerprints made with these options."""
    return Scheme.of(**{name: getattr(config, name) for name in _SHAPING})
