"""Records that are put back into a shared index, while others work on it."""

import pytest
from index_feed import ITEMS, article

from dedup_filter import NearDuplicateFilter
from dedup_filter.errors import StoreBusy
from dedup_filter.store.records import Crawl
from dedup_filter.upkeep import index_at
from dedup_filter.upkeep.servers import RecordedServers, ServersKeeper


@pytest.fixture
def location(redis_server):
    with NearDuplicateFilter.open(redis_server.url) as pages:
        for each in ITEMS[:5]:
            pages.see(**each)
    return redis_server.url


@pytest.fixture
def record(location):
    with index_at(location).recorded() as recorded:
        return next(recorded.records())


@pytest.fixture
def keeper(location):
    with RecordedServers.open(location) as reader:
        return ServersKeeper.open(location, reader.scheme)


def urls(location):
    with index_at(location).recorded() as recorded:
        return [record.url for record in recorded.records()]


def test_records_get_numbers_of_their_own_whoever_comes_in_between(keeper, record, location):
    for number in range(3):
        original = keeper.restore(record._replace(url=f"https://example.org/{number}"))
    for of in (record.page, original):
        url = f"https://example.org/of/{of}"
        keeper.restore(record._replace(url=url, outcome="near", original=of))
    with NearDuplicateFilter.open(location) as pages:
        assert pages.see("https://example.com/late", text=article(40)).outcome == "new"
    keeper.close()
    feed = [item["url"] for item in ITEMS[:5]]
    there = [f"https://example.org/{n}" for n in (0, 1, 2, f"of/{record.page}", f"of/{original}")]
    assert sorted(urls(location)) == sorted([*feed, "https://example.com/late", *there])
    assert index_at(location).check().faults == []
    assert index_at(location).figures()["outcomes"] == {"new": 9, "near": 2}
    with index_at(location).recorded() as recorded:
        dropped = [each for each in recorded.records() if not each.is_kept]
    assert [each.original for each in dropped] == [record.page, original]


def test_crawls_are_known_by_name_or_by_start_and_come_before_later_ones(keeper, location, record):
    named, unnamed = Crawl(7, "weekly", 1_000, None), Crawl(9, None, 2_000, None)
    numbers = [keeper.restore_crawl(each) for each in (named, unnamed, named, unnamed)]
    assert numbers == [7, 9, 7, 9]
    assert keeper.restore_crawl(Crawl(3, None, 3_000, None)) == 10
    keeper.restore(record._replace(url="https://example.org/", crawl=10))
    with NearDuplicateFilter.open(location), pytest.raises(StoreBusy, match="crawlers are at work"):
        keeper.restore_crawl(Crawl(1, None, 1_000, None))
    keeper.close()
    with NearDuplicateFilter.open(location) as pages:
        found = pages.see("https://example.org/", text=article(0))
        assert (found.outcome, found.reason) == ("revisit", "again"), "its crawl has not ended"
        pages.check()
