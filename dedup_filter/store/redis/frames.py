"""Frame updates of hosts, one list a host: what any process counts, the others count, too.

    pages counted       -> their updates, added to the lists of their hosts and sites
    page to be judged   -> updates of its host that were added since the list was read last

The host of each process is the sum of the list, and of its own pages for which the list has no
room: whole updates of the first `MOST_UPDATES` pages, later only the evidence of visits and of
pages that repeat others otherwise (`HostContext.updates`). No rule depends on whether many pages
showed a block, so an update leaves out blocks that are known to be shown by enough pages.

A process skips its own updates when it reads them. If it does not know whether an update was added,
or if a list was lost, it forgets the host and reads the list from its beginning. Damaged entries
and entries of another format are skipped.

Cost: no wait, because updates go with the first call for the next page, and so do the look-ups.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import xxhash

from dedup_filter.config import expiry_seconds
from dedup_filter.frames.host_frames import FrameUpdate, Host, pack, unpack
from dedup_filter.store.redis.connection import Command, Connection
from dedup_filter.text.content import ANY_MENU

MOST_UPDATES: Final = 32
"""Whole updates in the list of a host: more change no verdicts (docs/decisions)."""
_MOST_ENTRIES = 1_000
"""Entries of a list: whole updates, and evidence."""
_DAYS = 30
"""Days until a list expires, if `expire_days` is not set."""
_MOST_BLOCKS = 1_000
"""Most blocks in an update that is sent, half of them from each end of its page: 8 kB."""
_EVIDENCE = 2
"""Kind of an entry that counts even if all is known; 1: of a kept page, 0: of a dropped one."""
_MENTIONS = 3
"""Number of times a block is sent: then it is frame of most of the first pages."""


class Added(NamedTuple):
    """An entry of a list."""

    kind: int
    shown: list[int]

    def counted_for(self, host: Host) -> FrameUpdate:
        """Return the update of a host."""
        if self.kind == _EVIDENCE:
            return FrameUpdate(False, [*dict.fromkeys(self.shown)])
        return host.update_of(self.shown, is_kept=bool(self.kind))


@dataclass(slots=True)
class _List:
    place: int = 0
    """Number of entries that were read, or added here."""
    own: set[int] = field(default_factory=set)
    """Places from `place` on of entries that were added here."""


class FrameLists:
    """The lists, as one process reads and writes them; `seconds`: until a list expires."""

    def __init__(self, connection: Connection, seconds: int | None) -> None:
        self._connection = connection
        self._seconds = expiry_seconds(_DAYS) if seconds is None else seconds
        self._lists: dict[str, _List] = {}
        self._to_send: list[tuple[str, bytes]] = []

    def add(self, host: Host, update: FrameUpdate, page: Collection[int]) -> None:
        """Send an update with the next call, if the list has room.

        `host`: before the update is counted. `page`: hashes of the page; others are evidence.
        """
        place = self._lists[host.name].place if host.name in self._lists else 0
        if place < MOST_UPDATES:
            known = host.sightings.get
            shown = [
                each
                for each in update.shown
                if each in page and (known(each, 0) < _MENTIONS or each == ANY_MENU)
            ]
            if len(shown) > _MOST_BLOCKS:  # the frame stands at the beginning and the end
                shown = shown[: _MOST_BLOCKS // 2] + shown[-_MOST_BLOCKS // 2 :]
            if shown:
                self._to_send.append((host.name, pack(int(update.is_kept), shown)))
        evidence = [each for each in update.shown if each not in page]
        if evidence and place < _MOST_ENTRIES:
            self._to_send.append((host.name, pack(_EVIDENCE, evidence)))

    def commands(self, names: Sequence[str]) -> list[Command]:
        """Return the commands that send what is to be sent, and read lists from their places."""
        key = self._key
        sent = [("RPUSH", key(name), packed) for name, packed in self._to_send]
        expiries = [("EXPIRE", key(name), self._seconds) for name in dict(self._to_send)]
        places = [self._lists[each].place if each in self._lists else 0 for each in names]
        reads = [("LRANGE", key(name), at, -1) for name, at in zip(names, places, strict=True)]
        return [*sent, *expiries, *reads]

    def answered(
        self, names: Sequence[str], answers: Sequence[Any]
    ) -> tuple[list[str], list[tuple[str, Added]]]:
        """Take the answers: return the hosts that the caller forgets, and the updates of others."""
        lost, updates = list[str](), list[tuple[str, Added]]()
        for (name, _), length in zip(self._to_send, answers, strict=False):
            known = self._lists.setdefault(name, _List())
            known.own.add(length - 1)
            if length <= known.place:  # another list: the old one expired, or was lost
                lost.append(name)
        found = answers[len(answers) - len(names) :]
        self._to_send.clear()
        for name, entries in zip(names, found, strict=True):
            if entries and name not in lost:
                updates += ((name, update) for update in self._read(name, entries))
        return lost, updates

    @property
    def has_unsent(self) -> bool:
        """Whether updates are to be sent."""
        return bool(self._to_send)

    def is_read(self, name: str) -> bool:
        """Return whether the list of a host was read, and had entries."""
        return name in self._lists

    def unsent(self) -> list[str]:
        """Return the hosts whose updates were sent without an answer; forget these updates."""
        names = [name for name, _ in self._to_send]
        self._to_send.clear()
        return names

    def forget(self, name: str) -> None:
        """Forget how far the list of a host was read."""
        self._lists.pop(name, None)

    def restore(self, host: Host) -> bool:
        """Add updates that make the frame of a host, if it has none; return whether it had none.

        Of blocks that one page has shown only the latest are restored.
        """
        key, shown = self._key(host.name), host.sightings
        if self._connection.ask("EXISTS", key):
            return False
        once = [block for block, times in shown.items() if times == 1][-_MOST_BLOCKS:]
        known = [*once, *(block for block, times in shown.items() if times > 1)]
        pages = min(host.pages, MOST_UPDATES)
        most = {ANY_MENU: MOST_UPDATES * shown.get(ANY_MENU, 0) // max(host.pages, MOST_UPDATES)}
        times = {block: min(shown[block], most.get(block, _MENTIONS)) for block in known}
        entries = [pack(1, [])] * pages + [
            pack(_EVIDENCE, [block for block in known if times[block] > already])
            for already in range(max(times.values(), default=0))
        ]
        if entries:
            add = ("RPUSH", key, *entries)
            self._connection.ask_all([add, ("EXPIRE", key, self._seconds)])
        return True

    def all_of(self, name: str) -> list[Added]:
        """Return all updates of a host; none is counted as read."""
        found = self._connection.ask("LRANGE", self._key(name), 0, -1)
        return [*_opened(found)]

    def _read(self, name: str, entries: Sequence[bytes]) -> Iterator[Added]:
        known = self._lists.setdefault(name, _List())
        places = range(known.place, known.place + len(entries))
        foreign = [entry for at, entry in zip(places, entries, strict=True) if at not in known.own]
        known.place += len(entries)
        known.own.clear()
        yield from _opened(foreign)

    def _key(self, name: str) -> str:
        hashed = xxhash.xxh3_64_intdigest(name.encode("utf-8", "surrogatepass"))
        return self._connection.part("f", hashed)


def _opened(entries: Sequence[bytes]) -> Iterator[Added]:
    for entry in entries:
        with suppress(ValueError):
            kind, shown, _ = unpack(entry)
            yield Added(kind, shown)
