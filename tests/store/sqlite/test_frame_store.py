"""What is known of hosts: a record of each, and pages that wait."""

from contextlib import suppress

import pytest
from store_pages import HOST, folder_store, memory_store, page

from dedup_filter.errors import StoreError
from dedup_filter.frames.host_frames import ChangedHost
from dedup_filter.store.sqlite import page_store
from dedup_filter.store.sqlite.frame_store import FrameStore, ProvisionalForm, frames_of
from dedup_filter.store.sqlite.page_reader import PageReader


@pytest.fixture
def store():
    with memory_store() as made:
        yield made
        made.check()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "index"


def changed(record, moment=0):
    return ChangedHost(moment, lambda: record)


def written(folder):
    """The record of the host as another process reads it."""
    with PageReader.open_to_read(folder) as reader:
        known = frames_of(reader, HOST)
    return known and known.record


def test_a_changed_host_is_written_with_the_pages_and_read_before(folder):
    with folder_store(folder) as store:
        frames = FrameStore(store)
        store.insert(page(1))
        frames.changed[HOST] = changed(b"record")
        assert frames.of(HOST).record == b"record"
        assert written(folder) is None
        store.flush()
        assert (written(folder), frames.changed) == (b"record", {})
        assert frames.of(HOST).record == b"record"


def test_a_host_that_could_not_be_written_is_written_later(folder):
    def fail():
        raise StoreError("the disk is full")

    with folder_store(folder) as store:
        frames = FrameStore(store)
        number = store.insert(page(1))
        frames.changed["other.example"] = changed(b"other")
        frames.changed[HOST] = ChangedHost(0, fail)
        with pytest.raises(StoreError):
            store.flush()
        frames.changed[HOST] = changed(b"record")
        assert (written(folder), frames.of("other.example").record) == (None, b"other")
        store.flush()
        assert store.record(number).host == HOST
        assert (written(folder), frames.of("other.example").record) == (b"record", b"other")


def test_frames_go_that_were_counted_last_before_the_oldest_page_was_seen(folder, monkeypatch):
    """Those of sites, too; one that has been counted since stays."""
    with folder_store(folder) as store:
        frames, numbers = FrameStore(store), [store.insert(page(n, seen=n)) for n in (10, 20, 30)]
        for name, moment in ((HOST, 15), ("menu 1", 15), ("again.example", 15), ("later", 25)):
            frames.changed[name] = changed(name.encode(), moment)
        store.flush()
        frames.changed["again.example"] = changed(b"again", 40)
        store.trim_frames()
        assert frames.gone == []
        store.delete(numbers[:1])
        with suppress(StoreError), store.transaction():
            store.trim_frames()
            raise StoreError("the disk is full")
        assert (frames.gone, frames.of(HOST).record) == ([], HOST.encode())
        store.trim_frames()
        assert (set(frames.gone), frames.of(HOST), frames.of("menu 1")) == (
            {HOST, "menu 1"},
            None,
            None,
        )
        assert (frames.of("again.example").record, frames.of("later").record) == (
            b"again",
            b"later",
        )
        store.delete(numbers)
        store.flush()
        monkeypatch.setattr(page_store, "now", lambda: 40)
        store.trim_frames()
        assert (frames.of("again.example").record, frames.of("later")) == (b"again", None)
        store.check()


def test_of_a_host_that_nothing_is_known_of_there_is_nothing(store):
    store.insert(page(1))
    assert FrameStore(store).of(HOST) is None
    assert FrameStore(store).of("other.example") is None


@pytest.mark.parametrize("most", [3, 250])
def test_of_too_many_pages_that_wait_the_earliest_stop(store, most):
    """They are as many after a restart; those that go with their page do not count."""
    frames, waiting = FrameStore(store), []
    for number in range(2 * most):
        made = store.insert(page(number))
        frames.wait(f"host {number % 7}", ProvisionalForm(made, b"form", b"note"))
        gone = frames.bound_waiting(most)
        waiting.append(made)
        assert gone == waiting[: len(gone)]
        del waiting[: len(gone)]
        if number % 5 == 2:
            frames.discard(waiting.pop())
        elif number % 5 == 3:
            store.delete([waiting.pop()])
        elif number % 11 == 4:
            frames = FrameStore(store)
        assert most - most // 100 - 2 <= len(waiting) <= most or not gone
    left = [number for (number,) in store.rows("SELECT page FROM provisional_pages ORDER BY page")]
    assert left == waiting
    assert 0.9 * most < len(waiting) <= most
