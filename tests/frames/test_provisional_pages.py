"""Pages that wait: how much memory they take, and which of them are packed or given up."""

import gc
import random
import sys
import tracemalloc

import numpy as np
import pytest

from dedup_filter.config import FilterConfig
from dedup_filter.features import analysis
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.frames import provisional_pages
from dedup_filter.frames.provisional_pages import ProvisionalPage, ProvisionalPages
from dedup_filter.text import blocks
from dedup_filter.text.decode import parse
from dedup_filter.text.page_bytes import page_nbytes, unpack_page
from dedup_filter.text.reading import Page, read_page


class Waiting(ProvisionalPages):
    """Pages that wait."""

    def put(self, number, page, host="a", *, has_page=True):
        new = np.array(page.shown.blocks, np.uint64)
        waits = ProvisionalPage(number, page if has_page else None, new, host=str(host))
        self.add(waits)
        self.check()
        return waits

    def left(self, *hosts):
        return [page.row for host in hosts for page in self.of(str(host))]


def page_of(number: int, count: int = 100) -> ReadPage:
    """A page of so many paragraphs, each in a container of its own, that no other page has."""
    generator = random.Random(number)
    texts = (" ".join(f"{generator.getrandbits(32):x}" for _ in range(12)) for _ in range(count))
    page = read_page(parse("".join(f"<div><a href=/>more</a><p>{text}</div>" for text in texts)))
    return ReadPage.of(page, FilterConfig())


class TestMemory:
    @pytest.mark.parametrize(
        ("count", "size"),
        [(60, 1), (8, 100), (2, 400), pytest.param(2, 20_000, marks=pytest.mark.slow)],
    )
    @pytest.mark.parametrize("are_stored", [False, True])
    def test_is_what_is_allocated(self, monkeypatch, count, size, are_stored):
        # No text and no word is remembered beyond it.
        monkeypatch.setattr(blocks, "_known", blocks._measure)
        monkeypatch.setattr(analysis, "_vocabulary", analysis.Vocabulary)

        def fill(count: int) -> ProvisionalPages:
            waiting = Waiting(are_stored=are_stored)
            for number in range(count):
                waiting.put(number, page_of(number, size), host=number)
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
        plain = page_of(1).content
        shown = Page(plain.blocks, "title" * 2_000, None, [(1 << 63, 0, 1)] * 500)
        assert page_nbytes(shown) - page_nbytes(plain) > 10_000 + 500 * 64
        assert 0 < page_nbytes(Page(())) < 500


def test_work_to_remove_pages_does_not_depend_on_how_many_hosts_have_others():
    page, work = page_of(1, 1), []
    for hosts in (4, 400):
        waiting, lines = Waiting(), []
        for number in [0, 2, *range(10, 10 + hosts)]:
            waiting.put(number, page, host=number)

        def trace(*event, lines=lines):
            lines.append(event)
            return trace

        others = sys.gettrace()  # that of a measure of coverage, say
        sys.settrace(trace)
        try:
            waiting.discard([2, 0, 7])
        finally:
            sys.settrace(others)
        work.append(len(lines))
        assert len(waiting) == hosts
    assert work[0] == work[1]


def test_a_page_takes_the_place_of_another_with_its_number():
    waiting = Waiting()
    waiting.put(7, page_of(1, 1), "a")
    waiting.put(8, page_of(1, 1), "b")
    new = waiting.put(7, page_of(2, 1), "b")
    assert (waiting.left("a"), list(waiting.of("b"))[1:]) == ([], [new])


class TestBound:
    @pytest.mark.parametrize("are_stored", [False, True])
    def test_beyond_it_the_earliest_are_packed(self, are_stored):
        pages = [page_of(number) for number in range(6)]
        waiting = Waiting(are_stored=are_stored)
        added = [waiting.put(number, page, number % 2) for number, page in enumerate(pages)]
        waiting.shrink(4 * added[0].nbytes)
        waiting.check()
        packed = [n for n, each in enumerate(added) if each.content is not pages[n]]
        assert packed == [0, 1, 2]
        if are_stored:
            assert added[0].content is None
        else:
            again = unpack_page(added[0].content)
            assert [each.text for each in again.blocks] == [
                each.text for each in pages[0].content.blocks
            ]
        assert added[0].nbytes < 0.5 * added[5].nbytes
        waiting.shrink(0)
        waiting.check()
        assert len(waiting) == (6 if are_stored else 0)

    def test_of_too_many_the_earliest_is_discarded(self, monkeypatch):
        monkeypatch.setattr(provisional_pages, "MOST_WAITING", 5)
        waiting = Waiting()
        for number in range(9):
            waiting.put(number, page_of(1, 1), number % 4)
        assert sorted(waiting.left(*range(4))) == [4, 5, 6, 7, 8]

    def test_a_store_bounds_how_many_there_are(self, monkeypatch):
        monkeypatch.setattr(provisional_pages, "MOST_WAITING", 5)
        waiting = Waiting(are_stored=True)
        for number in range(9):
            waiting.put(number, page_of(1, 1), number % 4)
        assert len(waiting) == 9
