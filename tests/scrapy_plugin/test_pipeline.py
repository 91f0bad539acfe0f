"""Items are kept, dropped or tagged, with one line for each page dropped and one at the end."""

import logging
from dataclasses import make_dataclass

import attrs
import pydantic
import pytest
import scrapy
from passages import close, expect, run
from scrapy.exceptions import DropItem

from dedup_filter import NearDuplicate, Verdict
from dedup_filter.scrapy_plugin import pipeline as pipeline_module
from dedup_filter.scrapy_plugin.pipeline import NearDuplicatePipeline, Revisit, describe, tag

NEAR = Verdict("near", "http://a/1", distance=3, similarity=0.92, language="en", candidates=2)


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
    pipeline.item_scraped(item, None)
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

    assert (dropped.url, dropped.original) == ("http://b/", "http://a/")
    assert 0 <= dropped.distance <= 8
    assert 0.7 <= dropped.similarity <= 1
    assert stats["dedup/bytes_dropped"] == len(page(1, edits=1))
    (record,) = log.records
    assert record.levelno == logging.INFO
    assert record.getMessage() == f"Dropped {dropped}"
    assert "http://b/ repeats http://a/" in record.getMessage()


def test_bytes_of_a_page_are_counted_once_however_many_items_it_has(pipeline, respond, page, stats):
    first, twin = respond("http://a/", page(1)), respond("http://b/", page(1))
    items = [{"number": number} for number in range(4)]
    expect(pipeline._judge, first, items[0])
    expect(pipeline._judge, twin, *items[1:])

    process(pipeline, items[0])
    for item in items[1:]:
        drop(pipeline, item)

    assert stats["dedup/items_dropped"] == 3
    assert stats["dedup/bytes_dropped"] == len(page(1))


def test_opted_out_item_passes_unchanged(make_pipeline, respond, page):
    pipeline = make_pipeline(DEDUP_ACTION="tag")
    item, response = {"html": page(1)}, respond("http://a/", meta={"dedup": False})
    expect(pipeline._judge, response, item)

    assert process(pipeline, item) is item
    assert "dedup" not in item


def test_tag_marks_instead_of_dropping(make_pipeline, page, log):
    pipeline = make_pipeline(DEDUP_ACTION="tag", DEDUP_TAG_FIELD="twin")
    items = [
        {"url": "http://a/", "html": page(1)},
        {"url": "http://b/", "html": page(1)},
        {"number": 3},
    ]

    assert [process(pipeline, item) for item in items] == items
    assert [item["twin"]["outcome"] for item in items] == ["new", "exact", "unjudged"]
    assert items[1]["twin"]["original"] == "http://a/"
    assert [record.getMessage() for record in log.records] == [
        "Found (exact): http://b/ repeats http://a/"
    ]


def test_item_without_room_for_the_tag_is_kept_with_one_warning(make_pipeline, stats, log):
    pipeline = make_pipeline(DEDUP_ACTION="tag")
    items = [OtherScrapyItem(name=str(number)) for number in range(3)]

    assert [process(pipeline, item) for item in items] == items
    assert stats["dedup/items_not_tagged"] == 3
    (record,) = log.records
    assert record.levelno == logging.WARNING
    assert "OtherScrapyItem items cannot be tagged" in record.getMessage()


def test_final_figures_and_summary_are_written_at_the_close(pipeline, page, stats, log):
    process(pipeline, {"html": page(1)})
    close(pipeline)

    assert stats["dedup/index_size"] == 1
    assert stats["dedup/index_bytes"] > 0
    assert [record.getMessage() for record in log.records] == [
        pipeline._stats.summary({"index_size": 1, "index_bytes": stats["dedup/index_bytes"]})
    ]


@pytest.mark.parametrize(("interval", "summed_up"), [(60.0, ["2 pages", "4 pages"]), (0.0, [])])
def test_summary_comes_at_the_interval_of_scrapys_own(
    make_pipeline, page, log, monkeypatch, interval, summed_up
):
    now = [1000.0]
    monkeypatch.setattr(pipeline_module, "monotonic", lambda: now[0])
    pipeline = make_pipeline(summary_interval=interval)
    for seconds in (0, 30, 61, 62, 125):
        now[0] = 1000.0 + seconds
        process(pipeline, {"html": page(seconds)})

    assert [record.getMessage().partition(":")[0] for record in log.records] == summed_up


def test_exception_tells_all_of_the_verdict():
    dropped = NearDuplicate("http://b/1", NEAR)

    assert isinstance(dropped, DropItem)
    assert dropped.verdict is NEAR
    assert (dropped.original, dropped.distance, dropped.similarity) == ("http://a/1", 3, 0.92)
    assert str(dropped) == "(near, 3 bits, 92 % similar): http://b/1 repeats http://a/1"
    assert isinstance(Revisit("http://b/1", NEAR), NearDuplicate)


def test_level_of_scrapys_own_line_is_never_enabled():
    logger = logging.getLogger("test_level_of_scrapys_own_line")
    logger.setLevel(logging.NOTSET + 1)

    assert not logger.isEnabledFor(getattr(logging, NearDuplicate("http://b/", NEAR).log_level))


@pytest.mark.parametrize(
    ("verdict", "start"),
    [
        (Verdict("exact", "http://a/", distance=0, similarity=1.0), "(exact): http://b/"),
        (Verdict("near", "http://a/", distance=1, similarity=0.705), "(near, 1 bit, 70 % similar)"),
        (Verdict("near", "http://a/", distance=0), "(near, 0 bits)"),
        (Verdict("near"), "(near): http://b/ repeats (a page without URL)"),
        (
            Verdict("revisit", "http://b/", distance=2, similarity=0.98),
            "(revisit, 2 bits, 98 % similar): http://b/ was kept in an earlier crawl",
        ),
    ],
)
def test_line_says_how_closely_the_page_repeats(verdict, start):
    assert describe("http://b/", verdict).startswith(start)


class ScrapyItem(scrapy.Item):
    dedup = scrapy.Field()


class OtherScrapyItem(scrapy.Item):
    name = scrapy.Field()


class WithExtras(pydantic.BaseModel, extra="allow"):
    pass


FIELD = {"dedup": (object, None)}
ROOM = {
    "dict": dict,
    "scrapy": ScrapyItem,
    "dataclass": make_dataclass("DataclassItem", [("dedup", object, None)]),
    "attrs": attrs.make_class("AttrsItem", {"dedup": attrs.field(default=None)}),
    "pydantic": pydantic.create_model("PydanticItem", **FIELD),
    "pydantic with extras": WithExtras,
}


@pytest.mark.parametrize("kind", ROOM)
def test_item_with_room_is_marked_with_a_plain_dict(kind):
    item = ROOM[kind]()

    assert tag(item, "dedup", NEAR)
    assert (item.dedup if hasattr(item, "dedup") else item["dedup"]) == {
        "outcome": "near",
        "original": "http://a/1",
        "distance": 3,
        "similarity": 0.92,
        "reason": None,
    }


class Stubborn(dict):
    def __setitem__(self, key, value):
        raise RuntimeError("read only")


NO_ROOM = {
    "scrapy": OtherScrapyItem(name="x"),
    "frozen": make_dataclass("Frozen", [("dedup", object, None)], frozen=True)(),
    "frozen pydantic": pydantic.create_model("F", __config__={"frozen": True}, **FIELD)(),
    "stubborn": Stubborn(name="x"),
    "none": 5,
}


@pytest.mark.parametrize("kind", NO_ROOM)
def test_item_without_room_is_left_as_it_is(kind):
    item = NO_ROOM[kind]
    before = repr(item)

    assert not tag(item, "dedup", NEAR)
    assert repr(item) == before
