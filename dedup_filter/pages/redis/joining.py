"""Who may take part in a shared index: what servers and processes say of it -> what is wrong.

keys of something else there   ConfigError
a newer format                 StoreTooNew
another scheme                 SchemeMismatch, which says what differs
others with another scope      ConfigError: they would not agree on what may be kept twice
others with other bounds ...   a warning: each page is judged by the options of who meets it
servers that evict keys        a warning: what they delete can be kept again, without a word
"""

import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NoReturn

from dedup_filter.errors import ConfigError, StoreCorrupt, StoreError, StoreTooNew
from dedup_filter.pages.directory import Scheme
from dedup_filter.pages.redis.connection import Connection
from dedup_filter.pages.redis.formats import FORMAT

__all__ = [
    "Options",
    "read_meta",
    "refuse",
    "refuse_scope",
    "warn_of_differences",
    "warn_of_eviction",
]

logger = logging.getLogger(__name__)

Options = Mapping[str, Any]

_OTHER_NAME = "choose another name (?name=...)"
_REMEDY = f"go back to what it was made with, or {_OTHER_NAME}"


def read_meta(connection: Connection) -> dict[bytes, bytes]:
    """Return what an index says of itself; nothing if there is none.

    Raises:
        ConfigError: other keys are there under its name, or it is of an older format.
        StoreTooNew: it is of a newer one.
    """
    name = connection.keys.named("meta")
    kind = connection.call(lambda client: client.type(name))
    if kind == b"none":
        return {}
    meta = connection.hash("meta") if kind == b"hash" else {}
    if b"scheme" not in meta or not meta.get(b"format", b"").isdigit():
        raise _other_keys(connection)
    its_own = int(meta[b"format"])
    where = f"{connection} is of format {its_own}"
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
    return meta


def refuse(connection: Connection, scheme: Scheme) -> NoReturn:
    """Say why servers let nobody with this scheme write to an index.

    Raises:
        SchemeMismatch: its fingerprints were made in another way.
        StoreCorrupt: it cannot be told in which way they were made.
        ConfigError, StoreTooNew: as `read_meta` does.
    """
    meta = read_meta(connection)
    if not meta:
        raise _other_keys(connection)
    with suppress(ValueError, TypeError):
        its_own = Scheme.from_json(meta[b"scheme"].decode())
        scheme.require(its_own, str(connection.address), _REMEDY)
    raise StoreCorrupt(f"{connection}: what it says of its scheme is damaged: {_REMEDY}")


def refuse_scope(
    options: Options, others: list[bytes], connection: Connection, lease: float
) -> NoReturn:
    """Say why nobody can join with these options beside others that are at work."""
    mine, theirs = options.get("scope"), _other_values(others, "scope", options)
    raise ConfigError(
        f"scope={mine} cannot be chosen now: crawlers with scope={theirs} are at work on "
        f"{connection}; choose the same, wait until they have ended (one that was killed counts as "
        f"at work for {lease:.0f} seconds), or {_OTHER_NAME}"
    )


def warn_of_differences(mine: Options, others: list[bytes], connection: Connection) -> None:
    """Say in the log which options crawlers that are at work have otherwise."""
    differences = [
        f"{name} ({told} there, {value} here)"
        for name, value in mine.items()
        if (told := _other_values(others, name, mine))
    ]
    if differences:
        logger.warning(
            "%s: crawlers are at work on it with other options than this one: %s; "
            "what is kept depends on which of them meets a page; give all the same",
            connection,
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
            "%s: its server deletes keys when its memory is full (maxmemory-policy %s), and pages "
            "like those that it forgets are kept again; set it to noeviction",
            connection,
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


def _other_keys(connection: Connection) -> ConfigError:
    return ConfigError(
        f"{connection}: other keys are there under dedup:{{{connection.address.name}}}; "
        f"{_OTHER_NAME}"
    )


def _other_values(others: list[bytes], name: str, mine: Options) -> str:
    """Return the values of an option that others have otherwise."""
    told = [json.loads(each) for each in others]
    values = {str(each[name]) for each in told if each.get(name, mine.get(name)) != mine.get(name)}
    return " or ".join(sorted(values))
