"""What is mended in a shared index between crawls, or beside them: one step is one script.

    release_lapsed   pages that dead processes had pending
    take_out         pages, for all processes
    delete_records   of pages that are gone
    trim             the log, of chunks that tell of no page

Each is told of the log as it was read, and does nothing to another one.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from dedup_filter.errors import StoreError
from dedup_filter.pages.redis.shared_log import LogChanged, require_same
from dedup_filter.pages.redis.shared_reader import SharedReader, Standing

__all__ = ["delete_records", "release_lapsed", "take_out", "trim"]

_BATCH = 1_000


def release_lapsed(reader: SharedReader, seen: int) -> int:
    """Release what processes have pending whose lease is over; return how many pages that were.

    Raises:
        StoreError: the servers cannot be reached or refuse; as all here do.
    """
    lapsed = reader.processes(alive=False)
    pages = reader.owned(lapsed) & reader.in_flight()
    for process in lapsed:
        _run(reader, "leave", process, seen=seen)
    return len(pages)


def take_out(reader: SharedReader, log: Standing, pages: Sequence[int], seen: int) -> None:
    """Take pages out for good, pending ones too."""
    for at in range(0, len(pages), _BATCH):
        some = pages[at : at + _BATCH]
        _require_same(reader, _run(reader, "remove", *_read(reader, log), *some, seen=seen))
        delete_records(reader, some)


def delete_records(reader: SharedReader, pages: Iterable[int]) -> None:
    """Delete the records of pages that are gone."""
    names = list(map(reader.keys.page, pages))
    for at in range(0, len(names), _BATCH):
        reader.connection.ask_each("UNLINK", names[at : at + _BATCH])


def trim(reader: SharedReader, log: Standing) -> None:
    """Delete the first chunks of the log as far as they tell of no page."""
    _require_same(reader, _run(reader, "trim", *_read(reader, log), log.first_chunk))


def _run(reader: SharedReader, function: str, *arguments: object, seen: int | None = None) -> Any:
    return reader.connection.run(function, reader.keys.named("length"), *arguments, seen=seen)


def _read(reader: SharedReader, log: Standing) -> tuple[bytes, int, bytes]:
    return reader.identity, log.end, log.last


def _require_same(reader: SharedReader, answer: Any) -> None:
    try:
        require_same(answer)
    except LogChanged:
        raise StoreError(
            f"the shared index {reader}: a server has lost a part of it meanwhile; try again"
        ) from None
