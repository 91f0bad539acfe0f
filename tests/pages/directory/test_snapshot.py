"""What an index would be if its writer died now, seen while it writes."""

import shutil

from store_pages import folder_store, near
from store_pages import new_page as page

from dedup_filter.pages.directory.frame_store import EarlyForm
from dedup_filter.pages.directory.page_reader import PageReader, Snapshot
from dedup_filter.pages.directory.page_store import StoreKeeper


def fill(store):
    """Pages settled and pending, pages dropped for both, lessons taken in and not."""
    done = store.insert(page(1))
    store.frames.learn("www.example.com", done, b"done")
    store.frames.learn("other.example", done, b"other")
    waits = store.insert(page(2), is_pending=True)
    store.frames.learn("www.example.com", waits, b"swallowed")
    store.frames.save("www.example.com", b"state")
    late = store.insert(page(3), is_pending=True)
    store.frames.learn("www.example.com", late, b"late")
    store.insert(page(4, near(done)))
    copy = store.insert(page(5, near(late)))
    store.frames.learn("other.example", copy, b"copy")
    again = store.insert(page(6, near(late)), is_pending=True)
    store.frames.learn("other.example", again, b"again")
    repeat = store.insert(page(7, near(done)), is_pending=True)
    store.frames.learn("other.example", repeat, b"repeat")
    for number in (done, late, repeat):
        store.frames.wait(EarlyForm(number, "www.example.com", b"form", b"note %d" % number))
    store.flush()


def shown(folder, texts=0):
    with Snapshot.open_to_read(folder) as snapshot:
        pages = list(snapshot.records())
        assert snapshot.count() == len(pages)
        assert len(snapshot) == sum(each.judged.is_kept for each in pages)
        assert snapshot.without_text() == len(pages) - texts
        return pages, list(snapshot.frames.with_early_pages())


def test_a_snapshot_is_what_the_next_opening_finds(tmp_path):
    with folder_store(tmp_path / "index") as store:
        fill(store)
        shutil.copytree(tmp_path / "index", tmp_path / "copy")
        before = shown(tmp_path / "index")
    folder_store(tmp_path / "copy").close()
    pages, hosts = shown(tmp_path / "copy")
    assert [each.page for each in pages] == [1, 4]
    assert before == (pages, hosts)
    assert [each.page for known in hosts for each in known.early] == [1]
    assert {known.host: known.lessons for known in hosts}["www.example.com"] == [
        (2, b"swallowed", True)
    ]


def test_a_snapshot_stays_as_it_was_while_pages_come_and_go(tmp_path):
    with folder_store(tmp_path) as store:
        for number in range(10):
            store.insert(page(number))
        store.flush()
        with Snapshot.open_to_read(tmp_path) as snapshot:
            records = snapshot.records()
            first = next(records)
            store.delete([2, 3])
            store.insert(page(77))
            store.flush()
            assert [first.page, *(each.page for each in records)] == list(range(1, 11))
        assert [each.page for each in reader_pages(tmp_path)] == [1, *range(4, 12)]


def reader_pages(folder):
    with PageReader.open_to_read(folder) as reader:
        return list(reader.records())


def test_what_a_keeper_puts_back_is_what_was_there(tmp_path):
    with folder_store(tmp_path / "index", crawl="job") as store:
        fill(store)
    folder_store(tmp_path / "index").close()
    with (
        Snapshot.open_to_read(tmp_path / "index") as snapshot,
        StoreKeeper.open(tmp_path / "other", snapshot.scheme) as keeper,
    ):
        for crawl in snapshot.crawls.all():
            assert keeper.restore_crawl(crawl) == crawl.number
            assert keeper.restore_crawl(crawl) == crawl.number
        for each in snapshot.records():
            keeper.restore(each, f"text of {each.page}")
        for known in snapshot.frames.with_early_pages():
            keeper.restore_host(known)
        keeper.check()
        assert keeper.crawls.all() == snapshot.crawls.all()
        assert keeper.text(4) == "text of 4"
        assert keeper.last_page == 4
    assert shown(tmp_path / "other", texts=2) == shown(tmp_path / "index")
