"""How many pages a crawl may still ask for, so that it yields exactly `max_pages`.

A crawl does not know which links turn out to be pages: some are missing, forbidden or no HTML.
So it asks for no more addresses than it lacks pages, and keeps the rest waiting; when all those
are answered and pages are still lacking, `release` lets that many more go. Nothing is fetched
that is not wanted, which Scrapy's CLOSESPIDER_PAGECOUNT does not promise.

Without `max_pages` every address may go at once and nothing is kept.
"""

from collections import deque

from w3lib.url import canonicalize_url

__all__ = ["PageBudget"]


class PageBudget:
    """A bound on the pages of one crawl."""

    def __init__(self, max_pages: int | None) -> None:
        self._max_pages = max_pages
        self._yielded = 0
        self._asked = 0  # addresses let go since the last release, or since the start
        self._allowed = max_pages or 0
        self._seen: set[str] = set()
        self._waiting: deque[str] = deque()

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
        if self._max_pages is None:
            return []
        self._allowed = self._max_pages - self._yielded
        self._asked = min(self._allowed, len(self._waiting))
        return [self._waiting.popleft() for _ in range(self._asked)]
