import asyncio
import logging

import pytest
import scrapy
from passages import run
from server_stand_in import SharedPages, in_a_loop

from dedup_filter import NearDuplicate
from dedup_filter.scrapy_plugin import pipeline as pipeline_module
from dedup_filter.scrapy_plugin.pipeline import NearDuplicatePipeline
from dedup_filter.scrapy_plugin.stats import Figures


@pytest.fixture
def make_pipeline(make_judge):
    def make(summary_interval=0.0, **settings):
        return NearDuplicatePipeline(make_judge(**settings), summary_interval)

    return make


@pytest.fixture
def pipeline(make_pipeline):
    return make_pipeline()


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.DEBUG, "dedup_filter")
    return caplog


def process(pipeline, item):
    passed = run(pipeline.process_item(item))
    pipeline._judge.settlement.item_scraped(item, None)
    return passed


def drop(pipeline, item):
    coroutine = pipeline.process_item(item)
    with pytest.raises(NearDuplicate) as dropped:
        coroutine.send(None)
    return dropped.value


def test_new_item_passes_unchanged(pipeline, page):
    item = {"url": "http://a/", "html": page(1)}
    before = dict(item)

    assert process(pipeline, item) is item
    assert item == before


def test_repeated_item_is_dropped_with_its_original(pipeline, page, stats, log):
    process(pipeline, {"url": "http://a/", "html": page(1)})

    dropped = drop(pipeline, {"url": "http://b/\n", "html": page(1, edits=1)})

    assert dropped.original == "http://a/"
    assert dropped.url == "http://b/"
    assert 0 <= dropped.distance <= 8
    assert 0.7 <= dropped.similarity <= 1
    assert stats["dedup/bytes_dropped"] == len(page(1, edits=1))
    (record,) = log.records
    assert record.levelno == logging.INFO
    assert record.getMessage() == f"Dropped {dropped}"
    assert "http://b/ repeats http://a/" in record.getMessage()


def test_level_of_the_line_is_a_setting(make_pipeline, page, log):
    pipeline = make_pipeline(DEDUP_LOG_LEVEL="WARNING")
    process(pipeline, {"html": page(1)})
    drop(pipeline, {"html": page(1)})

    assert [record.levelno for record in log.records] == [logging.WARNING]


def test_bytes_of_a_page_are_counted_once_however_many_items_it_has(pipeline, respond, page, stats):
    judge = pipeline._judge
    first, twin = respond("http://a/", page(1)), respond("http://b/", page(1))
    items = [{"number": number} for number in range(4)]
    judge.expect(items[0], first)
    for item in items[1:]:
        judge.expect(item, twin)

    process(pipeline, items[0])
    for item in items[1:]:
        drop(pipeline, item)

    assert stats["dedup/items_dropped"] == 3
    assert stats["dedup/bytes_dropped"] == len(page(1))


def test_opted_out_item_passes_unchanged(make_pipeline, respond, page):
    pipeline = make_pipeline(DEDUP_ACTION="tag")
    item, response = {"html": page(1)}, respond("http://a/", meta={"dedup": False})
    pipeline._judge.expect(item, response)

    assert process(pipeline, item) is item
    assert "dedup" not in item


def test_tag_marks_instead_of_dropping(make_pipeline, page, log):
    pipeline = make_pipeline(DEDUP_ACTION="tag", DEDUP_TAG_FIELD="twin")
    items = [
        {"url": "http://a/", "html": page(1)},
        {"url": "http://b/", "html": page(1)},
        {"number": 3},
    ]

    kept = [process(pipeline, item) for item in items]

    assert kept == items
    assert [item["twin"]["outcome"] for item in items] == ["new", "exact", "unjudged"]
    assert items[1]["twin"] == {
        "outcome": "exact",
        "original": "http://a/",
        "distance": 0,
        "similarity": 1.0,
        "reason": None,
    }
    assert [record.getMessage() for record in log.records] == [
        "Found (exact): http://b/ repeats http://a/"
    ]


def test_item_without_room_for_the_tag_is_kept_with_one_warning(make_pipeline, page, stats, log):
    class Page(scrapy.Item):
        html = scrapy.Field()

    pipeline = make_pipeline(DEDUP_ACTION="tag")
    items = [Page(html=page(number)) for number in range(3)]

    assert [process(pipeline, item) for item in items] == items
    assert stats["dedup/items_not_tagged"] == 3
    (record,) = log.records
    assert record.levelno == logging.WARNING
    assert "Page items cannot be tagged" in record.getMessage()


def test_final_figures_and_summary_are_written_at_the_close(pipeline, page, stats, log):
    pipeline.open_spider()
    process(pipeline, {"html": page(1)})
    pipeline.close_spider()

    assert stats["dedup/index_size"] == 1
    assert stats["dedup/index_bytes"] > 0
    assert [record.getMessage() for record in log.records] == [
        pipeline._stats.summary(Figures(1, stats["dedup/index_bytes"]))
    ]


def test_summary_comes_at_the_interval_of_scrapys_own(make_pipeline, page, log, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("dedup_filter.scrapy_plugin.pipeline.monotonic", lambda: now[0])
    pipeline = make_pipeline(summary_interval=60.0)
    for seconds in (0, 30, 61, 62, 125):
        now[0] = 1000.0 + seconds
        process(pipeline, {"html": page(seconds)})

    assert [record.getMessage()[:8] for record in log.records] == [
        "3 pages:",
        "5 pages:",
    ]


def test_no_summary_between_if_scrapy_shows_none(pipeline, page, log):
    process(pipeline, {"html": page(1)})

    assert not log.records


@pytest.mark.parametrize("scrapy_version", [(2, 13, 0), (2, 14, 0)])
def test_pipeline_of_a_shared_index_is_closed_when_its_calls_are_made(
    make_judge, page, stats, log, monkeypatch, scrapy_version
):
    monkeypatch.setattr(pipeline_module, "version_info", scrapy_version)
    monkeypatch.setattr(pipeline_module, "deferred_from_coro", asyncio.ensure_future)
    pages = SharedPages()
    pipeline = NearDuplicatePipeline(make_judge(pages), 0.0)
    pipeline.open_spider()

    async def test():
        await pipeline.process_item({"html": page(1)})
        closing = pipeline.close_spider()
        assert isinstance(closing, asyncio.Future) is (scrapy_version < (2, 14))
        await closing

    in_a_loop(test())

    assert pages.closed
    assert pages.released == [1]  # of which no fate was told
    assert stats["dedup/all/pages"] == 7
    (record,) = log.records
    assert record.getMessage().endswith(", 7 pages: 4 new, 2 near, 1 exact, 0 unjudged")
