"""Verdicts of a crawl -> warnings about hosts whose pages a person should look at.

    one_original      nearly all of the host's last pages repeat the same page
    made_by_scripts   nearly all of them have no text without their scripts

A warning says what was counted, what it may mean and what to do. Each host gets each warning once;
the log names the first hosts of each kind, and further hosts are only counted.

Memory is bounded: the hosts seen last are counted, with 1 KB each at most. If a host returns after
that, its counts begin anew. Cost: 5 us a page, most of it to find the host.
"""

from collections import OrderedDict, deque
from typing import NamedTuple

from dedup_filter.model import Verdict
from dedup_filter.text.page_url import host_of
from dedup_filter.wording import printable

MOST_HOSTS = 2_000
"""Hosts that are counted at a time."""
MOST_NAMED = 20
"""Hosts that the log names for each kind of warning."""
LAST_PAGES, NEARLY_ALL = 50, 45
"""Pages of a host that are looked at, and how many of them must be alike for a warning."""
_LONGEST = 500
"""Characters of a URL or a host in a message."""

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
