"""One process's view of the log of a shared index, read up to some place.

    join    the index is made if there is none, and a crawl begun or joined
    news    events that were not read yet
    rewind  after `LogChanged`: the log is read from its beginning again

Each call says how far the log was read, and with which event it ended there. A server that holds
another log, one that has lost its end or was made anew, says so instead of doing what was asked.
"""

import json
import secrets
from collections import Counter
from typing import Any, Final

from dedup_filter.pages.directory import Scheme
from dedup_filter.pages.redis.alike import Options, warn_of_differences
from dedup_filter.pages.redis.connection import Connection
from dedup_filter.pages.redis.events import EVENT_BYTES, News, salt
from dedup_filter.pages.redis.joining import Joined, admitted
from dedup_filter.pages.redis.keys import FORMAT, Keys

__all__ = ["LEASE", "MOST_EVENTS", "LogChanged", "LogView", "require_same"]

LEASE: Final = 30.0
"""Seconds after which a process that gives no sign of life holds no page any more."""
MOST_EVENTS: Final = 65_536
"""Events in one answer: 1.5 MB, some milliseconds of the server's time."""


class LogChanged(Exception):  # noqa: N818 - no fault: it says what to do
    """The log is not the one that was read up to here: some of it is lost, or it was deleted.

    Nothing was done. Numbers of pages may have been given again: `rewind`, and read it anew.
    """


class LogView:
    """What a process that takes part in the index reads of the log.

    Raises:
        StoreError: by all methods, when the servers cannot be reached or refuse.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._keys = Keys(connection.address.name)
        self._key = self._named("length")
        self._id = b""
        """Chance, by which the index is told from one made anew under its name."""
        self._as: tuple[str, str, Options] = "", "", {}
        """Scheme, name of the crawl and options with which it takes part."""
        self.process = secrets.token_hex(8)
        self.crawl = 0
        self.offset = 0
        """Number of the last event that was read."""
        self._last = b""

    def __str__(self) -> str:
        return f"the shared index {self._connection.address}"

    def join(self, scheme: Scheme, crawl: str | None, options: Options, seen: int) -> None:
        """Take part in the index, make it if there is none, and begin or join a crawl.

        The options are those that all processes should have alike; if others that are at work
        have them otherwise, a warning says so.

        Raises:
            ConfigError: other keys are there under its name, or others are at work with another
                scope.
            SchemeMismatch: its fingerprints were made in another way.
            StoreCorrupt: it cannot be told in which way they were made.
            StoreTooNew: it is of a newer format.
        """
        others = self._join(scheme.to_json(), crawl or "", options, seen)
        warn_of_differences(options, others, str(self))

    def news(self, seen: int) -> News:
        """Return events that were not read yet; many come in several calls, the last is empty.

        Raises:
            LogChanged: the log must be read anew.
        """
        return self._read("news", seen)[1]

    def rewind(self, seen: int) -> None:
        """Read the log from its beginning again; make the index anew if it is gone."""
        self._join(*self._as, seen)
        self.offset, self._last = 0, b""

    def trim(self, first_chunk: int) -> None:
        """Delete the chunks before this one, that tell of no page any more.

        Raises:
            LogChanged: they may tell of others.
        """
        require_same(self._run("trim", *self._read_so_far, first_chunk))

    def totals(self) -> Counter[str]:
        """Return the totals of all processes."""
        name = self._named("totals")
        found = self._connection.call(lambda client: client.hgetall(name))
        return Counter({outcome.decode(): int(count) for outcome, count in found.items()})

    def is_in_flight(self, number: int) -> bool:
        """Tell whether a page is pending, here or elsewhere."""
        flight = self._named("flight")
        return bool(self._connection.call(lambda client: client.hexists(flight, number)))

    def pages_in_flight(self) -> set[int]:
        """Return the pages that are pending, here or elsewhere."""
        name = self._named("flight")
        return set(map(int, self._connection.call(lambda client: client.hkeys(name))))

    def close(self) -> None:
        """Let go of the connections."""
        self._connection.close()

    def _join(self, scheme: str, crawl: str, options: Options, seen: int) -> list[bytes]:
        """Take part in the index, make it if there is none; return the options of others."""
        own = self.process, self._lease_milliseconds, salt(), seen, FORMAT, scheme, crawl
        told = json.dumps(options, sort_keys=True)
        joined = Joined(*self._run("join", *own, self.crawl, secrets.token_hex(8), told))
        admitted(joined, scheme, options, self._connection.address, LEASE)
        self.crawl, self._id = int(joined.crawl), joined.id
        self._as = scheme, crawl, options
        return joined.others

    def _read(self, script: str, seen: int, *arguments: object) -> tuple[int, News]:
        number, start, events = self._run(
            script,
            self._id,
            self.process,
            self._lease_milliseconds,
            self.offset,
            self._last,
            MOST_EVENTS,
            salt(),
            seen,
            *arguments,
        )
        if number < 0:
            raise LogChanged
        if events:
            self.offset, self._last = start + len(events) // EVENT_BYTES, events[-EVENT_BYTES:]
        is_last = len(events) < MOST_EVENTS * EVENT_BYTES
        return number, News(start + 1, events, is_last)

    def _run(self, script: str, *arguments: object) -> Any:
        return self._connection.run(script, self._key, *arguments)

    @property
    def _read_so_far(self) -> tuple[bytes, int, bytes]:
        """How far the log was read, by which a server sees whether it is still the same."""
        return self._id, self.offset, self._last

    @property
    def _lease_milliseconds(self) -> int:
        return int(1_000 * LEASE)

    def _named(self, name: str) -> str:
        return self._keys.named(name)


def require_same(answer: int) -> int:
    """Pass on the answer of a script, unless it found another log than was read."""
    if answer < 0:
        raise LogChanged
    return answer
