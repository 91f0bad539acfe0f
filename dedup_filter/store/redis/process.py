"""A process that takes part in a shared index: it joins, gives signs of life, and leaves.

    join     the index is made if there is none, and a crawl begun or joined
    count    what pages were found to be -> the totals of all processes, with the next sign of life
    leave    what the process has pending is released

A process holds its pending pages by a lease. When that is over the next call of any process
releases them. A thread renews it: a crawl may have nothing to ask for a while.
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
"""Seconds after which a process that gives no sign of life holds no page any more."""
_BEATS = 3
"""Signs of life in the time of a lease."""
_OTHER_SCOPE = _NO_INDEX = -1
_OTHER_NAME = "choose another name (?name=...)"
_REMEDY = f"go back to what it was made with, or {_OTHER_NAME}"


class Process:
    """One that takes part, in a crawl of a name or of none.

    `options` are those that all processes should have alike.
    """

    def __init__(
        self, connection: Connection, scheme: Scheme, crawl: str | None, options: Mapping[str, Any]
    ) -> None:
        self.connection = connection
        self.name = secrets.token_hex(8)
        self.crawl = 0
        """Its number; 0: not joined yet."""
        self.index = b""
        """Random bytes, by which the index is told from one made anew under its name."""
        self._scheme = scheme
        self._crawl_name = crawl or ""
        self._options = json.loads(json.dumps(options))  # as others have written theirs
        self._counted: deque[tuple[str, int]] = deque()
        self._unbrought: Counter[str] = Counter()
        self._is_bringing = Lock()
        self._is_over = Event()
        self._thread = Thread(target=self._beat, name="dedup_filter lease", daemon=True)

    def join(self) -> None:
        """Take part in the index, make it if there is none, and begin or join a crawl.

        A warning says if others that are at work have other options, as each page is judged by
        those of who meets it; or if a server may evict what it holds.

        Raises:
            ConfigError: others are at work with another scope, which cannot agree on what is kept.
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
        with suppress(StoreError):  # some do not let their settings be read
            told = self.connection.call(lambda client: client.info("memory"))
            if told["maxmemory"] and told["maxmemory_policy"] != "noeviction":
                logger.warning(
                    "%s: its server deletes keys when its memory is full (maxmemory-policy %s), "
                    "and pages like those that it forgets are kept again; set it to noeviction",
                    self.connection,
                    told["maxmemory_policy"],
                )
        self._thread.start()

    def join_again(self) -> dict[str, str]:
        """Join as before; make the index anew if it is gone.

        Return the options that others have otherwise, and what these are.
        """
        index = FORMAT, self._scheme.to_json(), secrets.token_hex(8)
        told = self._crawl_name, json.dumps(self._options, sort_keys=True)
        found = self.connection.run("join", *index, self.crawl, *self.lease, *told)
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
        """Its name, and the milliseconds for which each sign of life is good."""
        return self.name, int(1_000 * LEASE)

    def count(self, name: str, more: int = 1) -> None:
        """Add to a total, or take away from it."""
        self._counted.append((name, more))  # which is one step, whatever the thread

    def bring(self) -> None:
        """Give a sign of life, with what was counted; if that fails, it is brought next time."""
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
        """Bring what was counted, release what is pending, and take part no more."""
        self._rest()
        self.bring()
        self.connection.run("leave", self.name)

    def close(self) -> None:
        """Give no more signs of life, and close the connections; the lease is left to run out."""
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
    """Return what an index says of itself; nothing if there is none.

    Raises:
        ConfigError: other keys are there under its name, or it is of an older format.
        StoreTooNew: it is of a newer one.
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
            f"{connection} is of format {its_own}, and this version reads {FORMAT}: install the "
            f"version that made it, or {_OTHER_NAME}"
        )
    return meta


def refuse(connection: Connection, scheme: Scheme) -> NoReturn:
    """Raise why servers let nobody with this scheme write to an index.

    Raises:
        SchemeMismatch, StoreCorrupt: its fingerprints were made in another or an unknown way.
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
