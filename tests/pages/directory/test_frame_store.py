"""States, lessons and early pages of hosts, through commits, releases and deaths."""

import pytest
from store_pages import HOST, folder_store, kill, memory_store, near, page, revisit

from dedup_filter.pages.directory.frame_store import (
    EarlyForm,
    FrameStore,
    HostFrames,
    Lesson,
    frames_with_forms,
)


@pytest.fixture
def store():
    with memory_store() as made:
        yield made
        made.check()


def known_of(store, host=HOST):
    """What is known of a host: its state and the lessons since."""
    found = {known.host: (known.state, known.lessons) for known in FrameStore(store).all()}
    return found.get(host, (None, []))


def waiting(store):
    return [early for known in FrameStore(store).all() for early in known.early]


def learn(store, number, *, is_pending=False):
    with store.transaction():
        made = store.insert(page(number, is_pending=is_pending))
        FrameStore(store).learn(HOST, made, b"lesson %d" % number)
    return made


class TestWhatIsKnownOfAHost:
    def test_is_its_state_and_the_lessons_since_in_their_order(self, store):
        assert FrameStore(store).all() == []
        pages = [learn(store, number) for number in range(3)]
        lessons = [Lesson(made, b"lesson %d" % n, False) for n, made in enumerate(pages)]
        assert known_of(store) == (None, lessons)
        FrameStore(store).save(HOST, b"state")
        later = learn(store, 3)
        assert known_of(store) == (b"state", [Lesson(later, b"lesson 3", False)])
        assert known_of(store, "another") == (None, [])
        FrameStore(store).save(HOST, b"state 2")
        assert known_of(store) == (b"state 2", [])

    def test_holds_it_as_to_be_unlearnt_where_the_state_has_it(self, store):
        learn(store, 0)
        made = learn(store, 1, is_pending=True)
        FrameStore(store).save(HOST, b"state")
        assert known_of(store) == (b"state", [])
        store.release(made)
        assert known_of(store) == (b"state", [Lesson(made, b"lesson 1", True)])
        FrameStore(store).save(HOST, b"state without")
        assert known_of(store) == (b"state without", [])

    def test_holds_what_committed_pages_taught_even_if_they_are_forgotten(self, store):
        made = learn(store, 1, is_pending=True)
        FrameStore(store).save(HOST, b"state")
        store.commit(made)
        later = learn(store, 2)
        store.delete([later])
        assert known_of(store) == (b"state", [Lesson(later, b"lesson 2", False)])

    def test_comes_from_the_host_learnt_of_last(self, store):
        for host in ("a", "b", "c", "a"):
            FrameStore(store).learn(host, 1, b"lesson")
        FrameStore(store).save("b", b"state")
        assert [known.host for known in FrameStore(store).all()] == ["b", "c", "a"]
        for host in ("a", "c", "b"):
            FrameStore(store).save(host, b"state")
        assert [known.host for known in FrameStore(store).all()] == ["b", "c", "a"]


class TestEarlyPages:
    def test_wait_with_a_note_that_changes(self, store):
        made = learn(store, 1)
        FrameStore(store).wait(EarlyForm(made, HOST, b"form", b"told once"))
        FrameStore(store).note(made, b"told twice")
        lessons = [Lesson(made, b"lesson 1", False)]
        early = EarlyForm(made, HOST, b"", b"told twice")
        assert FrameStore(store).all() == [HostFrames(HOST, None, lessons, [early])]
        assert next(frames_with_forms(store)).early == [early._replace(form=b"form")]
        FrameStore(store).wait_no_more(made)
        assert (FrameStore(store).form(made), waiting(store)) == (None, [])
        FrameStore(store).wait(early)
        FrameStore(store).save(HOST, b"state")
        FrameStore(store).forget(HOST)
        assert FrameStore(store).all() == []

    def test_go_with_their_records_but_not_when_these_are_renewed(self, store):
        old, gone = learn(store, 1), learn(store, 2, is_pending=True)
        for number in (old, gone):
            FrameStore(store).wait(EarlyForm(number, HOST, b"form", b""))
        store.release(gone)
        store.commit(store.insert(page(2, revisit(old), is_pending=True)))
        assert waiting(store) == [EarlyForm(old, HOST, b"", b"")]


def test_a_dead_process_leaves_nothing_of_pending_pages(tmp_path):
    store = folder_store(tmp_path)
    learn(store, 0)
    in_state = learn(store, 1, is_pending=True)
    FrameStore(store).save(HOST, b"state")
    since = learn(store, 2, is_pending=True)
    store.insert(page(3, near(in_state), is_pending=True))
    FrameStore(store).wait(EarlyForm(since, HOST, b"form", b""))
    store.flush()
    kill(store)
    with folder_store(tmp_path) as store:
        assert known_of(store) == (b"state", [Lesson(in_state, b"lesson 1", True)])
        assert waiting(store) == []
        assert [record.page for record in store.records()] == [1]
        store.check()
