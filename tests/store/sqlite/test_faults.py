"""Disks that are full or fail: nothing is lost that was there."""

import sqlite3
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_pages import SCHEME

from dedup_filter.errors import StoreError
from dedup_filter.store.sqlite import page_store
from dedup_filter.store.sqlite.page_store import PageStore


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
