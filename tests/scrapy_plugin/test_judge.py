"""Items and responses are judged by the right page, once, and a fault costs no item."""

import logging
from unittest.mock import Mock

import pytest
from gate import slow
from scrapy import Request
from scrapy.http import HtmlResponse, JsonResponse, Response, TextResponse

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.scrapy_plugin import NearDuplicate


def judged(crawl, response, *items):
    """Let items of a response pass the spider middleware, then the pipelines."""
    if response is not None:
        crawl.expect(response, *items)
    return [crawl.put_through(item, response) for item in items]


def outcomes(crawl, response, *items):
    return [verdict.reason or verdict.outcome for verdict in judged(crawl, response, *items)]


def outcomes_adding_up(stats):
    names = ("new", "near", "exact", "revisits", "unjudged")
    return sum(stats.get(f"dedup/{name}", 0) for name in names)


@pytest.mark.parametrize(
    ("settings", "meta", "count"),
    [({}, {}, 1), ({"DEDUP_SOURCE": "item"}, {}, 0), ({}, {"dedup": False}, 0)],
)
def test_a_worker_reads_a_response_with_its_first_item(
    make_crawl, respond, page, settings, meta, count
):
    crawl = make_crawl(NearDuplicateFilter.open(workers=1), **settings)
    crawl.pages.pool.read = Mock(side_effect=crawl.pages.pool.read)
    crawl.expect(respond("http://a/", page(1), meta=meta), {}, {})
    assert crawl.pages.pool.read.call_count == count


@pytest.mark.parametrize("name", ["text", "html"])
def test_items_of_one_page_share_its_verdict_whatever_they_hold(crawl, respond, page, name):
    here, there = respond("http://a/", page(1)), respond("http://b/", page(1, edits=1))
    items = [{"number": 1}, {name: page(1)}, {"url": "http://c/", name: page(2)}, {name: "Short."}]

    assert outcomes(crawl, here, *items) == ["new"] * 4
    assert outcomes(crawl, there, *items) == ["near"] * 4
    assert crawl.pages.see("http://x/", html=page(1)).original == "http://a/"
    assert crawl.stats["dedup/pages"] == outcomes_adding_up(crawl.stats) == 2


def test_a_part_names_its_whole_in_its_head_or_in_a_header(make_crawl, respond, article):
    crawl = make_crawl(NearDuplicateFilter.open(canonical=True, shared_phrases=False))
    texts = [f"<p>{article(number, words=60)}</p>" for number in range(9)]
    link = '<html><head><link rel="canonical" href="/whole"></head><body>'
    responses = [
        respond("http://a/whole", "".join(texts)),
        respond("http://a/part/1", link + "".join(texts[:3])),
        respond("http://a/part/2", "".join(texts[3:6]), Link="</whole>; rel=canonical"),
        respond("http://a/part/3", "".join(texts[6:])),
    ]
    found = [verdict for each in responses for verdict in judged(crawl, each, {"url": each.url})]
    assert [each.outcome for each in found] == ["new", "near", "near", "new"]
    assert [each.reason for each in found] == [None, "canonical", "canonical", None]
    assert {each.original for each in found[1:3]} == {"http://a/whole"}
    assert (crawl.stats["dedup/canonical"], crawl.stats["dedup/near"]) == (2, 2)


JSON = {"cls": JsonResponse}
REVIEW = {"text": "Great!"}
ODD_ITEMS = [5, "text", None, object(), [], {"html": []}, {"text": {}}, {"url": 5}]


@pytest.mark.parametrize(
    ("settings", "kind", "items", "said"),
    [
        # Articles of a feed are compared with one another.
        ({}, JSON, [("1", 1), ("2", 1), ("1", 1)], "new exact new"),
        # Nothing in an answer of an API is a page: one judgement for all.
        ({}, JSON, [{"number": 1}, REVIEW, {**REVIEW}], "not_html not_html not_html"),
        # Start items are judged by their fields alone.
        ({}, None, [("1", 1), ("1", 1), {"number": 1}], "new exact no_response"),
        ({}, None, [REVIEW, {"html": "<p>To be."}], "no_response no_response"),
        ({"DEDUP_SOURCE": "response"}, None, [("1", 5)], "no_response"),
        # The response is never asked, or the item never.
        ({"DEDUP_SOURCE": "item"}, {}, [REVIEW, {"text": 5}, ("1", 2)], "no_field no_field new"),
        ({"DEDUP_SOURCE": "response"}, {}, [("1", 2), ("2", 3)], "new new"),
        # A named field is an order, not a hint.
        ({"DEDUP_TEXT_FIELDS": "q"}, {}, [("1", 2), {"q": "Short."}], "no_field too_short"),
        # Whatever an item is, it gets an answer.
        ({"DEDUP_SOURCE": "item"}, {}, ODD_ITEMS, "no_field " * 8),
        ({}, {}, ODD_ITEMS, "new " * 8),
    ],
)
def test_what_an_item_is_judged_by(make_crawl, respond, page, settings, kind, *, items, said):
    """Of a tuple, an item is made with a URL and a page."""
    crawl = make_crawl(**settings)
    items = [
        {"url": f"http://i/{item[0]}", "html": page(item[1])} if isinstance(item, tuple) else item
        for item in items
    ]
    response = None if kind is None else respond("http://a/", page(1), **kind)

    assert outcomes(crawl, response, *items) == said.split()
    assert crawl.stats["dedup/pages"] == outcomes_adding_up(crawl.stats)


def test_opted_out_response_is_neither_judged_nor_remembered(make_crawl, respond, page):
    crawl = make_crawl(DEDUP_ACTION="tag", DEDUP_FOLLOW_LINKS=False)
    response = respond("http://a/", page(1), meta={"dedup": False})

    assert judged(crawl, response, {"number": 1}, {"html": page(1)}) == [None, None]
    assert not crawl.run(crawl.middleware.holds_back(response.follow("b"), response))
    assert len(crawl.pages) == 0
    assert crawl.stats["dedup/opted_out"] == 1
    assert crawl.stats["dedup/pages"] == 0


def test_fault_keeps_the_item_and_is_told_once_with_its_traceback(
    make_crawl, respond, page, caplog
):
    end_crawl = Mock()
    crawl = make_crawl(None, end_crawl)
    crawl.pages.conductor.claim = Mock(side_effect=MemoryError("no room"))

    with caplog.at_level(logging.ERROR, "dedup_filter"):
        for number in range(9):
            items = {"html": page(number)}, {"again": True}
            found = outcomes(crawl, respond(f"http://a/{number}", page(99)), *items)
            assert found == ["error", "error"]

    assert crawl.stats["dedup/errors"] == crawl.stats["dedup/unjudged/error"] == 9
    assert crawl.stats["dedup/pages"] == outcomes_adding_up(crawl.stats) == 9
    first, closing, *rest = caplog.records
    assert first.exc_info
    assert closing.getMessage().startswith("Spider closed after a fault (DEDUP_ON_ERROR)")
    assert [bool(record.exc_info) for record in rest] == [False, False, False]
    assert end_crawl.call_count == 1


def test_item_that_raises_when_it_is_read_is_kept(make_crawl, respond, page):
    class Trap(dict):
        def __getitem__(self, key):
            raise RuntimeError("boom")

    crawl = make_crawl(DEDUP_HTML_FIELD="html")

    assert outcomes(crawl, respond("http://a/", page(1)), Trap(html="x")) == ["error"]
    assert crawl.stats["dedup/errors"] == 1


def test_response_that_cannot_be_noted_costs_no_item(crawl, page):
    class Nameless(HtmlResponse):
        @property
        def url(self):
            raise RuntimeError("no name")

    assert outcomes(crawl, Nameless("http://a/"), {"number": 1}) == ["no_response"]
    assert crawl.stats["dedup/errors"] > 0


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("/news/1", "http://a/news/1"),
        ("1?page=2", "http://a/list/1?page=2"),
        ("//b/1", "http://b/1"),
        ("https://b/1", "https://b/1"),
        ("urn:isbn:1", "urn:isbn:1"),
        ("http://[1/", "http://a/list/"),
    ],
)
def test_relative_url_of_an_item_is_joined_to_that_of_its_response(
    make_crawl, respond, page, url, meant
):
    crawl = make_crawl(DEDUP_HTML_FIELD="html")
    judged(crawl, respond("http://a/list/", page(9)), {"url": url, "html": page(1)})

    assert crawl.pages.see("http://elsewhere/", html=page(1)).original == meant


STOCK, PRODUCT = "http://a/stock?id=2", "http://a/p/2"


@pytest.mark.parametrize(
    ("settings", "way", "item", "said"),
    [
        # The item of a page that led here, directly or not; its URL may be relative.
        ({}, [PRODUCT, STOCK], {"url": PRODUCT}, "other_page"),
        ({}, [PRODUCT, STOCK], {"url": "/p/2#top"}, "other_page"),
        ({}, [PRODUCT, "http://a/price", STOCK], {"url": PRODUCT}, "other_page"),
        ({}, [PRODUCT, *[STOCK] * 5], {"url": PRODUCT}, "other_page"),
        # Its own page stands in a field.
        ({}, [PRODUCT, STOCK], {"url": PRODUCT, "html": 2}, "new"),
        ({"DEDUP_TEXT_FIELDS": "name"}, [PRODUCT, STOCK], {"url": PRODUCT}, "no_field"),
        # The item of the response, also by other spellings of its URL, or of no known page.
        ({}, ["http://a/list", STOCK], {"url": STOCK}, "exact"),
        ({}, [STOCK, STOCK], {"url": STOCK}, "exact"),
        ({}, ["http://a/stock", f"{STOCK[:-4]}sid=2"], {"url": "http://a/stock"}, "exact"),
        ({}, [PRODUCT, STOCK], {"url": "http://a/p/3"}, "exact"),
        ({}, [PRODUCT, STOCK], {"name": "Boots"}, "exact"),
        ({}, [PRODUCT, "http://a/1", "http://a/2", "http://a/3", STOCK], {"url": PRODUCT}, "exact"),
        # The response is an order.
        ({"DEDUP_SOURCE": "response"}, [PRODUCT, STOCK], {"url": PRODUCT}, "exact"),
    ],
)
def test_item_of_a_page_that_led_to_its_response_is_not_judged_by_the_response(
    make_crawl, respond, page, settings, way, item, *, said
):
    crawl = make_crawl(**settings)
    crawl.pages.see("http://a/stock?id=1", html=page(1))
    meta = None
    for url in way:
        response = respond(url, page(1), meta=meta)
        request = Request("http://a/")
        crawl.pipeline.visits.of(response).led_to(request)
        meta = request.meta
    if "html" in item:
        item = {**item, "html": page(item["html"])}

    assert outcomes(crawl, response, item) == [said]
    assert crawl.stats.get(f"dedup/unjudged/{said}", 0) == (said in ("other_page", "no_field"))


def test_dropped_item_is_named_if_its_url_is_another(crawl, respond, page, caplog):
    caplog.set_level(logging.INFO, "dedup_filter")
    crawl.pages.see("http://a/stock?id=1", html=page(1))
    for url, item in ((STOCK, {"url": "/p/2"}), ("http://a/copy", {"url": "/copy"})):
        response = respond(url, page(1))  # held, as Scrapy holds it
        crawl.expect(response, item)
        with pytest.raises(NearDuplicate):
            crawl.run(crawl.pipeline.process_item(item))

    named, plain = (record.getMessage() for record in caplog.records if "Drop" in record.msg)
    assert named.endswith("repeats http://a/stock?id=1; its item has the URL http://a/p/2")
    assert plain.endswith("repeats http://a/stock?id=1")


PDF = b"%PDF-1.7" + bytes(range(256))
EMPTY = b'{"comments": [], "more": null, "text": "' + b"-" * 99 + b'"}'


@pytest.mark.parametrize(
    ("body", "cls", "payloads", "said"),
    [
        (PDF, Response, "documents", ["binary", "exact"]),
        (PDF, TextResponse, "documents", ["binary", "exact"]),
        (PDF, HtmlResponse, "documents", ["binary", "exact"]),
        (PDF, Response, "none", ["not_html", "not_html"]),
        (b"\x89PNG\r\n" + PDF, Response, "documents", ["not_html", "not_html"]),
        (b"\x89PNG\r\n" + PDF, Response, "all", ["binary", "exact"]),
        (EMPTY, JsonResponse, "documents", ["not_html", "not_html"]),
        (EMPTY, JsonResponse, "all", ["not_html", "exact"]),
        (b"[]", JsonResponse, "all", ["not_html", "not_html"]),
    ],
)
@pytest.mark.parametrize("workers", [0, slow(1)])
def test_equal_bytes_of_responses_that_are_no_pages(
    make_crawl, respond, body, cls, payloads, *, said, workers
):
    crawl = make_crawl(NearDuplicateFilter.open(payloads=payloads, workers=workers))
    found = [outcomes(crawl, respond(f"http://{n}/", body, cls), {"n": n}) for n in "ab"]

    assert found == [[each] for each in said]
    assert crawl.stats[f"dedup/unjudged/{said[0]}"] == 2 - said.count("exact")
    assert crawl.stats["dedup/pages"] == outcomes_adding_up(crawl.stats) == 2
