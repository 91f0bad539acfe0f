"""What an index must do to follow the store, at once or when it is opened again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_pages import (
    NOON,
    Follower,
    added_by,
    index_of,
    measured,
    memory_store,
    near,
    removed_by,
)
from store_pages import new_page as page

from dedup_filter.pages.directory.index_entries import Change
from dedup_filter.pages.directory.records import Judged


class Tables:
    """Entries as they were when they were written."""

    def __init__(self, store):
        self.store = store
        self.revision, self.last_page = store.entries.revision, store.last_page
        self.entries = index_of(store)

    def caught_up(self):
        behind = self.store.entries.since(self.revision, self.last_page)
        assert removed_by(behind) <= self.entries
        newer = {entry for entry in index_of(self.store) if entry[-3] > self.last_page}
        return (self.entries - removed_by(behind)) | added_by(behind) | newer


@pytest.fixture
def store():
    with memory_store() as made:
        made.insert(page(1))
        made.insert(page(2, measured=measured(2, fingerprint=None)))
        made.insert(page(3), is_pending=True)
        made.insert(page(4, near(1)))
        yield made
        made.check()


CHANGES = {
    "nothing": lambda store: None,
    "new pages": lambda store: [store.insert(page(n)) for n in range(5, 8)],
    "another fingerprint": lambda store: store.replace(1, measured(9)),
    "another digest": lambda store: store.replace(
        1, measured(9, fingerprint=measured(1).fingerprint)
    ),
    "another digest of a short page": lambda store: store.replace(2, measured(9, fingerprint=None)),
    "one and back": lambda store: [store.replace(1, measured(n)) for n in (9, 8, 1)],
    "a first fingerprint": lambda store: store.replace(2, measured(2)),
    "no fingerprint any more": lambda store: store.replace(1, measured(1, fingerprint=None)),
    "none and again": lambda store: [
        store.replace(1, measured(1, fingerprint=None)),
        store.replace(1, measured(1)),
    ],
    "a first one that goes": lambda store: [store.replace(2, measured(2)), store.delete([2])],
    "a release": lambda store: store.release(3),
    "a commit": lambda store: store.commit(3),
    "a deletion": lambda store: store.delete([1, 2, 4]),
    "a revisit": lambda store: store.commit(
        store.insert(page(5, Judged("revisit", None, 1, 0, 1.0)), is_pending=True)
    ),
    "a new page that goes": lambda store: store.delete([store.insert(page(5))]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_tables_catch_up_with(store, change):
    before = Tables(store)
    change(store)
    assert before.caught_up() == index_of(store)
    after = Tables(store)
    store.entries.trim(after.revision)
    assert after.caught_up() == index_of(store)
    assert store.entries.since(after.revision, after.last_page) == Change()


def test_tables_older_than_the_log_or_of_another_index_cannot_catch_up(store):
    store.replace(1, measured(9))
    store.delete([1])
    now = store.entries.revision
    store.entries.trim(now - 1)
    assert store.entries.since(now - 2, 4) is None
    assert store.entries.since(now - 1, 4) is not None
    assert store.entries.since(now + 1, 4) is None


def test_revisions_go_on_when_the_log_is_empty(store):
    store.delete([1])
    before = store.entries.revision
    store.entries.trim(before)
    store.crawls.start(NOON)
    store.delete([store.insert(page(9))])
    assert store.entries.revision == before + 1


numbers = st.integers(1, 12)
actions = st.one_of(
    st.tuples(st.sampled_from(["insert", "claim", "repeat", "revisit"]), numbers),
    st.tuples(st.sampled_from(["commit", "release", "delete", "replace", "shorten"]), numbers),
    st.tuples(st.just("catch up"), st.just(0)),
)


def act(store, action, n):
    """Do one thing; return what the index must do."""
    there = [record.page for record in store.records() if record.judged.is_kept]
    if action == "repeat" and there:
        store.insert(page(n, near(there[n % len(there)])), is_pending=True)
    elif action == "revisit" and there:
        store.crawls.start(NOON)
        judged = Judged("revisit", None, there[n % len(there)], 1, 0.9)
        newer = store.insert(page(n, judged), is_pending=True)
        return Change.of((), store._entry_rows([newer]))
    elif action in ("insert", "claim"):
        new = store.insert(page(n), is_pending=action == "claim")
        return Change.of((), store._entry_rows([new]))
    elif action in ("commit", "release"):
        return getattr(store, action)(n)
    elif action == "delete":
        return store.delete([n])
    elif action in ("replace", "shorten") and n in there:
        fingerprint = None if action == "shorten" else -1
        return store.replace(n, measured(n + 100, fingerprint=fingerprint))
    return Change()


@given(st.lists(actions, max_size=40))
def test_an_index_that_follows_holds_what_one_filled_anew_would(steps):
    with memory_store() as store:
        index, tables = Follower(store), Tables(store)
        for action, n in steps:
            if action == "catch up":
                tables = Tables(store)
                store.entries.trim(tables.revision)
            index.follow(act(store, action, n))
            assert index.entries == index_of(store) == tables.caught_up()
        store.check()
