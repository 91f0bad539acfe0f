"""What an index would be if its writer died now, seen while it writes."""

import shutil

from store_pages import HOST, folder_store, near, page

from dedup_filter.frames.host_frames import ChangedHost
from dedup_filter.store.sqlite.frame_store import FrameStore, ProvisionalForm, all_frames
from dedup_filter.store.sqlite.snapshot import Snapshot


def fill(store):
    """Pages settled and pending, pages dropped for both, frames of a host and of a site."""
    done = store.insert(page(1))
    store.insert(page(2, is_pending=True), "text", b"")
    late = store.insert(page(3, is_pending=True))
    store.insert(page(4, near(done)))
    store.insert(page(5, near(late)))
    store.insert(page(6, near(late), is_pending=True))
    store.insert(page(7, near(done), is_pending=True))
    frames = FrameStore(store)
    for host in (HOST, "menu 1"):
        frames.changed[host] = ChangedHost(0, host.encode)
    frames.wait(HOST, ProvisionalForm(done, b"form", b"note"))
    store.flush()


def shown(folder):
    with Snapshot.open_to_read(folder) as snapshot:
        pages = list(snapshot.records())
        assert snapshot.count() == len(pages)
        assert len(snapshot) == sum(each.is_kept for each in pages)
        assert snapshot.without_form() == len(pages)
        return pages, list(all_frames(snapshot))


def test_a_snapshot_is_what_the_next_opening_finds(tmp_path):
    with folder_store(tmp_path / "index") as store:
        fill(store)
        shutil.copytree(tmp_path / "index", tmp_path / "copy")
        before = shown(tmp_path / "index")
    folder_store(tmp_path / "copy").close()
    pages, hosts = shown(tmp_path / "copy")
    assert [each.page for each in pages] == [1, 4]
    assert before == (pages, hosts)
    known = {known.host: known for known in hosts}
    assert known.keys() == {HOST, "menu 1"}
    assert known[HOST].provisional == [ProvisionalForm(1, b"form", b"note")]


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
        assert [each.page for each in shown(tmp_path)[0]] == [1, *range(4, 12)]
