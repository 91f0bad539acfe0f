"""Pages that wait: how much memory they take, and which of them are packed or given up."""

import gc
import random
import sys
import tracemalloc
from collections import defaultdict

import pytest

from dedup_filter.frames import early_pages
from dedup_filter.frames.early_pages import EarlyPage, EarlyPages
from dedup_filter.text import blocks
from dedup_filter.text.decode import parse
from dedup_filter.text.page_bytes import page_nbytes, unpack_page
from dedup_filter.text.reading import Page, read_page


class Waiting(EarlyPages):
    """Pages that wait, and in which host's dictionary."""

    def __init__(self, **options):
        super().__init__(**options)
        self.hosts = defaultdict(dict)

    def add(self, number, page, host=0, *, has_page=True):
        early = EarlyPage(number, page, frozenset(block.hash for block in page.blocks))
        early.content = page if has_page else None
        self.wait(self.hosts[host], early)
        self.check(self.hosts.values())
        return early

    def left(self):
        return sorted(self.tellings())


def page_of(number: int, count: int = 100) -> Page:
    """A page of so many paragraphs, each in a container of its own, that no other page has."""
    generator = random.Random(number)
    texts = (" ".join(f"{generator.getrandbits(32):x}" for _ in range(12)) for _ in range(count))
    page = read_page(parse("".join(f"<div><a href=/>more</a><p>{text}</div>" for text in texts)))
    assert page is not None
    return page


class TestMemory:
    @pytest.mark.parametrize(
        ("count", "size"),
        [(60, 1), (20, 100), (3, 400), pytest.param(2, 20_000, marks=pytest.mark.slow)],
    )
    @pytest.mark.parametrize("are_stored", [False, True])
    def test_is_what_is_allocated(self, monkeypatch, count, size, are_stored):
        monkeypatch.setattr(blocks, "_known", blocks._measure)  # no text is remembered beyond it

        def fill(count: int) -> EarlyPages:
            waiting = Waiting(are_stored=are_stored)
            for number in range(count):
                waiting.add(number, page_of(number, size), host=number)
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

    def test_of_images_and_a_title_counts(self):
        plain = page_of(1)
        shown = Page(plain.blocks, "title" * 2_000, None, [(1 << 63, 0, 1)] * 500)
        assert page_nbytes(shown) - page_nbytes(plain) > 10_000 + 500 * 64
        assert 0 < page_nbytes(Page(())) < 500


def test_work_to_remove_pages_does_not_depend_on_how_many_hosts_have_others():
    page, work = page_of(1, 1), []
    for hosts in (4, 400):
        waiting, lines = Waiting(), []
        for number in [0, 2, *range(10, 10 + hosts)]:
            waiting.add(number, page, host=number)

        def trace(*event, lines=lines):
            lines.append(event)
            return trace

        others = sys.gettrace()  # that of a measure of coverage, say
        sys.settrace(trace)
        try:
            waiting.let_go([2, 0, 7])
        finally:
            sys.settrace(others)
        work.append(len(lines))
        assert len(waiting) == hosts
    assert work[0] == work[1]


def test_a_page_takes_the_place_of_another_with_its_number():
    waiting = Waiting()
    waiting.add(7, page_of(1, 1), "a")
    waiting.add(8, page_of(1, 1), "b")
    new = waiting.add(7, page_of(2, 1), "b")
    assert (list(waiting.hosts["a"]), list(waiting.hosts["b"].values())[1:]) == ([], [new])


class TestBound:
    def test_beyond_it_the_largest_are_packed(self, monkeypatch):
        pages = [page_of(number, 100 + number % 3 * 100) for number in range(6)]
        monkeypatch.setattr(early_pages, "_MOST_BYTES", 3 * page_nbytes(pages[2]))
        waiting = Waiting()
        added = [waiting.add(number, page, number % 2) for number, page in enumerate(pages)]
        packed = [n for n, each in enumerate(added) if each.content is not pages[n]]
        assert packed == [2, 5]
        assert waiting.given_up == []
        again = unpack_page(added[2].content)
        assert [block.text for block in again.blocks] == [block.text for block in pages[2].blocks]
        assert added[2].nbytes < 0.5 * page_nbytes(pages[2])

    @pytest.mark.parametrize("are_stored", [False, True])
    def test_beyond_it_packed_the_earliest_are_given_up(self, monkeypatch, are_stored):
        monkeypatch.setattr(early_pages, "_MOST_BYTES", 30_000)
        waiting = Waiting(are_stored=are_stored)
        for number in range(40):
            waiting.add(number, page_of(number), number % 7)
        assert 0 < len(waiting) < 15
        assert waiting.given_up + waiting.left() == list(range(40))

    def test_a_page_that_is_larger_is_not_kept_if_a_store_has_it_or_given_up_itself(
        self, monkeypatch
    ):
        monkeypatch.setattr(early_pages, "_MOST_BYTES", 30_000)
        page = Waiting(are_stored=True).add(1, page_of(1))
        assert page.content is None
        assert 0 < page.nbytes < 30_000
        monkeypatch.setattr(early_pages, "_MOST_BYTES", 1_500)
        waiting = Waiting()
        waiting.add(1, page_of(1))
        assert (len(waiting), waiting.given_up) == (0, [1])
