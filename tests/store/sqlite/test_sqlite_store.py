"""A store against plain dictionaries of the facts that were written to it."""

import copy
import random

import numpy as np
import pytest
from made_profiles import hashes_of
from store_pages import (
    HOST,
    NOON,
    SCHEME,
    batch,
    folder_store,
    kill,
    measures,
    memory_store,
    near,
    page,
)

from dedup_filter.errors import StoreCorrupt, StoreError
from dedup_filter.fingerprints.sketch import keys_in, sketch
from dedup_filter.frames.host_frames import Host
from dedup_filter.store import sqlite_store
from dedup_filter.store.protocol import Batch, KeptContent, Waiting
from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.text.page_url import url_key


@pytest.fixture(params=[memory_store, folder_store])
def store(request, tmp_path):
    made = request.param(*[tmp_path / "index"] if request.param is folder_store else [])
    yield made
    made.check()
    made.close()
    made.close()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "index"


@pytest.mark.parametrize(
    "fields",
    [
        *({"fingerprint": each} for each in (None, 0, 1, 2**63 - 1, 2**63, 2**64 - 1)),
        *(
            {"url": each, "host": each}
            for each in (
                "http://[1/",
                "http://x/\ud800",
                "",
                "http://x/\0a",
                "网址",
                "\udfff\ud800",
            )
        ),
        *(
            {"h1": h1, "title": title}
            for h1, title in (("", ""), ("\ud800", "标题\0\n"), ("0", "007"), ("a" * 200,) * 2)
        ),
        *({"sketch": sketch(hashes_of(1, size))} for size in (0, 1, 240, 100_000)),
        *({"canonical_key": each, "url_key": each} for each in (0, 2**63, 2**64 - 1)),
        {"judged": {"outcome": "unjudged", "reason": "too_short", "similarity": 0.5}},
    ],
)
def test_a_record_is_read_as_it_was_written(store, fields):
    given = page(3, **fields)
    content = KeptContent(given.url + given.title, b"form\0")
    store.write(batch(page(1), given, contents={3: content}))
    assert [*store.records([3, 2, 1])] == [given, page(1)]
    assert store.content(given) == content
    if "url_key" not in fields:
        assert store.at_url(given.url) == [3]
    [entries] = store.entries()
    assert entries.pages.tolist() == [1, 3]
    assert entries.fingerprints[1] == (given.fingerprint or 0)
    assert entries.url_keys[1] == given.url_key
    assert entries.digest_heads[1] == int.from_bytes(given.digest[:8], "little")
    assert entries.keys[1].tolist() == [key & 2**32 - 1 for key in keys_in(given.keys).tolist()]


def host_of(chance, name):
    return Host(name, chance.randrange(9), {chance.getrandbits(64): chance.randrange(1, 9)})


def waits(chance, number):
    new = np.array([chance.getrandbits(64)], np.uint64)
    return Waiting(number, chance.choice("ab\ud800"), chance.randrange(2), new, b"%d" % number)


class Facts:
    """Plain dictionaries."""

    def __init__(self):
        self.pages, self.contents, self.hosts, self.waiting = {}, {}, {}, {}

    def write(self, given):
        for known, facts in zip(
            self.parts, (given.pages, given.contents, given.hosts, given.waiting), strict=True
        ):
            for key, fact in facts.items():
                known.pop(key, None)
                if fact is not None:
                    known[key] = fact
        for number in [number for number, record in given.pages.items() if record is None]:
            self.contents.pop(number, None)
            self.waiting.pop(number, None)

    @property
    def parts(self):
        return self.pages, self.contents, self.hosts, self.waiting


def require_facts(store, facts):
    assert [*store.records()] == [facts.pages[number] for number in sorted(facts.pages)]
    for number, record in facts.pages.items():
        original = facts.pages.get(record.original)
        wanted = facts.contents.get(number, KeptContent())
        assert store.content(record) == wanted._replace(url_of_original=original and original.url)
    assert store.with_text() == {n for n, each in facts.contents.items() if each.text is not None}
    for name in ("a", "b", "menu 1", "\ud800"):
        assert store.host(name) == facts.hosts.get(name)
        there = sorted((n, each) for n, each in facts.waiting.items() if each.host == name)
        found = [(each.page, each.times, [*each.new], each.form) for each in store.waiting(name)]
        assert found == [(n, each.times, [*each.new], each.form) for n, each in there]
    for is_kept in (True, False):
        some = [each for each in facts.pages.values() if each.is_kept == is_kept]
        assert store.count(is_kept=is_kept) == len(some)
        by_age = sorted(some, key=lambda each: (each.last_seen, each.page))
        assert store.oldest(3, is_kept=is_kept) == [each.page for each in by_age[:3]]
        before = NOON + 20
        wanted = [each.page for each in by_age if each.last_seen < before]
        assert store.oldest(99, is_kept=is_kept, before=before) == wanted
    assert store.count() == len(facts.pages)


@pytest.mark.parametrize("seed", range(6))
def test_the_store_holds_the_facts_of_all_batches(tmp_path, seed, monkeypatch):
    """Written once or twice, and opened again after a close or a kill."""
    monkeypatch.setattr(sqlite_store, "_AT_ONCE", 3)
    monkeypatch.setattr(sqlite_store, "_ENTRIES_AT_ONCE", 4)
    chance, facts, last = random.Random(seed), Facts(), 0
    store = folder_store(tmp_path / "index")
    for _ in range(25):
        given = Batch()
        for _ in range(chance.randrange(5)):
            if chance.random() < 0.6 or not facts.pages:
                last += 1
                number, kept = last, [n for n, each in facts.pages.items() if each.is_kept]
                judged = (
                    near(chance.choice(kept))
                    if kept and chance.random() < 0.3
                    else {"outcome": "new"}
                )
                given.pages[number] = page(number, judged, seen=NOON + chance.randrange(40))
                if chance.random() < 0.5:
                    text = chance.choice([None, f"text \ud800 {number}"])
                    given.contents[number] = KeptContent(text, b"form" if text is None else b"")
                if given.pages[number].is_kept and chance.random() < 0.5:
                    given.waiting[number] = waits(chance, number)
            else:
                number = chance.choice([*facts.pages])
                if chance.random() < 0.5:
                    given.pages[number] = None
                    given.waiting[number] = None
                else:
                    old = facts.pages[number]
                    given.pages[number] = old._replace(**measures(chance.randrange(99)))
                    given.contents[number] = chance.choice([None, KeptContent("new", b"")])
        for name in chance.sample(["a", "b", "menu 1", "\ud800"], chance.randrange(3)):
            given.hosts[name] = None if chance.random() < 0.2 else host_of(chance, name)
        given.notes["last_page"] = str(last)
        for _ in range(chance.choice([1, 2])):
            store.write(copy.copy(given))
        facts.write(given)
        require_facts(store, facts)
        store.check()
        if chance.random() < 0.2:
            chance.choice([kill, SqliteStore.close])(store)
            store = folder_store(tmp_path / "index")
    store.close()


def test_a_batch_that_cannot_be_written_changes_nothing(store):
    """A number beyond 64 bits is no fault of SQLite."""
    store.write(batch(page(1), hosts={HOST: Host(HOST, 1, {1: 1})}))
    bad = batch(page(2), page(3, seen=2**64), gone=[1], hosts={HOST: None})
    with pytest.raises(OverflowError):
        store.write(bad)
    assert [each.page for each in store.records()] == [1]
    assert store.host(HOST) == Host(HOST, 1, {1: 1})
    assert store.note("last_page") == "1"


def test_a_reader_sees_the_index_as_it_was_opened(folder):
    with folder_store(folder) as store:
        store.write(batch(*map(page, range(1, 11))))
        with SqliteStore.open_to_read(folder) as reader:
            records = reader.records()
            first = next(records)
            store.write(batch(page(77), gone=[2, 3]))
            assert [first.page, *(each.page for each in records)] == [*range(1, 11)]
        with SqliteStore.open_to_read(folder) as reader:
            assert [each.page for each in reader.records()] == [1, *range(4, 11), 77]
            with pytest.raises(StoreError, match="cannot be written to"):
                reader.rows("DELETE FROM pages")


def test_waiting_pages_of_all_hosts_are_bounded(store, monkeypatch):
    monkeypatch.setattr(sqlite_store, "MOST_WAITING", 5)
    chance = random.Random(1)
    for number in range(1, 10):
        store.write(batch(page(number), waiting={number: waits(chance, number)}))
    there = sorted(each.page for host in "ab\ud800" for each in store.waiting(host))
    assert there == [5, 6, 7, 8, 9]


def test_hosts_without_pages_are_those_that_were_counted_before_the_oldest(store, monkeypatch):
    def count(moment, *names):
        monkeypatch.setattr(sqlite_store, "now", lambda: moment)
        store.write(Batch(hosts={name: Host(name, 1, {1: 1}) for name in names}))

    count(10, "a", "menu 1", "again")
    count(20, "later", "again")
    store.write(batch(page(1, seen=15), page(2, near(1), seen=12)))
    assert sorted(store.hosts_without_pages(9)) == ["a", "menu 1"]
    assert len(store.hosts_without_pages(1)) == 1
    store.write(batch(page(2, near(1), seen=5)))
    assert store.hosts_without_pages(9) == []
    store.write(batch(gone=[1, 2]))
    monkeypatch.setattr(sqlite_store, "now", lambda: 20)
    assert sorted(store.hosts_without_pages(9)) == ["a", "menu 1"]
    monkeypatch.setattr(sqlite_store, "now", lambda: 21)
    assert len(store.hosts_without_pages(9)) == 4


def test_a_damaged_text_is_named_and_costs_no_other_page(store):
    store.write(batch(page(1), page(2), contents={n: KeptContent("text", b"") for n in (1, 2)}))
    store.rows("UPDATE contents SET text = x'00' WHERE page = 1")
    with pytest.raises(StoreCorrupt, match="the text of page 1 is damaged"):
        store.content(page(1))
    assert store.content(page(2)).text == "text"


def test_frames_of_another_version_are_counted_anew_and_the_log_says_so(store, caplog):
    store.write(Batch(hosts={name: Host(name, 1, {1: 1}) for name in "ab"}))
    store.rows("UPDATE hosts SET frame = x'ff0000'")
    assert (store.host("a"), store.host("b")) == (None, None)
    [message] = caplog.messages
    assert message.startswith("the frames of some hosts were written by another version")


def test_a_file_whose_pages_are_damaged_is_refused_or_reported(folder):
    with folder_store(folder) as store:
        store.write(batch(*map(page, range(1, 200))))
    file = folder / "pages.sqlite3"
    content = bytearray(file.read_bytes())
    content[8192:-4096] = b"\xff" * (len(content) - 8192 - 4096)
    file.write_bytes(content)

    def read_all():
        with SqliteStore.open(folder, SCHEME) as store:
            store.check()
            return [*store.records()]

    with pytest.raises(StoreCorrupt, match=r"it is damaged.*put back a copy"):
        read_all()


class TestFreeRoom:
    def sizes(self, folder, gone, *, is_full=False):
        """Sizes of the file before and after a store is closed of which some of 600 pages go."""
        with folder_store(folder) as store:
            store.write(batch(*map(page, range(1, 601))))
        path = store.folder.pages
        before = path.stat().st_size
        with folder_store(folder) as store:
            store.write(Batch(dict.fromkeys(range(1, gone + 1))))
            if is_full:
                store.rows = full(store.rows)
        return before, path.stat().st_size

    def test_is_given_back_when_it_is_more_than_half(self, tmp_path):
        before, after = self.sizes(tmp_path / "little", 200)
        assert after == before
        before, after = self.sizes(tmp_path / "much", 550)
        assert after < before / 2
        with SqliteStore.open_to_read(tmp_path / "much") as reader:
            assert [record.page for record in reader.records()] == [*range(551, 601)]
            assert reader.note("last_page") == "600"
            reader.check()

    def test_stays_if_the_disk_has_no_room(self, tmp_path, caplog):
        before, after = self.sizes(tmp_path, 550, is_full=True)
        assert after == before
        assert "was not given back" in caplog.text


def full(rows):
    def refusing(sql, values=()):
        if sql == "VACUUM":
            raise StoreError("the disk is full")
        return rows(sql, values)

    return refusing


def test_urls_are_found_in_any_spelling(store):
    store.write(batch(page(1, url="http://a.example/?b=2&a=1"), page(2, url="http://[1/")))
    assert store.at_url("HTTP://A.example/?a=1&b=2#top") == [1]
    assert store.at_url("http://[1/") == [2]
    assert store.at_url("http://a.example/") == []
    other = page(3, url="http://other.example/", url_key=url_key("http://[1/"))
    store.write(batch(other))
    assert store.at_url("http://[1/") == [2], "keys of two URLs can be equal"
