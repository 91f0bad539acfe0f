"""`dedup-filter index check` and `compact`: of a directory, and of a shared index."""

import json
import random
import shutil
import threading

import pytest
from command_line import lines, run
from index_feed import ITEMS, article, kept, records, stats, tamper

from dedup_filter import NearDuplicateFilter
from dedup_filter.pages.redis import CHUNK, SharedKeeper
from dedup_filter.upkeep import index_at


def faults(location):
    return index_at(str(location)).check().faults


class TestCheck:
    @pytest.mark.parametrize("scope", ["all", "host"])
    def test_a_clean_index(self, tmp_path, scope):
        with NearDuplicateFilter.open(tmp_path / "index", scope=scope) as pages:
            for number in range(10):
                pages.see(f"https://{number % 3}.example.com/", text=article(number))
        (found,) = lines("index", "check", str(tmp_path / "index"), "--json")
        assert found["is_clean"]
        assert (found["pages"], found["entries"]) == (10, 10)
        assert (found["faults"], found["notes"]) == ([], [])
        assert stats(tmp_path / "index")["tables"]["scope"] == scope

    def test_a_wrong_row(self, index):
        tamper(index, "UPDATE pages SET host = 99 WHERE id = 3")
        code, out, err = run("index", "check", str(index))
        assert (code, err) == (1, "")
        assert "faults        a page has no host\n" in out

    def test_tables_that_hold_something_else_than_the_record(self, index):
        # As no trigger lets it happen: the log knows nothing of the change.
        tamper(
            index,
            """
            CREATE TEMP TABLE log AS SELECT * FROM sqlite_sequence;
            UPDATE pages SET fingerprint = 5 WHERE id = 3;
            DELETE FROM superseded;
            UPDATE sqlite_sequence SET seq = ifnull(
                (SELECT seq FROM log WHERE log.name = 'superseded'), 0
            ) WHERE name = 'superseded';
            """,
        )
        (fault,) = faults(index)
        assert "the entries of 1 page, page 3 first" in fault

    def test_tables_that_are_missing_or_behind_are_no_fault(self, index):
        assert run("index", "forget", str(index), ITEMS[3]["url"])[0] == 0
        (found,) = lines("index", "check", str(index), "--json")
        assert (found["pages"], found["entries"]) == (24, 20)
        assert (found["is_clean"], found["notes"]) == (True, [])
        shutil.rmtree(index / "tables")
        (found,) = lines("index", "check", str(index), "--json")
        assert (found["is_clean"], found["entries"]) == (True, 0)
        assert found["notes"][0].startswith("the tables: there are none")

    @pytest.mark.parametrize(
        ("file", "place"),
        [
            ("pages.sqlite3", 0),
            ("pages.sqlite3", 3000),
            ("pages.sqlite3", 30_000),
            ("run0.bin", 17),
        ],
    )
    def test_a_file_that_is_overwritten(self, index, file, place):
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


class TestCompact:
    def test_gives_back_the_room_of_what_was_forgotten(self, index):
        with NearDuplicateFilter.open(index) as pages:
            for number in range(600):
                pages.see(f"https://example.org/{number}", text=f"word{number} " * 100)
        urls = [f"https://example.org/{number}" for number in range(600)]
        run("index", "forget", str(index), *urls)
        before = records(index)
        (found,) = lines("index", "compact", str(index), "--json")
        assert found["after"]["record"] < found["before"]["record"]
        assert found["after"]["tables"] < found["before"]["tables"]
        assert records(index) == before
        (checked,) = lines("index", "check", str(index), "--json")
        assert (checked["is_clean"], checked["entries"]) == (True, 20)
        assert len(stats(index)["crawls"]) == 2
        shutil.rmtree(index / "tables")
        assert run("index", "compact", str(index))[0] == 0
        assert records(index) == before


LOG, FLIGHT = "dedup:{index}:log:0", "dedup:{index}:flight"
META, PROCESSES = "dedup:{index}:meta", "dedup:{index}:processes"


def record_key(page):
    return f"dedup:{{index:{page}}}:page:{page}"


@pytest.fixture
def location(servers):
    return servers.seeded("index")


@pytest.fixture
def client(location, request):
    fixture = "redis_cluster" if "+cluster" in location else "redis_server"
    return request.getfixturevalue(fixture).client()


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


NOTHING = {"released": 0, "taken_out": 0, "deleted": 0}


def test_there_is_nothing_to_do(location):
    before = kept(location)
    (found,) = lines("index", "compact", location, "--json")
    assert {**found, **NOTHING} == found
    assert found["before"] == found["after"]
    (checked,) = lines("index", "check", location, "--json")
    assert checked["is_clean"]
    assert (checked["pages"], checked["entries"]) == (20, 20)
    assert kept(location) == before


def test_a_record_is_missing(location, client):
    client.delete(record_key(3), record_key(4))
    (fault,) = faults(location)
    assert fault.startswith("2 of the pages, 3 first: in the log without a record")
    assert compacted(location) == {**NOTHING, "taken_out": 2}
    assert stats(location)["kept"] == 18
    with NearDuplicateFilter.open(location) as pages:
        assert pages.see("https://example.org/", text=article(2)).outcome == "new"
        pages.check()


def test_records_are_of_another_page_and_damaged(location, client):
    client.set(record_key(3), client.get(record_key(4)))
    assert faults(location) == [
        "1 of the pages, 3 first: not the same in the log and in the record"
    ]
    client.setrange(record_key(3), 0, b"\xff")
    for command, code in (("check", 1), ("export", 2)):
        ended, out, err = run("index", command, location)
        assert ended == code
        assert "the record of page 3" in out + err


def test_a_part_of_the_log_is_lost(location, client):
    client.set(LOG, client.get(LOG)[: 24 * 15])
    assert any("the log has lost 5 events: the servers" in fault for fault in faults(location))


def test_a_pending_page_is_nobodys_or_gone(location, client):
    client.hset(FLIGHT, 3, client.get(record_key(3)))
    assert faults(location) == ["1 of the pages, 3 first: in flight and claimed by no process"]
    client.hset(FLIGHT, 999, client.get(record_key(3)))
    assert "1 of the pages, 999 first: in flight and not in the log" in faults(location)


def test_a_process_died(location, client):
    pages = NearDuplicateFilter.open(location)
    pages.claim("https://example.com/pending", text=article(40))
    process = pages._kept._process
    client.zadd(PROCESSES, {process.name: 1})  # as one that was killed, whose lease is over by now
    process.close()
    pages._is_closed = True
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


def test_pages_have_expired(location, client):
    with NearDuplicateFilter.open(location, expire_days=1):
        pass
    events = bytearray(client.get(LOG))
    events[20:24] = (1_000_000_000).to_bytes(4, "little")
    client.set(LOG, bytes(events))
    client.delete(record_key(1))
    (note,) = notes(location)
    assert note == "1 of the pages, 1 first: expired; the next crawl removes them"
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
        assert done["after"]["log"] < done["before"]["log"]
        assert client.hget(META, "first_chunk") == b"2"
        assert not client.exists(LOG)
        assert kept(location) == []
        assert pages.see(**ITEMS[2]).outcome == "new"
        pages.check()
    with NearDuplicateFilter.open(location) as pages:
        assert pages.see("https://example.org/", text=article(2)).outcome == "exact"
        pages.check()


def work(location, seed, is_over, errors):
    """Claim, commit, release and forget pages at random."""
    chance = random.Random(seed)
    try:
        with NearDuplicateFilter.open(location) as pages:
            while not is_over.is_set():
                number = chance.randrange(60)
                verdict = pages.claim(f"https://{seed}.example.com/{number}", text=article(number))
                chance.choice([pages.commit, pages.commit, pages.release])(verdict)
                if chance.random() < 0.05:
                    pages.forget(f"https://{seed}.example.com/{number}")
    except Exception as error:
        errors.append(error)


@pytest.mark.parametrize("rounds", [3, pytest.param(12, marks=pytest.mark.slow)])
def test_it_is_clean_and_stays_so(servers, rounds):
    location, is_over, errors = servers.new("index"), threading.Event(), []
    NearDuplicateFilter.open(location).close()
    crawlers = [
        threading.Thread(target=work, args=(location, seed, is_over, errors)) for seed in range(3)
    ]
    for crawler in crawlers:
        crawler.start()
    try:
        index = index_at(location)
        for number in range(rounds):
            assert index.check().faults == []
            with index.source() as source:
                assert all(not page.record.is_pending for page in source.pages)
            assert index.figures()["processes"] <= 3
            index.compact()
            index.forget([f"https://{number % 3}.example.com/{number}"])
    finally:
        is_over.set()
        for crawler in crawlers:
            crawler.join()
    assert errors == []
    with NearDuplicateFilter.open(location) as pages:
        pages.check()
    assert faults(location) == []
