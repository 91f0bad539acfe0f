"""Hosts, and the updates of pending pages -> hosts as they will be.

While pages of a host are pending, another page of it is judged as if they had been committed, as
most will be. Otherwise concurrent pages would all be judged without a frame, and pages of one list
would count as duplicates of each other. If a page is released, its update is no longer expected:
its host is then computed anew, from the counted and the still pending pages.

Cost: 10 us for each 1,000 blocks of a host, and 0.1 ms for each 1,000 of its pending pages.
"""

from collections.abc import Mapping
from dataclasses import replace
from operator import is_

from dedup_filter.frames.host_frames import FrameUpdate, Host, HostContext

Updates = Mapping[str, FrameUpdate]
"""The updates of a page: name of its host or of a site -> update."""
_NOTHING: Updates = {}


class ExpectedHosts:
    """The hosts and sites of pending pages as they are when all pending pages are committed."""

    def __init__(self) -> None:
        self._pages: dict[int, Updates] = {}
        """Updates of pending pages, by their numbers."""
        self._hosts: dict[str, Host] = {}
        """Cache of expected hosts; an unexpected update removes its host."""

    def context(self, counted: HostContext) -> HostContext:
        """Return the context with the expected host and sites, given the counted ones."""
        hosts = [counted.host, *counted.sisters]
        expected = [self._expected(each) for each in hosts]
        if all(map(is_, hosts, expected)):
            return counted
        return replace(counted, host=expected[0], sisters=expected[1:])

    def add(self, page: int, updates: Updates) -> None:
        """Expect the updates of a pending page."""
        self._pages[page] = updates
        for name in self._hosts.keys() & updates:
            self._hosts[name].add_page(updates[name])

    def settle(self, page: int, updates: Updates = _NOTHING) -> None:
        """Record that a page has added its updates: one that was pending, or another, 0."""
        expected = self._pages.pop(page, {})
        awaited = {name for each in self._pages.values() for name in each}
        for name in {*expected, *updates}:
            if name not in awaited or expected.get(name) != updates.get(name):
                self._hosts.pop(name, None)

    def forget(self, host: str) -> None:
        """Remove a host that was forgotten."""
        self._hosts.pop(host, None)

    def _expected(self, host: Host) -> Host:
        if host.name not in self._hosts:
            updates = [each[host.name] for each in self._pages.values() if host.name in each]
            if not updates:
                return host
            self._hosts[host.name] = host.with_pages(*updates)
        return self._hosts[host.name]
