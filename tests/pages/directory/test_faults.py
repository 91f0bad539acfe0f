"""Disks that are full or fail: an error in one sentence, and nothing lost that was there."""

import sqlite3
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import PATIENCE, PROCESSES
from store_pages import SCHEME, folder_store, page

from dedup_filter.errors import StoreError
from dedup_filter.pages.directory import page_store
from dedup_filter.pages.directory.page_store import PageStore

try:
    import resource
except ImportError:  # on Windows
    resource = None


def insert_until_full(store, most=2_000):
    """Insert pages while there is room; return their numbers and what went wrong."""
    numbers = []
    try:
        numbers.extend(store.insert(page(n, host=f"host {n}")) for n in range(most))
        store.flush()
    except StoreError as error:
        return numbers, str(error)
    return numbers, None


def fill_a_small_disk(folder, most_bytes):
    """In a process of its own: let no file be larger than so many bytes, and then again."""
    store = folder_store(folder)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, hard))
    numbers, error = insert_until_full(store)
    assert "the disk does not write or read" in error or "the disk is full" in error, error
    assert [record.page for record in store.records()] == numbers
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    again, error = insert_until_full(store, 100)
    assert error is None
    store.check()
    store.close()
    with folder_store(folder) as store:
        assert [record.page for record in store.records()] == numbers + again
        store.check()


@pytest.mark.skipif(resource is None, reason="limits of files are another matter on Windows")
@pytest.mark.parametrize("most_bytes", [150_000, 700_000])
def test_a_file_that_cannot_grow_costs_the_page_that_met_it(tmp_path, most_bytes):
    crawl = PROCESSES.Process(target=fill_a_small_disk, args=(tmp_path / "index", most_bytes))
    crawl.start()
    crawl.join(PATIENCE)
    assert crawl.exitcode == 0


def deny(store, denied):
    """Let SQLite refuse one kind of statement: BEGIN, COMMIT, or None of them."""

    def authorize(action, argument, *_):
        is_denied = action == sqlite3.SQLITE_TRANSACTION and argument == denied
        return sqlite3.SQLITE_DENY if is_denied else sqlite3.SQLITE_OK

    store.connection.set_authorizer(authorize)


hosts = st.lists(st.sampled_from("abcdefgh"), max_size=4)
steps = st.one_of(
    st.tuples(st.just("write"), st.lists(hosts, max_size=3)),
    st.tuples(st.just("deny"), st.sampled_from(["BEGIN", "COMMIT", None])),
    st.tuples(st.just("lose"), st.none()),
    st.tuples(st.just("flush"), st.none()),
)


def write(store, parts):
    """Give crawls the numbers of hosts, in a transaction of several parts."""
    with store.transaction():
        for part in parts:
            with store.transaction():
                for name in part:
                    sql = "INSERT INTO crawls (id, name, started) VALUES (?, ?, 0)"
                    store.write(sql, (store.host(name), name))


@pytest.mark.parametrize("most", [1, 4, 200])
@given(st.lists(steps, max_size=30))
def test_a_transaction_is_there_whole_or_not_at_all_and_no_fault_takes_an_earlier_one(most, steps):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_store, "_FULL_GROUP", most)
        store, expected = PageStore.in_memory(SCHEME), {}
        for step, value in steps:
            with suppress(StoreError):
                if step == "write":
                    write(store, value)
                    names = [name for part in value for name in part]
                    assert not expected.keys() & names, "a number that is given twice is a fault"
                    expected |= {name: store.host(name) for name in names}
                elif step == "deny":
                    deny(store, value)
                elif step == "flush":
                    store.flush()
                elif store.connection.in_transaction:  # as on a full disk
                    store.connection.execute("ROLLBACK")
        deny(store, None)
        assert dict(store.rows("SELECT name, id FROM crawls")) == expected
        assert {name: store.host(name) for name in expected} == expected
        store.flush()
        assert dict(store.rows("SELECT name, id FROM crawls")) == expected
        store.close()
