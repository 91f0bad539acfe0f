"""Frame updates, exchanged with other processes: read before a page is judged, sent when counted.

    page to be judged   -> updates of its host that others sent since the last read    received
    page counted        -> its update, without blocks that were sent twice already     send

Only the first `MOST_UPDATES` updates of each host are exchanged: by then every process knows the
host's frame. No rule depends on whether more than two pages showed a block, so blocks that the list
holds twice are left out of an update. The update of a dropped page has only blocks not shown before
(`frames`), so one mention of each of its blocks is enough.

    process 8   number 8   update (`frames`)

The entries of a process have ascending numbers. So no entry is counted twice, even if the servers
have lost entries or a list is read from its beginning again. A process skips its own entries,
unless it has forgotten the host since. Damaged entries and entries of another format are skipped.

Cost: one call to read and one to send for each page; none once a host's list is full and was read.
"""

import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from dedup_filter.config import expiry_seconds
from dedup_filter.errors import StoreError
from dedup_filter.frames.host_frames import FrameUpdate
from dedup_filter.store.redis.connection import Connection
from dedup_filter.text.content import ANY_MENU

MOST_UPDATES: Final = 32
"""Updates in the list of a host: more change no verdicts (docs/decisions)."""
_LIST_DAYS = 30
"""Days until a list expires, if `expire_days` is not set."""

_HEAD = struct.Struct("<8sQ")
_MOST_BLOCKS = 1_000
"""Most blocks in an update that is sent, half of them from each end of its page: 8 kB."""
_MOST_LISTED = 500_000
"""Most blocks of the lists of all hosts that are held in memory: 50 MB. Beyond it, all lists are
read anew when they are needed."""
_MENTIONS = 2
"""Number of times a block is sent; no rule depends on further mentions."""


class UpdateLists:
    """The lists of updates on the servers, as one process reads and writes them.

    A list expires some time after its last update was added. Cost: one call for each method.
    """

    def __init__(self, connection: Connection, process: str, seconds: int | None) -> None:
        self.process = bytes.fromhex(process)
        """The unique 8 bytes of this process."""
        self._connection = connection
        self._seconds = expiry_seconds(_LIST_DAYS) if seconds is None else seconds

    def read(self, host: str, first: int) -> list[bytes]:
        """Return the updates of a host from number `first` on, counted from 0."""
        name = self._connection.frame_key(host)
        found: list[bytes] = self._connection.ask("LRANGE", name, first, -1)
        return found

    def add(self, host: str, update: bytes) -> int:
        """Add an update to the list of a host, unless it is full; return the list's length."""
        name = self._connection.frame_key(host)
        given = update, MOST_UPDATES, self._seconds
        return int(self._connection.run("add_update", *given, key=name))


@dataclass(slots=True)
class _Host:
    place: int = 0
    """Number of entries read from the host's list."""
    is_full: bool = False
    counted: dict[bytes, int] = field(default_factory=dict)
    """Process -> number of its last update that was counted here."""
    listed: Counter[int] = field(default_factory=Counter)
    """Block -> number of entries read that mention the block."""

    def follow(self, count: int, sent: FrameUpdate) -> None:
        """Record the length of the list after an update was appended."""
        self.is_full = count >= MOST_UPDATES
        if count <= self.place:  # a new list: the old one expired or was lost
            self.place = 0
            self.listed.clear()
        elif count == self.place + 1 and not self.is_full:
            self.place = count
            self.listed.update(sent.shown)

    def unlisted(self, update: FrameUpdate) -> list[int]:
        """Return the blocks of an update that the list does not mention often enough.

        Each update sent for a kept page with a menu has `ANY_MENU`: see `HostContext`, print views.
        """
        most = _MENTIONS if update.is_kept else 1
        found = [block for block in update.shown if self.listed[block] < most]
        is_missing = ANY_MENU not in found and ANY_MENU in update.shown
        return [*found, ANY_MENU] if found and update.is_kept and is_missing else found


class FrameExchange:
    """Reads the updates of other processes, and sends the updates of this process."""

    def __init__(self, lists: UpdateLists) -> None:
        self._lists = lists
        self._hosts: dict[str, _Host] = {}
        self._listed_blocks = 0
        """Number of blocks in memory of the lists of all hosts."""
        self._number = 0

    @property
    def nbytes(self) -> int:
        """Estimated memory in bytes."""
        return 400 * len(self._hosts) + 100 * self._listed_blocks

    def received(self, host: str) -> list[FrameUpdate]:
        """Return the updates of a host that other processes have sent since the last call.

        Raises:
            StoreError: the list cannot be read; the next call returns its updates.
        """
        known = self._hosts.get(host) or _Host()
        if known.place >= MOST_UPDATES:
            return []
        entries = self._lists.read(host, known.place)
        if not entries:
            return []
        with self._bounded(host, known):  # a host without entries needs no memory
            known.place += len(entries)
            updates = [update for entry in entries if (update := _opened(known, entry))]
            if known.place >= MOST_UPDATES:
                known.is_full = True
                known.listed.clear()
        return updates

    def send(self, host: str, update: FrameUpdate) -> None:
        """Send the update of a page to other processes; ignore an unreachable server."""
        known = self._hosts.get(host) or _Host()
        shown = [] if known.is_full else known.unlisted(update)
        if not shown:
            return
        if len(shown) > _MOST_BLOCKS:  # the frame of a page stands at its beginning and its end
            shown = shown[: _MOST_BLOCKS // 2] + shown[-_MOST_BLOCKS // 2 :]
        self._number += 1
        # Set before sending: the entry may be added although its answer is lost.
        known.counted[self._lists.process] = self._number
        sent = FrameUpdate(update.is_kept, shown)
        packed = _HEAD.pack(self._lists.process, self._number) + sent.to_bytes()
        with self._bounded(host, known), suppress(StoreError):  # the page stays committed
            known.follow(self._lists.add(host, packed), sent)

    def forget(self, host: str) -> None:
        """Forget a host; the next `received` reads its list from the beginning."""
        known = self._hosts.pop(host, None)
        self._listed_blocks -= 0 if known is None else len(known.listed)

    def read_anew(self) -> None:
        """Read all lists from their beginnings again; no entry is counted twice."""
        for known in self._hosts.values():
            known.place, known.is_full = 0, False
            known.listed.clear()
        self._listed_blocks = 0

    @contextmanager
    def _bounded(self, host: str, known: _Host) -> Iterator[None]:
        """Store a host whose list changes in the block, and bound the memory of all lists."""
        self._hosts[host] = known
        before = len(known.listed)
        yield
        self._listed_blocks += len(known.listed) - before
        if self._listed_blocks > _MOST_LISTED:
            self.read_anew()


def _opened(known: _Host, entry: bytes) -> FrameUpdate | None:
    try:
        process, number = _HEAD.unpack_from(entry)
        update = FrameUpdate.from_bytes(entry[_HEAD.size :])
    except (struct.error, ValueError):
        return None
    known.listed.update(known.unlisted(update))
    if number <= known.counted.get(process, 0):
        return None
    known.counted[process] = number
    return update
