"""A store against a plain list of what was put into it."""

import pytest
from made_profiles import hashes_of
from store_pages import (
    HOST,
    NOON,
    folder_store,
    measures,
    memory_store,
    near,
    page,
    revisit,
)

from dedup_filter.errors import StoreError
from dedup_filter.fingerprints import sketch
from dedup_filter.pages.directory import Crawl, Judged
from dedup_filter.pages.directory.page_reader import statistics
from dedup_filter.pages.directory.records import url_key
from dedup_filter.text import Headline


@pytest.fixture(params=[memory_store, folder_store])
def store(request, tmp_path):
    made = request.param(*[tmp_path / "index"] if request.param is folder_store else [])
    yield made
    made.check()
    made.close()


def numbers(store):
    return [record.page for record in store.records()]


def undo(store, work):
    """Do something in a transaction that fails after it."""

    def fail():
        with store.database:
            work()
            store.insert(page(0, seen=2**64))

    with pytest.raises(OverflowError):
        fail()


class TestWhatIsInserted:
    def test_is_read_back_as_it_was(self, store):
        given = page(7, Judged("unjudged", "too_short", None, None, 0.5))
        number = store.insert(given, "some text")
        assert store.record(number) == given._replace(page=number)
        assert (store.text(number), store.url(number)) == ("some text", given.url)

    def test_gets_numbers_in_order(self, store):
        assert [store.insert(page(n)) for n in range(200)] == list(range(1, 201))
        assert store.last_page == 200
        store.delete([200])
        assert store.insert(page(0)) == 201

    @pytest.mark.parametrize(
        "fields",
        [
            *({"fingerprint": each} for each in (None, 0, 1, 2**63 - 1, 2**63, 2**64 - 1)),
            *(
                {"url": each, "host": each}
                for each in ("http://[1/", "http://x/\ud800", "", "http://x/\0a", "网址")
            ),
            *(
                {"headline": Headline(*each)}
                for each in (("", ""), ("\ud800", "标题\0\n"), ("0", "007"), ("a" * 200,) * 2)
            ),
            *({"sketch": sketch(hashes_of(1, size))} for size in (0, 1, 240, 100_000)),
        ],
    )
    def test_may_be_anything(self, store, fields):
        given = page(1, **fields)
        number = store.insert(given, given.url)
        assert store.record(number) == given._replace(page=number)
        assert (store.text(number), store.at_url(given.url)) == (given.url, [number])
        [(host, *_, headline, kept)] = store.matches([number])
        assert (host, headline, kept) == (given.host, given.headline, given.sketch)

    def test_is_found_however_its_url_is_spelt(self, store):
        number = store.insert(page(1, url="https://example.com/a?b=2&a=1#top"))
        assert store.at_url("https://EXAMPLE.com/a?a=1&b=2") == [number]
        assert store.at_url("https://example.com/a?a=1") == []


class TestLookUps:
    def test_by_digest_find_kept_pages_only(self, store):
        first, second = store.insert(page(1)), store.insert(page(1))
        repeat = store.insert(page(1, near(first)))
        asked = [second, 99, repeat, first]
        assert store.of_digest(asked, measures(1)["digest"]) == [second, first]
        assert store.of_digest(asked, measures(2)["digest"]) == []

    def test_of_matches_are_in_the_order_asked_for(self, store):
        made = [page(n, host=f"{n % 3}.example") for n in range(20)]
        found = store.matches([store.insert(each) for each in made][::-1])
        made.reverse()
        assert found == [
            (each.host, 1, url_key(each.url), each.digest, each.headline, each.sketch)
            for each in made
        ]
        assert store.matches([]) == []

    def test_of_pages_that_are_not_there(self, store):
        for look_up in (store.url, store.record, lambda page: store.matches([page])):
            with pytest.raises(KeyError, match="9"):
                look_up(9)
        assert (store.fate(9), store.text(9)) == ("gone", None)

    def test_of_all_records_see_every_page(self, store):
        for n in range(1_500):
            store.insert(page(n, near(1)) if n and not n % 2 else page(n))
        records = list(store.records())
        assert [record.page for record in records] == list(range(1, 1_501))
        assert records[3] == store.record(4)
        assert [record.page for record in store.records(after=1_498)] == [1_499, 1_500]

    def test_of_counts_follow_what_is_there(self, store):
        first = store.insert(page(1))
        store.insert(page(2, near(first)))
        store.insert(page(3, Judged("unjudged", "too_short")))
        assert (len(store), store.count(is_kept=False)) == (2, 1)
        found, [crawl] = statistics(store)
        assert found["outcomes"] == crawl["outcomes"] == {"new": 1, "near": 1, "unjudged": 1}
        store.delete([first])
        assert (len(store), store.count(is_kept=False)) == (1, 1)


class TestRevisits:
    @pytest.fixture
    def seen(self, store):
        """The number of a page that is visited again, as a page of its own; the old one is 1."""
        store.insert(page(1), "old")
        crawl = store.start_crawl(NOON + 500)
        again = page(2, revisit(1), is_pending=True, seen=NOON + 600, crawl=crawl)
        return store.insert(again, "new")

    def test_that_are_committed_refresh_the_record(self, store, seen):
        store.insert(page(3, near(seen)))
        store.commit(seen)
        store.replace(seen, measures(9))  # which is another page by now
        record, repeat = store.records()
        assert record == page(1)._replace(
            page=1,
            **measures(2),
            last_seen=NOON + 600,
            crawl=2,
            judged=Judged("revisit", None, None, 2, 0.95),
        )
        assert repeat.judged.original == 1
        assert (store.text(1), store.fate(seen)) == ("new", "kept")

    def test_leave_no_text_of_the_page_as_it_was(self, store):
        old = store.insert(page(1), "old")
        store.commit(store.insert(page(2, revisit(old), is_pending=True)))
        assert store.text(old) is None

    def test_whose_commit_was_undone_are_pending_again(self, store, seen):
        undo(store, lambda: store.commit(seen))
        assert store.fate(seen) == "pending"
        store.release(seen)
        assert store.fate(seen) == "gone"

    def test_that_were_undone_leave_nothing_to_the_page_that_gets_their_number(self, store):
        old = store.insert(page(1))
        again = page(2, revisit(old), is_pending=True)
        undo(store, lambda: store.commit(store.insert(again)))
        other = store.insert(page(4, is_pending=True))
        assert (other, store.fate(other)) == (old + 1, "pending")
        store.release(other)
        assert store.fate(other) == "gone"

    def test_seen_by_a_clock_that_went_back_are_not_older(self, store):
        old = store.insert(page(100))
        store.commit(store.insert(page(1, revisit(old), is_pending=True)))
        assert store.record(old).last_seen == NOON + 100


class TestChanges:
    def test_of_measures_leave_the_rest(self, store):
        number = store.insert(page(1))
        store.replace(number, measures(2, fingerprint=None))
        assert store.record(number) == page(1)._replace(
            page=number, **measures(2, fingerprint=None)
        )
        store.replace(9, measures(1))
        assert numbers(store) == [number]

    def test_made_together_are_undone_together(self, store):
        store.insert(page(1))
        undo(store, lambda: store.insert(page(2, host="a host of its own")))
        assert [record.url for record in store.records()] == [f"https://{HOST}/1"]
        # The number of that host may have gone to another by now.
        number = store.insert(page(3, host="another"))
        assert store.record(number).host == "another"


class TestCrawls:
    def test_each_start_without_a_name_is_a_new_crawl(self):
        with memory_store() as store:
            assert store.start_crawl(NOON + 9) == store.crawl == 2
            store.end_crawl(NOON + 20)
            assert store.crawls() == [
                Crawl(1, None, NOON, None),
                Crawl(2, None, NOON + 9, NOON + 20),
            ]

    def test_a_name_is_the_same_crawl_resumed(self):
        with memory_store("job") as store:
            store.end_crawl(NOON + 5)
            assert store.start_crawl(NOON + 9, "another \ud800") == 2
            assert store.start_crawl(NOON + 10, "another \ud800") == 2
            assert store.start_crawl(NOON + 11, "job") == store.crawl == 1
            assert store.crawls() == [
                Crawl(1, "job", NOON, None),
                Crawl(2, "another \ud800", NOON + 9, None),
            ]


def test_a_store_that_is_closed_says_so():
    store = memory_store()
    store.close()
    store.close()
    for attempt in (lambda: store.insert(page(1)), lambda: len(store), store.check):
        with pytest.raises(StoreError, match="is closed"):
            attempt()
