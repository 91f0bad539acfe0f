"""Servers of a shared index -> a warning, if they are set to delete keys when memory is full.

    INFO of each server -> maxmemory, maxmemory-policy -> what it may delete

An index survives that, for whatever is lost can be kept again, but pages are let through twice
without a word. A server that does not let its settings be read is not asked again.
"""

import logging
from typing import Any

from dedup_filter.errors import StoreError
from dedup_filter.pages.redis.connection import Connection

__all__ = ["warn_of_eviction"]

logger = logging.getLogger(__name__)


def warn_of_eviction(connection: Connection, *, has_expiry: bool) -> None:
    """Say in the log that the servers may delete keys of the index."""
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
        {} if each is None else {"target_nodes": each} for each in nodes
    ]
    found = [client.info("memory", **each) for each in options]
    return [each["maxmemory_policy"] for each in found if each["maxmemory"]]
