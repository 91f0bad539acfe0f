"""What a host's pages teach, against counts kept in plain dictionaries."""

import random
from collections import Counter, OrderedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.frames import early_pages
from dedup_filter.frames import host_frames as frames
from dedup_filter.frames.early_pages import EarlyPage
from dedup_filter.frames.host_frames import Frames, times_shown
from dedup_filter.text import Page, parse, part_hash, read_page

MENU = [f'<a href="/{n}">section {n}</a>' for n in range(12)]
OTHER_MENU = [f'<a href="/shop/{n}">things of kind {n}</a>' for n in range(30)]


def page_of(*texts: str) -> Page:
    tree = parse("<body>" + "".join(f"<p>{text}</p>" for text in texts))
    assert tree is not None
    return read_page(tree)


def early(number: int, *texts: str) -> EarlyPage:
    return EarlyPage(number, page_of(*texts))


def learn(known: Frames, host: str, page: EarlyPage) -> list[EarlyPage]:
    """Learn from a page that is kept; return earlier ones to be judged again."""
    shown = page.page.shown
    lesson = known.lesson(host, shown.hashes, is_kept=True)
    return known.learn(host, shown, lesson, page if known.is_early(host, shown) else None)


def learn_all(known: Frames, host: str, pages: list[list[str]], first: int = 0) -> list[list[int]]:
    """Learn from pages numbered in their order; give the numbers that are due after each."""
    due = []
    for number, texts in enumerate(pages, first):
        due.append([page.row for page in learn(known, host, early(number, *texts))])
        known.check()
    return due


def drop(known: Frames, host: str, *texts: str) -> None:
    """Learn from a page that is dropped."""
    known.take_lesson(host, known.lesson(host, page_of(*texts).shown.hashes, is_kept=False))


class TestSightings:
    def test_of_a_host_never_seen(self):
        assert times_shown([Frames().of("a")], page_of("one", "two").shown.hashes) == [0, 0]

    def test_count_pages_and_not_repeats_on_one_page(self):
        known = Frames()
        learn_all(known, "a", [["menu", "menu", "first"], ["menu", "second"]])
        hashes = page_of("menu", "first", "menu", "new").shown.hashes
        assert times_shown([known.of("a")], hashes) == [2, 1, 2, 0]
        assert len(known) == 3

    def test_are_the_hosts_own(self):
        known = Frames()
        learn_all(known, "a", [["menu"]])
        assert times_shown([known.of("b")], page_of("menu").shown.hashes) == [0]

    def test_looking_up_teaches_nothing(self):
        known = Frames()
        times_shown([known.of("a")], page_of("menu").shown.hashes)
        assert len(known) == 0

    def test_a_duplicate_teaches_only_what_was_not_shown_before(self):
        known = Frames()
        learn_all(known, "a", [["menu", "text"]])
        for _ in range(3):
            drop(known, "a", "menu", "text", "print view", "print view")
            known.check()
        assert times_shown([known.of("a")], page_of("menu", "text", "print view").shown.hashes) == [
            1,
            1,
            1,
        ]


class TestKnowsFrame:
    def test_of_a_host_of_which_two_pages_were_kept(self):
        known = Frames()
        found = [known.of("a").is_frame_known]
        for number in range(3):
            learn(known, "a", early(number, "menu", f"text {number}"))
            found.append(known.of("a").is_frame_known)
        assert found == [False, False, True, True]
        assert not known.of("b").is_frame_known

    def test_a_duplicate_does_not_count(self):
        known = Frames()
        learn(known, "a", early(0, "menu", "text"))
        for number in range(3):
            drop(known, "a", "menu", f"print view {number}")
        assert not known.of("a").is_frame_known

    def test_nor_does_a_page_that_was_taken_back(self):
        known = Frames()
        lessons = []
        for number in range(2):
            page = early(number, "menu", f"text {number}")
            lessons.append(known.lesson("a", page.page.shown.hashes, is_kept=True))
            known.learn("a", page.page.shown, lessons[-1], page)
        known.unlearn("a", lessons[-1])
        assert not known.of("a").is_frame_known


class TestPagesThatAreDue:
    def test_first_pages_when_the_second_and_the_third_are_kept(self):
        pages = [["menu", f"text {number}"] for number in range(5)]
        assert learn_all(Frames(), "a", pages) == [[], [0], [0, 1], [], []]

    def test_not_second_pages_for_a_part_of_their_own_text(self):
        text = [f"paragraph {number} of the second page" for number in range(8)]
        pages = [["menu", "one"], ["menu", *text], ["menu", "three"], ["menu", *text[:4], "four"]]
        assert learn_all(Frames(), "a", pages)[3] == []

    def test_of_each_host_by_itself(self):
        known = Frames()
        assert learn_all(known, "a", [["menu", "one"]]) == [[]]
        assert learn_all(known, "b", [["menu", "two"], ["menu", "three"]], 5) == [[], [5]]

    def test_duplicates_do_not_make_pages_due(self):
        known = Frames()
        learn_all(known, "a", [["menu", "one"]])
        drop(known, "a", "menu", "one")
        assert [page.row for page in learn(known, "a", early(7, "menu", "two"))] == [0]

    def test_first_page_of_another_template_when_two_more_of_it_are_kept(self):
        articles = [[*MENU, f"article {number}"] for number in range(4)]
        shop = [[*OTHER_MENU, f"thing {number}"] for number in range(4)]
        pages = [*articles[:3], shop[0], articles[3], *shop[1:]]
        assert learn_all(Frames(), "a", pages)[3:] == [[], [], [3], [3], []]

    def test_not_a_long_text_in_a_light_frame(self):
        text = [f"paragraph {number} of a long text" for number in range(20)]
        pages = [*([*MENU, f"article {number}"] for number in range(3)), text, text, text]
        assert learn_all(Frames(), "a", pages)[3:] == [[], [], []]

    def test_waiting_pages_are_bounded_by_host(self, monkeypatch):
        monkeypatch.setattr(early_pages, "_MOST_WAITING_OF_HOST", 3)
        known = Frames()
        menus = [[f'<a href="/">{word} {n}</a>' for n in range(9)] for word in "abcdefgh"]
        learn_all(known, "a", [*menus, menus[0], menus[-1]])
        again = learn(known, "a", early(99, *menus[0]))
        assert [page.row for page in again if page.row == 0] == []
        again = learn(known, "a", early(99, *menus[-1]))
        assert [page.row for page in again if page.row == 7] == [7]
        known.check()

    def test_waiting_pages_are_bounded_in_all(self, monkeypatch):
        monkeypatch.setattr(early_pages, "_MOST_WAITING", 5)
        known = Frames()
        for number in range(9):
            learn(known, f"host {number}", early(number, "menu", "first"))
            known.check()
        assert learn(known, "host 3", early(10, "menu", "second")) == []
        assert [p.row for p in learn(known, "host 8", early(11, "menu", "second"))] == [8]


class TestTitles:
    """Parts of titles are counted as blocks are, and apart from them."""

    @staticmethod
    def titled(title: str, text: str) -> Page:
        tree = parse(f"<title>{title}</title><p>{text}</p>")
        assert tree is not None
        return read_page(tree)

    def test_a_page_shows_the_parts_of_its_title(self):
        known = Frames()
        for number, title in enumerate(["git-add - Manual", "git-diff - Manual"]):
            learn(known, "a", EarlyPage(number, self.titled(title, f"text {number}")))
            known.check()
        parts = [part_hash(part) for part in ("Manual", "git-add", "git-log")]
        assert times_shown([known.of("a")], parts) == [2, 1, 0]

    def test_a_part_of_a_title_is_no_block_of_the_same_text(self):
        known = Frames()
        learn(known, "a", EarlyPage(0, self.titled("Manual", "text")))
        assert times_shown([known.of("a")], page_of("Manual").shown.hashes) == [0]
        learn(known, "a", early(1, "Shop"))
        assert times_shown([known.of("a")], [part_hash("Shop")]) == [0]

    def test_a_duplicate_teaches_the_part_that_was_not_shown_before(self):
        known = Frames()
        learn(known, "a", EarlyPage(0, self.titled("Story - Site", "text")))
        for _ in range(3):
            page = self.titled("Story - Print view - Site", "text")
            known.take_lesson("a", known.lesson("a", page.shown.hashes, is_kept=False))
            known.check()
        parts = [part_hash(part) for part in ("Story", "Site", "Print view")]
        assert times_shown([known.of("a")], parts) == [1, 1, 1]

    def test_what_they_taught_can_be_taken_back(self):
        known = Frames()
        page = self.titled("Story - Site", "text")
        lesson = known.lesson("a", page.shown.hashes, is_kept=True)
        learn(known, "a", EarlyPage(0, page))
        known.unlearn("a", lesson)
        known.check()
        assert times_shown([known.of("a")], page.shown.hashes) == [0, 0, 0]


class TestForgetting:
    def test_the_host_not_seen_for_longest_goes_first(self):
        known = Frames(most_blocks=6)
        for number, host in enumerate("ab"):
            learn_all(known, host, [["one", "two", "three"]], number)
        learn_all(known, "a", [["four"]], 2)
        assert times_shown([known.of("b")], page_of("one").shown.hashes) == [0]
        assert times_shown([known.of("a")], page_of("one", "four").shown.hashes) == [1, 1]
        known.check()

    def test_a_forgotten_host_has_no_waiting_pages(self):
        known = Frames(most_blocks=3)
        learn_all(known, "a", [["one", "two"]])
        learn_all(known, "b", [["one", "two"]], 1)
        assert learn(known, "a", early(5, "one", "two")) == []
        known.check()

    def test_of_one_host_its_oldest_blocks_go_and_what_repeats_stays(self, monkeypatch):
        monkeypatch.setattr(frames, "_MOST_BLOCKS_OF_HOST", 10)
        known = Frames()
        learn_all(known, "a", [["menu", f"text {number}"] for number in range(50)])
        assert len(known) == 10
        assert times_shown([known.of("a")], page_of("menu", "text 0", "text 49").shown.hashes) == [
            50,
            0,
            1,
        ]

    def test_memory_stays_bounded(self):
        known = Frames(most_blocks=500)
        generator = random.Random(1)
        for number in range(300):
            texts = [f"{generator.randrange(10**6)}" for _ in range(20)]
            learn(known, f"host {number % 40}", early(number, *texts))
        known.check()
        assert len(known) <= 500
        assert known.nbytes <= 500 * 100 + 40 * 400 + len(known.early) * 20_000


@pytest.mark.parametrize(
    "damage",
    [
        lambda known: setattr(known, "_blocks", 5),
        lambda known: setattr(known.early, "_nbytes", 5),
        lambda known: known.early._of_host.clear(),
    ],
)
def test_check_finds_damage(damage):
    known = Frames()
    learn_all(known, "a", [["one", "two"]])
    damage(known)
    with pytest.raises(AssertionError):
        known.check()


HOSTS = st.sampled_from("abcd")
TEXTS = st.lists(st.sampled_from(["one", "two", "three", "four", "五", "six"]), max_size=6)


@given(st.lists(st.tuples(HOSTS, TEXTS, st.booleans()), max_size=30), st.integers(1, 12))
def test_like_plain_counts_that_forget_the_oldest_host(visits, most_blocks):
    known = Frames(most_blocks)
    counts: OrderedDict[str, Counter[str]] = OrderedDict()
    for number, (host, texts, is_duplicate) in enumerate(visits):
        shown = counts.setdefault(host, Counter())
        counts.move_to_end(host)
        if is_duplicate:
            drop(known, host, *texts)
            shown.update(set(texts) - set(shown))
        else:
            learn(known, host, early(number, *texts))
            shown.update(set(texts))
        while sum(map(len, counts.values())) > most_blocks and len(counts) > 1:
            counts.popitem(last=False)
        known.check()
        for each in "abcd":
            expected = [counts.get(each, Counter())[text] for text in texts]
            assert times_shown([known.of(each)], page_of(*texts).shown.hashes) == expected
