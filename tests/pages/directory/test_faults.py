"""Disks that are full or fail: an error in one sentence, and nothing lost that was there."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from store_pages import folder_store, measured, memory_store
from store_pages import new_page as page

from dedup_filter.errors import StoreError
from dedup_filter.pages.directory.transactions import Transactions

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
    [(size,)] = store._transactions.rows("PRAGMA page_count")
    store._transactions.rows(f"PRAGMA max_page_count = {size + more_pages}")


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
            with store.transaction():
                store.replace(first, measured(99))
                for number in range(1, 2_000):
                    store.insert(page(number))

        with pytest.raises(StoreError, match="full"):
            change_all()
        assert [record.page for record in store.records()] == [first]
        assert store.record(first).digest == measured(0).digest
        store.check()


def test_a_flush_that_fails_keeps_what_it_should_have_written(tmp_path):
    with folder_store(tmp_path) as store:
        number = store.insert(page(1))

        def fail(*_):
            return sqlite3.SQLITE_DENY

        store._transactions.connection.set_authorizer(fail)
        with pytest.raises(StoreError, match="not authorized"):
            store.flush()
        store._transactions.connection.set_authorizer(lambda *_: sqlite3.SQLITE_OK)
        assert store.record(number).url == page(1).place.url
        store.flush()
    with folder_store(tmp_path) as store:
        assert store.record(number).url == page(1).place.url
        store.check()


FAILING = """
import resource, sys
from pathlib import Path
from store_pages import folder_store, new_page as page
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
@pytest.mark.parametrize("most_bytes", [150_000, 160_001, 400_000, 700_000])
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
    def database(self):
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.execute("CREATE TABLE numbers (number UNIQUE)")
        made = Transactions(connection, "example", most_in_group=4)
        yield made
        connection.close()

    def insert(self, database, *numbers):
        with database.transaction() as write:
            for number in numbers:
                write("INSERT INTO numbers VALUES (?)", (number,))

    def insert_each(self, database, *numbers):
        for number in numbers:
            self.insert(database, number)

    def numbers(self, database):
        return [row[0] for row in database.rows("SELECT number FROM numbers ORDER BY number")]

    def test_a_group_ends_by_itself(self, database):
        for number in range(4):
            self.insert(database, number)
            assert database.connection.in_transaction == (number < 3)

    def test_a_transaction_is_undone_whole_and_alone(self, database):
        self.insert(database, 1)
        with pytest.raises(StoreError, match="UNIQUE"):
            self.insert(database, 2, 3, 1)
        assert self.numbers(database) == [1]
        self.insert(database, 3)
        database.flush()
        assert self.numbers(database) == [1, 3]

    def test_a_transaction_inside_another_is_a_part_of_it(self, database):
        with database.transaction() as write:
            write("INSERT INTO numbers VALUES (1)")
            self.insert(database, 2)
        with pytest.raises(StoreError, match="UNIQUE"), database.transaction():
            self.insert_each(database, 3, 4, 1)
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

    def test_a_group_that_cannot_be_ended_costs_the_transaction_that_filled_it(self, database):
        for number in range(3):
            self.insert(database, number)
        deny(database, "COMMIT")
        with pytest.raises(StoreError, match="not authorized"):
            self.insert(database, 3)
        assert self.numbers(database) == [0, 1, 2]
        with pytest.raises(StoreError, match="not authorized"):
            database.flush()
        deny(database, None)
        assert self.numbers(database) == [0, 1, 2]
        self.insert(database, 3)
        assert not database.connection.in_transaction
        assert self.numbers(database) == [0, 1, 2, 3]

    def test_a_group_that_cannot_be_written_again_is_kept(self, database):
        self.insert(database, 0)
        with pytest.raises(StoreError, match="UNIQUE"):
            self.insert(database, 0)
        deny(database, "BEGIN")
        for attempt in (self.numbers, self.insert, Transactions.flush):
            with pytest.raises(StoreError, match="not authorized"):
                attempt(database)
        deny(database, None)
        assert self.numbers(database) == [0]

    def test_what_is_lost_in_the_middle_of_writing_again_is_written_again(self, database):
        self.insert(database, 0)
        self.insert(database, 1)
        with pytest.raises(StoreError, match="UNIQUE"):
            self.insert(database, 0)
        database.connection.execute("INSERT INTO numbers VALUES (1)")  # another hand
        with pytest.raises(StoreError, match="UNIQUE"):
            self.numbers(database)
        assert not database.connection.in_transaction
        database.connection.execute("DELETE FROM numbers")
        assert self.numbers(database) == [0, 1]

    def test_what_was_noted_of_rows_is_forgotten_when_one_is_undone(self, database):
        cache = database.cache()
        cache["highest"] = 1
        self.insert(database, 1)
        assert cache == {"highest": 1}
        with pytest.raises(StoreError, match="UNIQUE"):
            self.insert(database, 2, 1)
        assert cache == {}

    def test_one_without_statements_leaves_nothing_open(self, database):
        self.insert(database)
        database.flush()
        assert not database.connection.in_transaction

    def test_nothing_is_left_open_by_a_transaction_that_is_undone_first(self, database):
        with pytest.raises(StoreError, match="UNIQUE"), database.transaction():
            self.insert_each(database, 1, 1)
        assert not database.connection.in_transaction
        database.sync()
