"""Pages that wait: how much memory they take, and which of them are packed or given up."""

import gc
import random
import sys
import tracemalloc

import pytest

from dedup_filter.frames import early_pages
from dedup_filter.frames.early_pages import EarlyPage, EarlyPages
from dedup_filter.text import Page, blocks, parse, read_page
from dedup_filter.text.page_bytes import page_nbytes, unpack_page


def markup(number: int, count: int, words: int = 12) -> str:
    """A page of so many paragraphs, each in a container of its own, that no other page has."""
    generator = random.Random(number)
    texts = (" ".join(f"{generator.getrandbits(32):x}" for _ in range(words)) for _ in range(count))
    return "".join(f"<div><a href=/>more</a><p>{text}</div>" for text in texts)


def page_of(number: int, count: int = 100) -> Page:
    page = read_page(parse(markup(number, count)))
    assert page is not None
    return page


def early(number: int, page: Page) -> EarlyPage:
    return EarlyPage(number, page, frozenset(block.hash for block in page.blocks))


def put_away(waiting: EarlyPages) -> list[bool]:
    """Tell which of the pages that wait are no objects any more, in their order."""
    all_ = [each for of_host in waiting._of_host.values() for each in of_host]
    return [each.page is None for each in sorted(all_, key=lambda each: each.row)]


def calls_of_let_go(waiting: EarlyPages, numbers: list[int]) -> int:
    """Count the calls of Python functions that it takes to remove some pages."""
    calls = []
    sys.setprofile(lambda frame, event, _: event == "call" and calls.append(frame.f_code))
    try:
        waiting.let_go(numbers)
    finally:
        sys.setprofile(None)
    waiting.check()
    return len(calls)


@pytest.fixture
def unshared(monkeypatch):
    """No text of a page is remembered beyond it."""
    monkeypatch.setattr(blocks, "_known", blocks._measure)


class TestMemory:
    @pytest.mark.parametrize(
        ("count", "size"),
        [
            pytest.param(60, 1, id="tiny"),
            pytest.param(30, 30, id="small"),
            pytest.param(20, 100, id="usual"),
            pytest.param(5, 1_000, id="large"),
            pytest.param(2, 20_000, id="huge", marks=pytest.mark.slow),
        ],
    )
    @pytest.mark.parametrize("are_stored", [False, True])
    def test_is_what_is_allocated(self, unshared, count, size, are_stored):
        def fill(count: int) -> EarlyPages:
            waiting = EarlyPages(are_stored=are_stored)
            for number in range(count):
                waiting.wait(f"host {number}", early(number, page_of(number, size)))
            return waiting

        fill(2)
        gc.collect()
        tracemalloc.start()
        try:
            waiting = fill(count)
            gc.collect()
            allocated = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        assert len(waiting) == count
        assert 0.75 < waiting.nbytes / allocated < 1.3
        waiting.check()

    def test_of_images_and_a_title_counts(self):
        plain = page_of(1)
        shown = Page(plain.blocks, "title" * 2_000, None, [(1 << 63, 0, 1)] * 500)
        assert page_nbytes(shown) - page_nbytes(plain) > 10_000 + 500 * 64

    def test_of_a_page_without_blocks_is_little(self):
        assert 0 < page_nbytes(Page(())) < 500

    def test_is_given_back_with_the_pages(self):
        waiting = EarlyPages()
        for number in range(6):
            waiting.wait("ab"[number % 2], early(number, page_of(number, 5)))
        waiting.let_go([0, 3])
        waiting.check()
        waiting.forget("a")
        waiting.check()
        assert 0 < waiting.nbytes < 20_000
        for _ in range(2):
            waiting.due("b", None)
        waiting.check()
        assert waiting.nbytes == 0


@pytest.mark.parametrize(("numbers", "left"), [([], 0), ([7], 0), ([0], 1), ([2, 0, 7], 2)])
def test_work_to_remove_pages_does_not_depend_on_how_many_hosts_have_others(numbers, left):
    page, work = page_of(1, 1), []
    for hosts in (4, 400):
        waiting = EarlyPages()
        for number in [0, 2, *range(10, 10 + hosts)]:
            waiting.wait(f"host {number}", early(number, page))
        work.append(calls_of_let_go(waiting, numbers))
        assert len(waiting) == 2 + hosts - left
    assert work[0] == work[1]


def test_a_page_takes_the_place_of_another_with_its_number():
    waiting, new = EarlyPages(), early(7, page_of(2, 1))
    for host, page in (("a", early(7, page_of(1, 1))), ("b", early(8, page_of(1, 1))), ("b", new)):
        waiting.wait(host, page)
        waiting.check()
    assert (list(waiting.of("a")), list(waiting.of("b"))[1:]) == ([], [new])


class TestBound:
    def test_beyond_it_the_largest_are_packed(self, monkeypatch):
        pages = [early(number, page_of(number, 100 + number % 3 * 100)) for number in range(6)]
        large = pages[2].page
        monkeypatch.setattr(early_pages, "_MOST_BYTES", 3 * page_nbytes(large))
        waiting = EarlyPages()
        for number, page in enumerate(pages):
            waiting.wait(f"host {number % 2}", page)
            waiting.check()
        assert put_away(waiting) == [False, False, True, False, False, True]
        assert waiting.take_given_up() == []
        again = unpack_page(pages[2].packed)
        assert [block.text for block in again.blocks] == [block.text for block in large.blocks]
        assert pages[2].nbytes < 0.5 * page_nbytes(large)

    def test_what_a_store_has_is_not_kept_packed(self, monkeypatch):
        monkeypatch.setattr(early_pages, "_MOST_BYTES", 30_000)
        waiting = EarlyPages(are_stored=True)
        page = early(1, page_of(1))
        waiting.wait("a", page)
        assert (page.page, page.packed) == (None, None)
        assert 0 < page.nbytes < 30_000

    @pytest.mark.parametrize("are_stored", [False, True])
    def test_beyond_it_packed_the_earliest_are_given_up(self, monkeypatch, are_stored):
        monkeypatch.setattr(early_pages, "_MOST_BYTES", 30_000)
        waiting = EarlyPages(are_stored=are_stored)
        for number in range(40):
            waiting.wait(f"host {number % 7}", early(number, page_of(number)))
            waiting.check()
        left = sorted(waiting.waiting())
        assert 0 < len(left) < 15
        assert waiting.take_given_up() + left == list(range(40))
        assert waiting.take_given_up() == []

    def test_a_page_that_is_larger_is_given_up_itself(self, monkeypatch):
        monkeypatch.setattr(early_pages, "_MOST_BYTES", 1_500)
        waiting = EarlyPages()
        waiting.wait("a", early(1, page_of(1)))
        waiting.check()
        assert (len(waiting), waiting.take_given_up()) == (0, [1])

    def test_of_stored_pages_the_same_are_given_up_whatever_is_in_memory(self, monkeypatch):
        """As after a restart, when none is."""
        monkeypatch.setattr(early_pages, "_MOST_BYTES", 40_000)
        found = []
        for has_page in (True, False):
            waiting = EarlyPages(are_stored=True)
            for number in range(60):
                page = early(number, page_of(number, 1 + number % 50 * 3))
                if not has_page:
                    page.page = None
                waiting.wait(f"host {number % 9}", page)
            found.append((sorted(waiting.waiting()), waiting.take_given_up()))
        assert found[0] == found[1]
        assert found[0][1]
