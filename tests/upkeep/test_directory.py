"""Records of another index that are put into a directory: their numbers, crawls and hosts."""

import numpy as np
from store_pages import NOON, SCHEME, near, page

from dedup_filter import NearDuplicateFilter
from dedup_filter.frames.host_frames import Host
from dedup_filter.store.protocol import Waiting
from dedup_filter.store.records import Crawl
from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.upkeep.directory import DirectoryIndex


def keeper(folder):
    return DirectoryIndex(str(folder)).target(SCHEME)


def test_a_page_gets_its_own_number_or_the_next(tmp_path):
    """Also if the page with the highest number is forgotten by then."""
    first = keeper(tmp_path)
    assert [first.restore(page(n, page=n), None, None) for n in (3, 7)] == [3, 7]
    first.close()
    assert DirectoryIndex(str(tmp_path)).forget([page(7).url]) == {page(7).url: 1}
    second = keeper(tmp_path)
    numbers = [second.restore(page(n, page=n), None, None) for n in (5, 6, 20)]
    numbers.append(second.restore(page(21, near(20), page=4), "text", b""))
    second.close()
    assert numbers == [8, 9, 20, 21]
    with SqliteStore.open_to_read(tmp_path) as store:
        store.check()
        assert [each.page for each in store.records()] == [3, 8, 9, 20, 21]
        assert store.with_text() == {21}


def test_crawls_are_known_by_name_or_by_number_and_start(tmp_path):
    here = keeper(tmp_path)
    given = [
        Crawl(1, "a", NOON, None),
        Crawl(2, None, NOON, NOON + 9, {"max_distance": 3}),
        Crawl(1, "b", NOON, None),
        Crawl(9, "a", NOON + 1, None),
        Crawl(2, None, NOON, None),
        Crawl(2, None, NOON + 1, None),
    ]
    assert [here.restore_crawl(each) for each in given] == [1, 2, 3, 1, 2, 4]
    here.close()
    with SqliteStore.open_to_read(tmp_path) as store:
        assert [(each.number, each.name) for each in store.crawls()] == [
            (1, "a"), (2, None), (3, "b"), (4, None)
        ]  # fmt: skip
        assert store.options == {"max_distance": 3}


def test_a_host_that_the_index_knows_stays_as_it_is(tmp_path):
    waiting = Waiting(1, "a", 1, np.array([5, 9], np.uint64), b"form")
    first = keeper(tmp_path)
    first.restore(page(1, page=1), None, None)
    assert first.restore_host(Host("a", 2, {5: 2}), [waiting])
    assert not first.restore_host(Host("a", 9, {7: 1}), [])
    first.close()
    second = keeper(tmp_path)
    assert not second.restore_host(Host("a", 9, {7: 1}), [])
    second.close()
    with SqliteStore.open_to_read(tmp_path) as store:
        assert [*store.hosts()] == [Host("a", 2, {5: 2})]
        (found,) = store.waiting("a")
        assert (found.page, found.times, found.new.tolist(), found.form) == (1, 1, [5, 9], b"form")


def test_many_records_are_written_in_batches_and_what_came_before_a_fault_is_there(tmp_path):
    """After a fault in the lines the rest is written when the target is closed."""
    here = keeper(tmp_path)
    for number in range(1, 151):
        here.restore(page(number, page=number), None, None)
    with SqliteStore.open_to_read(tmp_path) as store:
        assert store.count() == 128
    here.close()
    with SqliteStore.open_to_read(tmp_path) as store:
        assert store.count() == 150


def test_the_next_page_of_a_crawl_has_another_number(tmp_path):
    with NearDuplicateFilter.open(tmp_path) as pages:
        scheme = pages.conductor.store.scheme
    there = DirectoryIndex(str(tmp_path)).target(scheme)
    there.restore(page(1, page=12), None, None)
    there.close()
    with NearDuplicateFilter.open(tmp_path) as pages:
        assert pages.see("http://a/", text="a few words").page == 13
