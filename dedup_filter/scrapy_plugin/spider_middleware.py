"""Spider output -> the same output; which item comes from which response is noted on the way.

The pipeline judges the response, once for all of its items. With DEDUP_FOLLOW_LINKS=False that is
done before anything of its output passes, and links found on a repeated page are held back.
"""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.http import Response

from dedup_filter.scrapy_plugin.index_calls import without_waiting
from dedup_filter.scrapy_plugin.judge import Judge, judge_of
from dedup_filter.scrapy_plugin.visits import Visit

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

__all__ = ["NearDuplicateMiddleware"]


class NearDuplicateMiddleware:
    """Note the items of each response, and hold back the links of repeated pages."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._fates = judge.fates
        self._follows_links = judge.settings.follow_links

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "NearDuplicateMiddleware":
        """Make the spider middleware of a crawl."""
        judge = judge_of(crawler)
        has_to_wait = judge.pages.is_shared or judge.pages.has_workers
        waits = has_to_wait and not judge.settings.follow_links
        return WaitingMiddleware(judge) if waits and cls is NearDuplicateMiddleware else cls(judge)

    def process_spider_output(
        self,
        response: Response,
        result: Iterable[Any],
        spider: "Spider | None" = None,  # noqa: ARG002
    ) -> Iterator[Any]:
        """Pass on what a synchronous callback gives."""
        with self._output_of(response) as visit:
            for output in result:
                if without_waiting(self._passes(output, visit)):
                    yield output

    async def process_spider_output_async(
        self,
        response: Response,
        result: AsyncIterable[Any],
        spider: "Spider | None" = None,  # noqa: ARG002
    ) -> AsyncIterator[Any]:
        """Pass on what an asynchronous callback gives."""
        with self._output_of(response) as visit:
            async for output in result:
                if await self._passes(output, visit):
                    yield output

    @contextmanager
    def _output_of(self, response: Response) -> Iterator[Visit | None]:
        """Note when the output of a response ends, and how."""
        visit = self._fates.visit(response)
        try:
            yield visit
        except Exception:
            self._fates.output_ended(visit, has_failed=True)
            raise
        self._fates.output_ended(visit, has_failed=False)

    async def _passes(self, output: Any, visit: Visit | None) -> bool:
        """Tell whether an output is passed on; if it is an item, it is expected in the pipeline."""
        if output is None or visit is None:
            return True
        is_repeated = not self._follows_links and await self._judge.repeats(visit)
        if not isinstance(output, Request):
            self._fates.expect(output, visit)
            return True
        # A request for the page itself is a retry; it follows no link.
        if self._follows_links or visit.asks_for_itself(output) or not is_repeated:
            return True
        self._judge.stats.add("links_not_followed")
        return False


class WaitingMiddleware(NearDuplicateMiddleware):
    """The same for DEDUP_FOLLOW_LINKS=False where a server or workers are waited for.

    Scrapy makes the output of a synchronous callback asynchronous for it.
    """

    process_spider_output = NearDuplicateMiddleware.process_spider_output_async  # type: ignore[assignment]
    process_spider_output_async = None  # type: ignore[assignment]
