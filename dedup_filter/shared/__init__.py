"""What is kept of pages on servers, for several processes at once: Redis or Redis Cluster.

    page -> event in one log that all processes follow, record in a key of its own
    host -> list of what its first pages taught

    log_view, shared_log   what a process that takes part reads of the log, and adds to it
    joining, alike         may it take part, and do others have the same options?
    shared_records         records by number
    events, standing       what the log says, and what is true at its end
    lease, lessons         signs of life; what hosts have shown
    address, client, tls   where the servers are, and how they are connected to
    connection, answers    calls to them, and what becomes of those that fail
    shared_reader, shared_keeper, repairs   for who takes no part: reads, puts back, mends

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
    Entry,
    EventArray,
    News,
    decode,
    host_hash,
    kinds,
    numbers,
)
from dedup_filter.shared.lease import Lease
from dedup_filter.shared.lessons import MOST_LESSONS, LessonLists
from dedup_filter.shared.log_view import LEASE, LogChanged
from dedup_filter.shared.shared_keeper import SharedKeeper
from dedup_filter.shared.shared_log import SharedLog
from dedup_filter.shared.shared_reader import SharedReader
from dedup_filter.shared.standing import Standing, entry_of

__all__ = [
    "CHUNK",
    "EVENT_BYTES",
    "GONE",
    "LEASE",
    "LONG",
    "MOST_LESSONS",
    "SHORT",
    "Address",
    "Connection",
    "Entry",
    "EventArray",
    "Lease",
    "LessonLists",
    "LogChanged",
    "News",
    "SharedKeeper",
    "SharedLog",
    "SharedReader",
    "Standing",
    "decode",
    "entry_of",
    "host_hash",
    "is_address",
    "kinds",
    "numbers",
]
