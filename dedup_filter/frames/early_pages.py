"""Early pages: judged before the frame of their host, or template, was known. They wait.

    page -> waits -> a later page of its template is kept -> judged again, twice at most

Bounds: a number of pages of a host, and a number in all, which a store keeps if there is one.
Beyond either, the earliest page stops waiting. Of pages that take too much memory, the earliest are
packed, to a seventh of their size, or dropped from memory if a store has the packed form.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Set
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.thresholds import FRAME_TIMES, MOST

MOST_WAITING = 20_000
"""Pages that wait, of all hosts: a third page of each of 10,000 hosts in turn finds the first one.
Packed they take 200 MB."""
_MOST_WAITING_OF_HOST = 16
"""Few hosts have more templates."""
_LEAST_BYTES = 800
"""Memory of an early page without its content and its new blocks."""


@dataclass(slots=True, eq=False)
class EarlyPage:
    """A page that was judged before its frame was known."""

    row: int
    """Number of the page."""
    content: ReadPage | bytes | None
    """The page, or the page as bytes; None: a store has these."""
    new: npt.NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    """Hashes of the blocks that its host had not shown before, each once."""
    tellings: int = 0
    """How many later pages of its template were kept."""
    host: str = ""
    nbytes: int = 0
    """Memory in bytes, while it waits."""

    @property
    def is_waiting(self) -> bool:
        """Whether it is to be judged again."""
        return self.tellings < FRAME_TIMES


class EarlyPages:
    """The pages that wait, the earliest first.

    `are_stored`: a store has the packed form of each, and bounds their number.
    """

    def __init__(self, *, are_stored: bool = False) -> None:
        self._are_stored = are_stored
        self._waiting: OrderedDict[int, EarlyPage] = OrderedDict()
        self._whole: OrderedDict[int, EarlyPage] = OrderedDict()
        """Those that are not packed."""
        self._of_hosts: dict[str, dict[int, EarlyPage]] = {}
        self.nbytes = 0
        """Estimated memory in bytes; texts that pages share count once for each page."""
        self.given_up: list[int] = []
        """Numbers of pages that the bounds removed; for the owner to take note of, and to clear."""

    def __len__(self) -> int:
        return len(self._waiting)

    def of(self, host: str) -> Collection[EarlyPage]:
        """Return the pages of a host that wait."""
        return self._of_hosts.get(host, {}).values()

    def wait(self, early: EarlyPage) -> None:
        """Add a page, in place of one with its number: servers may reuse it. Cost: 0.1 ms."""
        self.let_go([early.row])
        siblings = self._of_hosts.setdefault(early.host, {})
        siblings[early.row] = self._waiting[early.row] = early
        early.nbytes = 0
        self._measure(early)
        if isinstance(early.content, ReadPage):
            self._whole[early.row] = early
        if len(siblings) > _MOST_WAITING_OF_HOST:
            self._give_up(next(iter(siblings.values())))
        if len(self) > MOST_WAITING and not self._are_stored:
            self._give_up(next(iter(self._waiting.values())))

    def shrink(self, most_bytes: int) -> None:
        """Pack pages, the earliest first, until they take no more. Cost: 1 ms for each of them."""
        while self.nbytes > most_bytes and self._whole:
            _, early = self._whole.popitem(last=False)
            assert isinstance(early.content, ReadPage)
            early.content = None if self._are_stored else early.content.pack()
            self._measure(early)

    def due(self, host: str, shown: Set[int] | None) -> list[EarlyPage]:
        """Return the pages of a host to be judged again after one with these blocks was kept.

        `shown` None: it has the template of all pages of the host.
        """
        due = [
            early
            for early in self.of(host)
            if shown is None or len(shown & set(early.new.tolist())) >= (1 - MOST) * len(early.new)
        ]
        for early in due:
            early.tellings += 1
        self.let_go([early.row for early in due if not early.is_waiting])
        return due

    def let_go(self, pages: Iterable[int]) -> None:
        """Remove those of the numbered pages that wait. Cost: a look-up for each of these."""
        for row in self._waiting.keys() & pages:
            early = self._waiting.pop(row)
            self._whole.pop(row, None)
            siblings = self._of_hosts[early.host]
            del siblings[row]
            if not siblings:
                del self._of_hosts[early.host]
            self.nbytes -= early.nbytes

    def check(self) -> None:
        """Verify the counters and the bounds."""
        of_hosts = {
            row: early
            for host, siblings in self._of_hosts.items()
            for row, early in siblings.items()
            if early.host == host and early.row == row
        }
        assert dict(self._waiting) == of_hosts, "a page without its host"
        are_whole = {row for row, each in of_hosts.items() if isinstance(each.content, ReadPage)}
        assert self._whole.keys() == are_whole, "packed pages are not told from others"
        assert self.nbytes == sum(early.nbytes for early in of_hosts.values())
        assert len(of_hosts) <= MOST_WAITING or self._are_stored
        assert all(len(each) <= _MOST_WAITING_OF_HOST for each in self._of_hosts.values())

    def _measure(self, early: EarlyPage) -> None:
        """Find out the memory of a page. Cost: 0.1 ms for a page of 200 blocks."""
        self.nbytes -= early.nbytes
        content = early.content
        early.nbytes = _LEAST_BYTES + early.new.nbytes
        early.nbytes += content.nbytes if isinstance(content, ReadPage) else len(content or b"")
        self.nbytes += early.nbytes

    def _give_up(self, early: EarlyPage) -> None:
        self.let_go([early.row])
        early.tellings = FRAME_TIMES  # if it is due just now, it must not be written down again
        self.given_up.append(early.row)
