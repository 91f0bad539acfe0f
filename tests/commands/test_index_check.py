"""`dedup-filter index check` and `compact`: of a directory, and of a shared index."""

import json
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from command_line import lines, run
from index_feed import ITEMS, article, kept, records, stats, tamper

from dedup_filter import NearDuplicateFilter
from dedup_filter.store.redis.replica import CHUNK, EVENT_BYTES
from dedup_filter.store.redis.shared_keeper import SharedKeeper
from dedup_filter.upkeep import index_at

LOG, FLIGHT = "dedup:{index}:log:0", "dedup:{index}:flight"
META, PROCESSES = "dedup:{index}:meta", "dedup:{index}:processes"
NOTHING = {"released": 0, "taken_out": 0, "deleted": 0}
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
    (found,) = lines("index", "check", str(location), "--json")
    assert found["is_clean"]
    return found


def faults(location):
    return index_at(str(location)).check().faults


def notes(location):
    findings = index_at(location).check()
    assert findings.faults == []
    return findings.notes


def compacted(location):
    done = index_at(location).compact()
    assert notes(location) == []
    return {name: done[name] for name in NOTHING}


def forget(location, *items):
    assert all(index_at(location).forget([item["url"] for item in items]).values())


def test_a_clean_directory_of_pages_that_are_compared_within_hosts(tmp_path):
    with NearDuplicateFilter.open(tmp_path / "index", scope="host") as pages:
        for number in range(10):
            pages.see(f"https://{number % 3}.example.com/", text=article(number))
    found = checked(tmp_path / "index")
    assert (found["pages"], found["entries"], found["notes"]) == (10, 10, [])
    assert stats(tmp_path / "index")["tables"]["scope"] == "host"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("UPDATE pages SET host = 99 WHERE id = 3", "a page has no host"),
        ("UPDATE counts SET pages = 7 WHERE is_kept", "count is wrong"),
        # As no trigger lets it happen: the log knows nothing of the change.
        (
            """
            CREATE TEMP TABLE log AS SELECT * FROM sqlite_sequence;
            UPDATE pages SET fingerprint = 5 WHERE id = 3;
            DELETE FROM superseded;
            UPDATE sqlite_sequence SET seq = ifnull(
                (SELECT seq FROM log WHERE log.name = 'superseded'), 0
            ) WHERE name = 'superseded';
            """,
            "the entries of 1 page, page 3 first",
        ),
    ],
)
def test_a_wrong_row(index, change, fault):
    tamper(index, change)
    code, out, err = run("index", "check", str(index))
    assert (code, err) == (1, "")
    assert out.partition("faults  ")[2].count(fault) == 1


def test_tables_that_are_missing_or_behind_are_no_fault(index):
    assert run("index", "forget", str(index), ITEMS[3]["url"])[0] == 0
    found = checked(index)
    assert (found["pages"], found["entries"], found["notes"]) == (24, 20, [])
    shutil.rmtree(index / "tables")
    found = checked(index)
    assert found["entries"] == 0
    assert found["notes"][0].startswith("the tables: there are none")


@pytest.mark.parametrize(
    ("file", "place"),
    [("pages.sqlite3", 0), ("pages.sqlite3", 3000), ("pages.sqlite3", 30_000), ("run0.bin", 17)],
)
def test_a_file_that_is_overwritten(index, file, place):
    (path,) = index.rglob(file)
    content = bytearray(path.read_bytes())
    content[place : place + 20_000] = b"x" * len(content[place : place + 20_000])
    path.write_bytes(content)
    code, out, err = run("index", "check", str(index), "--json")
    assert code in (1, 2)
    assert len((out + err).splitlines()) == 1
    assert "Traceback" not in err
    if file == "run0.bin":
        assert json.loads(out)["faults"][0].startswith("the tables: ")


def test_compact_gives_back_the_room_of_what_was_forgotten(index):
    urls = [f"https://example.org/{number}" for number in range(200)]
    with NearDuplicateFilter.open(index) as pages:
        for url in urls:
            pages.see(url, text=f"word{url[20:]} " * 100)
    run("index", "forget", str(index), *urls)
    before = records(index)
    (found,) = lines("index", "compact", str(index), "--json")
    assert found["after"]["record"] < found["before"]["record"]
    assert found["after"]["tables"] < found["before"]["tables"]
    assert checked(index)["entries"] == 20
    assert len(stats(index)["crawls"]) == 2
    shutil.rmtree(index / "tables")
    assert run("index", "compact", str(index))[0] == 0
    assert records(index) == before


def test_there_is_nothing_to_do_on_servers(location):
    before = kept(location)
    (found,) = lines("index", "compact", location, "--json")
    assert {**found, **NOTHING} == found
    assert found["before"] == found["after"]
    found = checked(location)
    assert (found["pages"], found["entries"]) == (20, 20)
    assert kept(location) == before


FAULTS = {
    "1 of the pages, 3 first: not the same in the log and in the record": (
        lambda client: client.set(record_key(3), client.get(record_key(4)))
    ),
    "the log has lost 5 events: the servers": (
        lambda client: client.set(LOG, client.get(LOG)[: EVENT_BYTES * 15])
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
    for command, code in (("check", 1), ("export", 2)):
        ended, out, err = run("index", command, location)
        assert ended == code
        assert "the record of page 3" in out + err


def test_a_record_is_missing(location, client):
    client.delete(record_key(3), record_key(4))
    (fault,) = faults(location)
    assert fault.startswith("2 of the pages, 3 first: in the log without a record")
    assert compacted(location) == {**NOTHING, "taken_out": 2}
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
    assert compacted(location) == {**NOTHING, "released": 1}
    assert (stats(location)["pending"], stats(location)["kept"]) == (0, 20)


def test_records_are_of_no_page(location, client, servers):
    """Those of indexes with other names stay."""
    longer = servers.seeded("index.2")
    forget(location, *ITEMS[:20])
    client.set(record_key(1), client.get("dedup:{index.2:1}:page:1"))
    client.set("dedup:{index:1}:page:x", "somebody's own")
    (note,) = notes(location)
    assert note.startswith("1 of the pages, 1 first: gone, but for their records")
    before = kept(longer)
    assert compacted(location) == {**NOTHING, "deleted": 1}
    assert (kept(location), kept(longer)) == ([], before)
    assert notes(longer) == []
    assert client.get("dedup:{index:1}:page:x") == b"somebody's own"


@ONE_SERVER
def test_pages_have_expired(location, client):
    NearDuplicateFilter.open(location, expire_days=1).close()
    events = bytearray(client.get(LOG))
    events[EVENT_BYTES - 4 : EVENT_BYTES] = (1_000_000_000).to_bytes(4, "little")
    client.set(LOG, bytes(events))
    client.delete(record_key(1))
    assert notes(location) == ["1 of the pages, 1 first: expired; the next crawl removes them"]
    assert compacted(location) == {**NOTHING, "taken_out": 1}


@ONE_SERVER
def test_the_beginning_of_the_log_tells_of_nothing(location, client):
    with index_at(location).source() as source:
        record, scheme = next(source.records), source.scheme
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
        assert done["after"]["log"] < done["before"]["log"]
        assert client.hget(META, "first_chunk") == b"2"
        assert not client.exists(LOG)
        assert kept(location) == []
        assert pages.see(**ITEMS[2]).outcome == "new"
        pages.check()
    with NearDuplicateFilter.open(location) as pages:
        assert pages.see("https://example.org/", text=article(2)).outcome == "exact"
        pages.check()


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
                with index.source() as source:
                    assert not any(record.is_pending for record in source.records)
                assert index.figures()["processes"] <= 3
                index.compact()
                index.forget([f"https://{number % 3}.example.com/{number}"])
        finally:
            is_over.set()
        for crawler in crawlers:
            crawler.result()
    with NearDuplicateFilter.open(location) as pages:
        pages.check()
    assert index.check().faults == []
