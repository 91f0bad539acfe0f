"""`dedup-filter index stats --check`: of a directory, and of a shared index."""

import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from command_line import lines, run
from index_feed import ITEMS, article, kept, stats, tamper

from dedup_filter import NearDuplicateFilter
from dedup_filter.store.redis.replica import EVENT_BYTES
from dedup_filter.upkeep import index_at

LOG, FLIGHT = "dedup:{index}:log:0", "dedup:{index}:flight"
PROCESSES = "dedup:{index}:processes"
ONE_SERVER = pytest.mark.parametrize("servers", ["redis_server"], indirect=True)
"""For what is no matter of the slots of keys."""


def record_key(page):
    return f"dedup:{{index:{page}}}:page:{page}"


@pytest.fixture
def location(servers):
    return servers.seeded()


@pytest.fixture
def client(servers, location):
    return servers.client()


def checked(location):
    (found,) = lines("index", "stats", str(location), "--check", "--json")
    assert found["is_clean"]
    return found


def faults(location):
    return index_at(str(location)).check().faults


def notes(location):
    findings = index_at(location).check()
    assert findings.faults == []
    return findings.notes


def forget(location, *items):
    assert all(index_at(location).forget([item["url"] for item in items]).values())


def test_a_clean_directory_of_pages_that_are_compared_within_hosts(tmp_path):
    with NearDuplicateFilter.open(tmp_path / "index", scope="host") as pages:
        for number in range(10):
            pages.see(f"https://{number % 3}.example.com/", text=article(number))
    found = checked(tmp_path / "index")
    assert (found["checked_pages"], found["notes"]) == (10, [])


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("UPDATE pages SET is_kept = 0 WHERE page = 3", "dropped as none"),
        ("UPDATE pages SET keys = x'00' WHERE page = 3", "a wrong number of keys"),
        ("DELETE FROM sketches WHERE page = 3", "a page has no sketch"),
        ("UPDATE notes SET value = 7 WHERE key = 'last_page'", "number was not given"),
    ],
)
def test_a_wrong_row(index, change, fault):
    tamper(index, change)
    code, out, err = run("index", "stats", str(index), "--check")
    assert (code, err) == (1, "")
    assert out.partition("faults  ")[2].count(fault) == 1


@pytest.mark.parametrize("place", [0, 3000, 30_000])
def test_a_file_that_is_overwritten(index, place):
    path = index / "pages.sqlite3"
    content = bytearray(path.read_bytes())
    content[place : place + 20_000] = b"x" * len(content[place : place + 20_000])
    path.write_bytes(content)
    code, out, err = run("index", "stats", str(index), "--check", "--json")
    assert code in (1, 2)
    assert len((out + err).splitlines()) == 1
    assert "Traceback" not in err


def test_a_clean_index_on_servers(location):
    before = kept(location)
    found = checked(location)
    assert (found["checked_pages"], found["notes"]) == (25, [])
    assert kept(location) == before


FAULTS = {
    "1 of the pages, 3 first: not the same in the log and in the record": (
        lambda client: client.set(record_key(3), client.get(record_key(4)))
    ),
    "the log has lost 5 events: the servers": (
        lambda client: client.set(LOG, client.get(LOG)[: EVENT_BYTES * 20])
    ),
    "1 of the pages, 3 first: in flight and claimed by no process": (
        lambda client: client.hset(FLIGHT, 3, client.get(record_key(3)))
    ),
    "1 of the pages, 999 first: in flight and not in the log": (
        lambda client: client.hset(FLIGHT, 999, client.get(record_key(3)))
    ),
}


@ONE_SERVER
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_on_servers(location, client, fault):
    FAULTS[fault](client)
    assert any(found.startswith(fault) for found in faults(location))


def test_a_damaged_record_on_servers(location, client):
    client.setrange(record_key(3), 0, b"\xff")
    for command, code in ((["stats", "--check"], 1), (["export"], 2)):
        ended, out, err = run("index", *command, location)
        assert ended == code
        assert "the record of page 3" in out + err


def test_a_record_is_missing(location, client):
    client.delete(record_key(3), record_key(4))
    (fault,) = faults(location)
    assert fault.startswith("2 of the pages, 3 first: in the log without a record")
    assert not any(index_at(location).forget(["https://example.com/none"]).values())
    assert notes(location) == []
    assert stats(location)["kept"] == 18
    with NearDuplicateFilter.open(location) as pages:
        assert pages.see("https://example.org/", text=article(2)).outcome == "new"
        pages.check()


@ONE_SERVER
def test_a_process_died(location, client):
    code = f"""if True:
        import os
        from dedup_filter import NearDuplicateFilter
        pages = NearDuplicateFilter.open({location!r})
        pages.claim("https://example.com/pending", text={article(40)!r})
        os._exit(0)
    """
    subprocess.run([sys.executable, "-c", code], check=True)
    (process,) = client.zrange(PROCESSES, 0, -1)
    client.zadd(PROCESSES, {process: 1})  # its lease is over by now
    (note,) = notes(location)
    assert note.startswith("a process was killed or crashed;")
    assert stats(location)["pending"] == 1
    with NearDuplicateFilter.open(location) as pages:
        pages.see("https://example.com/short", text="A line.")
    assert notes(location) == []
    assert (stats(location)["pending"], stats(location)["kept"]) == (0, 21)


def test_records_are_of_no_page(location, client, servers):
    """Those of indexes with other names count for nothing."""
    longer = servers.seeded("index.2")
    forget(location, *ITEMS[:20])
    client.set(record_key(1), client.get("dedup:{index.2:1}:page:1"))
    client.set("dedup:{index:1}:page:x", "somebody's own")
    (note,) = notes(location)
    assert note.startswith("1 of the pages, 1 first: gone, but for their records")
    assert (kept(location), notes(longer)) == ([], [])


@ONE_SERVER
def test_pages_have_expired(location, client):
    NearDuplicateFilter.open(location, expire_days=1).close()
    events = bytearray(client.get(LOG))
    events[EVENT_BYTES - 4 : EVENT_BYTES] = (1_000_000_000).to_bytes(4, "little")
    client.set(LOG, bytes(events))
    client.delete(record_key(1))
    assert notes(location) == ["1 of the pages, 1 first: expired; the next crawl removes them"]
    forget(location, ITEMS[1])
    assert notes(location) == []


def work(location, seed, is_over):
    """Claim, commit, release and forget pages at random."""
    chance = random.Random(seed)
    with NearDuplicateFilter.open(location) as pages:
        while not is_over.is_set():
            url = f"https://{seed}.example.com/{chance.randrange(60)}"
            verdict = pages.claim(url, text=article(int(url.rpartition("/")[2])))
            chance.choice([pages.commit, pages.commit, pages.release])(verdict)
            if chance.random() < 0.05:
                pages.forget(url)


@pytest.mark.parametrize("rounds", [3, pytest.param(12, marks=pytest.mark.slow)])
def test_it_is_clean_and_stays_so(servers, rounds):
    location, is_over = servers.new("index"), Event()
    NearDuplicateFilter.open(location).close()
    index = index_at(location)
    with ThreadPoolExecutor() as pool:
        crawlers = [pool.submit(work, location, seed, is_over) for seed in range(3)]
        try:
            for number in range(rounds):
                assert index.check().faults == []
                with index.recorded() as recorded:
                    assert not any(record.is_pending for record in recorded.records())
                assert index.figures()["processes"] <= 3
                index.forget([f"https://{number % 3}.example.com/{number}"])
        finally:
            is_over.set()
        for crawler in crawlers:
            crawler.result()
    with NearDuplicateFilter.open(location) as pages:
        pages.check()
    assert index.check().faults == []
