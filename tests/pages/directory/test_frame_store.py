"""What is known of hosts: states, and lessons since."""

import pytest
from store_pages import HOST, memory_store, page

from dedup_filter.pages.directory.frame_store import EarlyForm, FrameStore, Lesson


@pytest.fixture
def store():
    with memory_store() as made:
        yield made
        made.check()


def known_of(store):
    known = FrameStore(store).of(HOST)
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


def test_of_a_host_that_nothing_is_known_of_there_is_nothing(store):
    assert FrameStore(store).of(HOST) is None
    learn(store, 0)
    assert FrameStore(store).of("other.example") is None


def test_the_bytes_of_lessons_since_the_state_are_the_same_after_a_restart(store):
    frames, unsaved = FrameStore(store), []
    for number in range(6):
        if number == 4:
            frames.save(HOST, b"state")
        unsaved.append(frames.learn(HOST, 0, b"lesson"))
        if number in {1, 4}:
            frames = FrameStore(store)
    assert [each // unsaved[0] for each in unsaved] == [1, 2, 3, 4, 1, 2]


@pytest.mark.parametrize("most", [3, 250])
def test_of_too_many_pages_that_wait_the_earliest_stop(store, most):
    """They are as many after a restart; those that go with their page do not count."""
    frames, waiting = FrameStore(store), []
    for number in range(2 * most):
        made = store.insert(page(number, is_pending=True))
        frames.wait(f"host {number % 7}", EarlyForm(made, b"form", b"note"))
        gone = frames.bound_waiting(most)
        waiting.append(made)
        assert gone == waiting[: len(gone)]
        del waiting[: len(gone)]
        if number % 5 == 2:
            frames.wait_no_more(waiting.pop())
        elif number % 5 == 3:
            store.release(waiting.pop())
        elif number % 11 == 4:
            frames = FrameStore(store)
        assert most - most // 100 - 2 <= len(waiting) <= most or not gone
    hosts = (frames.of(f"host {number}") for number in range(7))
    assert sorted(each.page for known in hosts if known for each in known.early) == waiting
    assert 0.9 * most < len(waiting) <= most
