"""What a host's pages teach, against counts kept in plain dictionaries."""

import gc
import random
import tracemalloc
from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.frames import early_pages
from dedup_filter.frames import host_frames as frames
from dedup_filter.frames.early_pages import EarlyPage
from dedup_filter.frames.host_frames import Frames, Host
from dedup_filter.text.decode import parse
from dedup_filter.text.reading import Page, part_hash, read_page

MENU = [f'<a href="/{n}">section {n}</a>' for n in range(12)]
OTHER_MENU = [f'<a href="/shop/{n}">things of kind {n}</a>' for n in range(30)]


def page_of(*texts: str, title: str = "") -> Page:
    markup = f"<title>{title}</title>" + "".join(f"<p>{text}</p>" for text in texts)
    page = read_page(parse(markup))
    assert page is not None
    return page


def learn(frames: Frames, host: str, number: int, *texts: str, title: str = "") -> list[int]:
    """Learn from a page that is kept; return the numbers of those to be judged again."""
    page = page_of(*texts, title=title)
    known = frames.known(host, page.shown)
    early = EarlyPage(number, ReadPage.of(page, FilterConfig()), known.new, known.tellings, host)
    _, due = frames.learn(
        host, page.shown.hashes, is_kept=True, early=early if early.is_waiting else None
    )
    frames.check()
    return [each.row for each in due]


def learn_all(frames: Frames, host: str, pages: list[list[str]]) -> list[list[int]]:
    """Learn from pages numbered in their order; give the numbers that are due after each."""
    return [learn(frames, host, number, *texts) for number, texts in enumerate(pages)]


def drop(frames: Frames, host: str, *texts: str, title: str = "") -> None:
    """Learn from a page that is dropped."""
    frames.learn(host, page_of(*texts, title=title).shown.hashes, is_kept=False)
    frames.check()


def times(frames: Frames, host: str, *texts: str) -> list[int]:
    shown = page_of(*texts).shown
    return [frames.of(host).sightings.get(block, 0) for block in shown.blocks]


HOSTS = st.sampled_from("abcd")
TEXTS = st.lists(st.sampled_from(["one", "two", "three", "four", "五", "six"]), max_size=6)


def counted(visits):
    """Learn of visits, and count them in plain dictionaries.

    A page counts once what it shows twice; one that is dropped, what was never shown.
    """

    def learn_of(known, number, host, texts, is_duplicate):
        shown = counts[host]
        if is_duplicate:
            drop(known, host, *texts)
            shown.update(set(texts) - set(shown))
        else:
            learn(known, host, number, *texts)
            shown.update(set(texts))

    counts = defaultdict(Counter)
    return counts, learn_of


VISITS = st.lists(st.tuples(HOSTS, TEXTS, st.booleans()), max_size=30)
ROOM = st.sampled_from([1, 1_000, 2_000, 4_000, 10_000])
"""For less than one host, for a few that are packed, and for all of them."""


@given(VISITS, ROOM)
def test_what_is_in_memory_is_like_plain_counts(visits, most_bytes):
    """In a small memory hosts are forgotten, and begin anew; never is anything made up."""
    counts, learn_of = counted(visits)
    known = Frames(most_bytes)
    for number, visit in enumerate(visits):
        learn_of(known, number, *visit)
        for host in "abcd":
            for forgotten in known.forgotten:  # by the look-up before, too
                counts.pop(forgotten)
            known.forgotten.clear()
            assert times(known, host, *counts[host]) == list(counts[host].values())
        known.check()


@given(VISITS, ROOM)
def test_what_is_no_longer_in_memory_is_loaded(visits, most_bytes):
    counts, learn_of = counted(visits)
    stored = {}

    def load(host):
        return stored.get(host) and (Host.from_bytes(host, stored[host]), ())

    known = Frames(most_bytes, load)
    for number, visit in enumerate(visits):
        learn_of(known, number, *visit)
        host = visit[0]
        stored[host] = known.of(host).to_bytes()
        for each in "abcd":
            assert times(known, each, *counts[each]) == list(counts[each].values())
        known.check()


class TestKnowsFrame:
    @staticmethod
    def is_known(frames: Frames, host: str = "a") -> bool:
        return frames.known(host, page_of().shown).host.is_frame_known

    def test_of_a_host_of_which_two_pages_were_kept(self):
        known = Frames(10**6)
        found = [self.is_known(known)]
        for number in range(3):
            learn(known, "a", number, "menu", f"text {number}")
            drop(known, "a", "menu", f"print view {number}")
            found.append(self.is_known(known))
        assert found == [False, False, True, True]
        assert not self.is_known(known, "b")

    def test_not_if_one_of_them_was_taken_back(self):
        known = Frames(10**6)
        learn(known, "a", 1, "menu", "text")
        before = known.of("a").to_bytes()
        lesson, _ = known.learn(
            "a", page_of("more", title="Story - Site").shown.hashes, is_kept=True
        )
        assert self.is_known(known)
        known.unlearn("a", lesson)
        known.check()
        assert not self.is_known(known)
        assert known.of("a").to_bytes() == before
        known.unlearn("never seen", lesson)


ARTICLES = [[*MENU, f"article {number}"] for number in range(5)]
SHOP = [[*OTHER_MENU, f"thing {number}"] for number in range(4)]
TEXT = [f"paragraph {number} of a long text" for number in range(20)]


class TestPagesThatAreDue:
    @pytest.mark.parametrize(
        ("pages", "due"),
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
    def test_are_those_of_which_the_next_two_kept_ones_tell(self, pages, due):
        assert learn_all(Frames(10**6), "a", pages) == due

    def test_of_each_host_by_itself_and_not_by_a_duplicate(self):
        known = Frames(10**6)
        assert learn(known, "a", 1, "menu", "one") == []
        drop(known, "a", "menu", "one")
        assert learn(known, "b", 5, "menu", "two") == []
        assert learn(known, "b", 6, "menu", "three") == [5]
        assert learn(known, "a", 7, "menu", "two") == [1]

    def test_waiting_pages_are_bounded_by_host(self, monkeypatch):
        monkeypatch.setattr(early_pages, "_MOST_WAITING_OF_HOST", 3)
        known = Frames(10**6)
        menus = [[f'<a href="/">{word} {n}</a>' for n in range(9)] for word in "abcdefgh"]
        learn_all(known, "a", [*menus, menus[0], menus[-1]])
        assert 0 not in learn(known, "a", 99, *menus[0])
        assert 7 in learn(known, "a", 99, *menus[-1])

    def test_waiting_pages_are_bounded_in_all(self, monkeypatch):
        monkeypatch.setattr(early_pages, "MOST_WAITING", 5)
        known = Frames(10**6)
        for number in range(9):
            learn(known, f"host {number}", number, "menu", "first")
        assert learn(known, "host 3", 10, "menu", "second") == []
        assert learn(known, "host 8", 11, "menu", "second") == [8]


def test_parts_of_titles_are_counted_apart_from_blocks_of_the_same_text():
    known = Frames(10**6)
    learn(known, "a", 0, "text", title="Story - Site")
    drop(known, "a", "text", title="Story - Print view - Site")
    learn(known, "a", 1, "other", title="Site")
    learn(known, "a", 2, "Shop")
    sightings = known.of("a").sightings
    parts = ["Story", "Site", "Print view", "Shop"]
    assert [sightings.get(part_hash(part), 0) for part in parts] == [1, 2, 1, 0]
    assert times(known, "a", *parts) == [0, 0, 0, 1]


def test_a_forgotten_host_has_no_waiting_pages():
    known = Frames(most_bytes=1)
    learn(known, "a", 0, "one", "two")
    learn(known, "b", 1, "one", "two")
    assert known.forgotten == ["a"]
    assert learn(known, "a", 5, "one", "two") == []


def test_of_one_host_its_oldest_blocks_go_and_what_repeats_stays(monkeypatch):
    monkeypatch.setattr(frames, "_MOST_BLOCKS_OF_HOST", 10)
    known = Frames(10**6)
    learn_all(known, "a", [["menu", f"text {number}"] for number in range(50)])
    assert len(known.of("a").sightings) == 10
    assert times(known, "a", "menu", "text 0", "text 49") == [50, 0, 1]


def test_a_host_is_restored_from_its_bytes():
    known = Frames(10**6)
    learn_all(known, "a", [["menu", "one"], ["menu", "two"]])
    again = Host.from_bytes("a", known.of("a").to_bytes())
    assert again == known.of("a")
    assert list(again.sightings) == list(known.of("a").sightings)
    with pytest.raises(ValueError, match="format"):
        Host.from_bytes("a", b"\xff" * 20)


def test_memory_is_what_is_allocated():
    """Of hosts that are open, and of many more that are packed."""
    chance = random.Random(1)

    def fill(known):
        for number in range(3_000):
            shown = [chance.getrandbits(64) for _ in range(200)]
            known.learn(f"www.host-{number}.example", shown, is_kept=True)
        return known

    gc.collect()
    tracemalloc.start()
    try:
        for most_bytes in (100e6, 10e6, 1e6):
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
