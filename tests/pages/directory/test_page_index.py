"""What an index must do to follow the store, at once or when it is opened again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_pages import NOON, Follower, folder_store, measures, memory_store, near, page, revisit

from dedup_filter.pages.directory import page_index
from dedup_filter.pages.directory.index_directory import UnusableTables
from dedup_filter.pages.directory.page_index import PageIndex

numbers = st.integers(1, 12)
actions = st.one_of(
    st.tuples(st.sampled_from(["insert", "claim", "repeat", "revisit"]), numbers),
    st.tuples(st.sampled_from(["commit", "release", "delete", "replace", "shorten"]), numbers),
    st.tuples(st.sampled_from(["follow", "trim"]), st.just(0)),
)


def act(store, action, n):
    """Do one thing, if it can be done."""
    there = [record.page for record in store.records() if record.judged.is_kept]
    if action in ("insert", "claim"):
        store.insert(page(n, is_pending=action == "claim"))
    elif action in ("commit", "release"):
        getattr(store, action)(n)
    elif action == "delete":
        store.delete([n])
    elif action == "replace":
        store.replace(n, measures(n + 100))
    elif action == "shorten":
        store.replace(n, measures(n, fingerprint=None))
    elif there:
        repeats = near if action == "repeat" else revisit
        store.insert(page(n, repeats(there[n % len(there)]), is_pending=True))


@pytest.mark.parametrize("at_once", [3, 1_000])
@given(st.lists(actions, max_size=40), st.booleans())
def test_an_index_that_follows_holds_what_one_filled_anew_would(at_once, steps, by_host):
    """Followed at each step or after many, one by one or together, from tables or not."""
    with memory_store() as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_index, "_BULK", at_once)
        patch.setattr(page_index, "_AT_ONCE", at_once)
        each, late = Follower(store, by_host), Follower(store, by_host)
        for action, n in steps:
            if action in ("follow", "trim"):
                late.check()
            if action == "trim":
                each.index.save(store)
            else:
                act(store, action, n)
            each.check()
        late.check()
        store.check()


def test_tables_that_are_older_than_what_was_noted_cannot_be_used(tmp_path):
    with folder_store(tmp_path) as store:
        for number in range(5):
            store.insert(page(number))
        PageIndex.opened(store, 3)
        store.delete([2])
        store.start_crawl(NOON)
        store.delete([store.insert(page(9)), 1])
        assert PageIndex.loaded(store).faults(store) == []
        store.trim(1)
        with pytest.raises(UnusableTables, match="more has changed since than was noted"):
            PageIndex.loaded(store)
