"""Pages of `benchmarks/same_text.py` with other values are kept, and their copies found."""

from itertools import islice

import pytest
from gate import rounds, slow
from lxml import html
from same_text import FACTS, KINDS, PAGES, cases, readdressed

from dedup_filter import NearDuplicateFilter

MADE = {"en": [], "zh": []}
CANONICAL = {"is_neutral": False, "names_canonical": True}
NEUTRAL = {"is_neutral": True, "names_canonical": False}
EVERY = rounds(30, 6)
"""One case of so many is judged."""


def is_known_gap(case):
    """Whether values are links below a story's headline, as teasers are (decision 0013)."""
    return case.kind in FACTS["en"] and case.markup == "link" and case.is_story


def some(kind, *, of_copies=False, gaps=False):
    """Return cases of a kind; with `gaps` only those in which pages are lost, else no such case."""
    chosen = (case for case in cases(5, MADE, [kind]) if case.is_of_copies is of_copies)
    if gaps:
        return [case for case in chosen if is_known_gap(case)]
    return [case for case in islice(chosen, 0, None, EVERY) if not is_known_gap(case)]


def counted(case):
    """Return the pages of a case that count, as they are made."""
    return [fetch for fetch in case.fetches() if fetch.groups]


def judged(case, **how):
    """Judge the pages of a case; return those that count, with their verdicts."""
    with NearDuplicateFilter.open() as pages:
        for fetch in case.fetches():
            shown = readdressed(fetch, **how)
            verdict = pages.see(shown.url, html=shown.content)
            if shown.groups:
                yield shown, verdict


def lost(some_cases, **how):
    """Name the pages that are dropped."""
    seen = [(fetch, verdict) for case in some_cases for fetch, verdict in judged(case, **how)]
    assert seen
    return [f"{fetch.url} {fetch.groups}" for fetch, verdict in seen if verdict.is_duplicate]


def visible(fetch):
    return " ".join(html.fromstring(fetch.content).find("body").text_content().split())


@pytest.mark.parametrize("kind", KINDS)
def test_the_truth_holds(kind):
    for case in some(kind):
        shown = [visible(fetch) for fetch in counted(case)]
        assert len({*shown}) == len(shown) == PAGES - 1
    for case in some(kind, of_copies=True):
        seen = counted(case)
        assert len({fetch.url for fetch in seen}) == PAGES - 1
        assert len({fetch.says for fetch in seen}) == 1
        assert case.site.part or len({*map(visible, seen)}) == 1


@pytest.mark.parametrize("how", [slow(CANONICAL), NEUTRAL], ids=["canonical", "neutral"])
@pytest.mark.parametrize("kind", KINDS)
def test_pages_with_other_values_are_kept(kind, how):
    assert lost(some(kind), **how) == []


def test_values_that_are_links_below_a_storys_headline_are_kept():
    gaps = [case for kind in FACTS["en"] for case in some(kind, gaps=True)]
    assert lost(gaps[::6], **NEUTRAL) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_found_under_other_addresses(kind):
    (case,) = (case for case in cases(5, MADE, [kind]) if case.is_of_copies and not case.site.part)
    found = [verdict.original for _, verdict in judged(case, **NEUTRAL)]
    assert len(found) == PAGES - 1
    assert None not in found
