"""What pages cost that is no matter of time: round trips to the servers."""

from threading import current_thread
from time import monotonic

import pytest
from shared_crawlers import claim, like, see

from dedup_filter import NearDuplicateFilter
from dedup_filter.judge import MOST_AHEAD
from dedup_filter.text.page_fields import PageText


@pytest.fixture
def trips(monkeypatch):
    """Return the number of round trips of a call."""

    def count(pages, call):
        connection, made = pages.conductor._process.connection, []
        call_servers = connection.call
        with monkeypatch.context() as patch:
            patch.setattr(
                connection, "call", lambda work: made.append(current_thread()) or call_servers(work)
            )
            call()
        return made.count(current_thread())  # heartbeats come from another one

    return count


def test_a_page_costs_the_same_trips_however_many_pages_there_are(redis_server, crawler, trips):
    pages, other = crawler(redis_server), crawler(redis_server)
    for number in range(100):
        see(pages, like(number))
    assert trips(pages, lambda: see(pages, like(200))) == 4
    assert trips(pages, lambda: see(other, like(200, 1))) == 0
    for way, made, edits in ((see, 3, 2), (claim, 3, 4)):
        assert trips(pages, lambda way=way, edits=edits: way(pages, like(200, edits))) == made
    held = []
    assert trips(pages, lambda: held.append(claim(pages, like(300)))) == 4
    assert trips(pages, lambda: pages.commit(held[0])) == 1
    assert trips(other, lambda: claim(other, like(300, 1))) == 3


def test_pages_that_wait_are_read_together(redis_server, crawler, trips):
    pages = crawler(redis_server)
    see(pages, like(100))

    def see_many(*numbers):
        given = [like(number, number % 2) for number in numbers]
        return lambda: [*pages.see_many({"url": each.url, **each.given} for each in given)]

    # URLs and keys; then each page is claimed, and kept.
    assert trips(pages, see_many(*range(MOST_AHEAD))) == 2 + 2 * MOST_AHEAD
    # A page that repeats another writes nothing that is waited for, but records are read.
    assert trips(pages, see_many(*[5, 4] * (MOST_AHEAD // 2))) == 3
    assert trips(pages, pages.conductor._pages.calls.send) == 1


def test_records_that_were_read_ahead_are_compared_in_one_trip(
    redis_server, crawler, trips, monkeypatch
):
    pages = crawler(redis_server)
    for number in range(4):
        see(pages, like(number))
    copies = [like(number, 1) for number in range(4)]
    read = [pages._read(each.url, PageText(**each.given)) for each in copies]
    pages.conductor.read_ahead(read)
    moment = monotonic() + 1
    monkeypatch.setattr("dedup_filter.store.redis.calls.monotonic", lambda: moment)
    assert trips(pages, lambda: [pages.conductor.see(*each) for each in read]) == 1


def test_whether_another_process_is_at_work_is_asked_once_in_a_second(redis_server, crawler):
    one, other, client = crawler(redis_server), crawler(redis_server), redis_server.client()
    for number in range(20):
        see(one, like(number))
    see(other, like(0))  # waits for a heartbeat
    client.config_resetstat()
    began = monotonic()
    for number in range(1, 20):
        see(other, like(number))
    asked = client.info("commandstats").get("cmdstat_pttl", {"calls": 0})["calls"]
    assert asked <= 1 + (monotonic() - began)


def test_opening_reads_no_pages(redis_server, crawler, trips):
    pages = crawler(redis_server)
    before = trips_to_open(redis_server)
    for number in range(50):
        see(pages, like(number))
    assert trips_to_open(redis_server) == before


def trips_to_open(server):
    """Count the commands that a server gets from a process that joins and leaves."""
    client = server.client()
    client.config_resetstat()
    NearDuplicateFilter.open(server.url).close()
    calls = client.info("commandstats").items()
    return {name: each["calls"] for name, each in calls if name != "cmdstat_info"}
