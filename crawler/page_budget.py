"""How many pages a crawl may still ask for, so that it yields exactly `max_pages`.

A crawl does not know which links turn out to be pages: some are missing, forbidden or no HTML.
So it asks for no more addresses than it lacks pages, and keeps the rest waiting; when all those
are answered and pages are still lacking, `release` lets that many more go. Nothing is fetched
that is not wanted, which Scrapy's CLOSESPIDER_PAGECOUNT does not promise.

What waits outlives the run in a state that Scrapy keeps with JOBDIR, for Scrapy parses no page
of a job again. The next run begins with what the last one had asked for and not got; until that
is answered all else waits.

Without `max_pages` every address may go at once and nothing is kept.
"""

from collections import deque
from typing import Any

from w3lib.url import canonicalize_url

__all__ = ["PageBudget"]

_WAITING, _SEEN = "waiting_addresses", "seen_addresses"  # in users' jobs: never rename


class PageBudget:
    """A bound on the pages of one run of a crawl."""

    def __init__(self, max_pages: int | None) -> None:
        self._max_pages = max_pages
        self._yielded = 0
        self._asked = 0  # addresses let go since the last release, or since the start
        self._allowed = max_pages or 0
        self._seen: set[str] = set()
        self._waiting: deque[str] = deque()

    def keep_in(self, state: dict[str, Any]) -> None:
        """Keep what waits in a state, and go on with what waits there.

        Requires: nothing was admitted.
        """
        if _WAITING in state:
            self._allowed = 0
        self._waiting = state.setdefault(_WAITING, self._waiting)
        self._seen = state.setdefault(_SEEN, self._seen)

    def admit(self, url: str) -> bool:
        """Tell whether an address may be asked for now; if not, it waits or is known already."""
        if self._max_pages is None:
            return True
        key = canonicalize_url(url)  # as Scrapy's own filter of repeated requests sees it
        if key in self._seen:
            return False
        self._seen.add(key)
        if self._asked >= self._allowed:
            self._waiting.append(url)
            return False
        self._asked += 1
        return True

    def count_page(self) -> None:
        """Count a page that was yielded."""
        self._yielded += 1

    def release(self) -> list[str]:
        """Let as many waiting addresses go as pages are lacking. Requires: nothing is under way."""
        waiting = len(self._waiting)  # none without a bound, unless an earlier run had one
        self._allowed = waiting if self._max_pages is None else self._max_pages - self._yielded
        self._asked = min(self._allowed, waiting)
        return [self._waiting.popleft() for _ in range(self._asked)]
