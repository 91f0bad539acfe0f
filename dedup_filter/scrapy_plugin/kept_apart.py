"""Near pages of a crawl that were kept for a few lines -> hints which elements could be ignored.

    a near page that is new only for lines its nearest page lacks -> the elements with these lines
    -> counted by host, selector and text with masked numbers -> at the end, the most frequent

A page is counted only if every missing line is in these elements: without the elements the page
would repeat its nearest page. (Nearly always: without an element, the frame and the main text may
change, too.) Hints are given at the end of the crawl, when the number of pages is known.

Memory is bounded: the hosts seen last are counted, usually with 1 KB each. If a host returns after
that, its counts begin anew.

Cost: 3 ms a counted page (see `ignorable`), up to a bound for each host and for the crawl. Pages
beyond the bound are not counted. Other pages cost nothing.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable

from dedup_filter.model import MissingLine
from dedup_filter.review.explanation.ignorable import Ignorable, ignorable
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import host_of
from dedup_filter.wording import counted, printable

MANY = 10
"""Pages needed for a hint. Fewer can be looked through, and their lines may be content (one chair
in nine sizes)."""
MOST_HINTS = 3
"""Hints of a crawl. The user has to consider each; the next crawl gives the remaining hints."""
MOST_HOSTS = 1_000
"""Hosts that are counted at a time."""
MOST_OF_HOST, MOST_OF_CRAWL = 1_000, 20_000
"""Pages examined of a host and of a crawl. More pages of a host add nothing; 20,000 pages take a
minute."""
MOST_FOUND = 8
"""Differences counted for a host at a time. Beyond, the rarest is dropped: a text that differs on
each page never becomes frequent."""
_LONGEST_HOST = 255
"""Most characters of a host by the rules of DNS."""

_NUMBER = re.compile(r"[A-Za-z]*\d[A-Za-z\d.,:]*")

Counted = tuple[int, str, Ignorable]
"""Number of pages, their host, and the difference of one of them."""


class KeptApart:
    """Count the near pages of a crawl that are kept for lines alone."""

    def __init__(self) -> None:
        self._hosts: OrderedDict[str, _Host] = OrderedDict()
        """The host seen longest ago comes first."""
        self._gone: list[Counted] = []
        """The most frequent differences of hosts that are no longer counted."""
        self._looks = 0

    def __len__(self) -> int:
        return len(self._hosts)

    def see(self, url: str, lines: tuple[MissingLine, ...], page: PageText) -> None:
        """Count a page; `lines` are all its lines that are missing in its nearest page."""
        host = host_of(url)
        if not lines or not 0 < len(host) <= _LONGEST_HOST or self._looks == MOST_OF_CRAWL:
            return
        counts = self._hosts.setdefault(host, _Host())
        self._hosts.move_to_end(host)
        if len(self._hosts) > MOST_HOSTS:
            self._gone = _largest([*self._gone, *_of_host(*self._hosts.popitem(last=False))])
        if counts.looks < MOST_OF_HOST:
            self._looks += 1
            counts.add(ignorable(page, lines))

    def hints(self) -> list[str]:
        """Return the messages for the log at the end of the crawl."""
        found = [*self._gone, *(each for item in self._hosts.items() for each in _of_host(*item))]
        return [
            f"{counted(pages, 'near page')} of {printable(host)} differ {each.hint('them')}"
            for pages, host, each in _largest(found)
        ]


class _Host:
    """The counts of one host."""

    __slots__ = ("found", "looks")

    def __init__(self) -> None:
        self.looks = 0
        self.found: dict[tuple[str, ...], tuple[int, Ignorable]] = {}

    def add(self, found: Ignorable | None) -> None:
        self.looks += 1
        if found is None:
            return
        key = found.selector, *(_NUMBER.sub("#", text) for _, text in found.elements)
        pages, first = self.found.get(key, (0, found))
        self.found[key] = pages + 1, first
        if len(self.found) > MOST_FOUND:
            del self.found[min(self.found, key=lambda each: self.found[each][0])]


def _of_host(host: str, counts: _Host) -> Iterable[Counted]:
    return ((pages, host, each) for pages, each in counts.found.values() if pages >= MANY)


def _largest(found: Iterable[Counted]) -> list[Counted]:
    """Return the differences of most pages, one for each host and selector."""
    best: dict[tuple[str, str], Counted] = {}
    for each in sorted(found, key=lambda each: -each[0]):
        best.setdefault((each[1], each[2].selector), each)
    return list(best.values())[:MOST_HINTS]
