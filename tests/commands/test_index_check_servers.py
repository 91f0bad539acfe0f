"""`dedup-filter index check` and `compact` of a shared index that something has happened to."""

import pytest
from command_line import lines, run
from index_feed import ITEMS, article, kept

from dedup_filter import NearDuplicateFilter
from dedup_filter.pages.redis import CHUNK, SharedKeeper
from dedup_filter.upkeep import index_at

LOG, FLIGHT = "dedup:{index}:log:0", "dedup:{index}:flight"
META, PROCESSES = "dedup:{index}:meta", "dedup:{index}:processes"


def record(page):
    return f"dedup:{{index:{page}}}:page:{page}"


@pytest.fixture
def location(servers):
    return servers.seeded("index")


@pytest.fixture
def client(location, request):
    fixture = "redis_cluster" if "+cluster" in location else "redis_server"
    return request.getfixturevalue(fixture).client()


def faults(location):
    return index_at(location).check().faults


def notes(location):
    assert faults(location) == []
    return index_at(location).check().notes


def compacted(location):
    counts = index_at(location).compact().counts
    assert notes(location) == []
    return dict(counts)


def stats(location):
    return index_at(location).figures()


def forget(location, *items):
    assert all(index_at(location).forget([item["url"] for item in items]).values())


NOTHING = {"released": 0, "taken_out": 0, "deleted": 0}


def die(pages):
    """End as a killed process does whose lease is over by now."""
    shared = pages._kept
    shared._lease.close()
    name = shared._log._named("processes")
    shared._log._connection.call(lambda client: client.zadd(name, {shared._log.process: 1}))
    shared._log.close()
    pages._is_closed = True


def test_there_is_nothing_to_do(location):
    before = kept(location)
    (found,) = lines("index", "compact", location, "--json")
    assert {**found, **NOTHING} == found
    assert found["before"] == found["after"]
    assert kept(location) == before


def test_a_record_is_missing(location, client):
    client.delete(record(3), record(4))
    (fault,) = faults(location)
    assert fault.startswith("2 of the pages, 3 first: in the log without a record")
    assert compacted(location) == {**NOTHING, "taken_out": 2}
    assert stats(location)["kept"] == 18
    with NearDuplicateFilter.open(location) as pages:
        assert pages.see("https://example.org/", text=article(2)).outcome == "new"
        pages.check()


def test_a_record_is_that_of_another_page(location, client):
    client.set(record(3), client.get(record(4)))
    (fault,) = faults(location)
    assert fault == "1 of the pages, 3 first: in the log otherwise than in the record"


def test_a_record_is_damaged(location, client):
    client.setrange(record(3), 0, b"\xff")
    (fault,) = faults(location)
    assert "the record of page 3" in fault
    code, out, _ = run("index", "check", location)
    assert code == 1
    assert out.startswith("fault: ")
    code, _, err = run("index", "export", location)
    assert code == 2
    assert "the record of page 3" in err


def test_a_part_of_the_log_is_lost(location, client):
    client.set(LOG, client.get(LOG)[: 24 * 15])
    found = faults(location)
    assert any("the log has lost" in fault for fault in found)
    assert any("must not evict keys" in fault for fault in found)


def test_a_pending_page_is_nobodys(location, client):
    client.hset(FLIGHT, 3, client.get(record(3)))
    (fault,) = faults(location)
    assert fault == "1 of the pages, 3 first: in flight and claimed by no process"


def test_a_pending_page_is_gone(location, client):
    client.hset(FLIGHT, 999, client.get(record(3)))
    found = faults(location)
    assert "1 of the pages, 999 first: in flight and not in the log" in found


def test_a_process_died(location):
    pages = NearDuplicateFilter.open(location)
    pages.claim("https://example.com/pending", text=article(40))
    die(pages)
    (note,) = notes(location)
    assert note.startswith("ended without a word: 1 process;")
    assert stats(location)["pending"] == 1
    assert compacted(location) == {**NOTHING, "released": 1}
    assert (stats(location)["pending"], stats(location)["kept"]) == (0, 20)


def test_records_are_of_no_page(location, client):
    forget(location, ITEMS[0])
    before = kept(location)
    client.set(record(1), client.get(record(2)))
    client.set("dedup:{index:1}:page:x", "somebody's own")
    (note,) = notes(location)
    assert note.startswith("of no page: 1 record;")
    assert compacted(location) == {**NOTHING, "deleted": 1}
    assert kept(location) == before
    assert client.get("dedup:{index:1}:page:x") == b"somebody's own"


def test_other_indexes_are_left_alone(servers):
    here, longer = servers.seeded("index"), servers.seeded("index.2")
    forget(here, *ITEMS[:20])
    before = kept(longer)
    assert compacted(here) == NOTHING
    assert kept(longer) == before
    assert notes(longer) == []


def test_pages_have_expired(location, client):
    with NearDuplicateFilter.open(location, expire_days=1):
        pass
    events = bytearray(client.get(LOG))
    events[20:24] = (1_000_000_000).to_bytes(4, "little")
    client.set(LOG, bytes(events))
    client.delete(record(1))
    (note,) = notes(location)
    assert note.startswith("expired: 1 page;")
    assert compacted(location) == {**NOTHING, "taken_out": 1}


def test_the_beginning_of_the_log_tells_of_nothing(location, client):
    with index_at(location).source() as source:
        record = next(source.pages).record
        scheme = source.scheme
    keeper = SharedKeeper.open(location, scheme)
    for _ in range(CHUNK):
        keeper.restore(record._replace(url="https://example.com/"))
    keeper.close()
    forget(location, *ITEMS[:10], {"url": "https://example.com/"})
    assert compacted(location) == NOTHING
    assert client.exists(LOG)
    with NearDuplicateFilter.open(location) as pages:
        forget(location, *ITEMS[10:20])
        done = index_at(location).compact()
        assert done.after["log"] < done.before["log"]
        assert client.hget(META, "first_chunk") == b"2"
        assert not client.exists(LOG)
        assert kept(location) == []
        assert pages.see(**ITEMS[2]).outcome == "new"
        pages.check()
    with NearDuplicateFilter.open(location) as pages:
        assert pages.see("https://example.org/", text=article(2)).outcome == "exact"
        pages.check()
