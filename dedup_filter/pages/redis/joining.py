"""Joining a shared index: what the servers answer -> the number of its crawl, or what is wrong.

keys of something else there   ConfigError
a newer format                 StoreTooNew
another scheme                 SchemeMismatch, which says what differs
others with another scope      ConfigError: they would not agree on what may be kept twice
others with other bounds ...   a warning: each page is judged by the options of who meets it
servers that evict keys        a warning: what they delete can be kept again, without a word
"""

import json
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from dedup_filter.errors import ConfigError, StoreCorrupt, StoreError, StoreTooNew
from dedup_filter.pages.directory import Scheme
from dedup_filter.pages.redis.address import Address
from dedup_filter.pages.redis.connection import Connection
from dedup_filter.pages.redis.formats import FORMAT

__all__ = [
    "Joined",
    "Options",
    "admitted",
    "require_format",
    "warn_of_differences",
    "warn_of_eviction",
]

logger = logging.getLogger(__name__)

Options = Mapping[str, Any]

_OTHER_KEYS = -1
_OTHER_SCOPE = -2
_OTHER_NAME = "choose another name (?name=...)"
_REMEDY = f"go back to what it was made with, or {_OTHER_NAME}"


class Joined(NamedTuple):
    """What `join` answers."""

    crawl: int
    """Its number, or what is wrong."""
    format: bytes
    scheme: bytes
    id: bytes
    """Random bytes, by which the index is told from others."""
    others: list[bytes]
    """Options of other processes that are at work."""


def admitted(joined: Joined, scheme: str, options: Options, address: Address, lease: float) -> None:
    """Refuse what cannot be joined.

    Raises:
        ConfigError: other keys are there under its name, or others are at work with another scope.
        SchemeMismatch: its fingerprints were made in another way.
        StoreCorrupt: it cannot be told in which way they were made.
        StoreTooNew: it is of a newer format.
    """
    where = f"the shared index {address}"
    if joined.crawl == _OTHER_SCOPE:
        mine, theirs = options.get("scope"), _other_values(joined.others, "scope", options)
        raise ConfigError(
            f"scope={mine} cannot be chosen now: crawlers with scope={theirs} are at work on "
            f"{where}; choose the same, wait until they have ended (one that was killed counts as "
            f"at work for {lease:.0f} seconds), or {_OTHER_NAME}"
        )
    if joined.crawl == _OTHER_KEYS or not joined.format.isdigit():
        raise ConfigError(
            f"{where}: other keys are there under dedup:{{{address.name}}}; {_OTHER_NAME}"
        )
    require_format(int(joined.format), address)
    if joined.crawl:
        return
    with suppress(ValueError, TypeError):
        its_own = Scheme.from_json(joined.scheme.decode())
        Scheme.from_json(scheme).require(its_own, str(address), _REMEDY)
    raise StoreCorrupt(f"{where}: what it says of its scheme is damaged: {_REMEDY}")


def require_format(its_own: int, address: Address) -> None:
    """Refuse an index of another format.

    Raises:
        ConfigError: it is of an older one.
        StoreTooNew: it is of a newer one.
    """
    where = f"the shared index {address} is of format {its_own}"
    if its_own > FORMAT:
        raise StoreTooNew(
            f"{where}, and this version reads {FORMAT}: install the version that made it, or "
            f"{_OTHER_NAME}"
        )
    if its_own < FORMAT:
        raise ConfigError(
            f"{where}, of a version of dedup-filter before its first release, and this one reads "
            f"{FORMAT}: {_OTHER_NAME}"
        )


def warn_of_differences(mine: Options, others: Iterable[bytes], address: Address) -> None:
    """Say in the log which options crawlers that are at work have otherwise."""
    others = list(others)
    differences = [
        f"{name} ({told} there, {value} here)"
        for name, value in mine.items()
        if (told := _other_values(others, name, mine))
    ]
    if differences:
        logger.warning(
            "the shared index %s: crawlers are at work on it with other options than this one: %s; "
            "what is kept depends on which of them meets a page; give all the same",
            address,
            ", ".join(differences),
        )


def warn_of_eviction(connection: Connection, *, has_expiry: bool) -> None:
    """Say in the log that the servers may delete keys of the index when their memory is full.

    Servers that do not let their settings be read are not asked again.
    """
    try:
        policies = connection.call(_policies)
    except StoreError:
        return
    # Others than "allkeys-..." delete keys with a time to live: records, if pages expire.
    chosen = ("allkeys", "volatile") if has_expiry else ("allkeys",)
    evicting = sorted({policy for policy in policies if policy.startswith(chosen)})
    if evicting:
        logger.warning(
            "the shared index %s: its server deletes keys when its memory is full "
            "(maxmemory-policy %s), and pages like those that it forgets are kept again; "
            "set it to noeviction",
            connection.address,
            ", ".join(evicting),
        )


def _policies(client: Any) -> list[str]:
    """Return the policies of servers that have a limit."""
    nodes = client.get_primaries() if hasattr(client, "get_primaries") else [None]
    options: list[dict[str, Any]] = [
        {} if node is None else {"target_nodes": node} for node in nodes
    ]
    found = [client.info("memory", **each) for each in options]
    return [each["maxmemory_policy"] for each in found if each["maxmemory"]]


def _other_values(others: Iterable[bytes], name: str, mine: Options) -> str:
    """Return the values of an option that others have otherwise."""
    values: set[str] = set()
    for each in others:
        with suppress(ValueError):
            theirs = json.loads(each)
            if name in theirs and theirs[name] != mine.get(name):
                values.add(str(theirs[name]))
    return " or ".join(sorted(values))
