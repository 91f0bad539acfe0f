"""The records of an index's pages, on servers: read, written and removed by number.

    committed   a key of its own, spread over the slots of a cluster by the number
    pending     a field of one hash, in the slot of the log, written by scripts (`shared_log`)

One server has both, and then a script that commits a page writes its record, too. On a cluster
that is a call before: a page that others can see has its record. If the script finds the page
not pending, its number may be that of another one by now, whose record was written over: it is
put back.

Whether a page is there is told by the log alone: a record can be left of one that is gone.

Cost: a call, two on a cluster if records are missing.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from dedup_filter.errors import StoreCorrupt
from dedup_filter.pages.directory import PageRecord
from dedup_filter.pages.redis.connection import Connection
from dedup_filter.pages.redis.keys import Keys
from dedup_filter.pages.redis.record_bytes import pack_record, unpack_record

__all__ = ["SharedRecords"]


class SharedRecords:
    """The records, as one process of the index reads and writes them.

    Raises:
        StoreError: by all methods, when the servers cannot be reached or refuse.
    """

    def __init__(self, connection: Connection, expire_seconds: int | None = None) -> None:
        self._connection = connection
        self._keys = Keys(connection.address.name)
        self._expire_seconds = expire_seconds

    def read(self, numbers: Sequence[int]) -> dict[int, PageRecord]:
        """Read the records of some pages; those that are gone are left out.

        Of one that is not pending here, the events that come later tell whether it is gone.
        """
        if not numbers:
            return {}
        found = self._packed(numbers)
        missing = [number for number in numbers if number not in found]
        if missing and self._connection.address.is_cluster:
            # Nodes answer in any order. One that was looked for here, then committed, and then
            # looked for among those in flight, is here by now.
            found.update(self._packed(missing))
        return {number: self._unpacked(number, *each) for number, each in found.items()}

    def put(self, number: int, record: PageRecord) -> None:
        """Write the record of a page that is, or is about to be, committed."""
        packed, name = pack_record(record), self._keys.page(number)
        self._connection.call(lambda client: client.set(name, packed, ex=self._expire_seconds))

    def put_first(self, number: int, record: PageRecord) -> bytes | None:
        """Do `put` where a script of the log cannot; return the record that was there before."""
        if not self._connection.address.is_cluster:
            return None
        name, seconds = self._keys.page(number), self._expire_seconds or 0
        before: bytes | None = self._connection.run("put", name, pack_record(record), seconds)
        return before

    def put_back(self, number: int, record: PageRecord, before: bytes | None) -> None:
        """Undo `put_first`, unless another process has put a record since."""
        if self._connection.address.is_cluster:
            name, seconds = self._keys.page(number), self._expire_seconds or 0
            self._connection.run("put_back", name, pack_record(record), before or b"", seconds)

    def for_script(self, number: int) -> tuple[str, int]:
        """Return the key of a record that a script of the log can set, and how long it lasts.

        On a cluster it is in another slot, and the key is "".
        """
        name = "" if self._connection.address.is_cluster else self._keys.page(number)
        return name, self._expire_seconds or 0

    def remove(self, numbers: Iterable[int]) -> None:
        """Delete the records of pages that are gone."""
        self._connection.unlink(list(map(self._keys.page, numbers)))

    def _packed(self, numbers: Sequence[int]) -> dict[int, tuple[bytes, bool]]:
        """Return the records of some pages, and whether they are pending."""
        flight = self._keys.named("flight")

        def read(client: Any) -> list[Any]:
            with client.pipeline(transaction=False) as pipe:
                pipe.hmget(flight, numbers)
                for number in numbers:
                    pipe.get(self._keys.page(number))
                return list(pipe.execute())

        found = self._connection.call(read)
        records = {}
        for number, pending, kept in zip(numbers, found[0], found[1:], strict=True):
            if pending is not None:
                records[number] = pending, True
            elif kept is not None:
                records[number] = kept, False
        return records

    def _unpacked(self, number: int, packed: bytes, is_pending: bool) -> PageRecord:
        try:
            return unpack_record(number, packed, is_pending=is_pending)
        except ValueError as error:
            raise StoreCorrupt(f"the shared index {self._connection.address}: {error}") from None
