"""Verdicts of a crawl -> warnings about hosts, and hints which elements could be ignored.

Warnings come at once. They name a host whose pages a person should look at: each host gets each
warning once; the log names the first hosts of each kind, and further hosts are only counted.

    one_original      nearly all of the host's last pages repeat the same page
    made_by_scripts   nearly all of them have no text without their scripts

Hints come at the end of the crawl, when the number of pages is known:

    a near page that is new only for lines its nearest page lacks -> the elements with these lines
    -> counted by host, selector and text with masked numbers -> the most frequent

A page is counted only if every missing line is in these elements: without the elements the page
would repeat its nearest page. (Nearly always: without an element, the frame and the main text may
change, too.)

Memory and cost are bounded. Warnings: the hosts seen last are counted, with 1 KB each at most, 5 us
a page. Hints: 3 ms and at most 0.5 KB a counted page (see `ignorable`), up to a bound for each host
and for the crawl; pages beyond the bound are not counted, and other pages cost nothing.
"""

import re
from collections import Counter, OrderedDict, deque
from typing import NamedTuple

from dedup_filter.model import MissingLine, Verdict
from dedup_filter.review.refusals import Ignorable, ignorable
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import host_of
from dedup_filter.wording import counted, printable

MOST_HOSTS = 2_000
"""Hosts that are counted at a time."""
MOST_NAMED = 20
"""Hosts that the log names for each kind of warning."""
LAST_PAGES, NEARLY_ALL = 50, 45
"""Pages of a host that are looked at, and how many of them must be alike for a warning."""
_LONGEST = 500
"""Characters of a URL or a host in a message."""
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

TEXTS = {
    "one_original": "{host}: {count} of the last {last} pages repeat {url}: look at some of them "
    "in a browser. If they show a consent form, a login, an error or a request to wait, the site "
    "holds its pages back: give it what it needs, or slow down (DOWNLOAD_DELAY). If they differ, "
    "scripts load the difference: have the pages rendered (scrapy-playwright)",
    "made_by_scripts": "{host}: {count} of the last {last} pages have no text without their "
    "scripts, and are kept unjudged: have them rendered (scrapy-playwright), or name the item "
    "fields that hold text (DEDUP_TEXT_FIELDS)",
}
"""The log's messages by kind of warning."""


class Warned(NamedTuple):
    """A host that gets a warning."""

    kind: str
    text: str | None
    """The message for the log; None: the log has named enough hosts."""


class HostWatch:
    """Count the verdicts of a crawl by host."""

    def __init__(self) -> None:
        self._hosts: OrderedDict[str, deque[int | str]] = OrderedDict()
        """For the last pages of each host: the number of the original, the kind of warning that an
        unjudged page counts for, or "". The host seen longest ago comes first."""
        self._warned: dict[str, set[str]] = {kind: set() for kind in TEXTS}
        """Hosts that have had a warning, by kind."""

    def __len__(self) -> int:
        return len(self._hosts)

    def see(self, url: str, verdict: Verdict) -> Warned | None:
        """Count a page; return the warning about its host that is due now.

        Pages without a URL or a host are not counted: no person could look at them.
        """
        host = host_of(url) if url else ""
        if not host:
            return None
        last = self._hosts.setdefault(host, deque(maxlen=LAST_PAGES))
        self._hosts.move_to_end(host)
        if len(self._hosts) > MOST_HOSTS:
            self._hosts.popitem(last=False)
        by_script = verdict.reason in ("by_script", "no_text")
        kind = "made_by_scripts" if by_script else "one_original"
        mark = kind if by_script else verdict.original_page if verdict.is_duplicate else None
        last.append("" if mark is None else mark)
        count = 0 if mark is None else last.count(mark)
        warned = self._warned[kind]
        if count < NEARLY_ALL or host in warned:
            return None
        warned.add(host)
        if len(warned) > MOST_NAMED:
            return Warned(kind, None)
        shown, original = printable(host, _LONGEST), printable(verdict.original or "", _LONGEST)
        text = TEXTS[kind].format(host=shown, count=count, last=LAST_PAGES, url=original)
        is_last = len(warned) == MOST_NAMED
        return Warned(kind, f"{text} (more such hosts are only counted)" if is_last else text)


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
