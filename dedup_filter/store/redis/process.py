"""A process that takes part in a shared index: it joins, sends heartbeats, and leaves.

    join     make the index if there is none, and begin or join a crawl
    count    outcomes of pages -> the totals of all processes, with the next heartbeat
    leave    release the pending pages of the process

A process holds its pending pages by a lease. When the lease is over, the next call of any process
releases the pages. A thread renews the lease, because a crawl may make no calls for a while.
"""

import json
import logging
import secrets
from collections import Counter, deque
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain
from threading import Event, Lock, Thread
from typing import Any, Final, NoReturn

from dedup_filter.errors import ConfigError, StoreCorrupt, StoreError, StoreTooNew
from dedup_filter.store.records import Scheme
from dedup_filter.store.redis.connection import Connection
from dedup_filter.store.redis.records import FORMAT

logger = logging.getLogger(__name__)

LEASE: Final = 30.0
"""Seconds without a heartbeat after which the pending pages of a process are released."""
_BEATS = 3
"""Heartbeats in the time of a lease."""
_OTHER_SCOPE = _NO_INDEX = -1
_OTHER_NAME = "choose another name (?name=...)"
_REMEDY = f"go back to what it was made with, or {_OTHER_NAME}"


class Process:
    """A process of a shared index, in a crawl with or without a name.

    `options`: the options that all processes should have alike.
    """

    def __init__(
        self, connection: Connection, scheme: Scheme, crawl: str | None, options: Mapping[str, Any]
    ) -> None:
        self.connection = connection
        self.name = secrets.token_hex(8)
        self.crawl = 0
        """The number of the crawl; 0: not joined yet."""
        self.index = b""
        """Random bytes that identify the index: an index made anew has other bytes."""
        self._scheme = scheme
        self._crawl_name = crawl or ""
        self._options = json.loads(json.dumps(options))  # other processes' come from JSON too
        self._counted: deque[tuple[str, int]] = deque()
        self._unbrought: Counter[str] = Counter()
        self._is_bringing = Lock()
        self._is_over = Event()
        self._thread = Thread(target=self._beat, name="dedup_filter lease", daemon=True)

    def join(self) -> None:
        """Join the index, make it if there is none, and begin or join a crawl.

        The log warns if running processes have other options, because each process judges its
        pages by its own options. The log also warns if a server may evict keys.

        Raises:
            ConfigError: running processes have another scope; verdicts could not agree.
            ConfigError, SchemeMismatch, StoreCorrupt, StoreTooNew: as `refuse` does.
        """
        other = self.join_again()
        if other:
            logger.warning(
                "%s: crawlers are at work on it with other options than this one: %s; "
                "what is kept depends on which of them meets a page; give all the same",
                self.connection,
                ", ".join(f"{n} ({other[n]} there, {self._options[n]} here)" for n in other),
            )
        with suppress(StoreError):  # some servers do not let clients read their settings
            memory = self.connection.call(lambda client: client.info("memory"))
            if memory["maxmemory"] and memory["maxmemory_policy"] != "noeviction":
                logger.warning(
                    "%s: its server deletes keys when its memory is full (maxmemory-policy %s), "
                    "and pages like those that it forgets are kept again; set it to noeviction",
                    self.connection,
                    memory["maxmemory_policy"],
                )
        self._thread.start()

    def join_again(self) -> dict[str, str]:
        """Join as before; make the index anew if it is gone.

        Returns: option -> its values in other processes, for each option that differs.
        """
        index = FORMAT, self._scheme.to_json(), secrets.token_hex(8)
        about = self._crawl_name, json.dumps(self._options, sort_keys=True)
        found = self.connection.run("join", *index, self.crawl, *self.lease, *about)
        number, identity, others = found
        differing = {}
        for name, mine in self._options.items():
            values = {str(json.loads(each).get(name, mine)) for each in others} - {str(mine)}
            if values:
                differing[name] = " or ".join(sorted(values))
        if number == _OTHER_SCOPE:
            raise ConfigError(
                f"scope={self._options['scope']} cannot be chosen now: crawlers with "
                f"scope={differing['scope']} are at work on "
                f"{self.connection}; choose the same, wait until they have ended (one that was "
                f"killed counts as at work for {LEASE:.0f} seconds), or {_OTHER_NAME}"
            )
        if not number:
            refuse(self.connection, self._scheme)
        self.crawl, self.index = int(number), identity
        return differing

    @property
    def lease(self) -> tuple[str, int]:
        """The name of the process, and the length of its lease in milliseconds."""
        return self.name, int(1_000 * LEASE)

    def count(self, name: str, more: int = 1) -> None:
        """Add to a total; `more` may be negative."""
        self._counted.append((name, more))  # append of a deque is atomic

    def bring(self) -> None:
        """Send a heartbeat with all counts; if the call fails, the next one sends the counts."""
        with self._is_bringing:
            while self._counted:
                name, more = self._counted.popleft()
                self._unbrought[name] += more
            counts = chain.from_iterable(self._unbrought.items())
            if self.connection.run("beat", *self.lease, *counts) == _NO_INDEX:
                raise StoreError(
                    f"{self.connection} was deleted; it is made anew with the next page"
                )
            self._unbrought.clear()

    def leave(self) -> None:
        """Send all counts, release the pending pages, and leave the index."""
        self._rest()
        self.bring()
        self.connection.run("leave", self.name)

    def close(self) -> None:
        """Stop the heartbeats and close the connections; the lease runs out by itself."""
        self._rest()
        self.connection.close()

    def _rest(self) -> None:
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _beat(self) -> None:
        while not self._is_over.wait(LEASE / _BEATS):
            with suppress(StoreError):  # the next call of the index raises it
                self.bring()


def read_meta(connection: Connection) -> dict[bytes, bytes]:
    """Return the metadata of an index; an empty dict if there is no index.

    Raises:
        ConfigError: other keys have the name of the index, or its format is older.
        StoreTooNew: the format of the index is newer.
    """
    name = connection.key("meta")
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
            f"{connection} is of format {its_own}, and this version of dedup-filter reads format "
            f"{FORMAT}: install the version that made it, or {_OTHER_NAME} and fill it with "
            "`dedup-filter see` from the feeds of earlier crawls"
        )
    return meta


def refuse(connection: Connection, scheme: Scheme) -> NoReturn:
    """Raise the reason why a process with this scheme cannot write to an index.

    Raises:
        SchemeMismatch, StoreCorrupt: the index has fingerprints of another or an unknown scheme.
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
