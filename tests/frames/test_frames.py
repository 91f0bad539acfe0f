"""What is counted of a host's pages, against counts kept in plain dictionaries."""

import gc
import random
import tracemalloc
from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.frames import host_frames as frames
from dedup_filter.frames import provisional_pages
from dedup_filter.frames.host_frames import Frames, FrameUpdate, Host
from dedup_filter.frames.provisional_pages import ProvisionalPage
from dedup_filter.text.decode import parse
from dedup_filter.text.headlines import part_hash
from dedup_filter.text.reading import Page, read_page
from dedup_filter.thresholds import FRAME_TIMES

MENU = [f'<a href="/{n}">section {n}</a>' for n in range(12)]
OTHER_MENU = [f'<a href="/shop/{n}">things of kind {n}</a>' for n in range(30)]


def page_of(*texts: str, title: str = "") -> Page:
    markup = f"<title>{title}</title>" + "".join(f"<p>{text}</p>" for text in texts)
    page = read_page(parse(markup))
    assert page is not None
    return page


def keep(frames: Frames, host: str, number: int, *texts: str, title: str = "") -> list[int]:
    """Count a page that is kept; return the numbers of those to be judged again."""
    page = page_of(*texts, title=title)
    context = frames.context(host, page.shown)
    known, update = context.updates(is_kept=True)[0]
    counted = ProvisionalPage(
        number,
        ReadPage.of(page, FilterConfig()),
        context.new,
        context.pages_of_template,
        host,
    )
    ready = frames.ready(known, update)
    frames.provisional.count(ready)
    frames.add_page(known, update)
    if counted.pages_of_template < FRAME_TIMES:
        frames.provisional.add(counted)
    frames.shrink()
    frames.check()
    return [each.row for each in ready]


def keep_all(frames: Frames, host: str, pages: list[list[str]]) -> list[list[int]]:
    """Count pages numbered in their order; give the numbers to be judged again after each."""
    return [keep(frames, host, number, *texts) for number, texts in enumerate(pages)]


def drop(frames: Frames, host: str, *texts: str, title: str = "") -> None:
    """Count a page that is dropped."""
    context = frames.context(host, page_of(*texts, title=title).shown)
    frames.add_page(*context.updates(is_kept=False)[0])
    frames.shrink()
    frames.check()


def times(frames: Frames, host: str, *texts: str) -> list[int]:
    shown, known = page_of(*texts).shown, frames.of(host)
    frames.shrink()
    return [known.sightings.get(block, 0) for block in shown.blocks]


HOSTS = st.sampled_from("abcd")
TEXTS = st.lists(st.sampled_from(["one", "two", "three", "four", "五", "six"]), max_size=6)


def counted():
    """Return plain dictionaries, and a function that counts a visit there and in frames.

    A page counts once what it shows twice; one that is dropped, what was never shown.
    """

    def count(known, number, host, texts, is_duplicate):
        shown = counts[host]
        if is_duplicate:
            drop(known, host, *texts)
            shown.update(set(texts) - set(shown))
        else:
            keep(known, host, number, *texts)
            shown.update(set(texts))

    counts = defaultdict(Counter)
    return counts, count


VISITS = st.lists(st.tuples(HOSTS, TEXTS, st.booleans()), max_size=30)
ROOM = st.sampled_from([1, 1_000, 2_000, 4_000, 10_000])
"""For less than one host, for a few that are packed, and for all of them."""


@given(VISITS, ROOM)
def test_what_is_in_memory_is_like_plain_counts(visits, most_bytes):
    """In a small memory hosts are forgotten, and begin anew; never is anything made up."""
    counts, count = counted()
    known = Frames(most_bytes)

    def forget():
        for forgotten in known.forgotten:
            counts.pop(forgotten)
        known.forgotten.clear()

    for number, visit in enumerate(visits):
        count(known, number, *visit)
        forget()
        for host in "abcd":
            assert times(known, host, *counts[host]) == list(counts[host].values())
            forget()  # a look-up takes room, too
        known.check()


@given(VISITS, ROOM, st.integers(1, 9))
def test_what_is_no_longer_in_memory_is_loaded(visits, most_bytes, every):
    """Hosts that were changed are written after every so many pages."""
    counts, count = counted()
    stored, changed = {}, {}

    def load(host):
        record = changed[host].packed() if host in changed else stored.get(host)
        return record and (Host.from_bytes(host, record), ())

    known = Frames(most_bytes, load, changed)
    for number, visit in enumerate(visits):
        count(known, number, *visit)
        if number % every == 0:
            stored.update({host: each.packed() for host, each in changed.items()})
            changed.clear()
        for each in "abcd":
            assert times(known, each, *counts[each]) == list(counts[each].values())
        known.check()
    assert all(Host.from_bytes(name, changed[name].packed()) == known.of(name) for name in changed)


def test_a_host_without_pages_is_forgotten_with_what_was_not_written():
    changed = {}
    known = Frames(10**6, lambda _: None, changed)
    keep(known, "a", 1, "menu", "one")
    keep(known, "b", 2, "menu", "two")
    known.discard("a")
    known.check()
    assert times(known, "a", "menu") == [0]
    assert (changed.keys(), len(known.provisional)) == ({"b"}, 1)


class TestKnowsFrame:
    @staticmethod
    def is_known(frames: Frames, host: str = "a") -> bool:
        return frames.context(host, page_of().shown).host.is_frame_known

    def test_of_a_host_of_which_two_pages_were_kept(self):
        known = Frames(10**6)
        found = [self.is_known(known)]
        for number in range(3):
            keep(known, "a", number, "menu", f"text {number}")
            drop(known, "a", "menu", f"print view {number}")
            found.append(self.is_known(known))
        assert found == [False, False, True, True]
        assert not self.is_known(known, "b")

    def test_of_a_copy_in_which_a_page_is_counted_and_not_of_the_host(self):
        known = Frames(10**6)
        keep(known, "a", 1, "menu", "text")
        before = known.of("a").to_bytes()
        copy = known.of("a").with_pages(FrameUpdate(True, [1, 2]))
        assert (copy.is_frame_known, copy.sightings[2]) == (True, 1)
        assert known.of("a").to_bytes() == before


ARTICLES = [[*MENU, f"article {number}"] for number in range(5)]
SHOP = [[*OTHER_MENU, f"thing {number}"] for number in range(4)]
TEXT = [f"paragraph {number} of a long text" for number in range(20)]


class TestPagesThatAreReady:
    @pytest.mark.parametrize(
        ("pages", "ready"),
        [
            (ARTICLES, [[], [0], [0, 1], [], []]),
            (
                [*ARTICLES[:3], SHOP[0], ARTICLES[3], *SHOP[1:]],
                [[], [0], [0, 1], [], [], [3], [3], []],
            ),
            ([*ARTICLES[:3], TEXT, TEXT, TEXT], [[], [0], [0, 1], [], [], []]),
            (
                [["m", "one"], ["m", *TEXT], ["m", "three"], ["m", *TEXT[:9], "four"]],
                [[], [0], [0, 1], []],
            ),
        ],
        ids=["first ones", "of another template", "no long text", "not for a part of their text"],
    )
    def test_are_those_whose_template_the_next_two_kept_ones_have(self, pages, ready):
        assert keep_all(Frames(10**6), "a", pages) == ready

    def test_of_each_host_by_itself_and_not_by_a_duplicate(self):
        known = Frames(10**6)
        assert keep(known, "a", 1, "menu", "one") == []
        drop(known, "a", "menu", "one")
        assert keep(known, "b", 5, "menu", "two") == []
        assert keep(known, "b", 6, "menu", "three") == [5]
        assert keep(known, "a", 7, "menu", "two") == [1]

    def test_waiting_pages_are_bounded_by_host(self, monkeypatch):
        monkeypatch.setattr(provisional_pages, "_MOST_WAITING_OF_HOST", 3)
        known = Frames(10**6)
        menus = [[f'<a href="/">{word} {n}</a>' for n in range(9)] for word in "abcdefgh"]
        keep_all(known, "a", [*menus, menus[0], menus[-1]])
        assert 0 not in keep(known, "a", 99, *menus[0])
        assert 7 in keep(known, "a", 99, *menus[-1])

    def test_waiting_pages_are_bounded_in_all(self, monkeypatch):
        monkeypatch.setattr(provisional_pages, "MOST_WAITING", 5)
        known = Frames(10**6)
        for number in range(9):
            keep(known, f"host {number}", number, "menu", "first")
        assert keep(known, "host 3", 10, "menu", "second") == []
        assert keep(known, "host 8", 11, "menu", "second") == [8]


def test_parts_of_titles_are_counted_apart_from_blocks_of_the_same_text():
    known = Frames(10**6)
    keep(known, "a", 0, "text", title="Story - Site")
    drop(known, "a", "text", title="Story - Print view - Site")
    keep(known, "a", 1, "other", title="Site")
    keep(known, "a", 2, "Shop")
    sightings = known.of("a").sightings
    parts = ["Story", "Site", "Print view", "Shop"]
    assert [sightings.get(part_hash(part), 0) for part in parts] == [1, 2, 1, 0]
    assert times(known, "a", *parts) == [0, 0, 0, 1]


def test_a_forgotten_host_has_no_waiting_pages():
    known = Frames(most_bytes=1)
    keep(known, "a", 0, "one", "two")
    keep(known, "b", 1, "one", "two")
    assert known.forgotten == ["a"]
    assert keep(known, "a", 5, "one", "two") == []


def test_of_one_host_its_oldest_blocks_go_and_what_repeats_stays(monkeypatch):
    monkeypatch.setattr(frames, "_MOST_BLOCKS_OF_HOST", 10)
    known = Frames(10**6)
    keep_all(known, "a", [["menu", f"text {number}"] for number in range(50)])
    assert len(known.of("a").sightings) == 10
    assert times(known, "a", "menu", "text 0", "text 49") == [50, 0, 1]


def test_a_host_is_restored_from_its_bytes():
    known = Frames(10**6)
    keep_all(known, "a", [["menu", "one"], ["menu", "two"]])
    again = Host.from_bytes("a", known.of("a").to_bytes())
    assert again == known.of("a")
    assert list(again.sightings) == list(known.of("a").sightings)
    with pytest.raises(ValueError, match="format"):
        Host.from_bytes("a", b"\xff" * 20)


def test_memory_is_what_is_allocated():
    """Of hosts that are open, and of many more that are packed."""
    chance = random.Random(1)

    def fill(known):
        for number in range(600):
            shown = [chance.getrandbits(64) for _ in range(200)]
            known.add_page(known.of(f"www.host-{number}.example"), FrameUpdate(True, shown))
            known.shrink()
        return known

    gc.collect()
    tracemalloc.start()
    try:
        for most_bytes in (20e6, 2e6, 0.2e6):
            before = tracemalloc.get_traced_memory()[0]
            known = fill(Frames(most_bytes))
            allocated = tracemalloc.get_traced_memory()[0] - before
            assert 0.7 < known.nbytes / allocated < 1.5
            assert known.nbytes <= most_bytes
            known.check()
            del known
            gc.collect()
    finally:
        tracemalloc.stop()
