"""A process that takes part in a shared index: it joins, gives signs of life, and leaves.

    join     the index is made if there is none, and a crawl begun or joined
    count    what pages were found to be -> the totals of all processes, with the next sign of life
    leave    what the process has pending is released

A process holds its pending pages by a lease. When that is over the next call of any process
releases them. A thread renews it: a crawl may have nothing to ask for a while. A sign that does not
get through is given again at the next beat, with the counts.
"""

import json
import secrets
from collections import Counter
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Final

from dedup_filter.errors import StoreError
from dedup_filter.pages.directory import Scheme
from dedup_filter.pages.redis.connection import Connection
from dedup_filter.pages.redis.formats import FORMAT
from dedup_filter.pages.redis.joining import (
    Options,
    refuse,
    refuse_scope,
    warn_of_differences,
    warn_of_eviction,
)

__all__ = ["LEASE", "Process"]

LEASE: Final = 30.0
"""Seconds after which a process that gives no sign of life holds no page any more."""
_BEATS = 3
"""Signs of life in the time of a lease."""
_OTHER_SCOPE = -1
_NO_INDEX = -1


class Process:
    """One that takes part, which the servers know by a name that no other has.

    It makes fingerprints by a scheme, is in a crawl (of a name, or of none), and has options that
    all processes should have alike.
    """

    def __init__(
        self, connection: Connection, scheme: Scheme, crawl: str | None, options: Options
    ) -> None:
        self.connection = connection
        self.name = secrets.token_hex(8)
        self.crawl = 0
        """Its number; 0: not joined yet."""
        self.index = b""
        """Random bytes, by which the index is told from one made anew under its name."""
        self._scheme = scheme
        self._crawl_name = crawl or ""
        self._options = options
        self._counts: Counter[str] = Counter()
        self._lock = Lock()
        self._is_over = Event()
        self._thread = Thread(target=self._beat, name="dedup_filter lease", daemon=True)

    def join(self) -> None:
        """Take part in the index, make it if there is none, and begin or join a crawl.

        A warning says if others that are at work have other options, or if a server may evict what
        it holds.

        Raises:
            ConfigError, SchemeMismatch, StoreCorrupt, StoreTooNew: see `joining`.
        """
        others = self.join_again()
        warn_of_differences(self._options, others, self.connection)
        has_expiry = self._options.get("expire_days") is not None
        warn_of_eviction(self.connection, has_expiry=has_expiry)
        self._thread.start()

    def join_again(self) -> list[bytes]:
        """Join as before; make the index anew if it is gone. Return the options of others."""
        index = FORMAT, self._scheme.to_json(), secrets.token_hex(8)
        own = self.crawl, self.name, self.lease_milliseconds, self._crawl_name
        told = json.dumps(self._options, sort_keys=True)
        number, identity, others = self.connection.run("join", *index, *own, told)
        if number == _OTHER_SCOPE:
            refuse_scope(self._options, others, self.connection, LEASE)
        if not number:
            refuse(self.connection, self._scheme)
        self.crawl, self.index = int(number), identity
        return list(others)

    def count(self, name: str, more: int) -> None:
        """Add to a total, or take away from it."""
        with self._lock:
            self._counts[name] += more

    def totals(self) -> dict[str, int]:
        """Return the totals of all processes."""
        self.bring()
        return {name.decode(): int(count) for name, count in self.connection.hash("totals").items()}

    def bring(self) -> None:
        """Give a sign of life, and bring what was counted to the servers.

        Raises:
            StoreError: they cannot be reached; it will be brought another time.
        """
        with self._lock:
            counts, self._counts = self._counts, Counter()
        try:
            self._sign(counts)
        except BaseException:
            with self._lock:
                self._counts.update(counts)
            raise

    def leave(self) -> None:
        """Release what is pending, and take part no more."""
        self._rest()
        self.connection.run("leave", self.name)

    def close(self) -> None:
        """Give no more signs of life, and close the connections; the lease is left to run out."""
        self._rest()
        self.connection.close()

    @property
    def lease_milliseconds(self) -> int:
        """For how long each sign of life is good."""
        return int(1_000 * LEASE)

    def _sign(self, counts: Counter[str]) -> None:
        flat = (part for pair in counts.items() if pair[1] for part in pair)
        done = self.connection.run("beat", self.name, self.lease_milliseconds, *flat)
        if done == _NO_INDEX:
            raise StoreError(f"{self.connection} was deleted; it is made anew with the next page")

    def _rest(self) -> None:
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _beat(self) -> None:
        while not self._is_over.wait(LEASE / _BEATS):
            with suppress(StoreError):  # the next call of the index raises it
                self.bring()
