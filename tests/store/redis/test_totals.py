"""Totals of all crawlers: each page is counted once, as what it was found to be in the end."""

import pytest
from shared_crawlers import claim, like, see

from dedup_filter.errors import StoreError
from dedup_filter.upkeep import index_at


@pytest.fixture
def crawlers(redis_server, crawler):
    return crawler(redis_server), crawler(redis_server)


def totals(*crawlers):
    """What all have counted, without what none was found to be."""
    for pages in crawlers:
        told = pages.conductor.totals()
    return {name: count for name, count in told.items() if count}


def test_pages_that_repeat_one_released_elsewhere_are_counted_once(crawlers):
    one, other = crawlers
    first = claim(one, like(1))
    for edit in range(3):
        assert claim(other, like(1, edit)).original_page == first.page
    assert other.conductor.fate(first.page) == "pending"
    one.release(first)
    assert other.conductor.fate(first.page) == other.conductor.fate(first.page) == "gone"
    assert totals(one, other) == {"pages": 1, "new": 1}
    again = [claim(other, like(1, edit)).outcome for edit in range(3)]
    assert again == ["new", "near", "near"]
    assert totals(one, other) == {"pages": 4, "new": 2, "near": 2}


def test_a_page_without_text_is_counted(crawlers):
    one, _ = crawlers
    for given in ({"text": "!"}, {"html": "<p>!</p>"}):
        assert one.see("http://a.example/", **given).reason == "no_text"
    assert totals(one) == {"pages": 2, "unjudged": 2}


def test_a_page_that_repeats_a_kept_one_stays_counted(crawlers):
    one, other = crawlers
    first = claim(one, like(1))
    claim(one, like(1, 1))
    claim(other, like(1))
    one.commit(first)
    one.release(first)
    assert other.conductor.fate(first.page) == "kept"
    other.forget(like(1).url)
    assert other.conductor.fate(first.page) == "gone"
    assert totals(one, other) == {"pages": 3, "new": 1, "near": 1, "exact": 1}


def test_a_repeat_that_was_committed_is_recorded_once_its_original_is(redis_server, crawlers):
    one, other = crawlers
    first = claim(one, like(1))
    repeat = claim(other, like(1, 1))
    other.commit(repeat)
    one.commit(first)
    other.close()
    with index_at(redis_server.url).recorded() as recorded:
        (dropped,) = recorded.records([repeat.page])
    assert (dropped.original, dropped.distance) == (first.page, 1)


def test_nothing_is_taken_from_totals_that_are_lost(redis_server, crawlers):
    one, other = crawlers
    first = claim(one, like(1))
    claim(other, like(1, 1))
    totals(one, other)
    redis_server.client().flushall()
    for crawler in crawlers:
        with pytest.raises(StoreError, match="was deleted"):
            crawler.conductor.totals()
    assert see(other, like(2)).outcome == "new"
    assert other.conductor.fate(first.page) == "gone"
    assert totals(other) == {"pages": 1, "new": 1}
    one.close()  # it was not told yet


def test_what_could_not_be_brought_is_brought_later(redis_server, crawlers):
    one, _ = crawlers
    client, key = redis_server.client(), "dedup:{pages}:totals"
    first = claim(one, like(1))
    claim(one, like(1, 1))
    totals(one)
    client.rename(key, "aside")
    client.set(key, "theirs")
    one.release(first)
    with pytest.raises(StoreError, match="refuses"):
        one.conductor._process.bring()
    client.rename("aside", key)
    assert totals(one) == {"pages": 1, "new": 1}
