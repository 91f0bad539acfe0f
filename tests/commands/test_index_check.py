"""`dedup-filter index stats --check`: of a directory, and of a shared index."""

import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from command_line import lines, run
from gate import slow
from index_feed import ITEMS, article, kept, stats, tamper

from dedup_filter import NearDuplicateFilter
from dedup_filter.store.redis.records import HEAD_BYTES
from dedup_filter.upkeep import index_at

ONE_SERVER = pytest.mark.parametrize("servers", ["redis_server"], indirect=True)
"""For what is no matter of the slots of keys."""


def record_key(page):
    return f"dedup:index:r:{page:x}"


def entry(page):
    """The bytes of a page's entries that are the same under each key."""
    return page.to_bytes(5, "little")


def numbers(location):
    """The numbers of the pages of an index."""
    with index_at(str(location)).recorded() as recorded:
        return [each.page for each in recorded.records()]


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


def test_a_page_that_its_keys_do_not_find(location, client):
    number = numbers(location)[2]
    buckets = client.scan_iter("dedup:index:b:*")
    client.delete(next(key for key in buckets if entry(number) in client.get(key)))
    (fault,) = faults(location)
    assert f"of the pages, {number} first: not found by all of their keys: export" in fault


def test_a_damaged_record_on_servers(location, client):
    number = numbers(location)[2]
    for place in (0, HEAD_BYTES):  # the state, and the version
        whole = client.get(record_key(number))
        client.setrange(record_key(number), place, b"\xff")
        for command, code in ((["stats", "--check"], 1), (["export"], 2)):
            ended, out, err = run("index", *command, location)
            assert ended == code
            assert f"the record of page {number}" in out + err
        client.set(record_key(number), whole)
    assert faults(location) == []


def test_a_record_is_missing(location, client):
    for number in numbers(location)[2:4]:
        client.delete(record_key(number))
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
    (process,) = client.scan_iter("dedup:{index}:process:*")
    found = stats(location)
    assert (found["pending"], found["processes"]) == (1, 1)
    undecided = [key for key in client.scan_iter("dedup:index:r:*") if client.ttl(key) > 0]
    client.delete(process, *undecided)  # its lease is over by now
    found = stats(location)
    assert (found["pending"], found["processes"], found["kept"]) == (0, 0, 20)
    assert notes(location) == []


def test_records_are_of_no_page(location, client, servers):
    """Those of indexes with other names count for nothing."""
    longer = servers.seeded("index.2")
    forget(location, *ITEMS[:20])
    client.set("dedup:index:r:x", "somebody's own")
    assert (kept(location), notes(location), notes(longer)) == ([], [], [])
    assert stats(longer)["kept"] == 20


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


@pytest.mark.parametrize("rounds", [3, slow(6)])
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
