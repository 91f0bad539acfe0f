"""Stores that fail at any statement: the page that met the fault is unchanged, and nothing is lost.

Each call fails at its first statement, then at its second, and so on, until it comes through. All
that is recorded in the end is as without faults.
"""

import itertools
import math
import sqlite3
from contextlib import suppress

import pytest
from gate import slow
from made_text import prose
from site_pages import NOTICE, OTHER_MENU, framed

from dedup_filter.errors import StoreError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.judge import BOOKMARK
from dedup_filter.store.sqlite_store import SqliteStore


class Failing:
    """A connection that fails after `left` statements.

    `way`: what a failing statement does. "stays" nothing; "undone" it rolls the transaction back,
    as on a full disk; "done" it is executed all the same, as if its result were lost.
    """

    def __init__(self, store, way):
        self.real, self.way, self.left = store._connection, way, math.inf
        store._connection = self

    def mend(self):
        self.left = math.inf

    def execute(self, sql, values=()):
        self._count(lambda: self.real.execute(sql, values))
        return self.real.execute(sql, values)

    def executemany(self, sql, rows):
        rows = [*rows]
        self._count(lambda: self.real.executemany(sql, rows))
        return self.real.executemany(sql, rows)

    def _count(self, run):
        self.left -= 1
        if self.left >= 0:
            return
        if self.way == "done":
            run()
        elif self.way == "undone" and self.real.in_transaction:
            self.real.execute("ROLLBACK")
        raise sqlite3.OperationalError("database or disk is full")

    def __getattr__(self, name):
        return getattr(self.real, name)


WAYS = ["stays", "undone", "done"]


@pytest.fixture(params=WAYS)
def fail(request):
    return lambda pages: Failing(pages.conductor.store, request.param)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr("dedup_filter.judge.FULL_BATCH", 3)


def insist(pages, failing, work):
    """Do something while ever later statements fail, until none is left to fail."""
    done = []
    for number in itertools.count():
        before, failing.left = len(pages), number
        with suppress(StoreError):
            done.append(work())
        failing.mend()
        if done:
            break
        assert len(pages) == before
        pages.check()
    return done[0]


def url_of(number):
    """URLs of two hosts: copies are found on the other one."""
    return f"http://{'b' if number in (4, 5) else 'a'}.example/{number}"


SHOWN = [
    *(framed(prose(number), NOTICE) for number in range(4)),
    framed(prose(2, edits=3)),
    framed(prose(1), NOTICE),
    *(framed(prose(number), OTHER_MENU) for number in (5, 6, 7)),
]
"""Pages that are new, judged again, near, exact, and of another template."""


def recorded(folder):
    """All facts of an index in a folder, without the numbers of pages."""
    with SqliteStore.open_to_read(folder) as store:
        records = [*store.records()]
        urls = {each.page: each.url for each in records}
        hosts = [name for (name,) in store.rows("SELECT name FROM hosts ORDER BY name")]
        waiting = store.rows("SELECT page, times, new, form FROM waiting ORDER BY page")
        store.check()
        return {
            "records": [
                each._replace(page=0, original=urls.get(each.original)) for each in records
            ],
            "contents": [store.content(each) for each in records],
            "hosts": [(store.host(name), [*store.host(name).sightings]) for name in hosts],
            "waiting": [(urls[page], *facts) for page, *facts in waiting],
        }


def crawl(pages, do, way="claim"):
    """See pages, or claim some and then settle them, also repeats before their originals."""
    found = [
        do(lambda n=n, html=html: getattr(pages, way)(url_of(n), html=html))
        for n, html in enumerate(SHOWN)
    ]
    for number in [5, 0, 2, 1, 3, 4, 8, 6, 7] if way == "claim" else ():
        settle = pages.release if number in (3, 6) else pages.commit
        do(lambda settle=settle, number=number: settle(found[number]))
        assert pages.conductor.fate(found[number].page or 0) != "pending"
    return [(each.outcome, each.original, each.distance, each.similarity) for each in found]


@pytest.mark.parametrize(
    ("way", "options"),
    [
        ("claim", {"keep_text": True}),
        slow("see", {}),
        slow("see", {"keep_text": True}),
        slow("claim", {}),
    ],
)
def test_a_fault_at_any_statement_changes_neither_verdicts_nor_records(
    directory, tmp_path, fail, way, options, clock
):
    for folder in (directory.location, tmp_path / "whole"):
        with NearDuplicateFilter.open(folder, **options) as pages:
            # Two visits: in the second one all pages are revisits.
            pages.see("http://c.example/", html=framed(prose(9), NOTICE))
    with NearDuplicateFilter.open(tmp_path / "whole", **options) as pages:
        expected = crawl(pages, lambda work: work(), way)
        expected += [pages.see("http://c.example/", html=framed(prose(9, edits=1))).outcome]
    with directory.open(**options) as pages:
        failing = fail(pages)
        found = crawl(pages, lambda work: insist(pages, failing, work), way)
        found += [
            insist(
                pages,
                failing,
                lambda: pages.see("http://c.example/", html=framed(prose(9, edits=1))),
            ).outcome
        ]
        insist(pages, failing, pages.flush)
        before_close = recorded(directory.location)
    assert found == expected
    assert "revisit" in found
    assert recorded(directory.location) == before_close == recorded(tmp_path / "whole")


def test_a_fault_in_memory_costs_no_page_either(fail):
    with NearDuplicateFilter.open() as pages:
        expected = crawl(pages, lambda work: work())
    with NearDuplicateFilter.open() as pages:
        failing = fail(pages)
        assert crawl(pages, lambda work: insist(pages, failing, work)) == expected
        pages.check()


def fill_disk(pages):
    """Let the file of an index grow no more."""
    pages.conductor.store.rows("PRAGMA max_page_count = 1")  # SQLite raises it to the present size


def make_room(pages):
    pages.conductor.store.rows(f"PRAGMA max_page_count = {2**30}")


def test_facts_stay_in_memory_while_the_disk_is_full(directory, article):
    with directory.open(keep_text=True) as pages:
        claims = [
            pages.claim(f"http://a.example/{n}", text=article(n, words=2_000)) for n in range(9)
        ]
        fill_disk(pages)
        for claim in claims[:6]:
            pages.commit(claim)
        for _ in range(3):
            with pytest.raises(StoreError, match="the disk is full: make room and go on"):
                pages.flush()
            with pytest.raises(StoreError):
                pages.see("http://a.example/x", text=article(99))
        assert pages.judge("http://b.example/", text=article(1, words=2_000)).original_page
        pages.release(claims[6])
        make_room(pages)
        assert pages.see("http://a.example/x", text=article(99)).outcome == "new"
        pages.commit(claims[7])
    with directory.recorded() as index:
        urls = [each.url.rpartition("/")[2] for each in index.records()]
        assert sorted(urls) == [*"012345", "7", "x"]


def test_a_close_that_cannot_write_keeps_what_was_flushed_and_frees_the_folder(directory, article):
    pages = directory.open(keep_text=True)
    pages.see("http://a.example/1", text=article(1))
    pages.flush()
    pages.see("http://a.example/2", text=article(2, words=9_000))
    fill_disk(pages)
    with pytest.raises(StoreError, match="disk is full"):
        pages.close()
    pages.close()
    with directory.open() as again:
        assert again.see("http://b.example/1", text=article(1)).original == "http://a.example/1"
        assert again.see("http://b.example/2", text=article(2, words=9_000)).outcome == "new"


def test_an_opening_that_cannot_write_frees_the_folder(directory, article, monkeypatch):
    directory.open().close()

    def fail(*_):
        raise StoreError("the disk is full")

    with monkeypatch.context() as disk:
        disk.setattr(SqliteStore, "write", fail)
        with pytest.raises(StoreError, match="full"):
            directory.open()
    directory.open().close()


def test_a_bookmark_is_of_the_pages_that_are_written_with_it(directory, article):
    seen = []

    def bookmark():
        if len(seen) == 2:
            raise ValueError("no bookmark yet")
        return f"{len(seen)} pages"

    with directory.open() as pages:
        pages.conductor.bookmark = bookmark
        for number in range(3):
            pages.see(f"http://a.example/{number}", text=article(number))
            seen.append(number)
            with suppress(ValueError):
                pages.flush()
            with SqliteStore.open_to_read(directory.location) as index:
                assert index.note("bookmark") == f"{index.count()} pages"
        assert pages.conductor.store.note(BOOKMARK) == "3 pages"
