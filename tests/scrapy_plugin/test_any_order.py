"""Whatever order items come in and whatever becomes of them: no page costs another its item."""

import asyncio
import random

import pytest
from gate import slow
from passages import BY_TEXT, Crawl, PlainPages, SharedPages
from scrapy.http import HtmlResponse, JsonResponse, Request

from dedup_filter.errors import StoreError


class Chances:
    """Responses that give items at the same time, to an index that fails now and then."""

    def __init__(self, seed, pages, *, fails):
        self.chance = random.Random(seed)
        self.pages = pages
        if pages.is_shared:  # another process has claimed the page "D"
            pages.elsewhere = {"D": 1001}
            pages.fates = {1001: ["pending"] * 3 + [self.chance.choice(["kept", "gone"])]}
        else:
            pages.failing = {"commit", "release"}
        self.fails = fails
        self.crawl = Crawl(pages, **BY_TEXT)
        self.pipeline, self.middleware = self.crawl.pipeline, self.crawl.middleware
        self.items = 0
        self.through = []
        """Texts of the items that went through."""
        self.dropped = []

    def run(self):
        self.crawl.run(self.responses())
        self.pages.fault = None
        self.crawl.close()

    async def responses(self):
        await asyncio.gather(*(self.response(number) for number in range(5)))

    async def response(self, number):
        url, kind = f"http://r/{number}", self.chance.choice([HtmlResponse, JsonResponse])
        response = kind(url, body=b"{}", request=Request(url))
        items = []
        for each in range(self.chance.randint(1, 4)):
            item = {"text": self.chance.choice("ABCD"), "url": f"http://i/{number}/{each}"}
            self.middleware.expect(item, response)
            items.append(asyncio.ensure_future(self.item(item, response)))
            await self.any_time()
        self.middleware.output_ended(response, has_failed=False)
        await asyncio.gather(*items)

    async def item(self, item, response):
        fate = self.chance.choice(["through"] * 3 + ["made anew", "lost", "lost before"])
        went_through = fate in ("through", "made anew")
        if fate != "lost before":
            self.items += 1
            judgement = await self.pipeline.judge(item)
            await self.any_time()
            if self.pipeline.is_dropped(judgement):
                went_through = False
                self.dropped.append(item["text"])
            elif went_through:
                self.through.append(item["text"])
                item = dict(item) if fate == "made anew" else item
        comes_out = self.pipeline.item_scraped if went_through else self.pipeline.item_lost
        comes_out(item, response)

    async def any_time(self):
        fails = self.chance.random() < self.fails
        self.pages.fault = StoreError("no route") if fails else None
        for _ in range(self.chance.randint(0, 4)):
            await asyncio.sleep(self.chance.choice([0, 0, 0.05, 0.5]))

    def is_kept_elsewhere(self, text):
        return text == "D" and self.pages.is_shared and self.pages.fates[1001][-1] == "kept"


PAGES = {
    "here": PlainPages,
    "on a server": SharedPages,
    "without records of repeats": lambda: SharedPages(records_repeats=False),
}


@pytest.mark.parametrize("fails", [0, 0.3])
@pytest.mark.parametrize("kind", PAGES)
@pytest.mark.parametrize("seed", [*range(10), *(slow(n) for n in range(10, 20))])
def test_no_page_costs_another_its_item(seed, kind, fails):
    chances = Chances(seed, PAGES[kind](), fails=fails)

    chances.run()

    kept_there = chances.is_kept_elsewhere
    somewhere = {text for text in "ABCD" if text in chances.through or kept_there(text)}
    assert set(chances.dropped) <= somewhere
    assert set(chances.pages.kept) <= set(chances.through)
    assert chances.crawl.stats["dedup/pages"] <= chances.items
    if not fails:
        assert chances.crawl.stats["dedup/errors"] == 0
        assert not chances.pages.pending
        assert set(chances.pages.kept) == set(chances.through)
        assert not any(map(kept_there, chances.through))
