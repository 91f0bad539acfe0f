"""Calls of one process to the servers of an index: several pages read ahead, writes wait.

    GETs for several pages        -> values, in one round trip
    the same GET for one of them  -> the value as it was then, in none
    a write of this process       -> an entry is added to the value, or the value is forgotten
    a write that nobody waits for -> sent before the next commands, in their round trip

What others have written since is not in a value. So claims read anew (`is_fresh`), records whose
heads have changed are forgotten each second (`check`), and all values after `_LONGEST` seconds.
Writes that wait go on waiting while no server can be reached, and may be sent twice; if a server
refuses one of them, they are lost.
"""

from collections.abc import Iterable, Sequence
from time import monotonic
from typing import Any

from dedup_filter.errors import StoreAway
from dedup_filter.store.redis.connection import Command, Connection, key_of

_LONGEST = 10.0
"""Seconds for which a value counts: a process may stop between two pages."""
_UNCHECKED = 1.0
"""Seconds for which a record counts whose head was not compared."""


class Calls:
    """Commands, as `Connection.ask_all` takes them; all methods raise as it does."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._values: dict[str, bytes | None] = {}
        self._until = self._checked = 0.0
        self._waiting: list[Command] = []

    @property
    def are_ahead(self) -> bool:
        """Whether the values that are read are kept, and count."""
        return monotonic() < self._until

    def read_ahead(self) -> None:
        """Keep the values that are read from now on."""
        self._values.clear()
        self._checked = monotonic()
        self._until = self._checked + _LONGEST

    def read_anew(self) -> None:
        """Forget all values."""
        self._values.clear()
        self._until = 0.0

    def check(self, records: str, size: int) -> None:
        """Forget records whose heads, `size` bytes, have changed; their keys begin with `records`.

        Cost: one round trip in `_UNCHECKED` seconds.
        """
        if self.are_ahead and monotonic() >= self._checked + _UNCHECKED:
            heads = {k: v[:size] for k, v in self._values.items() if v and k.startswith(records)}
            asks = [("GETRANGE", key, 0, size - 1) for key in heads]
            there = zip(heads, self._connection.ask_all(asks), strict=True)
            self._checked = monotonic()
            self.forget(key for key, head in there if head != heads[key])

    def keep(self, key: str, value: bytes) -> None:
        """Keep a value that this process has written."""
        if self.are_ahead:
            self._values[key] = value

    def forget(self, keys: Iterable[str]) -> None:
        """Forget some values."""
        for key in keys:
            self._values.pop(key, None)

    def ask_all(self, commands: Sequence[Command], *, is_fresh: bool = False) -> list[Any]:
        """Return the answers to commands; values that are known cost no round trip."""
        known = self._values if self.are_ahead and not is_fresh else {}
        found = {
            at: known[key]
            for at, (name, key, *_) in enumerate(commands)
            if name == "GET" and key in known
        }
        unknown = [each for at, each in enumerate(commands) if at not in found]
        answers = iter(self._sent(unknown) if unknown else [])
        return [found[at] if at in found else next(answers) for at in range(len(commands))]

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
            self.keep(key, answer)
        elif command[0] != "APPEND":
            self.forget([key])
        elif key in self._values:
            self._values[key] = (self._values[key] or b"") + command[2]
