"""What pages cost that is no matter of time: calls to the servers, and entries that are sorted."""

import numpy as np
import pytest
from shared_crawlers import like, see

from dedup_filter import NearDuplicateFilter
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.store.redis.replica import CHUNK, LONG


def fill(client, count):
    """Write the log of so many pages, as scripts write it."""
    events = np.zeros(
        count,
        [("value", "<u8"), ("keys", "S32"), ("number", "<u8"), ("host", "<u4"), ("seen", "<u4")],
    )
    events["value"] = np.random.default_rng(1).integers(0, 2**64, count, np.uint64)
    events["number"] = np.arange(1, count + 1, dtype=np.uint64) | np.uint64(LONG << 48)
    for chunk in range(0, count, CHUNK):
        packed = events[chunk : chunk + CHUNK].tobytes()
        client.set(f"dedup:{{pages}}:log:{chunk // CHUNK}", packed)
    client.set("dedup:{pages}:length", count)


def test_opening_costs_in_proportion_to_the_log(redis_server, monkeypatch):
    NearDuplicateFilter.open(redis_server.url).close()
    fill(redis_server.client(), 10_000)
    monkeypatch.setattr("dedup_filter.store.redis.shared_log.MOST_EVENTS", 200)
    add_many, sorted_at_once = HammingIndex.add_many, []

    def counted(index, fingerprints, rows):
        add_many(index, fingerprints, rows)
        sorted_at_once.append(len(index))

    monkeypatch.setattr(HammingIndex, "add_many", counted)
    with NearDuplicateFilter.open(redis_server.url) as pages:
        assert len(pages) == 10_000
    assert sum(sorted_at_once) <= 4 * 10_000


def test_crawlers_that_take_turns_append_each_page_at_once(redis_server, crawlers):
    client = redis_server.client()

    def scripts_run():
        return client.info("commandstats")["cmdstat_evalsha"]["calls"]

    see(crawlers[1], like(1000))
    before = scripts_run()
    for number in range(20):
        assert see(crawlers[number % 2], like(100 + number)).outcome == "new"
    assert scripts_run() == before + 2 * 20


@pytest.mark.parametrize(("is_wanted", "calls"), [(False, [1, 0]), (True, [2, 1])])
def test_urls_cost_calls_only_if_an_option_needs_them(redis_server, crawler, is_wanted, calls):
    pages, client = crawler(redis_server, changes=is_wanted), redis_server.client()
    see(pages, like(1))
    client.config_resetstat()
    see(pages, like(2))
    made = client.info("commandstats")
    called = [made.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in ("sadd", "smembers")]
    assert called == calls, "a script calls SADD for each pending page"
