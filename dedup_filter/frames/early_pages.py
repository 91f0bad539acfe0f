"""Pages that were judged before the frame of their host, or template, was known: they wait.

    page -> waits -> each later page of its template tells of it -> judged again, until enough have

Bounded by a total and by host, the earliest go first. What all take in memory is bounded, too:
the largest are packed, to a seventh; where a store has the packed form anyway, it is not kept in
memory as well. When even so they take too much, the earliest go: by what each takes at the least,
so that the same go after a restart.

Knows no blocks but by their hashes.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from dedup_filter.text import Page
from dedup_filter.text.page_bytes import pack_page
from dedup_filter.text.page_memory import page_nbytes

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
_MOST_BYTES = 100_000_000
"""Of all pages that wait: a thousand usual ones take 60 to 100 MB, so these are seldom packed."""
_LEAST_BYTES, _HASH_BYTES = 600, 90
"""Of each page that waits, besides its form, and of each of its new blocks in a set. Part of what
decides which pages are given up, so they are the same for all."""


@dataclass(slots=True, eq=False)
class EarlyPage:
    """A page that was judged before its frame was known."""

    row: int
    """Its number."""
    page: Page | None
    """As it was taken apart; None: it is packed."""
    new: frozenset[int] = frozenset()
    """The blocks that its host had not shown before."""
    tellings: int = 0
    """How many later pages have shown some of these."""
    packed: bytes | None = None
    """The page in few bytes; None: it is not packed, or only in a store."""
    nbytes: int = 0
    """Memory in bytes, from the time on that it waits."""

    def measure(self) -> None:
        """Find out how much memory it takes. Cost: 0.1 ms for a page of 200 blocks."""
        self.nbytes = _LEAST_BYTES + _HASH_BYTES * len(self.new) + len(self.packed or b"")
        if self.page is not None:
            self.nbytes += page_nbytes(self.page)

    @property
    def is_waiting(self) -> bool:
        """Whether it is to be judged again later."""
        return self.tellings < TELLING_PAGES

    def has_template(self, shown: set[int]) -> bool:
        """Tell whether a page that has shown these blocks is one of its template."""
        return len(self.new & shown) >= _SAME_TEMPLATE * len(self.new)


class EarlyPages:
    """The pages of each host that wait, the earliest first.

    `are_stored`: somebody else keeps the packed form of each.
    """

    def __init__(self, *, are_stored: bool = False) -> None:
        self._are_stored = are_stored
        self._of_host: OrderedDict[str, list[EarlyPage]] = OrderedDict()
        self._count = 0
        self._nbytes = 0
        self._given_up: list[int] = []

    def __len__(self) -> int:
        return self._count

    def of(self, host: str) -> Iterable[EarlyPage]:
        """Return those of a host."""
        return self._of_host.get(host, ())

    def waiting(self) -> dict[int, int]:
        """Return the pages that wait, and how many have told of each."""
        return {early.row: early.tellings for early in self._all()}

    def wait(self, host: str, page: EarlyPage) -> None:
        """Let a page wait. Cost: 0.1 ms, and 1 ms for each page that is packed."""
        waiting = self._of_host.setdefault(host, [])
        waiting.append(page)
        page.measure()
        self._count += 1
        self._nbytes += page.nbytes
        if len(waiting) > _MOST_WAITING_OF_HOST:
            self._give_up(host)
        while self._count > _MOST_WAITING:
            self._give_up_first()
        while self._nbytes > _MOST_BYTES:
            unpacked = (early for early in self._all() if early.page is not None)
            largest = max(unpacked, key=lambda early: early.nbytes, default=None)
            if largest is None:
                self._give_up_first()
            else:
                self._put_away(largest)

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
        self._keep(host, lambda _: False)

    def take_given_up(self) -> list[int]:
        """Return the pages that had to go for others since this was last asked."""
        taken, self._given_up = self._given_up, []
        return taken

    @property
    def nbytes(self) -> int:
        """Estimated memory in bytes; what texts have in common with other pages counts for each."""
        return self._nbytes

    def check(self) -> None:
        """Verify the counters and the bounds."""
        assert self._count == sum(map(len, self._of_host.values())) <= _MOST_WAITING
        assert self._nbytes == sum(early.nbytes for early in self._all()) <= _MOST_BYTES
        assert max(map(len, self._of_host.values()), default=0) <= _MOST_WAITING_OF_HOST
        assert all(self._of_host.values()), "a host without pages"

    def _keep(self, host: str, stays: Callable[[EarlyPage], bool]) -> None:
        before = self._of_host.get(host, [])
        after = list(filter(stays, before))
        self._count -= len(before) - len(after)
        self._nbytes -= sum(each.nbytes for each in before) - sum(each.nbytes for each in after)
        if after:
            self._of_host[host] = after
        else:
            self._of_host.pop(host, None)

    def _all(self) -> Iterator[EarlyPage]:
        return (early for of_host in self._of_host.values() for early in of_host)

    def _put_away(self, early: EarlyPage) -> None:
        """Keep a page packed, or not at all if it can be read from a store."""
        assert early.page is not None
        self._nbytes -= early.nbytes
        early.packed = None if self._are_stored else pack_page(early.page)
        early.page = None
        early.measure()
        self._nbytes += early.nbytes

    def _give_up_first(self) -> None:
        """Let the earliest of all pages go."""
        self._give_up(min(self._of_host, key=lambda each: self._of_host[each][0].row))

    def _give_up(self, host: str) -> None:
        """Let the earliest page of a host go."""
        first = self._of_host[host][0]
        self._keep(host, lambda early: early is not first)
        first.tellings = TELLING_PAGES  # it may be due just now, and is not to be noted again
        self._given_up.append(first.row)
