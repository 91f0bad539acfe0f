"""What pages cost that is no matter of time: calls to the servers, and entries that are sorted."""

import numpy as np
import pytest

from dedup_filter import NearDuplicateFilter
from dedup_filter.hamming import HammingIndex
from dedup_filter.pages.redis.replica import CHUNK, LONG


@pytest.fixture
def scripts_run(redis_server):
    """Count the scripts that the server has run since it was asked last."""
    client, before = redis_server.client(), 0

    def count():
        nonlocal before
        calls = client.info("commandstats").get("cmdstat_evalsha", {}).get("calls", 0)
        found, before = calls - before, calls
        return found

    return count


def fill(client, count):
    """Write the log of so many pages, as scripts write it."""
    events = np.zeros(
        count, [("value", "<u8"), ("number", "<u8"), ("host", "<u4"), ("seen", "<u4")]
    )
    events["value"] = np.random.default_rng(1).integers(0, 2**64, count, np.uint64)
    events["number"] = np.arange(1, count + 1, dtype=np.uint64) | np.uint64(LONG << 48)
    for chunk in range(0, count, CHUNK):
        packed = events[chunk : chunk + CHUNK].tobytes()
        client.set(f"dedup:{{pages}}:log:{chunk // CHUNK}", packed)
    client.set("dedup:{pages}:length", count)


def test_opening_costs_in_proportion_to_the_log(redis_server, monkeypatch):
    NearDuplicateFilter.open(redis_server.url).close()
    fill(redis_server.client(), 30_000)
    monkeypatch.setattr("dedup_filter.pages.redis.shared_log.MOST_EVENTS", 500)
    add_many, sorted_at_once = HammingIndex.add_many, []

    def counted(index, fingerprints, rows):
        add_many(index, fingerprints, rows)
        sorted_at_once.append(len(index))

    monkeypatch.setattr(HammingIndex, "add_many", counted)
    with NearDuplicateFilter.open(redis_server.url) as pages:
        assert len(pages) == 30_000
    assert sum(sorted_at_once) <= 4 * 30_000


def test_crawlers_that_take_turns_append_each_page_at_once(
    redis_server, crawler, like, see, scripts_run
):
    crawlers = [crawler(redis_server) for _ in range(2)]
    see(crawlers[0], like(1000))
    scripts_run()
    for number in range(20):
        assert see(crawlers[number % 2], like(number)).outcome == "new"
    assert scripts_run() == 2 * 20
