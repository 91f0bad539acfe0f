"""Early pages: judged before the frame of their host, or template, was known. They wait.

    page -> waits -> a later page of its template is kept -> judged again, twice at most

Bounds: a number of pages in all and of a host, and memory in all. Beyond a number, the earliest
page stops waiting. Beyond the memory, the largest pages are packed, to a seventh of their size, or
dropped from memory if a store has the packed form. If that is not enough, the earliest pages stop
waiting. That depends on sizes that a restart does not change, so the same pages stop after one.
"""

from collections.abc import Iterable, Set
from dataclasses import dataclass, field

from dedup_filter.text.page_bytes import pack_page, page_nbytes
from dedup_filter.text.reading import Page
from dedup_filter.thresholds import FRAME_TIMES, MOST

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
    """Number of the page."""
    content: Page | bytes | None
    """The page, or the page as bytes; None: a store has these."""
    new: frozenset[int] = frozenset()
    """Hashes of the blocks that its host had not shown before."""
    tellings: int = 0
    """How many later pages of its template were kept."""
    nbytes: int = 0
    """Memory in bytes, while it waits."""
    siblings: "dict[int, EarlyPage]" = field(default_factory=dict)
    """The pages of its host that wait, by number."""

    @property
    def is_waiting(self) -> bool:
        """Whether it is to be judged again."""
        return self.tellings < FRAME_TIMES


class EarlyPages:
    """The pages that wait. Those of each host are in a dictionary of its own, the earliest first.

    `are_stored`: a store has the packed form of each, so it is not kept in memory.
    """

    def __init__(self, *, are_stored: bool = False) -> None:
        self._are_stored = are_stored
        self._waiting: dict[int, EarlyPage] = {}
        self.nbytes = 0
        """Estimated memory in bytes; texts that pages share count once for each page."""
        self.given_up: list[int] = []
        """Numbers of pages that the bounds removed; for the owner to take note of, and to clear."""

    def __len__(self) -> int:
        return len(self._waiting)

    def tellings(self) -> dict[int, int]:
        """Return the numbers of the pages that wait, and the `tellings` of each."""
        return {row: early.tellings for row, early in self._waiting.items()}

    def wait(self, siblings: dict[int, EarlyPage], early: EarlyPage) -> None:
        """Add a page to those of its host, in place of one with its number: servers may reuse it.

        Cost: 0.1 ms, and 1 ms for each page that is packed to make room.
        """
        self.let_go([early.row])
        early.siblings, early.nbytes = siblings, 0
        siblings[early.row] = self._waiting[early.row] = early
        self._measure(early)
        if len(siblings) > _MOST_WAITING_OF_HOST:
            self._give_up(next(iter(siblings)))
        while len(self) > _MOST_WAITING:
            self._give_up(min(self._waiting))
        while self.nbytes > _MOST_BYTES:
            unpacked = (each for each in self._waiting.values() if isinstance(each.content, Page))
            largest = max(unpacked, key=lambda each: each.nbytes, default=None)
            if largest is None:
                self._give_up(min(self._waiting))
            else:
                assert isinstance(largest.content, Page)
                largest.content = None if self._are_stored else pack_page(largest.content)
                self._measure(largest)

    def due(self, siblings: dict[int, EarlyPage], shown: Set[int] | None) -> list[EarlyPage]:
        """Return the pages of a host to be judged again after one with these blocks was kept.

        `shown` None: it has the template of all pages of the host.
        """
        due = [
            early
            for early in siblings.values()
            if shown is None or len(early.new & shown) >= (1 - MOST) * len(early.new)
        ]
        for early in due:
            early.tellings += 1
        self.let_go([early.row for early in due if not early.is_waiting])
        return due

    def let_go(self, pages: Iterable[int]) -> None:
        """Remove those of the numbered pages that wait. Cost: a look-up for each of these."""
        for row in self._waiting.keys() & pages:
            early = self._waiting.pop(row)
            del early.siblings[row]
            self.nbytes -= early.nbytes

    def check(self, hosts: Iterable[dict[int, EarlyPage]]) -> None:
        """Verify the counters and the bounds, given the pages of each host."""
        of_hosts = {row: early for siblings in hosts for row, early in siblings.items()}
        assert self._waiting == of_hosts, "a page without its host"
        assert all(early.row == row for row, early in of_hosts.items())
        assert self.nbytes == sum(early.nbytes for early in of_hosts.values()) <= _MOST_BYTES
        assert len(of_hosts) <= _MOST_WAITING
        assert all(len(each.siblings) <= _MOST_WAITING_OF_HOST for each in of_hosts.values())

    def _measure(self, early: EarlyPage) -> None:
        """Find out the memory of a page. Cost: 0.1 ms for a page of 200 blocks."""
        self.nbytes -= early.nbytes
        content = early.content
        early.nbytes = _LEAST_BYTES + _HASH_BYTES * len(early.new)
        early.nbytes += page_nbytes(content) if isinstance(content, Page) else len(content or b"")
        self.nbytes += early.nbytes

    def _give_up(self, row: int) -> None:
        early = self._waiting[row]
        self.let_go([row])
        early.tellings = FRAME_TIMES  # if it is due just now, it must not be written down again
        self.given_up.append(row)
