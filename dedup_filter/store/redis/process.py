"""A process that takes part in a shared index: it joins, sends heartbeats, and leaves.

    join     make the index if there is none, and begin or join a crawl
    number   numbers for pages, taken from the servers in blocks
    beat     renew the lease of the process and of its undecided records; outcomes -> totals
    leave    send the last counts, and end the lease
    lost     has another process neither left nor gone on with its beats?

Records of undecided pages expire when their lease is over, unless their process renews it. A thread
does, because a crawl may make no calls for a while. So the pages of a dead process are gone after
`LEASE` seconds, and a record that a server has lost and got back is gone, too.

A killed process stays listed without a lease, until its pages have expired: what it kept may be in
no feed, so its pages are kept when they come again, also in the same crawl.
"""

import json
import logging
import secrets
from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import inf
from threading import Event, Lock, Thread
from time import monotonic, sleep
from time import time as now
from typing import Any, Final, NoReturn

from dedup_filter.errors import ConfigError, StoreCorrupt, StoreError, StoreTooNew
from dedup_filter.store.records import Scheme
from dedup_filter.store.redis.connection import Command, Connection
from dedup_filter.store.redis.layout import Layout
from dedup_filter.store.redis.records import FORMAT, TOKEN_BYTES
from dedup_filter.wording import counted

logger = logging.getLogger(__name__)

LEASE: Final = 30
"""Seconds without a heartbeat after which a process counts as dead."""
_BEATS = 30
"""Heartbeats in the time of a lease."""
_MISSED = 3
"""Heartbeats without which the pages of a process are taken for those of a killed one."""
_PAUSE = 0.05
_BLOCK = 256
"""Numbers of pages that a process takes at once."""
_TOO_MANY = 10
"""An index with so many times the pages for which it was made is slow."""
_OTHER_SCOPE = -1
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
        self.name = secrets.token_bytes(TOKEN_BYTES)
        self.crawl = 0
        """The number of the crawl; 0: not joined yet."""
        self.layout = Layout(0)
        """The buckets of the index."""
        self.renewals: Callable[[], list[Command]] = list
        """Returns the commands that renew the leases of undecided pages."""
        self._identity = b""
        self._joined = 0.0
        self._are_lost: dict[bytes, tuple[bool, float]] = {self.name: (False, inf)}
        """Process -> whether it is lost, and until when that counts."""
        self._is_deleted = False
        self._numbers = range(0)
        self._scheme = scheme
        self._crawl_name = crawl or ""
        self._options_json = json.dumps(options, sort_keys=True)
        self._options = json.loads(self._options_json)  # other processes' come from JSON too
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
        other = self._join_again()
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

    def number(self) -> int:
        """Return a number that no other page has."""
        if self._is_deleted or not self._numbers:
            if not self._is_there():
                logger.warning("%s was deleted, and is made anew", self.connection)
                self._join_again()
            self._is_deleted = False
            self._numbers = new_numbers(self.connection)
            last = self._numbers[-1]
            if last - len(self._numbers) < _TOO_MANY * self.layout.expected <= last:
                logger.warning(
                    "%s: it has room for %s, and %s were judged by now: each page reads ten times "
                    "what it should; export it, and import it into one with ?pages=%g",
                    self.connection,
                    counted(self.layout.expected, "page"),
                    counted(last, "page"),
                    10 * last,
                )
        number, self._numbers = self._numbers[0], self._numbers[1:]
        return number

    def count(self, name: str, more: int = 1) -> None:
        """Add to a total; `more` may be negative."""
        self._counted.append((name, more))  # append of a deque is atomic

    def bring(self) -> None:
        """Send a heartbeat with all counts; if the call fails, the next one sends the counts."""
        with self._is_bringing:
            while self._counted:
                name, more = self._counted.popleft()
                self._unbrought[name] += more
            self._is_deleted = self._is_deleted or not self._is_there()
            if self._is_deleted:
                raise StoreError(
                    f"{self.connection} was deleted; it is made anew with the next page"
                )
            key, name = self.connection.key, self.name.hex()
            counts = [("HINCRBY", key("totals"), *each) for each in self._unbrought.items()]
            lease = "SET", key(f"process:{name}"), int(now()), "EX", LEASE
            had_lease, *_ = self.connection.ask_all([("EXISTS", lease[1]), lease, *counts])
            self._unbrought.clear()
            if not had_lease:  # another process may have taken this one for a dead one
                entry = f"{self.crawl} {self._options_json}"
                self.connection.ask("HSET", key("processes"), name, entry)
            self.connection.ask_all(self.renewals())

    def is_lost(self, name: bytes) -> bool:
        """Return whether a process was killed: it has not left the index, and shows no life.

        Cost: a round trip, one in the time of a heartbeat for all pages of a process. If it may
        have been killed just before this one joined, waits for its heartbeat, or until three are
        missing.
        """
        key = self.connection.key
        asks = [("HGET", key("processes"), name.hex()), ("PTTL", key(f"process:{name.hex()}"))]
        is_lost, until = self._are_lost.get(name, (False, 0.0))
        while (moment := monotonic()) >= until:
            listed, left = self.connection.ask_all(asks)
            silence, is_over = LEASE - left / 1000, listed is None or left < 0
            is_silent = silence > _MISSED * LEASE / _BEATS
            is_lost = listed is not None if is_over else is_silent
            # A heartbeat counts that came since this process has joined.
            if is_over or is_silent or silence < moment - self._joined:
                until = inf if is_over else moment + LEASE / _BEATS
                self._are_lost[name] = is_lost, until
            else:
                sleep(_PAUSE)
        return is_lost

    def leave(self) -> None:
        """Send all counts, and leave the index, if it was not deleted."""
        self._rest()
        if not self._is_there():
            return
        self.bring()
        key, name = self.connection.key, self.name.hex()
        self.connection.ask_all(
            [
                ("HSET", key("ended"), self.crawl, int(now())),
                ("HDEL", key("processes"), name),
                ("UNLINK", key(f"process:{name}")),
            ]
        )

    def close(self) -> None:
        """Stop the heartbeats and close the connections; the lease runs out by itself."""
        self._rest()
        self.connection.close()

    def _join_again(self) -> dict[str, str]:
        """Join the index; make it if there is none, or if it was deleted since.

        Returns: option -> its values in other processes, for each option that differs.
        """
        is_back, index = bool(self.crawl), new_index(self.connection, self._scheme)
        about = self.name.hex(), LEASE, self._options_json, self._crawl_name, int(now()), self.crawl
        self._joined = monotonic()
        crawl, others = self.connection.run("join", *index, *about)
        if not crawl:
            refuse(self.connection, self._scheme)
        if others and not is_back:
            logger.info(
                "%s: this crawler joins crawl %d, with %s at work (one that was killed counts as "
                "at work for %d seconds)",
                self.connection,
                crawl,
                counted(len(others), "crawler"),
                LEASE,
            )
        differing = {}
        for name, mine in self._options.items():
            values = {str(json.loads(each).get(name, mine)) for each in others} - {str(mine)}
            if values:
                differing[name] = " or ".join(sorted(values))
        if crawl == _OTHER_SCOPE:
            raise ConfigError(
                f"scope={self._options['scope']} cannot be chosen now: crawlers with "
                f"scope={differing['scope']} are at work on "
                f"{self.connection}; choose the same, wait until they have ended (one that was "
                f"killed counts as at work for {LEASE} seconds), or {_OTHER_NAME}"
            )
        meta = read_meta(self.connection)
        self.crawl, self._identity = int(crawl), meta[b"id"]
        self.layout.bits, self.layout.has_tables = int(meta[b"bits"]), meta[b"tables"] == b"1"
        return differing

    def _is_there(self) -> bool:
        """Return whether the index is the one that was joined."""
        its_own: bytes = self.connection.ask("HGET", self.connection.key("meta"), "id")
        return its_own == self._identity

    def _rest(self) -> None:
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _beat(self) -> None:
        while not self._is_over.wait(LEASE / _BEATS):
            with suppress(StoreError):  # the next call of the index raises it
                self.bring()


def new_index(connection: Connection, scheme: Scheme) -> tuple[object, ...]:
    """Return what an index is made with, if there is none."""
    address = connection.address
    bits, tables = Layout.bits_for(address.expected), int(address.has_tables)
    return FORMAT, scheme.to_json(), secrets.token_hex(8), bits, tables


def new_numbers(connection: Connection) -> range:
    """Take numbers that no other page has."""
    last = int(connection.ask("INCRBY", connection.key("ids"), _BLOCK))
    return range(last - _BLOCK + 1, last + 1)


def totals_of(connection: Connection) -> dict[str, int]:
    """Return how many pages all processes have judged, by outcome."""
    # Counts that a server has lost may be subtracted later.
    return {name: count for name, count in connection.counts("totals").items() if count > 0}


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
            f"{FORMAT}: export it with the version that made it, and import it under another name "
            "(?name=...)"
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
