"""With an index that is waited for, too: no page costs another its item."""

import asyncio
import random

import pytest
from passages import BY_TEXT, Collector, new_judge
from scrapy.http import HtmlResponse, JsonResponse, Request
from server_stand_in import Item, RedisPages, in_a_loop

from dedup_filter.scrapy_plugin import claims

TEXTS = "ABCD"


class Crawl:
    """Responses that give items at the same time, and a server that fails now and then."""

    def __init__(self, seed, *, fails, records_repeats=False):
        self.chance = random.Random(seed)
        self.pages = RedisPages(records_repeats=records_repeats)
        self.pages.elsewhere = {"D": 1001}
        self.pages.fates = {1001: ["pending"] * 3 + [self.chance.choice(["kept", "gone"])]}
        self.fails = fails
        self.stats = Collector()
        self.judge = new_judge(self.pages, self.stats, **BY_TEXT)
        self.through = []
        """Texts of the items that went through."""
        self.dropped = []
        self.items = 0

    async def run(self):
        await asyncio.gather(*(self.response(number) for number in range(5)))
        self.pages.away = None
        await self.judge.close(lambda figures: None)

    async def response(self, number):
        url, kind = f"http://r/{number}", self.chance.choice([HtmlResponse, JsonResponse])
        response = kind(url, body=b"{}", request=Request(url))
        items = []
        for each in range(self.chance.randint(1, 4)):
            item = {"text": self.chance.choice(TEXTS), "url": f"http://i/{number}/{each}"}
            self.judge.expect(item, response)
            items.append(asyncio.ensure_future(self.item(item, response)))
            await self.any_time()
        self.judge.output_ended(response, has_failed=False)
        await asyncio.gather(*items)

    async def item(self, item, response):
        self.items += 1
        passing = Item(self.judge, item, response)
        await passing.task
        await self.any_time()
        went_through = self.chance.random() < 0.6
        await passing.end(went_through)
        if passing.dropped is not None:
            self.dropped.append(item["text"])
        elif went_through:
            self.through.append(item["text"])

    def texts_elsewhere(self):
        return {"D"} if self.pages.fates[1001][-1] == "kept" else set()

    def texts_that_are_somewhere(self):
        return set(self.through) | self.texts_elsewhere()

    async def any_time(self):
        self.pages.away = "no route" if self.chance.random() < self.fails else None
        for _ in range(self.chance.randint(0, 4)):
            await asyncio.sleep(self.chance.choice([0, 0, 0.0005]))


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(claims, "_FIRST_PAUSE", 0.0005)
    monkeypatch.setattr(claims, "_LONGEST_PAUSE", 0.001)


@pytest.mark.parametrize("records_repeats", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_no_page_costs_another_its_item(seed, records_repeats):
    crawl = Crawl(seed, fails=0, records_repeats=records_repeats)

    in_a_loop(crawl.run())

    assert "dedup/errors" not in crawl.stats
    assert not crawl.pages.pending
    assert set(crawl.pages.kept) == set(crawl.through)
    assert set(crawl.dropped) <= crawl.texts_that_are_somewhere()
    assert not set(crawl.through) & crawl.texts_elsewhere()


@pytest.mark.parametrize("records_repeats", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_server_that_fails_costs_no_item(seed, records_repeats):
    crawl = Crawl(seed, fails=0.3, records_repeats=records_repeats)

    in_a_loop(crawl.run())

    assert crawl.stats["dedup/pages"] <= crawl.items
    assert set(crawl.dropped) <= crawl.texts_that_are_somewhere()
    assert set(crawl.pages.kept) <= set(crawl.through)
