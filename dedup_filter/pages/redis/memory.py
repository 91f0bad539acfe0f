"""A shared index -> the bytes that it takes on the servers, estimated from some of its keys."""

from collections.abc import Sequence
from typing import NamedTuple

from dedup_filter.pages.redis.formats import CHUNK
from dedup_filter.pages.redis.shared_reader import SharedReader

__all__ = ["Memory", "memory_of"]

_MEASURED = 64
"""Keys of a kind that are measured, at most."""


class Memory(NamedTuple):
    """Bytes, with what the servers themselves take for a key."""

    log: int
    records: int


def memory_of(reader: SharedReader, end: int, pages: Sequence[int]) -> Memory:
    """Measure the log to an event, and the records of some pages.

    Raises:
        StoreError: the servers cannot be reached or refuse.
    """
    chunks = range(reader.first_chunk(), -(-end // CHUNK))
    return Memory(
        _measured(reader, [reader.keys.named(f"log:{chunk}") for chunk in _some(chunks)], chunks),
        _measured(reader, list(map(reader.keys.page, _some(pages))), pages),
    )


def _measured(reader: SharedReader, names: Sequence[str], of: Sequence[int]) -> int:
    """Return the memory of some keys, for all that they are taken from."""
    sizes = reader.ask_each("MEMORY USAGE", names)
    return sum(size or 0 for size in sizes) * len(of) // max(len(names), 1)


def _some(of: Sequence[int]) -> Sequence[int]:
    return of[:: -(-len(of) // _MEASURED) or 1]
