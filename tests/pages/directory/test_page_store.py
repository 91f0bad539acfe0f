"""A store against a plain list of what was put into it."""

import pytest
from made_profiles import hashes_of
from store_pages import (
    NOON,
    Follower,
    folder_store,
    index_of,
    measured,
    memory_store,
    near,
    removed_by,
    with_digest,
)
from store_pages import new_page as page

from dedup_filter.errors import StoreError
from dedup_filter.fingerprints import sketch
from dedup_filter.pages.directory import Judged, Matches, index_entries
from dedup_filter.pages.directory.crawls import Crawl
from dedup_filter.pages.directory.index_entries import Change, digest_head
from dedup_filter.pages.directory.statistics import statistics
from dedup_filter.text import Headline


@pytest.fixture(params=["memory", "folder"])
def store(request, tmp_path):
    made = memory_store() if request.param == "memory" else folder_store(tmp_path / "index")
    yield made
    made.check()
    made.close()


def undo(store, work):
    """Do something in a transaction that fails after it."""

    def fail():
        with store.transaction():
            work()
            store.insert(page(0, seen=2**64))

    with pytest.raises(OverflowError):
        fail()


class TestWhatIsInserted:
    def test_is_read_back_as_it_was(self, store):
        number = store.insert(page(7, text="some text"))
        record = store.record(number)
        assert (record.url, record.host) == ("https://www.example.com/7", "www.example.com")
        assert (record.digest, record.fingerprint) == measured(7)[:2]
        assert record.sketch == measured(7).sketch
        assert record.headline == Headline("Headline 7", "Title 7 - Site")
        assert (record.words, record.language) == (100, "en")
        assert (record.first_seen, record.last_seen) == (NOON + 7, NOON + 7)
        assert (record.first_crawl, record.crawl, record.is_pending) == (1, 1, False)
        assert record.judged == Judged("new")
        assert store.text(number) == "some text"
        assert store.url(number) == record.url

    def test_gets_numbers_in_order(self, store):
        assert [store.insert(page(n)) for n in range(200)] == list(range(1, 201))
        assert store.last_page == 200

    def test_may_be_too_short_for_a_fingerprint(self, store):
        number = store.insert(page(1, measured=measured(1, fingerprint=None)))
        assert store.record(number).fingerprint is None
        assert index_of(store) == {("digest", number, digest_head(measured(1).digest), 1)}

    @pytest.mark.parametrize("fingerprint", [0, 1, 2**63 - 1, 2**63, 2**64 - 1])
    def test_may_have_any_fingerprint(self, store, fingerprint):
        number = store.insert(page(1, measured=measured(1, fingerprint=fingerprint)))
        assert store.record(number).fingerprint == fingerprint
        assert (number, fingerprint, 1) in index_of(store)

    @pytest.mark.parametrize("url", ["http://[1/", "http://x/\ud800", "", "http://x/\0a", "网址"])
    def test_may_have_any_url(self, store, url):
        number = store.insert(page(1, url=url, host=url, text=url))
        assert (store.url(number), store.record(number).host) == (url, url)
        assert store.at_url(url) == [number]
        assert store.text(number) == url

    @pytest.mark.parametrize(
        "headline", [("", ""), ("\ud800", "标题\0\n"), ("0", "007"), ("a" * 200,) * 2]
    )
    def test_may_have_any_headline_or_none(self, store, headline):
        number = store.insert(page(1, measured=measured(1)._replace(headline=Headline(*headline))))
        assert store.record(number).headline == headline
        assert store.matches([number]).headlines == [headline]

    @pytest.mark.parametrize("size", [0, 1, 240, 100_000])
    def test_may_have_a_sketch_of_any_length(self, store, size):
        packed = sketch(hashes_of(1, size))
        number = store.insert(page(1, measured=measured(1)._replace(sketch=packed)))
        assert store.record(number).sketch == packed
        assert store.matches([number]).sketches == [packed]

    def test_is_found_however_its_url_is_spelt(self, store):
        number = store.insert(page(1, url="https://example.com/a?b=2&a=1#top"))
        assert store.at_url("https://EXAMPLE.com/a?a=1&b=2") == [number]
        assert store.at_url("https://example.com/a?a=1") == []

    def test_needs_a_crawl(self, store):
        store.crawls.current = 0
        with pytest.raises(AssertionError, match="no crawl"):
            store.insert(page(1))


class TestLookUps:
    def test_by_digest_find_kept_pages_only(self, store):
        first, second = store.insert(page(1)), store.insert(page(1))
        repeat = store.insert(page(1, near(first)))
        asked = [second, 99, repeat, first]
        assert store.of_digest(asked, measured(1).digest) == [second, first]
        assert store.of_digest(asked, measured(2).digest) == []

    def test_of_matches_are_in_the_order_asked_for(self, store):
        numbers = [store.insert(page(n, host=f"{n % 3}.example")) for n in range(20)]
        found = store.matches(numbers[::-1])
        made = [page(n, host=f"{n % 3}.example") for n in range(20)][::-1]
        assert found.sketches == [each.measured.sketch for each in made]
        assert found.headlines == [each.measured.headline for each in made]
        assert found.url_keys == [each.place.key for each in made]
        assert found.hosts == [store.hosts.number(each.place.host) for each in made]
        assert found.digests == [each.measured.digest for each in made]
        assert found.crawls == [1] * 20
        assert store.matches([]) == Matches([], [], [], [], [], [])

    def test_of_pages_that_are_not_there(self, store):
        for look_up in (store.url, store.record):
            with pytest.raises(KeyError, match="9"):
                look_up(9)
        with pytest.raises(KeyError, match="9"):
            store.matches([9])
        assert not store.is_pending(9)
        assert store.text(9) is None

    def test_of_entries_are_made_piece_by_piece(self, store, monkeypatch):
        monkeypatch.setattr(index_entries, "_AT_ONCE", 4)
        numbers = [store.insert(page(n)) for n in range(10)]
        store.insert(page(99, near(1)))
        for read in (store.entries.fingerprints, store.entries.digests):
            assert read().pages.tolist() == numbers
            assert read(after=3).pages.tolist() == numbers[3:]

    def test_of_all_records_see_every_page(self, store):
        for n in range(1_500):
            store.insert(page(n, Judged("new") if n % 2 else near(1)) if n else page(n))
        records = list(store.records())
        assert [record.page for record in records] == list(range(1, 1_501))
        assert records[3] == store.record(4)
        assert [record.page for record in store.records(after=1_498)] == [1_499, 1_500]

    def test_of_the_oldest_leave_pending_pages_out(self, store):
        late, early = store.insert(page(5)), store.insert(page(2))
        store.insert(page(1), is_pending=True)
        dropped = store.insert(page(3, near(late)))
        assert store.oldest(9, is_kept=True) == [early, late]
        assert store.oldest(1, is_kept=True) == [early]
        assert store.oldest(9, is_kept=False) == [dropped]
        assert store.oldest(9, is_kept=True, before=NOON + 5) == [early]

    def test_of_counts_follow_what_is_there(self, store):
        first = store.insert(page(1))
        store.insert(page(2, near(first)))
        store.insert(page(3, Judged("unjudged", "too_short")))
        assert (len(store), store.count(is_kept=False)) == (2, 1)
        found, [crawl] = statistics(store)
        assert found["outcomes"] == crawl["outcomes"] == {"new": 1, "near": 1, "unjudged": 1}
        store.delete([first])
        assert (len(store), store.count(is_kept=False)) == (1, 1)


class TestPendingPages:
    def test_that_are_committed_stay(self, store):
        number = store.insert(page(1), is_pending=True)
        assert store.is_pending(number)
        assert store.commit(number) == Change()
        assert not store.is_pending(number)
        assert store.release(number) == Change()
        assert len(store) == 1

    def test_that_are_released_are_forgotten_with_what_was_dropped_for_them(self, store):
        number = store.insert(page(1, text="text"), is_pending=True)
        store.insert(page(2, near(number)))
        entries = index_of(store)
        change = store.release(number)
        assert removed_by(change) == entries
        assert list(store.records()) == []
        assert store.text(number) is None
        assert with_digest(store, measured(1).digest) == []

    def test_that_are_duplicates_leave_their_original(self, store):
        number = store.insert(page(1))
        repeat = store.insert(page(2, near(number)), is_pending=True)
        assert store.release(repeat) == Change()
        assert [record.page for record in store.records()] == [number]

    def test_settled_twice_or_never_there_are_left_as_they_are(self, store):
        number = store.insert(page(1), is_pending=True)
        store.release(number)
        for settle in (store.commit, store.release):
            assert settle(number) == settle(99) == Change()

    def test_give_their_numbers_to_no_other(self, store):
        store.release(store.insert(page(1), is_pending=True))
        assert store.insert(page(2)) == 2


class TestRevisits:
    @pytest.fixture
    def revisit(self, store):
        self.old = store.insert(page(1, text="old"))
        store.crawls.start(NOON + 500)
        judged = Judged("revisit", None, self.old, 2, 0.95)
        seen = page(2, judged, url="https://www.example.com/1", seen=NOON + 600, text="new")
        return store.insert(seen, is_pending=True)

    def test_that_are_committed_refresh_the_record(self, store, revisit):
        index = Follower(store)
        index.follow(store.commit(revisit))
        assert index.entries == index_of(store)
        [record] = store.records()
        assert record.page == self.old
        assert (record.digest, record.fingerprint) == measured(2)[:2]
        assert (record.sketch, record.headline) == (measured(2).sketch, measured(2).headline)
        assert store.matches([self.old]).headlines == [measured(2).headline]
        assert (record.first_crawl, record.crawl) == (1, 2)
        assert (record.first_seen, record.last_seen) == (NOON + 1, NOON + 600)
        assert record.judged == Judged("revisit", None, None, 2, 0.95)
        assert store.text(self.old) == "new"
        assert with_digest(store, measured(1).digest) == []
        assert with_digest(store, measured(2).digest) == [self.old]

    def test_that_are_released_leave_the_record_as_it_was(self, store, revisit):
        before = store.record(self.old)
        index = Follower(store)
        index.follow(store.release(revisit))
        assert index.entries == index_of(store)
        assert list(store.records()) == [before]
        assert store.text(self.old) == "old"

    def test_leave_no_text_of_the_page_as_it_was(self, store):
        old = store.insert(page(1, text="old"))
        newer = store.insert(page(2, Judged("revisit", None, old, 0, 1.0)), is_pending=True)
        store.commit(newer)
        assert store.text(old) is None

    def test_hand_their_duplicates_on(self, store, revisit):
        repeat = store.insert(page(3, near(revisit)))
        store.commit(revisit)
        assert store.record(repeat).judged.original == self.old

    def test_of_a_page_that_is_gone_stay_by_themselves(self, store, revisit):
        store.delete([self.old])
        assert store.commit(revisit) == Change()
        assert [record.page for record in store.records()] == [revisit]
        assert not store.is_pending(revisit)

    def test_whose_commit_was_undone_are_pending_again(self, store, revisit):
        undo(store, lambda: store.commit(revisit))
        assert store.fate(revisit) == "pending"
        store.release(revisit)
        assert store.fate(revisit) == "gone"

    def test_that_were_undone_leave_nothing_to_the_page_that_gets_their_number(self, store):
        old = store.insert(page(1))
        seen = page(2, Judged("revisit", None, old, 0, 1.0))
        undo(store, lambda: store.commit(store.insert(seen, is_pending=True)))
        other = store.insert(page(4), is_pending=True)
        assert other == old + 1
        assert store.is_pending(other)
        store.release(other)
        assert store.fate(other) == "gone"

    def test_seen_by_a_clock_that_went_back_are_not_older(self, store):
        old = store.insert(page(100))
        newer = store.insert(page(1, Judged("revisit", None, old, 0, 1.0)), is_pending=True)
        store.commit(newer)
        assert store.record(old).last_seen == NOON + 100


class TestChanges:
    def test_of_measures_are_followed_by_digest_and_index(self, store):
        number = store.insert(page(1))
        index = Follower(store)
        for fingerprint in (-1, None, 5, 5):
            index.follow(store.replace(number, measured(2, fingerprint=fingerprint)))
            assert index.entries == index_of(store)
        assert with_digest(store, measured(1).digest) == []
        assert with_digest(store, measured(2).digest) == [number]
        record = store.record(number)
        assert (record.sketch, record.headline) == (measured(2).sketch, measured(2).headline)

    def test_of_measures_of_a_page_that_is_gone_do_nothing(self, store):
        assert store.replace(9, measured(1)) == Change()

    def test_deletion_tells_the_index_of_kept_pages_only(self, store):
        kept = store.insert(page(1))
        dropped = store.insert(page(2, near(kept)))
        short = store.insert(page(3, measured=measured(3, fingerprint=None)))
        change = store.delete([kept, dropped, short, 99])
        assert [entry.page for entry in change.removed] == [kept, short]
        assert change.added == ()
        assert list(store.records()) == []

    def test_a_url_is_deleted_with_all_its_pages(self, store):
        first = store.insert(page(1, url="http://a/?x=1&y=2"))
        store.insert(page(2, near(first), url="http://a/?y=2&x=1#end"))
        other = store.insert(page(3, url="http://a/"))
        store.delete(store.at_url("http://a/?y=2&x=1"))
        assert [record.page for record in store.records()] == [other]

    def test_made_together_are_undone_together(self, store):
        store.insert(page(1))

        undo(store, lambda: store.insert(page(2, host="a host of its own")))
        assert [record.url for record in store.records()] == ["https://www.example.com/1"]
        assert store.hosts.number("a host of its own") is None
        # Its number may have gone to another host by now.
        number = store.insert(page(3, host="another"))
        assert store.record(number).host == "another"

    def test_that_cannot_be_written_leave_no_trace(self, store):
        with pytest.raises(OverflowError):
            store.insert(page(1, host="new host", seen=2**64))
        assert store.hosts.number("new host") is None
        assert list(store.records()) == []


class TestCrawls:
    def test_each_start_without_a_name_is_a_new_crawl(self):
        with memory_store() as store:
            assert store.crawls.current == 1
            store.insert(page(1))
            assert store.crawls.start(NOON + 9) == store.crawls.current == 2
            store.insert(page(2))
            store.crawls.end(NOON + 20)
            assert [record.crawl for record in store.records()] == [1, 2]
            assert store.crawls.all() == [
                Crawl(1, None, NOON, None),
                Crawl(2, None, NOON + 9, NOON + 20),
            ]

    def test_a_name_is_the_same_crawl_resumed(self):
        with memory_store("job") as store:
            store.crawls.end(NOON + 5)
            assert store.crawls.start(NOON + 9, "another \ud800") == 2
            assert store.crawls.start(NOON + 10, "another \ud800") == 2
            assert store.crawls.start(NOON + 11, "job") == store.crawls.current == 1
            assert store.crawls.all() == [
                Crawl(1, "job", NOON, None),
                Crawl(2, "another \ud800", NOON + 9, None),
            ]

    def test_to_end_none_is_no_error(self):
        with memory_store() as store:
            store.crawls.current = 0
            store.crawls.end(NOON)
            assert store.crawls.all() == [Crawl(1, None, NOON, None)]


class TestClosing:
    def test_twice_is_no_error(self, store):
        store.close()
        store.close()
        for attempt in (lambda: store.insert(page(1)), lambda: len(store), store.check):
            with pytest.raises(StoreError, match="is closed"):
                attempt()

    @pytest.fixture
    def store(self):
        return memory_store()


def test_bytes_grow_with_pages():
    with memory_store() as store:
        empty = store.nbytes
        for n in range(1_000):
            store.insert(page(n))
        assert store.nbytes - empty > 1_000 * 300
