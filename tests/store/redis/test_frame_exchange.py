"""Updates that processes send one another, against all that any of them has counted."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from update_lists import MemoryLists

from dedup_filter.frames.host_frames import FrameUpdate
from dedup_filter.store.redis import frame_exchange
from dedup_filter.store.redis.frame_exchange import MOST_UPDATES, FrameExchange

HOST = "a.example"


def update(*shown, is_kept=True):
    return FrameUpdate(is_kept, list(shown))


class Process:
    """An exchange, and how often each block of a host was shown, as far as it knows."""

    def __init__(self, number, lists):
        self.lists = MemoryLists(number, lists)
        self.exchange = FrameExchange(self.lists)
        self.known = Counter()

    def page(self, *shown):
        self.read()
        self.known.update(shown)
        self.exchange.send(HOST, update(*shown))

    def drop(self, *shown):
        """Drop a page, of which counts what was not shown before."""
        self.read()
        new = [block for block in shown if not self.known[block]]
        self.known.update(new)
        self.exchange.send(HOST, update(*new, is_kept=False))

    def forget(self):
        """Forget the host, as processes do that know of too many."""
        self.exchange.forget(HOST)
        self.known.clear()

    def read(self):
        received = self.exchange.received(HOST)
        for each in received:
            self.known.update(
                block for block in each.shown if each.is_kept or not self.known[block]
            )
        return [each.shown for each in received]


@pytest.fixture
def lists():
    return {}


@pytest.fixture
def pair(lists):
    return Process(1, lists), Process(2, lists)


def test_what_was_sent_twice_or_dropped_and_known_is_left_out(pair, lists):
    one, other = pair
    one.page(1, 2)
    other.page(1, 3)
    one.page(1, 4)
    one.page(1)
    other.read()
    other.exchange.send(HOST, update(4, 5, is_kept=False))
    sent = [FrameUpdate.from_bytes(entry[16:]) for entry in lists[HOST]]
    kept = [update(1, 2), update(1, 3), update(4)]
    assert sent == [*kept, update(5, is_kept=False)]


def test_a_full_list_is_read_no_more(pair, lists):
    one, other = pair
    for page in range(MOST_UPDATES - 1):
        one.page(page)
    other.exchange.send(HOST, update(1_000))
    one.exchange.send(HOST, update(1_001))
    assert one.read() == [[1_000]]
    assert len(other.read()) == MOST_UPDATES - 1
    assert len(lists[HOST]) == MOST_UPDATES
    for process in pair:
        process.lists.is_away = True
        process.page(1_002)


def test_lists_that_are_lost_are_sent_anew(pair, lists):
    one, other = pair
    for _ in range(MOST_UPDATES):
        one.page(1, 2)
        other.page(1, 3)
    lists.clear()
    for process in pair:
        process.exchange.read_anew()
    one.page(1, 2)
    other.page(1, 3)
    assert Process(3, lists).read() == [[1, 2], [1, 3]]


@pytest.mark.parametrize(
    "entry",
    [
        b"",
        b"short",
        bytes(16),
        b"process9" + bytes(8) + b"\2" + bytes(8),
        b"process9" + (1).to_bytes(8, "little") + b"\1" + bytes(4) + b"\xff" * 4,
    ],
    ids=["empty", "short", "no update", "newer format", "cut off"],
)
def test_an_entry_that_cannot_be_read_is_left_out(pair, lists, entry):
    one, other = pair
    lists[HOST] = [entry]
    one.page(1)
    assert other.read() == [[1]]


def test_an_update_is_bounded(pair, lists):
    one, other = pair
    one.page(*range(5_000))
    assert other.read() == [[*range(500), *range(4_500, 5_000)]]
    assert len(lists[HOST][0]) < 8_100


def test_lists_used_least_are_read_anew_when_too_many_blocks_are_remembered(lists, monkeypatch):
    monkeypatch.setattr(frame_exchange, "_MOST_LISTED", 10)
    one, other = (FrameExchange(MemoryLists(number, lists)) for number in (1, 2))
    hosts = [f"{number}.example" for number in range(9)]
    for host in hosts:
        one.send(host, update(1, 2, 3, 4))
    assert one.nbytes <= 9 * 400 + 10 * 100
    for host in hosts:
        assert one.received(host) == []
        assert other.received(host) == [update(1, 2, 3, 4)]
        other.send(host, update(1, 5))
    assert [one.received(host) for host in hosts] == [[update(1, 5)]] * 9
    assert other.nbytes <= 9 * 400 + 10 * 100


PAGES = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sets(st.integers(0, 7), min_size=1, max_size=5).map(sorted),
        st.booleans(),
    ),
    max_size=MOST_UPDATES - 2,
)
MOMENTS = st.sets(st.integers(0, 40))


@pytest.fixture(params=[1, 500_000])
def most_listed(request, monkeypatch):
    """Blocks that are remembered of lists: of one list, or of all."""
    monkeypatch.setattr(frame_exchange, "_MOST_LISTED", request.param)


@pytest.mark.usefixtures("most_listed")
@given(history=PAGES, rereadings=MOMENTS, evictions=MOMENTS, losses=MOMENTS)
def test_all_know_what_any_has_counted(history, rereadings, evictions, losses):
    """Of pages by process, and what they show: whatever is forgotten, or sent without an answer."""
    lists, counted = {}, Counter()
    processes = [Process(number, lists) for number in range(3)]
    for at, (number, shown, is_kept) in enumerate(history):
        if at in rereadings:
            processes[at % 3].exchange.read_anew()
        if at in evictions:
            processes[at % 3].forget()
        processes[number].lists.loses_answers = at in losses
        if is_kept:
            processes[number].page(*shown)
            counted.update(shown)
        else:
            processes[number].drop(*shown)
            counted.update(block for block in shown if not counted[block])
        processes[number].lists.loses_answers = False
    for process in [*processes, Process(9, lists)]:
        process.read()
        assert process.read() == process.exchange.received("b.example") == []
        for block, times in counted.items():
            # No rule needs more than twice, and nothing is made up.
            assert min(times, 2) <= process.known[block] <= times
