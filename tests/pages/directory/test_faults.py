"""Disks that are full or fail: an error in one sentence, and nothing lost that was there."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from store_pages import SCHEME, folder_store, measures, memory_store, page

from dedup_filter.errors import StoreError
from dedup_filter.pages.directory import database as database_module
from dedup_filter.pages.directory.database import Database

TESTS = Path(__file__).parents[2]


def insert_until_full(store, most=2_000):
    """Insert pages while there is room; return their numbers and what went wrong."""
    numbers = []
    try:
        numbers.extend(store.insert(page(n, host=f"host {n}")) for n in range(most))
        store.flush()
    except StoreError as error:
        return numbers, str(error)
    return numbers, None


def limit(store, more_pages):
    [(size,)] = store.database.rows("PRAGMA page_count")
    store.database.rows(f"PRAGMA max_page_count = {size + more_pages}")


@pytest.mark.parametrize("room", [0, 1, 7, 30, 100])
@pytest.mark.parametrize("make", [memory_store, folder_store])
def test_a_full_disk_costs_the_page_that_met_it_and_no_other(make, room, tmp_path):
    with make(*[tmp_path] if make is folder_store else []) as store:
        limit(store, room)
        numbers, error = insert_until_full(store)
        assert "the disk is full" in error
        assert [record.page for record in store.records()] == numbers
        assert len(store) == len(numbers)
        assert [store.record(n).host for n in numbers] == [f"host {n}" for n in range(len(numbers))]
        limit(store, 10_000)
        again, error = insert_until_full(store)
        assert error is None
        assert [record.page for record in store.records()] == numbers + again
        store.check()


def test_a_transaction_of_many_pages_that_meets_a_full_disk_is_undone_as_one(tmp_path):
    with folder_store(tmp_path) as store:
        first = store.insert(page(0))
        limit(store, 20)

        def change_all():
            with store.database:
                store.replace(first, measures(99))
                for number in range(1, 2_000):
                    store.insert(page(number))

        with pytest.raises(StoreError, match="full"):
            change_all()
        assert list(store.records()) == [page(0)._replace(page=first)]
        store.check()


FAILING = """
import resource, sys
from pathlib import Path
from store_pages import folder_store
from test_faults import insert_until_full

folder = Path(sys.argv[1])
store = folder_store(folder)
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), hard))
numbers, error = insert_until_full(store)
assert "the disk does not write or read" in error or "the disk is full" in error, error
assert [record.page for record in store.records()] == numbers
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
again, error = insert_until_full(store, 100)
assert error is None
assert [record.page for record in store.records()] == numbers + again
store.check()
store.close()
with folder_store(folder) as store:
    assert [record.page for record in store.records()] == numbers + again
    store.check()
print(len(numbers))
"""


@pytest.mark.skipif(os.name == "nt", reason="limits of files are another matter on Windows")
@pytest.mark.parametrize("most_bytes", [150_000, 160_001, 700_000])
def test_a_file_that_cannot_grow_costs_the_page_that_met_it(tmp_path, most_bytes):
    paths = [str(TESTS.parent), str(TESTS), str(Path(__file__).parent)]
    told = subprocess.run(
        [sys.executable, "-c", FAILING, str(tmp_path / "index"), str(most_bytes)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert int(told.stdout) < 2_000


def deny(database, denied):
    """Let SQLite refuse one kind of statement: BEGIN, COMMIT, or None of them."""

    def authorize(action, argument, *_):
        is_denied = action == sqlite3.SQLITE_TRANSACTION and argument == denied
        return sqlite3.SQLITE_DENY if is_denied else sqlite3.SQLITE_OK

    database.connection.set_authorizer(authorize)


class TestTransactions:
    @pytest.fixture
    def database(self, monkeypatch):
        monkeypatch.setattr(database_module, "_FULL_GROUP", 4)
        made = Database.in_memory(SCHEME)
        yield made
        made.close()

    def insert(self, database, *numbers):
        with database:
            for number in numbers:
                database.write("INSERT INTO crawls (id, started) VALUES (?, 0)", (number,))

    def numbers(self, database):
        return [row[0] for row in database.rows("SELECT id FROM crawls ORDER BY id")]

    def test_a_group_ends_by_itself(self, database):
        for number in range(5):
            self.insert(database, number)
        assert len(database._group) == 1

    def test_a_transaction_is_undone_whole_and_alone(self, database):
        self.insert(database, 1)
        with pytest.raises(StoreError, match="UNIQUE"):
            self.insert(database, 2, 3, 1)
        assert self.numbers(database) == [1]
        self.insert(database, 3)
        database.flush()
        assert self.numbers(database) == [1, 3]

    def test_a_transaction_inside_another_is_a_part_of_it(self, database):
        with database:
            self.insert(database, 1)
            self.insert(database, 2)
        with pytest.raises(StoreError, match="UNIQUE"), database:
            [self.insert(database, number) for number in (3, 4, 1)]
        assert self.numbers(database) == [1, 2]

    def test_what_was_not_flushed_is_written_again_after_every_fault(self, database):
        for number in range(11):
            self.insert(database, number)
            with pytest.raises(StoreError, match="UNIQUE"):
                self.insert(database, 100 + number, number)
            assert self.numbers(database) == list(range(number + 1))
        database.flush()
        database.flush()
        assert self.numbers(database) == list(range(11))

    def test_a_group_that_cannot_be_ended_costs_the_next_transaction(self, database):
        for number in range(4):
            self.insert(database, number)
        deny(database, "COMMIT")
        for attempt in (lambda: self.insert(database, 4), database.flush):
            with pytest.raises(StoreError, match="not authorized"):
                attempt()
            assert self.numbers(database) == [0, 1, 2, 3]
        deny(database, None)
        self.insert(database, 4)
        assert self.numbers(database) == [0, 1, 2, 3, 4]
        assert len(database._group) == 1

    def test_a_group_that_cannot_be_written_again_is_kept(self, database):
        self.insert(database, 0)
        with pytest.raises(StoreError, match="UNIQUE"):
            self.insert(database, 0)
        deny(database, "BEGIN")
        for attempt in (self.numbers, self.insert, Database.flush):
            with pytest.raises(StoreError, match="not authorized"):
                attempt(database)
        deny(database, None)
        assert self.numbers(database) == [0]

    def test_what_is_lost_in_the_middle_of_writing_again_is_written_again(self, database):
        self.insert(database, 0)
        self.insert(database, 1)
        with pytest.raises(StoreError, match="UNIQUE"):
            self.insert(database, 0)
        database.connection.execute("INSERT INTO crawls VALUES (1, NULL, 0, 0)")  # another hand
        with pytest.raises(StoreError, match="UNIQUE"):
            self.numbers(database)
        assert not database.connection.in_transaction
        database.connection.execute("DELETE FROM crawls")
        assert self.numbers(database) == [0, 1]

    def test_numbers_of_hosts_are_forgotten_when_one_is_undone(self, database):
        assert database.host("a") == 1
        with pytest.raises(StoreError, match="UNIQUE"), database:
            self.insert(database, database.host("b"), 2)
        assert [database.host(name) for name in ("c", "a", "b")] == [2, 1, 3]
