"""Values of keys that are read ahead for several pages; writes that wait for the next call.

    GETs for several pages       -> values, in one round trip
    the same GET for one of them -> the value, in none
    a write of this process      -> an entry is added to the value, or the value is forgotten
    a write that nobody waits for -> sent before the next commands, in the same round trip

A value is as it was when it was read, and has this process's own entries since. What others have
written since is not in it. So a claim reads its buckets anew, and a record that may still change is
not kept here. Values are forgotten after `_LONGEST` seconds.

Writes that wait are in memory, in their order. If no server could be reached, they wait on, and may
be sent twice: so they are only writes that can be. If a server refuses one, they are lost.
"""

from collections.abc import Iterable, Sequence
from time import monotonic
from typing import Any

from dedup_filter.errors import StoreAway
from dedup_filter.store.redis.connection import Command, Connection, key_of

_LONGEST = 5.0
"""Seconds for which a value counts: a process may stop between two pages."""


class ReadAhead:
    """Commands of one process to the servers of an index."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._values: dict[str, bytes | None] = {}
        self._until = 0.0
        self._waiting: list[Command] = []

    @property
    def is_on(self) -> bool:
        """Whether the values that are read are kept, and count."""
        return monotonic() < self._until

    @property
    def has_unsent(self) -> bool:
        """Whether writes wait."""
        return bool(self._waiting)

    def start(self) -> None:
        """Keep the values that are read from now on."""
        self._values.clear()
        self._until = monotonic() + _LONGEST

    def stop(self) -> None:
        """Forget all values, and read each anew."""
        self._values.clear()
        self._until = 0.0

    def keep(self, key: str, value: bytes) -> None:
        """Keep a value that this process has written."""
        if self.is_on:
            self._values[key] = value

    def forget(self, keys: Iterable[str]) -> None:
        """Read the values of some keys anew."""
        for key in keys:
            self._values.pop(key, None)

    def ask_all(self, commands: Sequence[Command], *, is_fresh: bool = False) -> list[Any]:
        """Return the answers as `Connection.ask_all` does; none is called if all are known.

        `is_fresh`: values are read anew.
        """
        known = self._values if self.is_on and not is_fresh else {}
        found = {key: known[key] for name, key, *_ in commands if name == "GET" and key in known}
        are_known = [name == "GET" and key in found for name, key, *_ in commands]
        unknown = [each for each, is_known in zip(commands, are_known, strict=True) if not is_known]
        answers = iter(self._sent(unknown) if unknown else [])
        return [
            found[command[1]] if is_known else next(answers)
            for command, is_known in zip(commands, are_known, strict=True)
        ]

    def send_later(self, commands: Iterable[Command]) -> None:
        """Send commands with the next ones. Requires: they can be carried out twice."""
        for command in commands:
            self._waiting.append(command)
            self._follow(command, None)

    def send(self) -> None:
        """Send what waits."""
        if self._waiting:
            self._sent([])

    def _sent(self, commands: Sequence[Command]) -> list[Any]:
        before, self._waiting = self._waiting, []
        try:
            answers = self._connection.ask_all([*before, *commands])[len(before) :]
        except StoreAway:
            self._waiting = before
            raise
        for command, answer in zip(commands, answers, strict=True):
            self._follow(command, answer)
        return answers

    def _follow(self, command: Command, answer: Any) -> None:
        key = key_of(command)
        if command[0] == "GET":
            if self.is_on:
                self._values[key] = answer
        elif command[0] != "APPEND":
            self._values.pop(key, None)
        elif key in self._values:
            self._values[key] = (self._values[key] or b"") + command[2]
