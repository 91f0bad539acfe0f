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


class TestCheck:
    def test_a_clean_index(self, index):
        (found,) = lines("index", "check", str(index), "--json")
        assert found["is_clean"]
        assert (found["pages"], found["entries"], found["faults"]) == (25, 20, [])

    def test_a_clean_index_on_servers(self, servers):
        (found,) = lines("index", "check", servers.seeded(), "--json")
        assert found["is_clean"]
        assert (found["pages"], found["entries"]) == (20, 20)
        assert (found["faults"], found["notes"]) == ([], [])

    def test_a_wrong_row(self, index):
        tamper(index, "UPDATE pages SET host = 99 WHERE id = 3")
        code, out, err = run("index", "check", str(index))
        assert (code, err) == (1, "")
        assert out == "fault: the record: a page has no host\n"

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
        code, out, _ = run("index", "check", str(index), "--json")
        assert code == 1
        faults = json.loads(out)["faults"]
        assert len(faults) == 1
        assert "the entries of 1 page, page 3 first" in faults[0]

    def test_a_flipped_bit_in_a_table(self, index):
        (path,) = index.glob("tables/*/run0.bin")
        content = bytearray(path.read_bytes())
        content[17] ^= 4
        path.write_bytes(content)
        code, out, _ = run("index", "check", str(index))
        assert code == 1
        assert out.startswith("fault: the tables: ")

    def test_tables_that_are_missing_are_no_fault(self, index):
        shutil.rmtree(index / "tables")
        code, out, _ = run("index", "check", str(index))
        assert code == 0
        assert out.startswith("note: there are no tables")

    def test_tables_behind_the_record_are_no_fault(self, index):
        assert run("index", "forget", str(index), ITEMS[3]["url"])[0] == 0
        (found,) = lines("index", "check", str(index), "--json")
        assert found["is_clean"]
        assert (found["pages"], found["entries"]) == (24, 20)

    def test_tables_inside_hosts(self, tmp_path):
        with NearDuplicateFilter.open(tmp_path / "index", scope="host") as pages:
            for number in range(10):
                pages.see(f"https://{number % 3}.example.com/", text=article(number))
        (found,) = lines("index", "check", str(tmp_path / "index"), "--json")
        assert found["is_clean"]
        assert found["entries"] == 10
        assert stats(tmp_path / "index")["tables"]["scope"] == "host"

    @pytest.mark.parametrize("place", [0, 3000, 30_000])
    def test_a_record_that_is_overwritten(self, index, place):
        path = index / "pages.sqlite3"
        content = bytearray(path.read_bytes())
        content[place : place + 20_000] = b"x" * 20_000
        path.write_bytes(content)
        code, out, err = run("index", "check", str(index))
        assert code in (1, 2)
        assert len((out + err).splitlines()) == 1
        assert "Traceback" not in err


def words_of(number):
    """A text that is like no other's."""
    return " ".join(f"word{number}x{place}" for place in range(100))


class TestCompact:
    def test_gives_back_the_room_of_what_was_forgotten(self, index):
        with NearDuplicateFilter.open(index) as pages:
            for number in range(600):
                pages.see(f"https://example.org/{number}", text=words_of(number))
        urls = [f"https://example.org/{number}" for number in range(600)]
        run("index", "forget", str(index), *urls)
        before = records(index)
        (found,) = lines("index", "compact", str(index), "--json")
        assert found["after"]["record"] < found["before"]["record"] / 2
        assert found["after"]["tables"] < found["before"]["tables"]
        assert records(index) == before
        (checked,) = lines("index", "check", str(index), "--json")
        assert (checked["is_clean"], checked["entries"]) == (True, 20)
        assert len(stats(index)["crawls"]) == 2

    def test_an_index_without_tables(self, index):
        shutil.rmtree(index / "tables")
        code, _, err = run("index", "compact", str(index))
        assert (code, err) == (0, "")
        with NearDuplicateFilter.open(index) as pages:
            pages.check()


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


def faults(location):
    return index_at(location).check().faults


def notes(location):
    assert faults(location) == []
    return index_at(location).check().notes


def compacted(location):
    counts = index_at(location).compact().counts
    assert notes(location) == []
    return dict(counts)


def forget(location, *items):
    assert all(index_at(location).forget([item["url"] for item in items]).values())


NOTHING = {"released": 0, "taken_out": 0, "deleted": 0}


def die(pages):
    """End as a killed process does whose lease is over by now."""
    process = pages._kept._process
    name = process.connection.keys.named("processes")
    process.connection.call(lambda client: client.zadd(name, {process.name: 1}))
    process.close()
    pages._is_closed = True


def test_there_is_nothing_to_do(location):
    before = kept(location)
    (found,) = lines("index", "compact", location, "--json")
    assert {**found, **NOTHING} == found
    assert found["before"] == found["after"]
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


def test_a_record_is_that_of_another_page(location, client):
    client.set(record_key(3), client.get(record_key(4)))
    (fault,) = faults(location)
    assert fault == "1 of the pages, 3 first: not the same in the log and in the record"


def test_a_record_is_damaged(location, client):
    client.setrange(record_key(3), 0, b"\xff")
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
    client.hset(FLIGHT, 3, client.get(record_key(3)))
    (fault,) = faults(location)
    assert fault == "1 of the pages, 3 first: in flight and claimed by no process"


def test_a_pending_page_is_gone(location, client):
    client.hset(FLIGHT, 999, client.get(record_key(3)))
    found = faults(location)
    assert "1 of the pages, 999 first: in flight and not in the log" in found


def test_a_process_died(location):
    pages = NearDuplicateFilter.open(location)
    pages.claim("https://example.com/pending", text=article(40))
    die(pages)
    (note,) = notes(location)
    assert note.startswith("killed or crashed: 1 process;")
    assert stats(location)["pending"] == 1
    assert compacted(location) == {**NOTHING, "released": 1}
    assert (stats(location)["pending"], stats(location)["kept"]) == (0, 20)


def test_records_are_of_no_page(location, client):
    forget(location, ITEMS[0])
    before = kept(location)
    client.set(record_key(1), client.get(record_key(2)))
    client.set("dedup:{index:1}:page:x", "somebody's own")
    (note,) = notes(location)
    assert note.startswith("without a page: 1 record;")
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
    client.delete(record_key(1))
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
    code, out, _ = run("index", "check", location)
    assert code == 0
    assert out.startswith("clean: ")
