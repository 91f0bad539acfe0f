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

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

__all__ = ["NearDuplicateMiddleware"]


class NearDuplicateMiddleware:
    """Note the items of each response, and hold back the links of repeated pages."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "NearDuplicateMiddleware":
        """Make the spider middleware of a crawl."""
        judge = judge_of(crawler)
        waits = judge.has_to_wait and not judge.settings.follow_links
        return WaitingMiddleware(judge) if waits and cls is NearDuplicateMiddleware else cls(judge)

    def process_spider_output(
        self,
        response: Response,
        result: Iterable[Any],
        spider: "Spider | None" = None,  # noqa: ARG002
    ) -> Iterator[Any]:
        """Pass on what a synchronous callback gives."""
        with self._output_of(response):
            for output in result:
                is_repeated = self._asks_of(output) and without_waiting(
                    self._judge.repeats(response)
                )
                if self._passes(output, response, is_repeated=is_repeated):
                    yield output

    async def process_spider_output_async(
        self,
        response: Response,
        result: AsyncIterable[Any],
        spider: "Spider | None" = None,  # noqa: ARG002
    ) -> AsyncIterator[Any]:
        """Pass on what an asynchronous callback gives."""
        with self._output_of(response):
            async for output in result:
                is_repeated = self._asks_of(output) and await self._judge.repeats(response)
                if self._passes(output, response, is_repeated=is_repeated):
                    yield output

    @contextmanager
    def _output_of(self, response: Response) -> Iterator[None]:
        """Tell the judge when the output of a response ends, and how."""
        try:
            yield
        except Exception:
            self._judge.output_ended(response, has_failed=True)
            raise
        self._judge.output_ended(response, has_failed=False)

    def _asks_of(self, output: Any) -> bool:
        """Tell whether a response is judged before this output of it passes."""
        return output is not None and not self._judge.settings.follow_links

    def _passes(self, output: Any, response: Response, *, is_repeated: bool) -> bool:
        if isinstance(output, Request):
            if self._judge.settings.follow_links:
                return True
            # A request for the page itself is a retry; it follows no link.
            if self._judge.asks_for_itself(output, response) or not is_repeated:
                return True
            self._judge.stats.add("links_not_followed")
            return False
        if output is not None:
            self._judge.expect(output, response)
        return True


class WaitingMiddleware(NearDuplicateMiddleware):
    """The same for DEDUP_FOLLOW_LINKS=False where a server or workers are waited for.

    Scrapy makes the output of a synchronous callback asynchronous for it.
    """

    process_spider_output = NearDuplicateMiddleware.process_spider_output_async  # type: ignore[assignment]
    process_spider_output_async = None  # type: ignore[assignment]
