"""Near pages of a crawl that were kept for a few lines -> hints which elements could be ignored.

    a near page that is new only for lines its nearest page lacks -> the elements with these lines
    -> counted by host, selector and text with masked numbers -> at the end, the most frequent

A page is counted only if every missing line is in these elements: without the elements the page
would repeat its nearest page. (Nearly always: without an element, the frame and the main text may
change, too.) Hints are given at the end of the crawl, when the number of pages is known.

Cost: 3 ms and at most 0.5 KB a counted page (see `ignorable`), up to a bound for each host and for
the crawl. Pages beyond the bound are not counted. Other pages cost nothing.
"""

import re
from collections import Counter

from dedup_filter.model import MissingLine
from dedup_filter.review.refusals import Ignorable, ignorable
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import host_of
from dedup_filter.wording import counted, printable

MANY = 10
"""Pages needed for a hint. Fewer can be looked through, and their lines may be content (one chair
in nine sizes)."""
MOST_HINTS = 3
"""Hints of a crawl. The user has to consider each; the next crawl gives the remaining hints."""
MOST_OF_HOST, MOST_OF_CRAWL = 1_000, 20_000
"""Pages examined of a host and of a crawl. More pages of a host add nothing; 20,000 pages take a
minute."""
_LONGEST_HOST = 255
"""Most characters of a host by the rules of DNS."""
_NUMBER = re.compile(r"[A-Za-z]*\d[A-Za-z\d.,:]*")


class Hints:
    """Count the near pages of a crawl that are kept for lines alone."""

    def __init__(self) -> None:
        self._examined = Counter[str]()
        """Pages by host."""
        self._pages = Counter[tuple[str, ...]]()
        """Pages by host, selector and masked texts of the elements."""
        self._first: dict[tuple[str, ...], Ignorable] = {}
        """The elements of the first of these pages."""

    def see(self, url: str, lines: tuple[MissingLine, ...], page: PageText) -> None:
        """Count a page; `lines` are all its lines that are missing in its nearest page."""
        host = host_of(url)
        if not lines or not 0 < len(host) <= _LONGEST_HOST:
            return
        if self._examined[host] == MOST_OF_HOST or self._examined.total() >= MOST_OF_CRAWL:
            return
        self._examined[host] += 1
        found = ignorable(page, lines)
        if found is not None:
            texts = (_NUMBER.sub("#", text) for _, text in found.elements)
            key = (host, found.selector, *texts)
            self._pages[key] += 1
            self._first.setdefault(key, found)

    def messages(self) -> list[str]:
        """Return the messages for the log at the end of the crawl, one for host and selector."""
        hints: dict[tuple[str, ...], str] = {}
        for key, pages in self._pages.most_common():
            if pages >= MANY and key[:2] not in hints:
                differ = f"{counted(pages, 'near page')} of {printable(key[0])} differ"
                hints[key[:2]] = f"{differ} {self._first[key].hint('them')}"
        return [*hints.values()][:MOST_HINTS]
