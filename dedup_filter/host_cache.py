"""Hosts and sites, in memory while they are used, else in the store of the index.

    host, blocks of a page -> context of the page: its host and its sites
    update of a kept page  -> counted, and written with the next batch

Expected hosts. While pages of a host are pending, another page of it is judged as if they had been
committed, as most will be. Otherwise concurrent pages would all be judged without a frame, and
pages of one list would count as duplicates of each other. If a page is released, its update is no
longer expected.

Memory: hosts that were used recently are open, at most a quarter of the bound. In an index in
memory, all hosts take at most the bound: beyond it the least recently used are forgotten.

Cost: 0.1 ms for 1,000 blocks to load a host, and the same to write it; 10 us for each 1,000 blocks
of a host with pending pages.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace

from dedup_filter.frames.host_frames import SITE, FrameUpdate, Host, HostContext, no_context
from dedup_filter.store.protocol import Batch, Readable, Waiting
from dedup_filter.text.reading import Shown

MOST_WAITING_OF_HOST = 16
"""Waiting pages of one host; few hosts have more templates."""
_OPEN_SHARE = 1 / 4
_OPEN_BYTES, _OPEN_BLOCK_BYTES = 400, 100
_STORED_BYTES, _STORED_BLOCK_BYTES = 400, 9
"""Memory of a host, and of each of its blocks, open and in a store in memory."""
_MOST_READ = 256
"""Waiting pages that stay in memory as they were read."""
Updates = Mapping[str, FrameUpdate]
"""The updates of a page: name of its host or of a site -> update."""
_NOTHING: Updates = {}


class HostCache:
    """The hosts of an index. `batch`: what the next write brings to the store."""

    def __init__(
        self, store: Readable, batch: Batch, megabytes: float, *, learns_changes: bool = True
    ) -> None:
        self._learns_changes = learns_changes
        self._store, self._batch, self._megabytes = store, batch, megabytes
        self._open: OrderedDict[str, Host] = OrderedDict()
        self._open_blocks = 0
        self._pending: dict[int, Updates] = {}
        """Number of a pending page -> its updates."""
        self._expected: dict[str, Host] = {}
        """Cache of expected hosts; an unexpected update removes its host."""
        self._read: OrderedDict[int, Waiting] = OrderedDict()
        """The latest waiting pages, as they were read. An index in memory has them only here: so
        most of its waiting pages are never packed."""
        self._read_of: dict[str, dict[int, Waiting]] = {}
        """The same by host."""
        self._in_memory: OrderedDict[str, int] | None = None if store.is_durable else OrderedDict()
        """Name -> number of blocks of all hosts of an index in memory, the oldest first."""
        self._blocks_in_memory = 0
        self._latest: HostContext | None = None
        """The last context, if it is still valid."""

    @property
    def nbytes(self) -> int:
        """Estimated memory of open hosts and of pending pages, in bytes."""
        updates = (each for of_page in self._pending.values() for each in of_page.values())
        pending = sum(len(each.shown) for each in updates)
        return self._open_nbytes + _OPEN_BLOCK_BYTES * pending

    def host(self, name: str) -> Host:
        """Return a host, or a site, as it was counted."""
        host = self._open.get(name)
        if host is None:
            host = self._open[name] = self._written(name)
            self._open_blocks += len(host.sightings)
        self._open.move_to_end(name)
        return host

    def context(self, name: str, shown: Shown, own_count: int = 0) -> HostContext:
        """Return the counted host and sites of a page; if `name` is "", the page has no host."""
        if not name:
            return no_context(shown)
        latest, wanted = self._latest, (id(shown), name, own_count)
        if latest is None or (id(latest.shown), latest.host.name, latest.own_count) != wanted:
            latest = HostContext(
                shown, self.host(name), own_count, self._learns_changes, sisters=self.sites(shown)
            )
            self._latest = latest
        return latest

    def sites(self, shown: Shown) -> list[Host]:
        """Return the sites whose pages have the menus of a page."""
        return [self.host(f"{SITE}{menu:016x}") for menu in shown.menus]

    def expected(self, counted: HostContext) -> HostContext:
        """Return a context as it is when all pending pages are committed."""
        if not self._pending:
            return counted
        host, *sites = map(self._expected_host, (counted.host, *counted.sisters))
        return replace(counted, host=host, sisters=sites)

    def expect(self, page: int, updates: Updates) -> None:
        """Expect the updates of a pending page."""
        self._pending[page] = updates
        for name in self._expected.keys() & updates:
            self._expected[name].add_page(updates[name])

    def settle(self, page: int, counted: Updates = _NOTHING) -> None:
        """Expect a page no longer; `counted`: the updates that were counted instead.

        0 stands for a page that was not expected.
        """
        expected = self._pending.get(page, _NOTHING)
        for name in self._expected.keys() & {*expected, *counted}:
            # Marks of frame depend on the order in which pages are counted.
            awaiting = (number for number, each in self._pending.items() if name in each)
            is_next = next(awaiting, 0) == page and next(awaiting, None) is not None
            if not is_next or expected.get(name) != counted.get(name):
                del self._expected[name]
        self._pending.pop(page, None)

    def add(self, name: str, update: FrameUpdate) -> None:
        """Count a page for a host or a site."""
        self._latest = None
        host = self.host(name)
        before = len(host.sightings)
        host.add_page(update)
        self._open_blocks += len(host.sightings) - before
        self._batch.hosts[name] = host
        if self._in_memory is not None:
            self._blocks_in_memory += len(host.sightings) - self._in_memory.pop(name, 0)
            self._in_memory[name] = len(host.sightings)

    def waiting(self, host: str) -> list[Waiting]:
        """Return the waiting pages of a host, the earliest first."""
        known = {each.page: each for each in self._store.waiting(host)}
        for page, each in self._batch.waiting.items():
            if each is None:
                known.pop(page, None)
            elif each.host == host:
                known[page] = each
        known.update(self._read_of.get(host, {}))
        return [known[page] for page in sorted(known)]

    def wait(self, pages: Mapping[int, Waiting | None]) -> None:
        """Let pages wait, or wait on; None: the page with this number waits no longer."""
        for page, each in pages.items():
            self._let_go(page)
            if each is not None:
                self._read[page] = self._read_of.setdefault(each.host, {})[page] = each
            if each is None or self._in_memory is None:
                self._batch.waiting[page] = each
        while len(self._read) > _MOST_READ:
            number = next(iter(self._read))
            earliest = self._let_go(number)
            if self._in_memory is not None:
                self._batch.waiting[number] = earliest

    def discard(self, page: int) -> None:
        """Let a page wait no longer."""
        self.wait({page: None})

    def _let_go(self, page: int) -> Waiting | None:
        """Return a page that is in memory as it was read, which it is no longer."""
        waiting = self._read.pop(page, None)
        if waiting is not None:
            of_host = self._read_of[waiting.host]
            del of_host[page]
            if not of_host:
                del self._read_of[waiting.host]
        return waiting

    def shrink(self) -> list[str]:
        """Stay within the bounds; return the names of the hosts that were forgotten.

        Invalidates contexts. The last host stays.
        """
        most, gone = self._megabytes * 1e6, list[str]()
        self._latest = None
        while self._open_nbytes > most * _OPEN_SHARE and len(self._open) > 1:
            _, host = self._open.popitem(last=False)
            self._open_blocks -= len(host.sightings)
        while (names := self._in_memory) and self._stored_nbytes > most and len(names) > 1:
            gone.append(next(iter(names)))
            self.forget(gone[-1])
        return gone

    def forget(self, name: str) -> None:
        """Forget the counts and the waiting pages of a host or a site."""
        self.wait(dict.fromkeys(each.page for each in self.waiting(name)))
        self._latest = None
        if name in self._open:
            self._open_blocks -= len(self._open.pop(name).sightings)
        if self._in_memory is not None:
            self._blocks_in_memory -= self._in_memory.pop(name, 0)
        if name in self._expected:
            del self._expected[name]
        self._batch.hosts[name] = None

    def check(self) -> None:
        """Raise AssertionError if the hosts in memory differ from the stored ones."""
        assert self._open_blocks == sum(len(host.sightings) for host in self._open.values())
        for name, host in self._open.items():
            assert host == self._written(name), "the store has other counts"
        for name in self._expected:
            counted = self.host(name)
            updates = self._updates_of(name)
            assert updates, "a host is expected without a pending page"
            assert self._expected[name].sightings == counted.with_pages(*updates).sightings

    @property
    def _open_nbytes(self) -> int:
        return self._open_blocks * _OPEN_BLOCK_BYTES + len(self._open) * _OPEN_BYTES

    @property
    def _stored_nbytes(self) -> int:
        hosts = len(self._in_memory or ())
        return self._blocks_in_memory * _STORED_BLOCK_BYTES + hosts * _STORED_BYTES

    def _expected_host(self, host: Host) -> Host:
        if host.name not in self._expected:
            updates = self._updates_of(host.name)
            if not updates:
                return host
            self._expected[host.name] = host.with_pages(*updates)
        return self._expected[host.name]

    def _updates_of(self, name: str) -> list[FrameUpdate]:
        """Return the updates of a host by pending pages."""
        return [each[name] for each in self._pending.values() if name in each]

    def _written(self, name: str) -> Host:
        """Return a host as it is in the batch, or else in the store."""
        known = self._batch.hosts[name] if name in self._batch.hosts else self._store.host(name)
        return known or Host(name)
