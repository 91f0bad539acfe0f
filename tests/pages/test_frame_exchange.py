"""Lessons that processes tell one another, against all that any of them was taught."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lesson_lists import MemoryLists, exchanging
from site_pages import framed

from dedup_filter.errors import StoreError
from dedup_filter.frames.host_frames import Lesson
from dedup_filter.pages import frame_exchange
from dedup_filter.pages.frame_exchange import MOST_LESSONS, FrameExchange

HOST = "a.example"


def lesson(*shown, is_kept=True):
    return Lesson(is_kept, list(shown))


class Process:
    """An exchange, and how often each block of a host was shown, as far as it knows."""

    def __init__(self, number, lists):
        self.lists = MemoryLists(number, lists)
        self.exchange = FrameExchange(self.lists)
        self.known = Counter()

    def page(self, *shown, is_forgotten=False):
        self.read()
        self.known.update(shown)
        if is_forgotten:
            self.forget()
        self.exchange.tell(HOST, lesson(*shown), is_known=not is_forgotten)

    def drop(self, *shown):
        """Drop a page, which teaches what was not shown before."""
        self.read()
        news = [block for block in shown if not self.known[block]]
        self.known.update(news)
        self.exchange.tell(HOST, lesson(*news, is_kept=False), is_known=True)

    def forget(self):
        """Forget the host, as processes do that know of too many."""
        self.exchange.forget(HOST)
        self.known.clear()

    def read(self):
        news = self.exchange.news(HOST)
        for each in news:
            self.known.update(
                block for block in each.shown if each.is_kept or not self.known[block]
            )
        return [each.shown for each in news]


@pytest.fixture
def lists():
    return {}


@pytest.fixture
def pair(lists):
    return Process(1, lists), Process(2, lists)


def test_what_was_told_of_twice_or_dropped_and_known_is_left_out(pair, lists):
    one, other = pair
    one.page(1, 2)
    other.page(1, 3)
    one.page(1, 4)
    one.page(1)
    other.read()
    other.exchange.tell(HOST, lesson(4, 5, is_kept=False), is_known=True)
    told = [Lesson.from_bytes(entry[16:]) for entry in lists[HOST]]
    kept = [lesson(1, 2), lesson(1, 3), lesson(4)]
    assert told == [*kept, lesson(5, is_kept=False)]


def test_a_full_list_is_asked_no_more(pair, lists):
    one, other = pair
    for page in range(MOST_LESSONS - 1):
        one.page(page)
    other.exchange.tell(HOST, lesson(1_000), is_known=True)
    one.exchange.tell(HOST, lesson(1_001), is_known=True)
    assert one.read() == [[1_000]]
    assert len(other.read()) == MOST_LESSONS - 1
    assert len(lists[HOST]) == MOST_LESSONS
    for process in pair:
        process.lists.is_away = True
        process.page(1_002)


def test_lists_that_are_lost_are_told_anew(pair, lists):
    one, other = pair
    for _ in range(MOST_LESSONS):
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
    ids=["empty", "short", "no lesson", "newer format", "cut off"],
)
def test_an_entry_that_cannot_be_read_is_left_out(pair, lists, entry):
    one, other = pair
    lists[HOST] = [entry]
    one.page(1)
    assert other.read() == [[1]]


def test_a_lesson_is_bounded(pair, lists):
    one, other = pair
    one.page(*range(5_000))
    assert other.read() == [[*range(500), *range(4_500, 5_000)]]
    assert len(lists[HOST][0]) < 8_100


def test_lists_used_least_are_read_anew_when_too_many_blocks_are_remembered(lists, monkeypatch):
    monkeypatch.setattr(frame_exchange, "_MOST_TOLD", 10)
    one, other = (FrameExchange(MemoryLists(number, lists)) for number in (1, 2))
    hosts = [f"{number}.example" for number in range(9)]
    for host in hosts:
        one.tell(host, lesson(1, 2, 3, 4), is_known=True)
    assert one.nbytes <= 9 * 400 + 10 * 100
    for host in hosts:
        assert one.news(host) == []
        assert other.news(host) == [lesson(1, 2, 3, 4)]
        other.tell(host, lesson(1, 5), is_known=True)
    assert [one.news(host) for host in hosts] == [[lesson(1, 5)]] * 9
    assert other.nbytes <= 9 * 400 + 10 * 100


PAGES = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sets(st.integers(0, 7), min_size=1, max_size=5).map(sorted),
        st.booleans(),
    ),
    max_size=MOST_LESSONS - 2,
)
MOMENTS = st.sets(st.integers(0, 40))


@pytest.fixture(params=[1, 500_000])
def most_told(request, monkeypatch):
    """Blocks that are remembered of lists: of one list, or of all."""
    monkeypatch.setattr(frame_exchange, "_MOST_TOLD", request.param)


@pytest.mark.usefixtures("most_told")
@given(history=PAGES, rereadings=MOMENTS, evictions=MOMENTS, losses=MOMENTS)
def test_all_know_what_any_was_taught(history, rereadings, evictions, losses):
    """Of pages by process, and what they show: whatever is forgotten, or told without an answer."""
    lists, taught = {}, Counter()
    processes = [Process(number, lists) for number in range(3)]
    for at, (number, shown, is_kept) in enumerate(history):
        if at in rereadings:
            processes[at % 3].exchange.read_anew()
        if at in evictions:
            processes[at % 3].forget()
        processes[number].lists.loses_answers = at in losses
        if is_kept:
            processes[number].page(*shown, is_forgotten=at in evictions)
            taught.update(shown)
        else:
            processes[number].drop(*shown)
            taught.update(block for block in shown if not taught[block])
        processes[number].lists.loses_answers = False
    for process in [*processes, Process(9, lists)]:
        process.read()
        assert process.read() == process.exchange.news("b.example") == []
        for block, times in taught.items():
            # More than twice is never asked for, nor is anything made up.
            assert min(times, 2) <= process.known[block] <= times


class TestFilters:
    """Of several processes, each with an index of its own: only frames are shared."""

    @pytest.fixture
    def crawlers(self, lists):
        opened = [exchanging(MemoryLists(number, lists)) for number in range(2)]
        yield opened
        for pages in opened:
            pages.check()
            pages.close()

    def test_a_change_that_fails_teaches_nobody(self, crawlers, article, lists, monkeypatch):
        one, _ = crawlers

        def fail(*_, **__):
            raise StoreError("the disk is full")

        monkeypatch.setattr(one._framed, "_judge_again", fail)  # when it has learnt
        with pytest.raises(StoreError):
            one.see(f"http://{HOST}/1", html=framed(article(1)))
        assert lists == {}

    def test_early_pages_are_judged_again_by_what_others_tell(self, crawlers, article):
        notice = article(99, words=400)
        one, other = crawlers
        one.see(f"http://{HOST}/0", html=f"<p>{article(0)}</p><p>{notice}</p>")
        for number in (1, 2):
            text = f"<p>{article(number)}</p><p>{notice}</p>"
            other.see(f"http://{HOST}/{number}", html=text)
        # A page that is dropped tells of no early page itself.
        one.see(f"http://{HOST}/print", html=f"<p>{article(0)}</p><p>{notice}</p>")
        mirrored = one.see("http://b.example/0", html=f"<p>{article(0)}</p>")
        assert mirrored.original == f"http://{HOST}/0"
