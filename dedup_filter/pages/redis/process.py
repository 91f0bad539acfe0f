"""A process that takes part in a shared index: it joins, gives signs of life, and leaves.

    join     the index is made if there is none, and a crawl begun or joined
    count    what pages were found to be -> the totals of all processes, with the next sign of life
    leave    what the process has pending is released

A process holds its pending pages by a lease. When that is over the next call of any process
releases them. A thread renews it: a crawl may have nothing to ask for a while. A sign that does not
get through is given again at the next beat, with the counts.

Who may not take part, or is warned:

    keys of something else there   ConfigError
    a newer format                 StoreTooNew
    another scheme                 SchemeMismatch, which says what differs
    others with another scope      ConfigError: they would not agree on what may be kept twice
    others with other bounds ...   a warning: each page is judged by the options of who meets it
    servers that evict keys        a warning: what they delete can be kept again, without a word
"""

import json
import logging
import secrets
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Any, Final, NoReturn

from dedup_filter.errors import ConfigError, StoreCorrupt, StoreError, StoreTooNew
from dedup_filter.pages.directory import Scheme
from dedup_filter.pages.redis.connection import Connection
from dedup_filter.pages.redis.formats import FORMAT

__all__ = ["LEASE", "Process", "read_meta", "refuse"]

logger = logging.getLogger(__name__)

LEASE: Final = 30.0
"""Seconds after which a process that gives no sign of life holds no page any more."""
_BEATS = 3
"""Signs of life in the time of a lease."""
_OTHER_SCOPE = -1
_NO_INDEX = -1
_OTHER_NAME = "choose another name (?name=...)"
_REMEDY = f"go back to what it was made with, or {_OTHER_NAME}"


class Process:
    """One that takes part, which the servers know by a name that no other has.

    It makes fingerprints by a scheme, is in a crawl (of a name, or of none), and has options that
    all processes should have alike.
    """

    def __init__(
        self,
        connection: Connection,
        scheme: Scheme,
        crawl: str | None,
        options: Mapping[str, Any],
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
            ConfigError, SchemeMismatch, StoreCorrupt, StoreTooNew: see above.
        """
        others = self.join_again()
        differences = [
            f"{name} ({' or '.join(theirs)} there, {mine} here)"
            for name, mine in self._options.items()
            if (theirs := self._values_of(others, name))
        ]
        if differences:
            logger.warning(
                "%s: crawlers are at work on it with other options than this one: %s; "
                "what is kept depends on which of them meets a page; give all the same",
                self.connection,
                ", ".join(differences),
            )
        self._warn_of_eviction()
        self._thread.start()

    def join_again(self) -> list[bytes]:
        """Join as before; make the index anew if it is gone. Return the options of others."""
        index = FORMAT, self._scheme.to_json(), secrets.token_hex(8)
        own = self.crawl, self.name, self.lease_milliseconds, self._crawl_name
        told = json.dumps(self._options, sort_keys=True)
        number, identity, others = self.connection.run("join", *index, *own, told)
        if number == _OTHER_SCOPE:
            raise ConfigError(
                f"scope={self._options['scope']} cannot be chosen now: crawlers with "
                f"scope={' or '.join(self._values_of(others, 'scope'))} are at work on "
                f"{self.connection}; choose the same, wait until they have ended (one that was "
                f"killed counts as at work for {LEASE:.0f} seconds), or {_OTHER_NAME}"
            )
        if not number:
            refuse(self.connection, self._scheme)
        self.crawl, self.index = int(number), identity
        return list(others)

    def count(self, name: str, more: int = 1) -> None:
        """Add to a total, or take away from it."""
        with self._lock:
            self._counts[name] += more

    def totals(self) -> dict[str, int]:
        """Return the totals of all processes."""
        self.bring()
        return self.connection.counts("totals")

    def bring(self) -> None:
        """Give a sign of life, and bring what was counted to the servers.

        Raises:
            StoreError: they cannot be reached; it will be brought another time.
        """
        with self._lock:
            counts, self._counts = self._counts, Counter()
        flat = (part for pair in counts.items() if pair[1] for part in pair)
        is_done = False
        try:
            answer = self.connection.run("beat", self.name, self.lease_milliseconds, *flat)
            is_done = answer != _NO_INDEX
        finally:
            if not is_done:
                with self._lock:
                    self._counts.update(counts)
        if not is_done:
            raise StoreError(f"{self.connection} was deleted; it is made anew with the next page")

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

    def _rest(self) -> None:
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _beat(self) -> None:
        while not self._is_over.wait(LEASE / _BEATS):
            with suppress(StoreError):  # the next call of the index raises it
                self.bring()

    def _values_of(self, others: list[bytes], name: str) -> list[str]:
        """Return the values of an option that others have otherwise."""
        mine = self._options.get(name)
        theirs = (json.loads(each).get(name, mine) for each in others)
        return sorted({str(value) for value in theirs if value != mine})

    def _warn_of_eviction(self) -> None:
        """Say in the log that a server may delete keys; nodes of a cluster are set alike."""
        try:
            told = self.connection.call(lambda client: client.info("memory"))
        except StoreError:  # it does not let its settings be read
            return
        # Others than "allkeys-..." delete keys with a time to live: records, if pages expire.
        has_expiry = self._options.get("expire_days") is not None
        evicts = told["maxmemory_policy"].startswith(("allkeys", "volatile")[: 1 + has_expiry])
        if told["maxmemory"] and evicts:
            logger.warning(
                "%s: its server deletes keys when its memory is full (maxmemory-policy %s), and "
                "pages like those that it forgets are kept again; set it to noeviction",
                self.connection,
                told["maxmemory_policy"],
            )


def read_meta(connection: Connection) -> dict[bytes, bytes]:
    """Return what an index says of itself; nothing if there is none.

    Raises:
        ConfigError: other keys are there under its name, or it is of an older format.
        StoreTooNew: it is of a newer one.
    """
    name = connection.keys.named("meta")
    kind = connection.ask("TYPE", name)
    if kind == b"none":
        return {}
    meta: dict[bytes, bytes] = connection.ask("HGETALL", name) if kind == b"hash" else {}
    if b"scheme" not in meta or not meta.get(b"format", b"").isdigit():
        raise _other_keys(connection)
    its_own = int(meta[b"format"])
    if its_own != FORMAT:
        fault = StoreTooNew if its_own > FORMAT else ConfigError
        raise fault(
            f"{connection} is of format {its_own}, and this version reads {FORMAT}: install the "
            f"version that made it, or {_OTHER_NAME}"
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


def _other_keys(connection: Connection) -> ConfigError:
    return ConfigError(
        f"{connection}: other keys are there under dedup:{{{connection.address.name}}}; "
        f"{_OTHER_NAME}"
    )
