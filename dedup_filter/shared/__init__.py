"""What is kept of pages on servers, for several processes at once: Redis or Redis Cluster.

    page -> event in one log that all processes follow, record in a key of its own

Knows no index of fingerprints: who follows the log keeps one.
"""

from dedup_filter.shared.address import Address, is_address
from dedup_filter.shared.connection import Connection
from dedup_filter.shared.events import (
    CHUNK,
    EVENT_BYTES,
    GONE,
    LONG,
    SHORT,
    EventArray,
    decode,
    host_hash,
    kinds,
    numbers,
)
from dedup_filter.shared.lease import Lease
from dedup_filter.shared.shared_log import LEASE, Entry, LogChanged, News, SharedLog

__all__ = [
    "CHUNK",
    "EVENT_BYTES",
    "GONE",
    "LEASE",
    "LONG",
    "SHORT",
    "Address",
    "Connection",
    "Entry",
    "EventArray",
    "Lease",
    "LogChanged",
    "News",
    "SharedLog",
    "decode",
    "host_hash",
    "is_address",
    "kinds",
    "numbers",
]
