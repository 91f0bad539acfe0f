"""Claims that are settled twice, late, in any order, or by another filter."""

import pytest

from dedup_filter.filter import NearDuplicateFilter

SITE = "http://a.example"


@pytest.fixture
def claim(pages, article):
    """Claim a page of a number."""
    return lambda name, number, **edits: pages.claim(
        f"{SITE}/{name}", text=article(number, **edits)
    )


def outcomes(pages, article, *numbers):
    return [
        pages.judge(f"http://b.example/{number}", text=article(number)).outcome
        for number in numbers
    ]


@pytest.mark.parametrize("end", ["commit", "release"])
def test_a_repeat_that_was_settled_first_follows_its_original(place, article, end):
    with place.open() as pages:
        first = pages.claim(f"{SITE}/1", text=article(1))
        repeats = [pages.claim(f"{SITE}/{name}", text=article(1)) for name in ("a", "b", "c")]
        assert {each.original_page for each in repeats} == {first.page}
        pages.commit(repeats[0])
        pages.release(repeats[1])
        getattr(pages, end)(first)
        for each in repeats:
            pages.commit(each)
            pages.release(each)
        assert len(pages) == (end == "commit")
        pages.check()
    if place.location != "memory:":
        with place.recorded() as recorded:
            found = [each.url.rpartition("/")[2] for each in recorded.records()]
        assert found == (["1", "a", "c"] if end == "commit" else [])


def test_copies_of_a_page_that_was_released_are_judged_anew(pages, claim):
    first, copy = claim("1", 1), claim("2", 1)
    pages.release(first)
    assert pages.conductor.fate(first.page) == "gone"
    again = claim("2", 1)
    assert (copy.original_page, again.outcome) == (first.page, "new")
    late = claim("3", 1)
    pages.commit(copy)
    pages.commit(again)
    assert (late.original_page, pages.conductor.fate(late.original_page)) == (again.page, "kept")


def test_a_verdict_of_another_filter_settles_no_page_here(place, pages, claim, article):
    """Both filters give the same number to the same page, so the verdicts are equal."""
    mine = claim("1", 1)
    with NearDuplicateFilter.open() as others:
        foreign = others.claim(f"{SITE}/1", text=article(1))
        if place.location == "memory:":
            assert foreign == mine
        for settle in (pages.release, pages.commit):
            settle(foreign)
            assert (pages.conductor.fate(mine.page), others.conductor.fate(foreign.page)) == (
                "pending",
                "pending",
            )
        others.release(foreign)
    pages.commit(mine)
    assert outcomes(pages, article, 1) == ["exact"]


@pytest.mark.parametrize("url", ["a", "b", "1"])
def test_a_repeat_that_is_forgotten_before_its_original_is_settled_is_not_recorded(
    directory, article, url
):
    """One that was committed already, one that is pending, or all with their original."""
    with directory.open() as pages:
        first = pages.claim(f"{SITE}/1", text=article(1))
        repeats = {name: pages.claim(f"{SITE}/{name}", text=article(1)) for name in "ab"}
        pages.commit(repeats["a"])
        assert pages.forget(f"{SITE}/{url}") == 1
        pages.commit(first)
        pages.commit(repeats["b"])
    with directory.recorded() as recorded:
        found = {each.url.rpartition("/")[2] for each in recorded.records()}
    assert found == (set() if url == "1" else {"1", "a", "b"} - {url})


class TestARevisit:
    """Of a page that an earlier crawl kept."""

    @pytest.fixture
    def pages(self, kept_place, article):
        with kept_place.open() as first:
            first.see(f"{SITE}/1", text=article(1))
        with kept_place.open() as opened:
            yield opened

    @pytest.mark.parametrize("end", ["commit", "release"])
    @pytest.mark.parametrize("is_copy_first", [True, False])
    def test_decides_the_fate_of_its_copies(
        self, kept_place, pages, claim, article, end, is_copy_first
    ):
        visit, copy = claim("1", 1, edits=3), claim("copy", 1, edits=3)
        assert (visit.outcome, copy.original_page) == ("revisit", visit.page)
        for each in (copy, visit) if is_copy_first else (visit, copy):
            getattr(pages, end)(each)
        assert pages.conductor.fate(visit.page) == ("kept" if end == "commit" else "gone")
        edits = 3 if end == "commit" else 0
        again = pages.judge("http://b.example/", text=article(1, edits=edits))
        assert (again.outcome, again.original) == ("exact", f"{SITE}/1")
        assert len(pages) == 1
        pages.flush()
        with kept_place.recorded() as recorded:
            repeats = [(each.url, recorded.url_of_original(each)) for each in recorded.records()]
        copies = [(f"{SITE}/copy", f"{SITE}/1")] if end == "commit" else []
        assert repeats == [(f"{SITE}/1", None), *copies]

    def test_is_not_lost_when_its_page_is_forgotten_meanwhile(self, pages, claim, article):
        visit = claim("1", 1)
        assert pages.forget(f"{SITE}/1") >= 1
        pages.commit(visit)
        again = pages.judge("http://b.example/", text=article(1))
        assert (again.outcome == "exact") == (pages.conductor.fate(visit.page) == "kept")
        pages.check()
