"""Whatever order items come in and whatever becomes of them: no page costs another its item."""

import asyncio
import random

import pytest
from passages import BY_TEXT, Collector, PlainPages, end, expect, new_judge
from scrapy.http import HtmlResponse, JsonResponse, Request
from server_stand_in import RedisPages, in_a_loop

from dedup_filter.errors import StoreError
from dedup_filter.scrapy_plugin import fates


class FailingPages(PlainPages):
    """Pages in this process whose fates cannot be written while they are away."""

    away = None

    def commit(self, verdict):
        self._reach()
        super().commit(verdict)

    def release(self, verdict):
        self._reach()
        super().release(verdict)

    def _reach(self):
        if self.away:
            raise StoreError(self.away)


class Crawl:
    """Responses that give items at the same time, to an index that fails now and then."""

    def __init__(self, seed, pages, *, fails):
        self.chance = random.Random(seed)
        self.pages = pages
        if pages.is_shared:  # another process has claimed the page "D"
            pages.elsewhere = {"D": 1001}
            pages.fates = {1001: ["pending"] * 3 + [self.chance.choice(["kept", "gone"])]}
        self.fails = fails
        self.stats = Collector()
        self.judge = new_judge(pages, self.stats, **BY_TEXT)
        self.items = 0
        self.through = []
        """Texts of the items that went through."""
        self.dropped = []

    async def run(self):
        await asyncio.gather(*(self.response(number) for number in range(5)))
        self.pages.away = None
        await end(self.judge)

    async def response(self, number):
        url, kind = f"http://r/{number}", self.chance.choice([HtmlResponse, JsonResponse])
        response = kind(url, body=b"{}", request=Request(url))
        items = []
        for each in range(self.chance.randint(1, 4)):
            item = {"text": self.chance.choice("ABCD"), "url": f"http://i/{number}/{each}"}
            expect(self.judge, response, item)
            items.append(asyncio.ensure_future(self.item(item, response)))
            await self.any_time()
        expect(self.judge, response, ends=True)
        await asyncio.gather(*items)

    async def item(self, item, response):
        fate = self.chance.choice(["through"] * 3 + ["made anew", "lost", "lost before"])
        went_through = fate in ("through", "made anew")
        if fate != "lost before":
            self.items += 1
            passage = await self.judge.item(item)
            await self.any_time()
            if passage.is_dropped:
                went_through = None
                self.dropped.append(item["text"])
            elif went_through:
                self.through.append(item["text"])
                item = dict(item) if fate == "made anew" else item
        self.judge.fates.came_out(item, response, went_through=went_through)

    async def any_time(self):
        self.pages.away = "no route" if self.chance.random() < self.fails else None
        for _ in range(self.chance.randint(0, 4)):
            await asyncio.sleep(self.chance.choice([0, 0, 0.0005]))

    def is_kept_elsewhere(self, text):
        return text == "D" and self.pages.is_shared and self.pages.fates[1001][-1] == "kept"


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(fates, "_FIRST_PAUSE", 0.0005)
    monkeypatch.setattr(fates, "_LONGEST_PAUSE", 0.001)


PAGES = {
    "here": FailingPages,
    "on a server": RedisPages,
    "without records of repeats": lambda: RedisPages(records_repeats=False),
}


@pytest.mark.parametrize("fails", [0, 0.3])
@pytest.mark.parametrize("kind", PAGES)
@pytest.mark.parametrize("seed", range(40))
def test_no_page_costs_another_its_item(seed, kind, fails):
    crawl = Crawl(seed, PAGES[kind](), fails=fails)

    in_a_loop(crawl.run())

    somewhere = {text for text in "ABCD" if text in crawl.through or crawl.is_kept_elsewhere(text)}
    assert set(crawl.dropped) <= somewhere
    assert set(crawl.pages.kept) <= set(crawl.through)
    assert crawl.stats["dedup/pages"] <= crawl.items
    if not fails:
        assert crawl.stats["dedup/errors"] == 0
        assert not crawl.pages.pending
        assert set(crawl.pages.kept) == set(crawl.through)
        assert not any(map(crawl.is_kept_elsewhere, crawl.through))
