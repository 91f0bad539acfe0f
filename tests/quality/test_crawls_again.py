"""The truth of `benchmarks/visits.py` holds for its pages, and its counts are right."""

import html
from collections import Counter

import pytest
from dynamic_pages import Crawl
from visits import CHANGES, DIV, LINE, SPOTS, fates_of, plan

from dedup_filter import Verdict

CRAWLS = 4
CAME = {CHANGES[3]: "EUR 77.50", CHANGES[4]: DIV.format("EUR 77.50")}


@pytest.fixture(scope="module")
def pages():
    return plan(Crawl(3, {"en": [], "zh": []}), CRAWLS)


def test_one_page_in_twelve_changes_in_each_crawl_after_the_first(pages):
    per_crawl = Counter(page.at for page in pages)
    assert sorted(per_crawl) == [0, *range(2, CRAWLS + 1)]
    assert {per_crawl[at] for at in range(2, CRAWLS + 1)} == {len(pages) // 12}
    assert {page.change for page in pages if page.at} == {*CHANGES}


def test_a_change_comes_in_its_crawl_and_stays(pages):
    for page in pages:
        if page.at:
            came = CAME.get(
                page.change, LINE if page.change == CHANGES[5] else html.escape(page.more)
            )
            shown = [came in page.fetch(crawl) for crawl in range(1, CRAWLS + 1)]
            is_there = [crawl >= page.at for crawl in range(1, CRAWLS + 1)]
            assert shown == ([not each for each in is_there] if came == LINE else is_there)


def test_places_are_those_of_the_markup(pages):
    for page in pages:
        if page.place in SPOTS:
            selector = page.site.markup.selector(page.site.place)
            assert (selector in ("nav", "aside", "footer")) == (page.place == SPOTS[0])


@pytest.mark.parametrize(
    ("outcome", "change", "was_kept", "fates"),
    [
        ("revisit", 0.0, True, ["unchanged", "known again"]),
        ("revisit", 0.1, True, ["unchanged", "known again", "false change"]),
        ("near", 0.0, False, ["unchanged", "known again"]),
        ("near", 0.0, True, ["unchanged", "dropped"]),
        ("new", 0.2, True, ["unchanged"]),
    ],
)
def test_fates_of_a_page(pages, outcome, change, was_kept, fates):
    unchanged = next(page for page in pages if not page.at)
    assert fates_of(unchanged, Verdict(outcome, change=change), 2, was_kept=was_kept) == fates
    changed = next(page for page in pages if page.at == 2)
    is_told = outcome == "new" or change > 0
    assert (
        "told" in fates_of(changed, Verdict(outcome, change=change), 2, was_kept=True)
    ) == is_told
