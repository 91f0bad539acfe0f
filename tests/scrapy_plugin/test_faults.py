"""Faults of the index cost no item: writes that fail, and a server that cannot be reached."""

import logging

import pytest
from passages import BY_TEXT, PlainPages, Waiting, judged, put_through, run
from server_stand_in import Item, RedisPages, crawl, until

from dedup_filter.errors import StoreError
from dedup_filter.scrapy_plugin import faults


@pytest.fixture
def pages():
    return RedisPages()


@pytest.fixture
def judge(make_judge, pages):
    """Make a judge that asks a server."""
    return make_judge(pages, **BY_TEXT)


def item(name, text="same"):
    return {"url": f"http://a/{name}", "text": text}


def scraped(judge, each):
    judge.came_out(each, None, went_through=True)


def lost(judge, each):
    judge.came_out(each, None, went_through=False)


class FullDisk(PlainPages):
    is_full = True

    def flush(self):
        if self.is_full:
            raise StoreError("the disk is full")

    commit_ = PlainPages.commit

    def commit(self, verdict):
        self.flush()
        self.commit_(verdict)

    def close(self):
        self.flush()


def test_fault_at_the_commit_is_counted_and_leaves_nobody_waiting(make_judge, end_crawl, stats):
    judge = make_judge(FullDisk(), end_crawl, **BY_TEXT)
    first = item(1)
    judged(judge, first)
    twin = Waiting(judge, item(2))

    scraped(judge, first)

    assert twin.outcome == "exact"
    assert stats["dedup/errors"] == 2
    assert end_crawl.count == 1


class FullDiskAtTheClaim(FullDisk):
    def commit(self, verdict):
        self.is_full = False
        super().commit(verdict)


def test_pending_page_that_cannot_be_shown_to_readers_is_no_fault(make_judge, stats):
    pages = FullDiskAtTheClaim()
    judge = make_judge(pages, **BY_TEXT)
    first = item(1)
    judged(judge, first)

    scraped(judge, first)

    assert pages.committed == [1]
    assert "dedup/errors" not in stats


class CannotForget(PlainPages):
    fails = 1
    """So many releases."""

    def release(self, verdict):
        if self.fails:
            self.fails -= 1
            raise StoreError("the disk is full")
        super().release(verdict)


def test_release_that_failed_is_tried_again_before_the_next_claim(make_judge, stats):
    pages = CannotForget()
    judge = make_judge(pages, **BY_TEXT)
    first = item(1)
    judged(judge, first)
    lost(judge, first)

    outcomes = [put_through(judge, item(number)).verdict.outcome for number in (2, 3)]

    assert outcomes == ["new", "exact"]
    assert (pages.released, pages.committed) == ([1], [2, 3])
    assert stats["dedup/errors"] == 1


def test_twin_of_a_page_that_still_cannot_be_released_is_kept(make_judge, stats):
    pages = CannotForget()
    pages.fails = 2
    judge = make_judge(pages, **BY_TEXT)
    first = item(1)
    judged(judge, first)
    lost(judge, first)

    outcomes = [put_through(judge, item(number)).verdict.outcome for number in (2, 3, 4)]

    assert outcomes == ["unjudged", "new", "exact"]
    assert not pages.pending
    assert stats["dedup/unjudged/error"] == 1
    assert stats["dedup/errors"] == 2


def test_twin_that_waits_is_kept_when_its_original_cannot_be_released(make_judge):
    pages = CannotForget()
    pages.fails = 4
    judge = make_judge(pages, **BY_TEXT)
    first = item(1)
    judged(judge, first)
    twin = Waiting(judge, item(2))

    lost(judge, first)

    assert twin.outcome == "error"
    pages.fails = 0
    assert put_through(judge, item(3)).verdict.outcome == "new"
    assert not pages.pending


def test_what_could_not_be_written_is_tried_again_at_the_close(make_judge, stats):
    pages = FullDisk()
    judge = make_judge(pages, **BY_TEXT)
    for number in (1, 2):
        put_through(judge, item(number, text=str(number)))
    assert pages.committed == []

    pages.is_full = False
    run(judge.close(lambda figures: None))

    assert sorted(pages.committed) == [1, 2]


def test_fault_at_the_close_is_counted_and_ends_nothing(make_judge, stats, caplog):
    judge = make_judge(FullDisk(), **BY_TEXT)
    judged(judge, item(1))
    steps = []

    run(judge.close(steps.append))

    assert [figures.index_size for figures in steps] == [0]
    assert stats["dedup/errors"] == 2
    assert "the disk is full" in caplog.text
    assert "Traceback" not in caplog.text


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.INFO, "dedup_filter")
    return caplog


@pytest.mark.parametrize("in_thread", [True, False])
def test_items_are_kept_while_the_server_is_away_and_judged_when_it_is_back(
    judge, pages, stats, log, monkeypatch, in_thread
):
    now = [1000.0]
    monkeypatch.setattr(faults, "monotonic", lambda: now[0])

    async def put(each):
        return await Item(judge, each).end() if in_thread else put_through(judge, each)

    async def test():
        await put(item(1))
        if in_thread:
            await until(lambda: pages.committed)
        pages.away = "no route to redis://server"
        for number in range(2, 12):
            now[0] += 1
            await put(item(number))
        pages.away = None
        await put(item(20))
        now[0] += 1
        await put(item(21))

    if in_thread:
        crawl(judge, test)
    else:
        with pytest.raises(StopIteration):
            test().send(None)

    assert stats["dedup/errors"] == stats["dedup/unjudged/error"] == 10
    assert stats["dedup/exact"] == 2
    begin, end = [record.getMessage() for record in log.records]
    assert begin.startswith(
        "Index server unreachable; items are kept unjudged meanwhile: StoreAway"
    )
    assert end == "Index server reachable again after 10 s and 10 faults; pages are judged again"


def test_server_that_answers_now_and_then_is_away_until_it_is_calm(judge, pages, log, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(faults, "monotonic", lambda: now[0])

    async def test():
        for number in range(20):
            now[0] += 0.3
            pages.away = "cluster down" if number % 2 else None
            await Item(judge, item(number, text=f"{number}")).end()
        pages.away = None

    crawl(judge, test)

    assert [record.levelname for record in log.records] == ["ERROR", "WARNING"]


@pytest.mark.parametrize("comes_back", [True, False])
def test_end_of_the_crawl_tells_that_the_server_is_back_if_it_is(judge, pages, log, comes_back):
    async def test():
        pages.away = "no route"
        await Item(judge, item(1)).end()
        if comes_back:
            pages.away = None
            await Item(judge, item(2)).end()

    crawl(judge, test)

    told = [record.getMessage().partition(" after")[0] for record in log.records]
    assert told[0].startswith("Index server unreachable")
    assert told[1:] == ["Index server reachable again"] * comes_back


def test_outage_is_no_fault_of_another_kind(judge, pages, log):
    async def test():
        pages.away = "no route"
        for number in range(3):
            await Item(judge, item(number)).end()
        pages.away = None
        pages.read = lambda url, **parts: len(5)
        await Item(judge, item(4)).end()

    crawl(judge, test)

    assert "TypeError" in log.records[-1].exc_text


def test_spider_is_closed_when_the_server_goes_away_if_so_wished(make_judge, pages, end_crawl, log):
    judge = make_judge(pages, end_crawl, **BY_TEXT)

    async def test():
        pages.away = "no route"
        for number in range(3):
            assert await Item(judge, item(number)).end() == "error"

    crawl(judge, test)

    assert end_crawl.count == 1
    away, closing = [record.getMessage() for record in log.records]
    assert away.startswith("Index server unreachable; items are kept unjudged meanwhile: ")
    assert closing == "Spider closed after a fault (DEDUP_ON_ERROR); items still under way are kept"
