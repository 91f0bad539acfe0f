"""Blocks that are counted for hosts, against counts kept in plain dictionaries.

The cache of hosts in front of a store, with pages that are pending, waiting pages, and little
memory.
"""

import random
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_pages import SCHEME, batch, page

from dedup_filter.config import FilterConfig
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.frames import host_frames
from dedup_filter.frames.host_frames import FrameUpdate, Host
from dedup_filter.host_cache import HostCache
from dedup_filter.judge import MOST_WAITING_OF_HOST
from dedup_filter.store.protocol import Batch, Waiting
from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.text.decode import parse
from dedup_filter.text.headlines import part_hash
from dedup_filter.text.reading import Page, read_page

MENU = [f'<a href="/{n}">section {n}</a>' for n in range(12)]
OTHER_MENU = [f'<a href="/shop/{n}">things of kind {n}</a>' for n in range(30)]
SHOWN_NOTHING = Page(()).shown
MOST_BLOCK = 5
NO_ROOM, ROOM = 1e-6, 100


class Hosts:
    """A cache of hosts before a store in a folder or in memory, and plain counts."""

    def __init__(self, folder=None, megabytes=ROOM):
        self.folder, self.megabytes = folder, megabytes
        self.counts, self.pending = defaultdict(Counter), {}
        self.open()

    def open(self):
        self.batch = Batch()
        self.store = (
            SqliteStore.in_memory(SCHEME)
            if self.folder is None
            else SqliteStore.open(self.folder, SCHEME)
        )
        self.cache = HostCache(self.store, self.batch, self.megabytes)

    def update(self, name, shown, *, is_kept=True):
        return {name: self.cache.host(name).update_of(shown, is_kept=is_kept)}

    def claim(self, number, name, shown):
        self.pending[number] = name, set(shown)
        self.cache.expect(number, self.update(name, shown))

    def commit(self, number):
        name, shown = self.pending.pop(number)
        self.count(number, name, self.update(name, shown))
        self.counts[name].update(shown)

    def release(self, number):
        del self.pending[number]
        self.cache.settle(number)

    def drop(self, name, shown):
        """Count a page that is dropped: only blocks that were never shown."""
        self.count(0, name, self.update(name, shown, is_kept=False))
        self.counts[name].update({*shown} - self.counts[name].keys())

    def count(self, number, name, updates):
        self.cache.settle(number, updates)
        self.cache.add(name, updates[name])

    def flush(self):
        self.store.write(self.batch)
        self.batch.clear()

    def reopen(self, *, is_killed):
        """Close the store, or leave it as after a kill."""
        if not is_killed:
            self.flush()
        self.store.close()
        self.pending.clear()
        self.open()

    def require_counts(self):
        for name in "abc":
            counted = self.cache.context(name, SHOWN_NOTHING)
            assert blocks_of(counted.host) == self.counts[name]
            pages = [shown for of, shown in self.pending.values() if of == name]
            wanted = self.counts[name] + Counter(block for each in pages for block in each)
            assert blocks_of(self.cache.expected(counted).host) == wanted
        self.cache.check()


def blocks_of(host):
    """The counts of blocks; marks of frame are counted beside them: see `test_frame_marks`."""
    return Counter({block: n for block, n in host.sightings.items() if block <= MOST_BLOCK})


STEPS = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.lists(st.integers(0, MOST_BLOCK), max_size=4),
        st.sampled_from("claim claim claim commit commit release drop shrink flush".split()),
        st.integers(0, 9),
    ),
    max_size=50,
)


@given(STEPS, st.sampled_from([NO_ROOM, 0.004, ROOM]))
def test_expected_hosts_are_what_is_counted_and_what_is_pending(steps, megabytes):
    """In a small memory hosts are forgotten, and begin anew; nothing is made up."""
    hosts = Hosts(megabytes=megabytes)
    for number, (name, shown, action, at) in enumerate(steps, 1):
        some = [*hosts.pending][at : at + 1]
        if action == "claim":
            hosts.claim(number, name, shown)
        elif action == "drop":
            hosts.drop(name, shown)
        elif action == "flush":
            hosts.flush()
        elif action == "shrink":
            for forgotten in hosts.cache.shrink():
                hosts.counts.pop(forgotten, None)
        elif some:
            getattr(hosts, action)(*some)
        hosts.require_counts()
    for number in [*hosts.pending]:
        hosts.commit(number)
    hosts.require_counts()
    for name in "abc":
        counted = hosts.cache.context(name, SHOWN_NOTHING)
        assert hosts.cache.expected(counted) is counted
    hosts.store.close()


@pytest.mark.parametrize("seed", range(8))
def test_hosts_of_a_directory_are_there_again(tmp_path, seed):
    """Whatever memory there is; after a kill, as of the last write."""
    chance = random.Random(seed)
    hosts = Hosts(tmp_path / "index", chance.choice([NO_ROOM, ROOM]))
    written = defaultdict(Counter)
    for number in range(1, 60):
        name, shown = chance.choice("abc"), [chance.randrange(6) for _ in range(3)]
        action = chance.choice("page page page drop shrink flush close kill".split())
        if action == "page":
            hosts.claim(number, name, shown)
            hosts.commit(number)
        elif action == "drop":
            hosts.drop(name, shown)
        elif action == "shrink":
            assert hosts.cache.shrink() == []
        elif action == "flush":
            hosts.flush()
        else:
            hosts.reopen(is_killed=action == "kill")
            if action == "kill":
                hosts.counts = written
        if action in ("flush", "close", "kill"):
            written = defaultdict(Counter, {each: Counter(n) for each, n in hosts.counts.items()})
        hosts.require_counts()
    hosts.store.close()


def waits(number, host="a"):
    return Waiting(number, host, 0, np.array([number], np.uint64), b"form")


def test_waiting_pages_are_those_of_the_store_and_of_the_batch():
    hosts = Hosts()
    cache = hosts.cache

    def there(host="a"):
        return [(each.page, each.times) for each in cache.waiting(host)]

    hosts.batch.pages.update(batch(*map(page, range(1, 6))).pages)
    cache.wait({number: waits(number) for number in (3, 1, 2)} | {5: waits(5, "b")})
    assert (there(), there("b")) == ([(1, 0), (2, 0), (3, 0)], [(5, 0)])
    hosts.flush()
    cache.wait({2: None, 3: Waiting(3, "a", 1, waits(3).new, b"form"), 4: waits(4)})
    assert there() == [(1, 0), (3, 1), (4, 0)]
    cache.discard(4)
    assert there() == [(1, 0), (3, 1)]
    hosts.flush()
    assert there() == [(1, 0), (3, 1)]
    cache.forget("a")
    assert (there(), there("b")) == ([], [(5, 0)])
    hosts.store.close()


def page_of(*texts, title=""):
    markup = f"<title>{title}</title>" + "".join(f"<p>{text}</p>" for text in texts)
    return read_page(parse(markup))


ARTICLES = [[*MENU, f"article {number}"] for number in range(5)]
SHOP = [[*OTHER_MENU, f"thing {number}"] for number in range(4)]
TEXT = [f"paragraph {number} of a long text" for number in range(20)]


class TestWaitingPages:
    """Of filters: each text is a block, and pages are numbered in their order from 1."""

    @pytest.fixture(params=["memory", "directory"])
    def pages(self, request, tmp_path, monkeypatch):
        monkeypatch.setattr("dedup_filter.judge.FULL_BATCH", 2)
        location = "memory:" if request.param == "memory" else tmp_path / "index"
        with NearDuplicateFilter.open(location, min_similarity=1) as opened:
            yield opened
            opened.check()

    @pytest.fixture
    def keep(self, pages, monkeypatch):
        """Keep a page; return the numbers of the pages that are judged again for it."""
        judge, again = pages.conductor, []
        judged_again = judge._judged_again

        def noted(*arguments):
            found = judged_again(*arguments)
            again.extend(each.page for each, *_ in found)
            return found

        monkeypatch.setattr(judge, "_judged_again", noted)
        counter = iter(range(1, 1_000))

        def kept(*texts, host="a"):
            again.clear()
            markup = "".join(f"<p>{text}</p>" for text in texts)
            verdict = pages.see(f"http://{host}.example/{next(counter)}", html=markup)
            assert not verdict.is_duplicate
            return [*again]

        return kept

    @pytest.mark.parametrize(
        ("shown", "again"),
        [
            (ARTICLES, [[], [1], [1, 2], [], []]),
            (
                [*ARTICLES[:3], SHOP[0], ARTICLES[3], *SHOP[1:]],
                [[], [1], [1, 2], [], [], [4], [4], []],
            ),
            ([*ARTICLES[:3], TEXT], [[], [1], [1, 2], []]),
        ],
        ids=["first pages", "of another template", "no long text"],
    )
    def test_are_judged_again_after_the_next_two_pages_of_their_template(self, keep, shown, again):
        assert [keep(*texts) for texts in shown] == again

    def test_of_each_host_by_itself(self, keep):
        assert keep("menu", "one") == []
        assert keep("menu", "two", host="b") == []
        assert keep("menu", "three", host="b") == [2]
        assert keep("menu", "four") == [1]

    def test_are_bounded_for_each_host(self, keep, pages):
        letters = "abcdefghijklmnopqrs"[: MOST_WAITING_OF_HOST + 3]
        menus = [[f'<a href="/">{each * 5} {n}</a>' for n in range(40)] for each in letters]
        for menu, letter in zip([menus[0], menus[0], *menus], f"yz{letters}", strict=True):
            keep(*menu, f"{letter * 6} {letter * 7}")
        waiting = [each.page for each in pages.conductor._hosts.waiting("a.example")]
        assert waiting == [*range(waiting[-1] - MOST_WAITING_OF_HOST + 1, waiting[-1] + 1)]
        assert keep(*menus[1], "one of its own") == []
        assert keep(*menus[-1], "another of its own") == [waiting[-1]]

    def test_of_a_forgotten_host_wait_no_longer(self):
        """The last host, and one that was used since memory was bounded last, are not forgotten."""
        with NearDuplicateFilter.open(frame_memory=NO_ROOM) as pages:
            for number in range(3):
                pages.see(f"http://{number}.example/", html=f"<p>{number} and one</p><p>two</p>")
            assert [len(pages.conductor._hosts.waiting(f"{n}.example")) for n in range(3)] == [
                0,
                1,
                1,
            ]
            pages.check()


def count(host, *texts, title="", is_kept=True):
    page = page_of(*texts, title=title)
    host.add_page(host.update_of(page.shown.hashes, is_kept=is_kept))


def times(host, *texts):
    return [host.sightings.get(block, 0) for block in page_of(*texts).shown.blocks]


def test_parts_of_titles_are_counted_apart_from_blocks_of_the_same_text():
    host = Host("a")
    count(host, "text", title="Story - Site")
    count(host, "text", title="Story - Print view - Site", is_kept=False)
    count(host, "other", title="Site")
    count(host, "Shop")
    parts = ["Story", "Site", "Print view", "Shop"]
    assert [host.sightings.get(part_hash(part), 0) for part in parts] == [1, 2, 1, 0]
    assert times(host, *parts) == [0, 0, 0, 1]


def test_a_frame_is_known_of_a_host_of_which_two_pages_were_kept():
    host, found = Host("a"), []
    for number in range(3):
        found.append(host.is_frame_known)
        count(host, "menu", f"text {number}")
        count(host, "menu", f"print view {number}", is_kept=False)
    assert found == [False, False, True]


def test_a_copy_in_which_a_page_is_counted_leaves_the_host_as_it_was():
    host = Host("a")
    count(host, "menu", "text")
    before = host.to_bytes()
    copy = host.with_pages(FrameUpdate(True, [1, 2]))
    assert (copy.is_frame_known, copy.sightings[2]) == (True, 1)
    assert host.to_bytes() == before


def test_of_one_host_the_oldest_blocks_go_and_what_repeats_stays(monkeypatch):
    monkeypatch.setattr(host_frames, "_MOST_BLOCKS_OF_HOST", 10)
    host = Host("a")
    for number in range(50):
        count(host, "menu", f"text {number}")
    assert len(host.sightings) == 10
    assert times(host, "menu", "text 0", "text 49") == [50, 0, 1]


def test_a_host_is_read_as_it_was_packed():
    host = Host("a")
    for text in ("one", "two"):
        count(host, "menu", text)
    again = Host.from_bytes("a", host.to_bytes())
    assert again == host
    assert [*again.sightings] == [*host.sightings]
    with pytest.raises(ValueError, match="format"):
        Host.from_bytes("a", b"\xff" * 20)


def test_a_waiting_page_is_read_from_its_packed_form(tmp_path):
    content = ReadPage.of(page_of("one", "two", title="Title"), FilterConfig())
    wait = Waiting(1, "a", 0, np.array(content.shown.blocks, np.uint64), content)
    again = Waiting(1, "a", 0, wait.new, wait.form).read(FilterConfig())
    assert again.shown == content.shown
    assert again.pack() == wait.form
    assert Waiting(1, "a", 0, wait.new, b"\xff" * 9).read(FilterConfig()) is None
