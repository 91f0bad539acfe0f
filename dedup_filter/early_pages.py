"""Pages that were judged before the frame of their host, or template, was known: they wait.

    page -> waits -> each later page of its template tells of it -> judged again, until enough have

Bounded by a total and by host, the earliest go first. Knows no blocks but by their hashes.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dedup_filter.text import Page

__all__ = ["TELLING_PAGES", "EarlyPage", "EarlyPages"]

TELLING_PAGES = 2
"""A frame is known when so many more pages have shown it: one may have a block in common with
another by chance, and what varies (a list of headlines) needs a third to be seen through."""
_SAME_TEMPLATE = 0.25
"""Of the blocks that were new on such a page, the share that another page of its template shows:
headlines vary, and so does what the page is about."""
_MOST_WAITING = 1_000
_MOST_WAITING_OF_HOST = 16
"""Pages that wait are kept in memory; few hosts have more templates."""
_WAITING_PAGE_BYTES = 80_000
"""Measured on pages of 100 to 130 KB (200 blocks in 400 containers): 73 to 81 thousand."""


@dataclass(slots=True, eq=False)
class EarlyPage:
    """A page that was judged before its frame was known."""

    row: int
    """Its number."""
    page: Page | None
    """None: whoever brought it back has put it away somewhere."""
    new: frozenset[int] = frozenset()
    """The blocks that its host had not shown before."""
    tellings: int = 0
    """How many later pages have shown some of these."""

    @property
    def is_waiting(self) -> bool:
        """Whether it is to be judged again later."""
        return self.tellings < TELLING_PAGES

    def has_template(self, shown: set[int]) -> bool:
        """Tell whether a page that has shown these blocks is one of its template."""
        return len(self.new & shown) >= _SAME_TEMPLATE * len(self.new)


class EarlyPages:
    """The pages of each host that wait, the earliest first."""

    def __init__(self) -> None:
        self._of_host: OrderedDict[str, list[EarlyPage]] = OrderedDict()
        self._count = 0
        self._given_up: list[int] = []

    def __len__(self) -> int:
        return self._count

    def of(self, host: str) -> Iterable[EarlyPage]:
        """Return those of a host."""
        return self._of_host.get(host, ())

    def waiting(self) -> dict[int, int]:
        """Return the pages that wait, and how many have told of each."""
        return {early.row: early.tellings for all_ in self._of_host.values() for early in all_}

    def wait(self, host: str, page: EarlyPage) -> None:
        """Let a page wait."""
        waiting = self._of_host.setdefault(host, [])
        waiting.append(page)
        self._count += 1
        if len(waiting) > _MOST_WAITING_OF_HOST:
            self._give_up(host)
        while self._count > _MOST_WAITING:
            self._give_up(min(self._of_host, key=lambda each: self._of_host[each][0].row))

    def due(self, host: str, shown: set[int] | None) -> list[EarlyPage]:
        """Take the pages that one more page tells of: it has shown these blocks; None: of all."""
        due = [early for early in self.of(host) if shown is None or early.has_template(shown)]
        for early in due:
            early.tellings += 1
        self._keep(host, lambda early: early.is_waiting)
        return due

    def let_go(self, pages: Iterable[int]) -> None:
        """Let pages wait no more."""
        gone = set(pages)
        for host in list(self._of_host):
            self._keep(host, lambda early: early.row not in gone)

    def forget(self, host: str) -> None:
        """Let all pages of a host go."""
        self._count -= len(self._of_host.pop(host, ()))

    def take_given_up(self) -> list[int]:
        """Return the pages that had to go for others since this was last asked."""
        taken, self._given_up = self._given_up, []
        return taken

    @property
    def nbytes(self) -> int:
        """Estimated memory in bytes."""
        return self._count * _WAITING_PAGE_BYTES

    def check(self) -> None:
        """Verify the counter and the bounds."""
        assert self._count == sum(map(len, self._of_host.values())) <= _MOST_WAITING
        assert max(map(len, self._of_host.values()), default=0) <= _MOST_WAITING_OF_HOST
        assert all(self._of_host.values()), "a host without pages"

    def _keep(self, host: str, stays: Callable[[EarlyPage], bool]) -> None:
        before = self._of_host.get(host, [])
        after = list(filter(stays, before))
        self._count -= len(before) - len(after)
        if after:
            self._of_host[host] = after
        else:
            self._of_host.pop(host, None)

    def _give_up(self, host: str) -> None:
        """Let the earliest page of a host go."""
        first = self._of_host[host][0]
        self._keep(host, lambda early: early is not first)
        self._given_up.append(first.row)
