"""The location of an index -> its store, or its servers.

"memory:"              an index that is gone when it is closed
a path                 an index in that directory
"redis://..."          an index on a server, shared with other processes
"redis+cluster://..."  the same on the servers of a cluster
"""

import os
import re
from pathlib import Path
from typing import Any

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError
from dedup_filter.store.records import Scheme
from dedup_filter.store.redis.connection import Address, Connection, closed_if_it_fails, is_address
from dedup_filter.store.redis.process import Process
from dedup_filter.store.sqlite_store import SqliteStore

MEMORY = "memory:"
_SHAPING = (
    "features feature_hash shingle_size ads title_weight heading_weight image_weight"
).split()
"""Options that shape fingerprints."""
_NOTED = (
    "max_distance min_similarity max_missing ignore content ignore_numbers learn_frames "
    "learn_changes scope shared_phrases canonical same_template payloads read_pdf"
).split()
"""Further options that shape verdicts, recorded with each crawl."""
_ALIKE = (
    "max_distance min_similarity max_missing ignore content ignore_numbers shared_phrases scope "
    "canonical changes same_template expire_days max_pages payloads read_pdf"
).split()
"""Further options that all processes of a shared index should have alike."""
_NO_PATH = re.compile(r"(?i).*://|rediss?(\+cluster)?//|:?memory:|[a-z][\w.-]*:\d+$|.*\0")
"""Mistyped addresses, which would make a folder, with a password in its name if there is one."""
_SHOWN = re.compile(r":?[\w+.-]*:?/*")
_PLACES = (
    f'a directory, "{MEMORY}", redis://host:port/database or redis+cluster://host:port,host:port'
)


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
    if _NO_PATH.match(location):
        # There may be a password in it, so only its beginning is shown.
        begins = _SHOWN.match(location)
        shown = begins[0] if begins else ""
        shown += "..." if shown != location else ""
        raise ConfigError(f"location must be {_PLACES}, not {shown!r}")
    return Path(location)


def join_index(location: str, config: FilterConfig, crawl: str | None) -> Process:
    """Join the shared index at an address. Raises the errors of `open_store`."""
    options = {name: getattr(config, name) for name in _ALIKE}
    process = Process(Connection(Address.of(location)), scheme_of(config), crawl, options)
    with closed_if_it_fails(process):
        process.join()
    return process


def open_store(location: str | os.PathLike[str], config: FilterConfig) -> SqliteStore:
    """Open the store of an index that is not shared; make it if there is none.

    Raises:
        ConfigError: the location is invalid, or holds something other than an index.
        StoreError: the index cannot be opened; nothing stays open.
    """
    scheme, folder = scheme_of(config), folder_of(location)
    return SqliteStore.in_memory(scheme) if folder is None else SqliteStore.open(folder, scheme)


def noted_options(config: FilterConfig) -> dict[str, Any]:
    """Return the options that are recorded with each crawl."""
    return {name: getattr(config, name) for name in _NOTED}


def scheme_of(config: FilterConfig) -> Scheme:
    """Return the scheme of fingerprints made with these options."""
    return Scheme.of(**{name: getattr(config, name) for name in _SHAPING})
