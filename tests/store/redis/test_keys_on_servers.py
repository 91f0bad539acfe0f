"""What a shared index keeps on its servers: which keys, where, how many, and for how long."""

import pytest
from shared_crawlers import claim, like, see

from dedup_filter.errors import StoreCorrupt
from dedup_filter.store.redis.replica import CHUNK, EVENT_BYTES, GONE
from dedup_filter.text.page_url import url_key


def keys(client):
    return sorted(key.decode() for key in client.scan_iter(count=10_000))


def test_all_that_scripts_touch_is_in_one_slot_and_records_are_in_many(redis_cluster, crawler):
    pages = crawler(redis_cluster, crawl=None, max_pages=5_000)
    named = crawler(redis_cluster, crawl="job")
    for number in range(100):
        see(pages, like(number))
    claim(named, like(1_000))
    named.conductor.totals()
    client = redis_cluster.client()
    found = keys(client)
    slots = {key: client.cluster_keyslot(key) for key in found}
    records = [key for key in found if ":page:" in key]
    assert len(records) == 100
    assert len({slots[key] for key in records}) > 75
    touched = {key for key in found if key.startswith("dedup:{pages}:")}
    names = "meta length log flight owned processes totals crawls options started"
    assert {key.split(":")[2] for key in touched} == set(names.split())
    assert len({slots[key] for key in touched}) == 1
    assert len({client.get_node_from_key(key).port for key in records}) == 3


@pytest.fixture
def pinned(redis_server, crawler, monkeypatch):
    """Two crawlers of a log whose first pages stay while later ones come and go.

    One sleeps and has a page pending. `fill` lets the log grow and the other one follow.
    """
    client, log = redis_server.client(), "dedup:{pages}:"
    gone = (10**6 | GONE << 48).to_bytes(8, "little").rjust(48, b"\0") + bytes(8)
    monkeypatch.setattr("dedup_filter.store.redis.redis_pages._PAGES_BETWEEN", 16)
    monkeypatch.setattr("dedup_filter.store.redis.shared_log._SPARE_EVENTS", 0)
    asleep, awake = crawler(redis_server), crawler(redis_server)
    for number in range(20):
        see(awake, like(number))
    held = claim(asleep, like(20))

    def fill(events):
        at = int(client.get(f"{log}length"))
        while events:
            some = min(events, CHUNK - at % CHUNK)
            client.setrange(f"{log}log:{at // CHUNK}", at % CHUNK * EVENT_BYTES, some * gone)
            at, events = at + some, events - some
        client.set(f"{log}length", at)
        for number in range(100, 120):
            awake.release(claim(awake, like(number)))

    return asleep, awake, held, fill


def test_pages_that_are_never_seen_again_do_not_pin_the_log(redis_server, crawler, pinned):
    asleep, awake, held, fill = pinned
    client = redis_server.client()
    awake.forget(like(3).url)  # of which nothing tells any more when the one that sleeps awakes
    for _ in range(3):
        fill(CHUNK)
        assert len([key for key in keys(client) if ":log:" in key]) <= 2, "the log grows"
    assert int(client.get("dedup:{pages}:length")) > 3 * CHUNK
    assert not client.exists("dedup:{pages}:log:0")
    # Who followed, who slept and who comes now know the same, and what was pending is so.
    late = crawler(redis_server)
    for number in range(0, 20, 4):
        assert see(awake, like(number, 1)).original_page == number + 1
        assert see(asleep, like(number + 1, 1)).original_page == number + 2
        assert see(late, like(number + 2, 1)).original_page == number + 3
    assert late.conductor.fate(held.page) == "pending"
    asleep.commit(held)
    assert see(late, like(20, 1)).original_page == held.page
    for pages in (asleep, awake, late):
        pages.check()
        assert len(pages) == 20
    assert see(asleep, like(3, 1)).outcome == "new"


def test_what_came_of_a_page_meanwhile_is_not_undone(redis_server, crawler, pinned):
    asleep, awake, held, _ = pinned
    asleep.commit(held)
    told = asleep.conductor._pages._replica.standing(
        redis_server.client().get("dedup:{pages}:log:0")
    )
    awake.forget(like(3).url)
    asleep.conductor._pages._log.step("repeat_events", *told)
    late = crawler(redis_server)
    assert len(late) == 20
    assert see(late, like(3, 1)).outcome == "new"


def test_the_oldest_pages_are_forgotten_first_wherever_the_log_tells_of_them(
    redis_server, crawler, pinned
):
    asleep, _, held, fill = pinned
    asleep.release(held)
    fill(2 * CHUNK)  # the first pages are told of last
    bounded = crawler(redis_server, max_pages=10)
    assert len(bounded) == 10
    assert [see(bounded, like(number, 1)).outcome for number in (15, 19)] == ["near", "near"]


def test_records_last_as_long_as_pages_do(redis_server, crawler):
    see(crawler(redis_server, expire_days=2), like(1))
    see(crawler(redis_server), like(2))
    client = redis_server.client()
    assert 0 < client.ttl("dedup:{pages:1}:page:1") <= 2 * 86_400
    assert client.ttl("dedup:{pages:2}:page:2") == -1
    see(crawler(redis_server, expire_days=1e-6), like(3))
    assert client.ttl("dedup:{pages:3}:page:3") in (1, -2)


def test_urls_are_stored_only_for_canonical_links_and_go_with_their_pages(redis_server, crawler):
    client = redis_server.client()

    def at_urls():
        return {key.split(":")[-1]: client.smembers(key) for key in keys(client) if ":url:" in key}

    pages = crawler(redis_server, canonical=True, max_pages=2)
    kept = [see(pages, like(number)) for number in (1, 2)]
    released = claim(pages, like(3))
    dropped = see(pages, like(2, 1))
    there = {
        f"{url_key(like(number).url):016x}": {str(verdict.page).encode()}
        for number, verdict in ((2, kept[1]), (3, released))
    }
    assert at_urls() == there, "page 1 made room"
    pages.release(released)
    pages.forget(like(2).url)
    assert at_urls() == {}
    assert dropped.original_page == kept[1].page
    pages.close()
    see(crawler(redis_server), like(4))
    assert at_urls() == {}


def test_a_damaged_record_is_named_and_an_expired_one_is_no_original(redis_server, crawler):
    pages = crawler(redis_server)
    see(pages, like(1))
    redis_server.client().set("dedup:{pages:1}:page:1", b"theirs")
    with pytest.raises(StoreCorrupt, match="the record of page 1 is damaged"):
        see(pages, like(1, 1))
    assert see(pages, like(2)).outcome == "new"
    redis_server.client().delete("dedup:{pages:1}:page:1")
    assert see(pages, like(1, 1)).outcome == "new"
    pages.close()  # for the log tells of a page without a record


def test_what_processes_leave_is_nothing_but_pages(redis_server, crawler):
    one, other = crawler(redis_server), crawler(redis_server)
    see(one, like(1))
    claim(other, like(2))
    other.close()
    one.close()
    names = {key.split("}:")[1] for key in keys(redis_server.client())}
    assert names == {"meta", "length", "log:0", "page:1", "totals", "started"}
