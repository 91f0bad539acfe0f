"""Provisional pages: judged before the frame of their host, or template, was known. They wait.

    page -> waits -> a later page of its template is kept -> judged again, twice at most

Bounds: a number of pages of a host, and a number in all (with a store, the store applies it).
Beyond either, the earliest page stops waiting. If pages take too much memory, the earliest are
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
"""Waiting pages of all hosts: if 10,000 hosts take turns, the third page of each host still finds
its first page waiting. Packed they take 200 MB."""
_MOST_WAITING_OF_HOST = 16
"""Waiting pages of one host; few hosts have more templates."""
_LEAST_BYTES = 800
"""Memory of a provisional page without its content and its new blocks."""


@dataclass(slots=True, eq=False)
class ProvisionalPage:
    """A page that was judged before its frame was known."""

    row: int
    """Number of the page."""
    content: ReadPage | bytes | None
    """The page, or the page as bytes; None: a store has the bytes."""
    new: npt.NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    """Hashes of the blocks that its host had not shown before, each once."""
    pages_of_template: int = 0
    """How many other pages of its template were kept."""
    host: str = ""
    nbytes: int = 0
    """Memory in bytes, while it waits."""

    @property
    def is_last_time(self) -> bool:
        """Whether the frame is known when one more page of its template is kept."""
        return self.pages_of_template + 1 >= FRAME_TIMES


class ProvisionalPages:
    """The pages that wait, the earliest first.

    `are_stored`: a store has the packed form of each, and bounds their number.
    """

    def __init__(self, *, are_stored: bool = False) -> None:
        self._are_stored = are_stored
        self._waiting: OrderedDict[int, ProvisionalPage] = OrderedDict()
        self._whole: OrderedDict[int, ProvisionalPage] = OrderedDict()
        """The pages that are not packed."""
        self._of_hosts: dict[str, dict[int, ProvisionalPage]] = {}
        self.nbytes = 0
        """Estimated memory in bytes; texts that pages share count once for each page."""

    def __len__(self) -> int:
        return len(self._waiting)

    def of(self, host: str) -> Collection[ProvisionalPage]:
        """Return the pages of a host that wait."""
        return self._of_hosts.get(host, {}).values()

    def add(self, page: ProvisionalPage) -> None:
        """Add a page; it replaces one with its number, which servers may reuse. Cost: 0.1 ms."""
        self.discard([page.row])
        self.discard(self.crowded_out(page.host))
        self._of_hosts.setdefault(page.host, {})[page.row] = self._waiting[page.row] = page
        page.nbytes = 0
        self._measure(page)
        if isinstance(page.content, ReadPage):
            self._whole[page.row] = page
        if len(self) > MOST_WAITING and not self._are_stored:
            self.discard([next(iter(self._waiting))])

    def crowded_out(self, host: str, leaving: Collection[int] = ()) -> list[int]:
        """Return the numbers of the pages that stop waiting when one more of their host is added.

        `leaving`: numbers of pages that stop waiting before.
        """
        staying = sorted(page.row for page in self.of(host) if page.row not in leaving)
        return staying[: max(len(staying) + 1 - _MOST_WAITING_OF_HOST, 0)]

    def shrink(self, most_bytes: int) -> None:
        """Pack pages, the earliest first, until all fit the bound. Cost: 1 ms for each of them.

        If packed pages do not fit, and no store has them, the earliest stop waiting.
        """
        while self.nbytes > most_bytes and self._whole:
            _, page = self._whole.popitem(last=False)
            assert isinstance(page.content, ReadPage)
            page.content = None if self._are_stored else page.content.pack()
            self._measure(page)
        while self.nbytes > most_bytes and self._waiting and not self._are_stored:
            self.discard([next(iter(self._waiting))])

    def ready(self, host: str, shown: Set[int] | None) -> list[ProvisionalPage]:
        """Return the pages of a host to be judged again when a page with these blocks is kept.

        `shown` None: the kept page has the template of all pages of the host.
        """
        return [
            page
            for page in self.of(host)
            if shown is None or len(shown & set(page.new.tolist())) >= (1 - MOST) * len(page.new)
        ]

    def count(self, ready: Iterable[ProvisionalPage]) -> None:
        """Count a page of their template; pages whose frame is now known stop waiting."""
        for page in ready:
            if page.is_last_time:
                self.discard([page.row])
            page.pages_of_template += 1

    def discard(self, pages: Iterable[int]) -> None:
        """Remove the numbered pages that wait. Cost: a look-up for each number."""
        for row in self._waiting.keys() & pages:
            page = self._waiting.pop(row)
            self._whole.pop(row, None)
            siblings = self._of_hosts[page.host]
            del siblings[row]
            if not siblings:
                del self._of_hosts[page.host]
            self.nbytes -= page.nbytes

    def check(self) -> None:
        """Verify the counters and the bounds."""
        of_hosts = {
            row: page
            for host, siblings in self._of_hosts.items()
            for row, page in siblings.items()
            if page.host == host and page.row == row
        }
        assert dict(self._waiting) == of_hosts, "a page without its host"
        are_whole = {row for row, each in of_hosts.items() if isinstance(each.content, ReadPage)}
        assert self._whole.keys() == are_whole, "packed pages are not apart from others"
        assert self.nbytes == sum(page.nbytes for page in of_hosts.values())
        assert len(of_hosts) <= MOST_WAITING or self._are_stored
        assert all(len(each) <= _MOST_WAITING_OF_HOST for each in self._of_hosts.values())

    def _measure(self, page: ProvisionalPage) -> None:
        """Measure the memory of a page. Cost: 0.1 ms for a page of 200 blocks."""
        self.nbytes -= page.nbytes
        content = page.content
        page.nbytes = _LEAST_BYTES + page.new.nbytes
        page.nbytes += content.nbytes if isinstance(content, ReadPage) else len(content or b"")
        self.nbytes += page.nbytes
