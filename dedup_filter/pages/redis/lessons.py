"""Lists of what pages taught of their hosts, one a host, for the processes of a shared index.

Lists are spread over the slots of a cluster. Each is bounded, and is gone some time after the last
lesson was added, so that the servers' memory is bounded by host. Knows nothing of lessons but that
they are bytes.

Cost: a call each.
"""

from typing import Final

from dedup_filter.pages.expiry import expiry_seconds
from dedup_filter.pages.redis.connection import Connection
from dedup_filter.pages.redis.formats import Keys

__all__ = ["MOST_LESSONS", "LessonLists"]

MOST_LESSONS: Final = 32
"""Of a host: more bring nothing (docs/decisions)."""
_DAYS = 30
"""For which a list lasts without `expire_days`."""


class LessonLists:
    """The lists on the servers, as one process of the index reads and writes them.

    Raises:
        StoreError: by all methods, when the servers cannot be reached or refuse.
    """

    def __init__(
        self, connection: Connection, process: bytes, expire_seconds: int | None = None
    ) -> None:
        self.process = process
        """8 bytes that no other process has."""
        self._connection = connection
        self._keys = Keys(connection.address.name)
        self._seconds = expiry_seconds(_DAYS) if expire_seconds is None else expire_seconds

    def read(self, host: str, first: int) -> list[bytes]:
        """Return the lessons of a host from the one with this number on, counted from 0."""
        name = self._keys.frame(host)
        found: list[bytes] = self._connection.call(lambda client: client.lrange(name, first, -1))
        return found

    def add(self, host: str, lesson: bytes) -> int:
        """Add a lesson to the list of a host, unless it is full; return how many there are now."""
        given = lesson, MOST_LESSONS, self._seconds
        return int(self._connection.run("teach", self._keys.frame(host), *given))
