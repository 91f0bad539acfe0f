"""A store against a plain list of what was put into it."""

import pytest
from made_profiles import hashes_of
from store_pages import NOON, folder_store, measures, memory_store, near, page, revisit

from dedup_filter.errors import StoreError
from dedup_filter.fingerprints.sketch import sketch
from dedup_filter.store.records import Crawl
from dedup_filter.store.sqlite.page_reader import PageReader
from dedup_filter.store.sqlite.page_store import PageStore
from dedup_filter.text.page_url import url_key


@pytest.fixture(params=[memory_store, folder_store])
def store(request, tmp_path):
    made = request.param(*[tmp_path / "index"] if request.param is folder_store else [])
    yield made
    made.check()
    made.close()


class TestWhatIsInserted:
    @pytest.mark.parametrize(
        "fields",
        [
            *({"fingerprint": each} for each in (None, 0, 1, 2**63 - 1, 2**63, 2**64 - 1)),
            *(
                {"url": each, "host": each}
                for each in ("http://[1/", "http://x/\ud800", "", "http://x/\0a", "网址")
            ),
            *(
                {"h1": h1, "title": title}
                for h1, title in (("", ""), ("\ud800", "标题\0\n"), ("0", "007"), ("a" * 200,) * 2)
            ),
            *({"sketch": sketch(hashes_of(1, size))} for size in (0, 1, 240, 100_000)),
            {"judged": {"outcome": "unjudged", "reason": "too_short", "similarity": 0.5}},
        ],
    )
    def test_may_be_anything(self, store, fields):
        given = page(1, **fields)
        assert [store.insert(page(7)), store.insert(page(8))] == [1, 2]
        store.delete([2])
        number = store.insert(given, given.url, b"form")
        assert number == store.last_page == 3, "a number is given once"
        assert store.record(number) == given._replace(page=number)
        assert (store.text(number), store.at_url(given.url)) == (given.url, [number])
        assert store.form(number) == b"form"
        found, _ = store.stored([number, 1])
        assert found == (
            *(given.host, given.sketch, given.headline, number, 1),
            *(url_key(given.url), given.digest, given.fingerprint, given.url, given.canonical_key),
        )


class TestRevisits:
    @pytest.fixture
    def seen(self, store):
        """The number of a page that is visited again, as a page of its own; the old one is 1."""
        store.insert(page(1), "old", b"old")
        crawl = store.start_crawl(NOON + 500)
        again = page(2, revisit(1), is_pending=True, seen=NOON + 600, crawl=crawl)
        return store.insert(again, "new", b"new")

    def test_that_are_committed_refresh_the_record(self, store, seen):
        store.insert(page(3, near(seen)))
        store.commit(seen)
        store.replace(seen, measures(9))  # which is another page by now
        record, repeat = store.records()
        assert record == page(1)._replace(
            page=1, **measures(2), last_seen=NOON + 600, crawl=2, **revisit(None)
        )
        assert repeat.original == 1
        assert (store.text(1), store.form(1), store.fate(seen)) == ("new", b"new", "kept")

    def test_whose_commit_was_undone_are_pending_again(self, store, seen):
        def fail():
            with store.transaction():
                store.commit(seen)
                store.insert(page(0, seen=2**64))

        with pytest.raises(OverflowError):
            fail()
        assert store.fate(seen) == "pending"
        store.release(seen)
        assert store.fate(seen) == "gone"

    def test_without_a_text_leave_none_and_by_a_clock_that_went_back_are_not_older(self, store):
        old = store.insert(page(100), "old", b"")
        store.commit(store.insert(page(1, revisit(old), is_pending=True)))
        assert (store.text(old), store.form(old)) == (None, None)
        assert store.record(old).last_seen == NOON + 100


def test_a_crawl_is_resumed_by_its_name():
    with memory_store("job \ud800") as store:
        store.end_crawl(NOON + 5)
        assert store.start_crawl(NOON + 9, options={"scope": "host"}) == store.crawl == 2
        store.end_crawl(NOON + 20)
        assert store.start_crawl(NOON + 30, "job \ud800") == store.crawl == 1
        assert store.crawls() == [
            Crawl(1, "job \ud800", NOON, None),
            Crawl(2, None, NOON + 9, NOON + 20, {"scope": "host"}),
        ]


class TestFreeRoom:
    def sizes(self, folder, gone, monkeypatch=None):
        """Sizes of the file before and after a store is closed of which some of 600 pages go."""
        with folder_store(folder) as store:
            for number in range(600):
                store.insert(page(number))
        path = store.directory.pages
        before = path.stat().st_size
        with folder_store(folder) as store:
            store.delete(range(1, gone + 1))
            if monkeypatch is not None:
                monkeypatch.setattr(PageStore, "rows", disk_full(PageStore.rows))
        return before, path.stat().st_size

    def test_is_given_back_when_it_is_more_than_half(self, tmp_path):
        before, after = self.sizes(tmp_path / "little", 200)
        assert after == before
        before, after = self.sizes(tmp_path / "much", 550)
        assert after < before / 2
        with PageReader.open_to_read(tmp_path / "much") as reader:
            assert [record.page for record in reader.records()] == [*range(551, 601)]
            assert reader.last_page == 600
            reader.check()

    def test_stays_if_the_disk_has_no_room(self, tmp_path, monkeypatch, caplog):
        before, after = self.sizes(tmp_path, 550, monkeypatch)
        assert after == before
        assert "was not given back" in caplog.text


def disk_full(rows):
    def refusing(store, sql, values=()):
        if sql == "VACUUM":
            raise StoreError("the disk is full")
        return rows(store, sql, values)

    return refusing
