"""Early pages: judged before the frame of their host, or template, was known. They wait.

    page -> waits -> a later page of its template is kept -> judged again, twice at most

Bounds: a number of pages in all and of a host, and memory in all. Beyond a number, the earliest
page stops waiting. Beyond the memory, the largest pages are packed, to a seventh of their size, or
dropped from memory if a store has the packed form. If that is not enough, the earliest pages stop
waiting. That depends on sizes that a restart does not change, so the same pages stop after one.

Guarantee: a page stops waiting in time that does not depend on how many others wait.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass

from dedup_filter.text import Page
from dedup_filter.text.page_bytes import pack_page, page_nbytes

__all__ = ["TELLING_PAGES", "EarlyPage", "EarlyPages"]

TELLING_PAGES = 2
"""A frame is known when this many later pages have shown it. One is not enough: two pages may share
a block by chance, and parts that vary (a list of headlines) show as such on the third page only."""
_SAME_TEMPLATE = 0.25
"""Share of an early page's new blocks that another page of its template shows at least. The others
vary: headlines, and the text of the page."""
_MOST_WAITING = 1_000
_MOST_WAITING_OF_HOST = 16
"""Few hosts have more templates."""
_MOST_BYTES = 100_000_000
"""Memory of all early pages. A thousand usual pages take 60 to 100 MB, so few are ever packed."""
_LEAST_BYTES, _HASH_BYTES = 600, 90
"""Memory of an early page without its content, and of a new block in its set. Constants, because
they help to decide which pages stop waiting."""


@dataclass(slots=True, eq=False)
class EarlyPage:
    """A page that was judged before its frame was known."""

    row: int
    """Number of the page. No two pages that wait have the same."""
    page: Page | None
    """The blocks of the page; None: unpack them from `packed`, or load them from the store."""
    new: frozenset[int] = frozenset()
    """Hashes of the blocks that its host had not shown before."""
    tellings: int = 0
    """How many later pages of its template were kept."""
    packed: bytes | None = None
    """The page as bytes; None: not packed, or the store has them."""
    nbytes: int = 0
    """Memory in bytes, as `measure` last found it."""

    def measure(self) -> None:
        """Update `nbytes`. Cost: 0.1 ms for a page of 200 blocks."""
        self.nbytes = _LEAST_BYTES + _HASH_BYTES * len(self.new) + len(self.packed or b"")
        if self.page is not None:
            self.nbytes += page_nbytes(self.page)

    @property
    def is_waiting(self) -> bool:
        """Whether it is to be judged again."""
        return self.tellings < TELLING_PAGES

    def has_template(self, shown: Set[int]) -> bool:
        """Tell whether a page with these block hashes has the same template."""
        return len(self.new & shown) >= _SAME_TEMPLATE * len(self.new)


class EarlyPages:
    """The pages of each host that wait, the earliest first.

    `are_stored`: a store has the packed form of each, so it is not kept in memory.
    """

    def __init__(self, *, are_stored: bool = False) -> None:
        self._are_stored = are_stored
        self._of_host: OrderedDict[str, list[EarlyPage]] = OrderedDict()
        self._host_by_row: dict[int, str] = {}
        self._nbytes = 0
        self._given_up: list[int] = []

    def __len__(self) -> int:
        return len(self._host_by_row)

    def of(self, host: str) -> Iterable[EarlyPage]:
        """Return the pages of a host that wait."""
        return self._of_host.get(host, ())

    def waiting(self) -> dict[int, int]:
        """Return the numbers of the pages that wait, and the `tellings` of each."""
        return {early.row: early.tellings for early in self._all()}

    def wait(self, host: str, page: EarlyPage) -> None:
        """Add a page, in place of one with the same number: servers may number pages anew.

        Cost: 0.1 ms, and 1 ms for each page that is packed to make room.
        """
        self.let_go([page.row])
        waiting = self._of_host.setdefault(host, [])
        waiting.append(page)
        page.measure()
        self._host_by_row[page.row] = host
        self._nbytes += page.nbytes
        if len(waiting) > _MOST_WAITING_OF_HOST:
            self._give_up(host)
        while len(self) > _MOST_WAITING:
            self._give_up_first()
        while self._nbytes > _MOST_BYTES:
            unpacked = (early for early in self._all() if early.page is not None)
            largest = max(unpacked, key=lambda early: early.nbytes, default=None)
            if largest is None:
                self._give_up_first()
            else:
                self._pack(largest)

    def due(self, host: str, shown: Set[int] | None) -> list[EarlyPage]:
        """Return the pages to be judged again after one with these block hashes was kept.

        `shown` None: it has the template of all pages of the host.
        """
        due = [early for early in self.of(host) if shown is None or early.has_template(shown)]
        for early in due:
            early.tellings += 1
        self._keep(host, lambda early: early.is_waiting)
        return due

    def let_go(self, pages: Iterable[int]) -> None:
        """Remove those of the numbered pages that wait. Cost: a look-up for each number."""
        gone = self._host_by_row.keys() & pages
        for host in {self._host_by_row[row] for row in gone}:
            self._keep(host, lambda early: early.row not in gone)

    def forget(self, host: str) -> None:
        """Remove all pages of a host."""
        self._keep(host, lambda _: False)

    def take_given_up(self) -> list[int]:
        """Return the numbers of the pages that the bounds removed since the last call."""
        taken, self._given_up = self._given_up, []
        return taken

    @property
    def nbytes(self) -> int:
        """Estimated memory in bytes; texts that pages share count once for each page."""
        return self._nbytes

    def check(self) -> None:
        """Verify the counters and the bounds."""
        hosts = {early.row: host for host, waiting in self._of_host.items() for early in waiting}
        assert self._host_by_row == hosts, "a page without its host"
        assert len(hosts) == sum(map(len, self._of_host.values())) <= _MOST_WAITING
        assert self._nbytes == sum(early.nbytes for early in self._all()) <= _MOST_BYTES
        assert max(map(len, self._of_host.values()), default=0) <= _MOST_WAITING_OF_HOST
        assert all(self._of_host.values()), "a host without pages"

    def _keep(self, host: str, stays: Callable[[EarlyPage], bool]) -> None:
        """Remove the other pages of a host."""
        kept = []
        for early in self._of_host.get(host, ()):
            if stays(early):
                kept.append(early)
            else:
                del self._host_by_row[early.row]
                self._nbytes -= early.nbytes
        if kept:
            self._of_host[host] = kept
        else:
            self._of_host.pop(host, None)

    def _all(self) -> Iterator[EarlyPage]:
        return (early for of_host in self._of_host.values() for early in of_host)

    def _pack(self, early: EarlyPage) -> None:
        """Keep a page as bytes, or not in memory at all if the store has it."""
        assert early.page is not None
        self._nbytes -= early.nbytes
        early.packed = None if self._are_stored else pack_page(early.page)
        early.page = None
        early.measure()
        self._nbytes += early.nbytes

    def _give_up_first(self) -> None:
        """Remove the earliest page of all."""
        self._give_up(min(self._of_host, key=lambda each: self._of_host[each][0].row))

    def _give_up(self, host: str) -> None:
        """Remove the earliest page of a host."""
        first = self._of_host[host][0]
        self._keep(host, lambda early: early is not first)
        first.tellings = TELLING_PAGES  # if it is due just now, it must not be written down again
        self._given_up.append(first.row)
