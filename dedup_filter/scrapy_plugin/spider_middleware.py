"""Spider output -> the same output; which item comes from which response is noted on the way.

The pipeline judges the response, once for all of its items. With DEDUP_FOLLOW_LINKS=False that is
done before anything of its output passes, and links found on a repeated page are held back.
"""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.http import Response

from dedup_filter.scrapy_plugin.judge import Judge
from dedup_filter.scrapy_plugin.visits import Visit

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

__all__ = ["NearDuplicateMiddleware"]


class NearDuplicateMiddleware:
    """Note the items of each response."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._fates = judge.fates

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "NearDuplicateMiddleware":
        """Make the spider middleware of a crawl."""
        from dedup_filter.scrapy_plugin.addon import Addon  # which adds this to the crawl

        judge = Addon.judge_of(crawler)
        return cls(judge) if judge.settings.follow_links else LinkMiddleware(judge)

    def process_spider_output(
        self,
        response: Response,
        result: Iterable[Any],
        spider: "Spider | None" = None,  # noqa: ARG002
    ) -> Iterator[Any]:
        """Pass on what a synchronous callback gives."""
        with self._output_of(response) as visit:
            for output in result:
                self._expect(output, visit)
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
                    self._expect(output, visit)
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

    def _expect(self, output: Any, visit: Visit | None) -> None:
        if visit is not None and output is not None and not isinstance(output, Request):
            self._fates.expect(output, visit)

    async def _passes(self, output: Any, visit: Visit | None) -> bool:  # noqa: ARG002
        return True


class LinkMiddleware(NearDuplicateMiddleware):
    """Hold back the links of repeated pages, too (DEDUP_FOLLOW_LINKS=False).

    It may have to wait, so Scrapy makes the output of a synchronous callback asynchronous for it.
    """

    process_spider_output = NearDuplicateMiddleware.process_spider_output_async  # type: ignore[assignment]
    process_spider_output_async = None  # type: ignore[assignment]

    async def _passes(self, output: Any, visit: Visit | None) -> bool:
        if output is None or visit is None:
            return True
        is_repeated = await self._judge.repeats(visit)
        # A request for the page itself is a retry; it follows no link.
        if not isinstance(output, Request) or visit.asks_for_itself(output) or not is_repeated:
            return True
        self._judge.stats.add("links_not_followed")
        return False
