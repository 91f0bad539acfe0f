"""Near pages of a crawl that were kept for a few lines -> hints which elements could be ignored.

    page that lacks nothing but lines in the one that it is near -> the elements that these stand in
    -> counted by host, selector and text with its numbers masked -> the most frequent, at the end

A page is counted only if every line that keeps it apart stands in the elements: without them it
would be dropped, as far as its nearest page tells. (Nearly all are: with an element what is frame
may change, and what is the main text.) A hint comes once, at the end of the crawl: only
then it is known how many pages it is about.

Memory is bounded: the hosts that came last are counted, usually with 1 KB for one of them. One that
comes again later begins anew.

Cost: 3 ms for such a page (see `ignorable`), up to a bound for each host and for the crawl. Pages
beyond it are not counted. Other pages cost nothing.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable

from dedup_filter.model import MissingLine
from dedup_filter.pages.directory.records import host_of
from dedup_filter.review.explanation.ignorable import Ignorable, ignorable
from dedup_filter.text.page_fields import PageText
from dedup_filter.wording import counted, printable

MANY = 10
"""Pages from which a hint is given: fewer are soon looked through, and may be what they are about,
as one chair in nine sizes is."""
MOST_HINTS = 3
"""Hints of a crawl. Each is to be thought about; the next crawl gives those that remain."""
MOST_HOSTS = 1_000
"""Hosts that are counted at a time."""
MOST_OF_HOST, MOST_OF_CRAWL = 1_000, 20_000
"""Pages that are looked at. More of a host say nothing new; those of a crawl take a minute."""
MOST_FOUND = 8
"""What is counted of a host at a time. If there is more, the rarest goes: a text that is another on
each page never comes to many."""
_LONGEST_HOST = 255
"""Characters of a host by the rules of DNS; a longer one is none."""

_NUMBER = re.compile(r"[A-Za-z]*\d[A-Za-z\d.,:]*")

Counted = tuple[int, str, Ignorable]
"""How many pages, their host, and what one of them differs in."""


class KeptApart:
    """Count the near pages of a crawl that are kept for lines alone."""

    def __init__(self) -> None:
        self._hosts: OrderedDict[str, _Host] = OrderedDict()
        """Those that came longest ago first."""
        self._gone: list[Counted] = []
        """The most frequent of hosts that are no longer counted."""
        self._looks = 0

    def __len__(self) -> int:
        return len(self._hosts)

    def see(self, url: str, lines: tuple[MissingLine, ...], page: PageText) -> None:
        """Count a page; `lines` are all that is missing in the one that it is near."""
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
        """Return what the log is to say at the end of the crawl."""
        found = [*self._gone, *(each for item in self._hosts.items() for each in _of_host(*item))]
        return [
            f"{counted(pages, 'near page')} of {printable(host)} differ {each.told('them')}"
            for pages, host, each in _largest(found)
        ]


class _Host:
    """What was counted of a host."""

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
    """Return those of most pages, of each host and selector one."""
    best: dict[tuple[str, str], Counted] = {}
    for each in sorted(found, key=lambda each: -each[0]):
        best.setdefault((each[1], each[2].selector), each)
    return list(best.values())[:MOST_HINTS]
