"""What is known of hosts: states, and lessons since."""

import pytest
from store_pages import HOST, memory_store, page

from dedup_filter.pages.directory.frame_store import FrameStore, Lesson


@pytest.fixture
def store():
    with memory_store() as made:
        yield made
        made.check()


def known_of(store):
    (known,) = FrameStore(store).all()
    return known.state, known.lessons


def learn(store, number):
    with store.transaction():
        made = store.insert(page(number, is_pending=True))
        FrameStore(store).learn(HOST, made, b"lesson")
    return made


def test_a_lesson_that_the_state_has_is_to_be_unlearnt_if_its_page_is_released(store):
    kept, gone = learn(store, 0), learn(store, 1)
    FrameStore(store).save(HOST, b"state")
    assert known_of(store) == (b"state", [])
    store.commit(kept)
    store.delete([kept])
    later = learn(store, 2)
    store.release(gone)
    lessons = [Lesson(gone, b"lesson", True), Lesson(later, b"lesson", False)]
    assert known_of(store) == (b"state", lessons)
    FrameStore(store).save(HOST, b"state without")
    assert known_of(store) == (b"state without", [])


def test_the_host_learnt_of_last_comes_last(store):
    for host in ("a", "b", "c", "a"):
        FrameStore(store).learn(host, 1, b"lesson")
    FrameStore(store).save("b", b"state")
    assert [known.host for known in FrameStore(store).all()] == ["b", "c", "a"]
    for host in ("a", "c", "b"):
        FrameStore(store).save(host, b"state")
    assert [known.host for known in FrameStore(store).all()] == ["b", "c", "a"]
