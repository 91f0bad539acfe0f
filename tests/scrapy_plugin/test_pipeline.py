"""Items are kept, dropped or tagged, links followed or held back; a line tells of each page."""

import inspect
import logging
import re

import attrs
import pydantic
import pytest
import scrapy
from scrapy import Request
from scrapy.exceptions import DropItem
from scrapy.http import HtmlResponse

from dedup_filter import NearDuplicate, Verdict
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.scrapy_plugin import pipeline as pipeline_module
from dedup_filter.scrapy_plugin.outputs import Revisit, SameTemplate, describe

NEAR = Verdict("near", "http://a/1", distance=3, similarity=0.92, language="en", candidates=2)
LINK = Request("http://a/next")


@pytest.fixture
def holding_back(make_crawl):
    return make_crawl(DEDUP_FOLLOW_LINKS=False)


def process(crawl, item, response=None):
    """Let an item pass all pipelines."""
    passed = crawl.run(crawl.pipeline.process_item(item))
    crawl.scraped(item, response)
    return passed


def drop(crawl, item):
    with pytest.raises(NearDuplicate) as dropped:
        crawl.run(crawl.pipeline.process_item(item))
    return dropped.value


def passed(crawl, response, outputs, ends_with=None):
    """Return what the spider middleware lets pass of the output of a response."""

    async def callback():
        for output in outputs:
            yield output
        if ends_with:
            raise ends_with

    async def collect():
        passing = crawl.middleware.process_spider_output(response, callback())
        return [output async for output in passing]

    return crawl.run(collect())


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.DEBUG, "dedup_filter")
    return caplog


def test_bytes_of_a_page_are_counted_once_however_many_items_it_has(crawl, respond, page):
    first, twin = respond("http://a/", page(1)), respond("http://b/", page(1))
    items = [{"number": number} for number in range(4)]
    passed(crawl, first, items[:1])
    passed(crawl, twin, items[1:])

    process(crawl, items[0], first)
    for item in items[1:]:
        drop(crawl, item)

    assert crawl.stats["dedup/items_dropped"] == 3
    assert crawl.stats["dedup/bytes_dropped"] == len(page(1))


@pytest.mark.parametrize("action", ["drop", "tag"])
def test_a_page_that_is_kept_though_it_is_near_another_says_why_once(
    make_crawl, respond, article, log, action
):
    crawl = make_crawl(DEDUP_ACTION=action)
    for number in (1, 2):
        html = f"<html><body><h1>Press release {number}</h1><p>{article(1)}</p></body></html>"
        response = respond(f"http://a/{number}\u202e", html)
        items = [{"item": each} for each in range(3)]
        passed(crawl, response, items)
        for item in items:
            process(crawl, item, response)

    assert crawl.stats["dedup/new"] == 2
    told = [re.sub(r"\d bits", "k bits", record.getMessage()) for record in log.records]
    missing = 'headline missing in http://a/1\\u202e: "Press release 2"'
    assert told == [f"Kept (k bits): http://a/2\\u202e: {missing}"]


@pytest.mark.parametrize(("action", "verb"), [("drop", "Dropped"), ("tag", "Found")])
def test_pages_with_nothing_of_their_own_are_dropped_beyond_a_limit(
    make_crawl, respond, article, log, action, verb
):
    crawl = make_crawl(NearDuplicateFilter.open(same_template=3), DEDUP_ACTION=action)
    links = "".join(f'<a href="#{n}">Part {n}</a> | ' for n in range(6))
    for number in range(8):
        shown = f"<title>item-{number}</title>{links}<p>item-{number}</p><p>{article(1)}</p>"
        response, item = respond(f"http://a/item-{number}", shown), {}
        passed(crawl, response, [item])
        if action == "drop" and number >= 5:
            assert isinstance(drop(crawl, item), SameTemplate)
        else:
            process(crawl, item, response)
    if action == "tag":
        assert item["dedup"]["outcome"] == "same_template"
    assert crawl.stats["dedup/same_template"] == 3
    line = f"{verb} (same template): http://a/item-7 has few words beside the frame of its host"
    assert line in [record.getMessage() for record in log.records]
    summary = "8 pages: 5 new, 0 near, 0 exact, 3 of one template, 0 unjudged"
    assert crawl.pipeline.stats.summary({}).startswith(summary)


@pytest.mark.parametrize(("interval", "summed_up"), [(60.0, ["2 pages", "4 pages"]), (0.0, [])])
def test_summary_comes_at_the_interval_of_scrapys_own(
    make_crawl, page, log, monkeypatch, interval, summed_up
):
    now = [1000.0]
    monkeypatch.setattr(pipeline_module, "monotonic", lambda: now[0])
    crawl = make_crawl()
    crawl.pipeline.summary_interval = interval
    for seconds in (0, 30, 61, 62, 125):
        now[0] = 1000.0 + seconds
        process(crawl, {"html": page(seconds)})

    assert [record.getMessage().partition(":")[0] for record in log.records] == summed_up


def test_output_passes_in_order_and_no_response_is_judged_before_an_item_needs_it(
    crawl, respond, page
):
    response, outputs = respond("http://a/", page(1)), [{"n": 1}, LINK, None, {"n": 2}]

    assert passed(crawl, response, outputs) == outputs
    assert inspect.isasyncgenfunction(crawl.middleware.process_spider_output)

    assert len(crawl.pages) == 0
    process(crawl, outputs[0], response)
    assert drop(crawl, {"url": "http://b/", "html": page(1)}).original == "http://a/"


def test_links_of_a_repeated_page_are_held_back(holding_back, respond, page):
    item = {"number": 1}
    passed(holding_back, respond("http://a/", page(1)), [LINK, item])

    assert passed(holding_back, respond("http://b/", page(1)), [LINK, item, LINK]) == [item]
    assert holding_back.stats["dedup/links_not_followed"] == 2


def test_item_of_a_page_that_is_tried_again_survives(holding_back, respond, page):
    first, again = (respond("http://a/", page(1)) for _ in range(2))
    retry = first.request = Request("http://a/#fragment", dont_filter=True)
    item = {"number": 1}

    assert passed(holding_back, first, [LINK, retry]) == [LINK, retry]
    outputs = [LINK, item]
    assert passed(holding_back, again, outputs) == outputs
    assert process(holding_back, item, again) is item
    assert holding_back.stats["dedup/released"] == 1
    assert holding_back.stats["dedup/new"] == 2
    assert len(holding_back.pages) == 1


@pytest.mark.parametrize(("was_unfiltered", "remembered"), [(True, 0), (False, 1)])
def test_link_of_a_page_to_itself_is_another_try_only_if_scrapy_follows_it(
    holding_back, respond, page, was_unfiltered, remembered
):
    response = respond("http://a/", page(1))
    response.request = Request("http://a/", dont_filter=was_unfiltered)

    passed(holding_back, response, [Request("http://a/"), LINK])

    assert len(holding_back.pages) == remembered


def test_response_that_cannot_be_read_costs_no_link(holding_back):
    class Undeclared(HtmlResponse):
        def _declared_encoding(self):
            raise RuntimeError("no encoding")

    outputs = [LINK, {"number": 1}]

    assert passed(holding_back, Undeclared("http://a/"), outputs) == outputs
    assert holding_back.stats["dedup/errors"] == holding_back.stats["dedup/unjudged/error"] == 1


def test_error_of_the_spider_goes_on_to_scrapy(crawl, respond, page):
    response = respond("http://a/", page(1))

    with pytest.raises(ZeroDivisionError):
        passed(crawl, response, [{"number": 1}], ZeroDivisionError())


def test_exception_tells_all_of_the_verdict():
    dropped = NearDuplicate("http://b/1", NEAR)

    assert isinstance(dropped, DropItem)
    assert dropped.verdict is NEAR
    assert (dropped.original, dropped.distance, dropped.similarity) == ("http://a/1", 3, 0.92)
    assert str(dropped) == "(near, 3 bits, 92 % similar): http://b/1 repeats http://a/1"
    assert isinstance(Revisit("http://b/1", NEAR), NearDuplicate)


@pytest.mark.parametrize(
    ("verdict", "start"),
    [
        (Verdict("exact", "http://a/", distance=0, similarity=1.0), "(exact): http://b/"),
        (Verdict("near", "http://a/", distance=1, similarity=0.705), "(near, 1 bit, 70 % similar)"),
        (Verdict("near", "http://a/", 20, 0.98, "canonical"), "(near, 20 bits, 98 % similar, can"),
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
    twin = scrapy.Field()


class OtherScrapyItem(scrapy.Item):
    name = scrapy.Field()


class WithExtras(pydantic.BaseModel, extra="allow"):
    pass


FIELD = {"dedup": (object, None)}
ROOM = {
    "dict": dict,
    "scrapy": ScrapyItem,
    "attrs": attrs.make_class("AttrsItem", {"twin": attrs.field(default=None)}),
    "pydantic with extras": WithExtras,
}
NO_ROOM = {
    "scrapy": lambda: OtherScrapyItem(name="x"),
    "frozen": pydantic.create_model("F", __config__={"frozen": True}, **FIELD),
    "none": lambda: 5,
}


@pytest.mark.parametrize("kind", ROOM)
def test_item_with_room_is_marked_with_a_plain_dict(make_crawl, respond, page, log, kind):
    crawl = make_crawl(DEDUP_ACTION="tag", DEDUP_TAG_FIELD="twin")
    original = {"url": "http://a/", "html": page(1)}
    response, item = respond("http://b/", page(1)), ROOM[kind]()
    passed(crawl, response, [item])

    assert process(crawl, original) is original
    assert process(crawl, item, response) is item

    assert original["twin"]["outcome"] == "new"
    assert [record.getMessage() for record in log.records] == [
        "Found (exact): http://b/ repeats http://a/"
    ]
    mark = item.twin if hasattr(item, "twin") else item["twin"]
    assert {name: mark[name] for name in ("outcome", "original", "distance", "similarity")} == {
        "outcome": "exact",
        "original": "http://a/",
        "distance": 0,
        "similarity": 1.0,
    }
    same = ("cluster", "fingerprint")
    assert [mark[name] for name in same] == [original["twin"][name] for name in same] != [None] * 2


@pytest.mark.parametrize("kind", NO_ROOM)
@pytest.mark.parametrize(
    ("settings", "stat", "said"),
    [
        ({"DEDUP_ACTION": "tag"}, "items_not_tagged", "{} items cannot be tagged"),
        ({"DEDUP_TEXT_OUT": "twins"}, "items_without_text", "{} items get no text: they have no"),
    ],
)
def test_item_without_room_is_kept_as_it_is_and_told_of_once(
    make_crawl, log, page, respond, *, kind, settings, stat, said
):
    with NearDuplicateFilter.open(with_text=True) as pages:
        crawl = make_crawl(pages, **settings)
        for number in range(2):
            response, item = respond(f"http://a/{number}", page(number)), NO_ROOM[kind]()
            before = repr(item)
            passed(crawl, response, [item])
            assert process(crawl, item, response) is item
            assert repr(item) == before
        assert crawl.stats[f"dedup/{stat}"] == 2
        (record,) = log.records
        assert record.levelno == logging.WARNING
        assert said.format(type(item).__name__) in record.getMessage()
