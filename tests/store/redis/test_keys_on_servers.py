"""What a shared index keeps on its servers: which keys, where, how many, and for how long."""

import random

import pytest
from shared_crawlers import Like, claim, like, see

from dedup_filter import NearDuplicateFilter
from dedup_filter.comparison.look_ups import verdict_on
from dedup_filter.comparison.near_pages import Query
from dedup_filter.errors import StoreCorrupt
from dedup_filter.store.redis.layout import (
    ENTRY,
    MOST_OF_KEY,
    Layout,
    entry_of,
    found_in,
    url_key,
)
from dedup_filter.store.redis.records import pack_record


def keys(client):
    return sorted(key.decode() for key in client.scan_iter(count=10_000))


def of_kind(client, kind):
    return [key for key in keys(client) if key.startswith(f"dedup:pages:{kind}:")]


def entries(client):
    """Count the entries of all buckets."""
    return sum(client.strlen(key) for key in of_kind(client, "b")) / ENTRY.size


def test_pages_are_spread_over_all_slots_and_metadata_is_in_one(redis_cluster, crawler):
    pages = crawler(redis_cluster, crawl="job", max_pages=5_000)
    for number in range(100):
        see(pages, like(number))
    claim(pages, like(1_000))
    pages.conductor.totals()
    client = redis_cluster.client()
    slots = {key: client.cluster_keyslot(key) for key in keys(client)}
    parts = [key for key in slots if not key.startswith("dedup:{pages}:")]
    assert len(of_kind(client, "r")) == 101
    assert len({slots[key] for key in parts}) > 500
    assert len({client.get_node_from_key(key).port for key in parts}) == 3
    rest = {key.split(":")[2]: slots[key] for key in slots.keys() - parts}
    assert {*rest} == set("meta crawls started processes process totals ids".split())
    assert len({*rest.values()}) == 1


def test_a_page_has_an_entry_under_each_key_and_all_go_with_it(redis_server, crawler):
    pages, client = crawler(redis_server), redis_server.client()
    number = see(pages, like(1)).page
    [record] = pages.conductor._pages.stored([number])
    assert entries(client) == len(Layout(1).keys_of_record(record)) == 11
    assert pages.forget(like(1).url) == 1
    assert (entries(client), of_kind(client, "r")) == (0, [])
    for _ in range(2):
        pages.release(claim(pages, like(1)))
        pages.flush()
        assert (entries(client), of_kind(client, "r")) == (0, [])


def test_a_page_that_is_dropped_has_a_record_and_is_found_at_its_url(redis_server, crawler):
    pages, client = crawler(redis_server), redis_server.client()
    see(pages, like(1))
    before = entries(client)
    repeat = claim(pages, like(1, 1))
    assert (len(of_kind(client, "r")), entries(client)) == (1, before), "until it is dropped"
    pages.commit(repeat)
    pages.flush()
    assert (len(of_kind(client, "r")), entries(client)) == (2, before + 1)


def test_who_meets_the_entries_of_a_page_that_is_gone_removes_them(redis_server, crawler):
    pages, client = crawler(redis_server), redis_server.client()
    number = see(pages, like(1)).page
    client.delete(pages.conductor._pages.name(number))
    assert see(pages, like(1, 1)).outcome == "new"
    at_other_url = 2  # entries that no look-up of the other page meets: its URL and fingerprint
    assert entries(client) <= 11 + at_other_url + 1


def test_undecided_records_expire_and_records_of_pages_as_long_as_is_chosen(redis_server, crawler):
    client = redis_server.client()

    def ttl(pages, page):
        return client.ttl(pages.conductor._pages.name(page))

    with crawler(redis_server, expire_days=2) as pages:
        held = claim(pages, like(1))
        assert 0 < ttl(pages, held.page) <= 30
        client.expire(pages.conductor._pages.name(held.page), 5)
        pages.conductor._process.bring()
        assert 5 < ttl(pages, held.page) <= 30, "its process renews it"
        pages.commit(held)
        assert 86_400 < ttl(pages, held.page) <= 2 * 86_400
        pages.conductor._process.bring()
        assert ttl(pages, held.page) > 86_400
    pages = crawler(redis_server)
    kept, repeat = see(pages, like(2)).page, see(pages, like(2, 1)).page
    pages.flush()
    assert ttl(pages, kept) == ttl(pages, repeat) == -1


def test_a_page_that_expired_is_not_found(redis_server, crawler, monkeypatch):
    pages = crawler(redis_server, expire_days=2)
    see(pages, like(1))
    monkeypatch.setattr("dedup_filter.store.redis.shared_records.now", lambda: 4e9)
    assert len(pages) == 0
    assert pages.find(text=like(1).text) == []


def test_a_damaged_record_is_named(redis_server, crawler):
    pages = crawler(redis_server)
    number = see(pages, like(1)).page
    name = pages.conductor._pages.name(number)
    whole = redis_server.client().get(name)
    for damaged in (b"K" + b"theirs" * 10, whole[:100]):
        redis_server.client().set(name, damaged)
        with pytest.raises(StoreCorrupt, match=f"the record of page {number} is damaged"):
            see(pages, like(1, 1))
    assert see(pages, like(2)).outcome == "new"
    redis_server.client().delete(name)
    assert see(pages, like(1, 1)).outcome == "new"


def test_what_a_record_has_of_a_visit_is_read_for_a_page_at_its_url_alone(redis_server, crawler):
    with crawler(redis_server) as pages:
        record = pages.conductor._pages.stored([see(pages, like(1)).page])[0]
        name, records = pages.conductor._pages.name(record.page), pages.conductor._pages
        head = records.views([record.page])[record.page].head.packed
        redis_server.client().set(name, head + pack_record(record._replace(visit=b"theirs")))
    pages = crawler(redis_server)
    assert see(pages, like(1, 1)).original_page == record.page
    with pytest.raises(StoreCorrupt, match=f"the record of page {record.page} is damaged"):
        see(pages, like(1, 2)._replace(url=record.url))


def test_a_bucket_of_many_entries_and_one_that_is_damaged_are_read(redis_server, crawler):
    """Of another key, of pages that are gone, and bytes that are none."""
    pages, client = crawler(redis_server), redis_server.client()
    first = see(pages, like(1)).page
    records = pages.conductor._pages
    [record] = records.stored([first])
    for key in records.layout.keys_of_record(record):
        _, name, _ = records.adds(first, [key])[0]
        others = b"".join(entry_of(key ^ 1, page) for page in range(1, 100_001))
        client.setrange(name, client.strlen(name), others)
    assert see(pages, like(1, 1)).outcome == "near"
    for key in records.layout.keys_of_record(record):
        client.append(records.adds(first, [key])[0][1], b"abc")
    assert see(pages, like(1, 2)).outcome == "near"


def test_a_key_of_many_pages_keeps_the_entries_of_the_first(redis_server, crawler, monkeypatch):
    """Pages of a template: of these no crawler reads more than 64."""
    monkeypatch.setattr("dedup_filter.shared_judge.Judge._compared", refuse_all)
    pages = crawler(redis_server)
    for number in range(MOST_OF_KEY + 20):
        assert see(pages, like(1)._replace(url=f"http://{number}.example/")).outcome == "new"
    records = pages.conductor._pages
    [record] = records.stored([1])
    for key in records.layout.keys_of_record(record) - {url_key(record.url_key)}:
        [found] = found_in(records.connection.ask_all(records.reads([key])), [key])
        assert MOST_OF_KEY <= len(found) <= MOST_OF_KEY + 1
        assert found[:MOST_OF_KEY] == [*range(1, MOST_OF_KEY + 1)]
    pages.check()


def refuse_all(judge, place, page, *_):
    """Find that a page repeats no other, though it reads them."""
    return verdict_on(page, "new")


def test_what_processes_leave_is_nothing_but_pages(redis_server, crawler):
    one, other = crawler(redis_server), crawler(redis_server)
    see(one, like(1))
    claim(other, like(2))
    other.close()
    one.close()
    client = redis_server.client()
    rest = {key.split("}:")[1] for key in keys(client) if "}" in key}
    assert rest == {"meta", "totals", "started", "ended", "ids"}
    assert len(of_kind(client, "r")) == 1
    assert entries(client) == 11


@pytest.mark.parametrize("tables", [0, 3])
@pytest.mark.usefixtures("crawler")  # pages are what their texts say
def test_with_tables_all_pages_within_three_bits_are_found(redis_server, tables):
    url, chance = f"{redis_server.url}?tables={tables}", random.Random(1)
    with NearDuplicateFilter.open(url, max_distance=3) as pages:
        values = [chance.getrandbits(64) for _ in range(40)]
        for value in values:
            see(pages, Like(f"http://a.example/{value}", value, value, value, has_keys=False))
        found = 0
        for value in values:
            near = value ^ sum(1 << bit for bit in chance.sample(range(64), 3))
            copy = Like(f"http://b.example/{value}", near, near, value, has_keys=False)
            verdict = see(pages, copy)
            found += verdict.outcome == "near"
            assert pages.conductor.find(Query("", (near,))) or not tables
        assert found == (40 if tables else 0)
        pages.check()
    with NearDuplicateFilter.open(f"{redis_server.url}?tables=3") as pages:
        assert pages.conductor._pages.layout.has_tables == (tables == 3), "it stays as it was made"
