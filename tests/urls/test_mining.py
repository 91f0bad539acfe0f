"""Rules are found for URLs that do not matter, and none for those that do."""

from collections import defaultdict
from itertools import combinations

import pytest
from dust_sites import DUST, MATTERS, PAGE_OF, SITE, pages
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.urls.mining import Evidence, Page, mine
from dedup_filter.urls.rule import Rules, form_of


@pytest.mark.parametrize("kind", DUST)
def test_each_kind_is_found_among_pages_that_matter(kind):
    found = mine(pages([kind], MATTERS, shuffle=kind))
    assert found.proven
    assert found.saved == found.duplicates == 30 - (kind in PAGE_OF)
    rules = Rules([proven.rule for proven in found.proven])
    for n in range(30):
        url = DUST[kind](0) if kind in PAGE_OF else f"{SITE}/story/{n}"
        assert rules.form_of(DUST[kind](n)) == rules.form_of(url)


def test_all_kinds_at_once():
    found = mine(pages(DUST, MATTERS, shuffle=1))
    assert found.saved == found.duplicates == 30 * len(DUST) - len(PAGE_OF)


@pytest.mark.parametrize("kind", MATTERS)
def test_what_matters_is_never_made_equal(kind):
    made = pages(DUST, MATTERS, many=40, shuffle=kind)
    rules = Rules([proven.rule for proven in mine(made).proven])
    # Pages of the site that were never seen.
    forms = {rules.form_of(MATTERS[kind](n)) for n in range(1_000, 1_100)}
    assert len(forms) == 100
    assert not forms & {rules.form_of(f"{SITE}/story/{n}") for n in range(1_100)}


PARTS = st.tuples(
    st.sampled_from(["https://a.example", "https://b.example", "http://a.example"]),
    st.lists(st.sampled_from(["x", "X", "print", "7", "7.amp", "7;s=1", ""]), max_size=3),
    st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from(["0", "1", "2"])), max_size=3),
)


def url_of(parts):
    origin, segments, parameters = parts
    query = "&".join(f"{name}={value}" for name, value in parameters)
    return f"{origin}/{'/'.join(segments)}{'?' if query else ''}{query}"


SEEN = st.tuples(PARTS.map(url_of), st.integers(0, 3), st.integers(0, 2), st.integers(0, 2))


@given(st.lists(SEEN, max_size=60), st.randoms())
def test_rules_never_make_equal_what_was_judged_different(seen, chance):
    made = [Page(url, same, crawl, crawl + more) for url, same, crawl, more in seen]
    found = mine(made, min_support=1, min_precision=0)
    rules = Rules([proven.rule for proven in found.proven])
    groups = defaultdict(list)
    for page in made:
        groups[rules.form_of(page.url)].append(page)
    for group in groups.values():
        for one, other in combinations(group, 2):
            in_one_crawl = one.first_crawl <= other.crawl and other.first_crawl <= one.crawl
            if form_of(one.url) != form_of(other.url) and in_one_crawl:
                assert one.same == other.same
    assert found.saved == found.urls - len(groups)
    # Of one crawl, the order does not matter.
    made = [page._replace(first_crawl=0, crawl=0) for page in made]
    found = mine(made, min_support=1, min_precision=0)
    chance.shuffle(made)
    again = mine(made, min_support=1, min_precision=0)
    assert [each.rule for each in again.proven] == [each.rule for each in found.proven]


def test_a_page_that_changes_between_crawls_refutes_no_rule():
    """Each crawl sees the stories changed, at their URLs and with sessions of that crawl."""
    made = [
        Page(f"{SITE}/story/{n}{end}", 100 * crawl + n, crawl, crawl)
        for crawl in range(3)
        for n in range(20)
        for end in ("", f"?sid={crawl}x{n}")
    ]
    found = mine(made)
    assert [each.rule.arguments for each in found.proven] == [("sid",)]
    assert found.saved == found.duplicates == 60
    # One that differs in the same crawl does.
    assert not mine([*made, Page(f"{SITE}/story/3?sid=new", 999, 1, 1)]).proven
    assert mine([*made, Page(f"{SITE}/story/3?sid=new", 999, 9, 9)]).proven


def test_either_of_two_parameters_can_go_but_not_both():
    """`id` and `name` say the same: without either of them the page is known, without both not."""
    made = [
        Page(f"{SITE}/item?{query}", n)
        for n in range(30)
        for query in (f"id={n}&name=n{n}", f"id={n}", f"name=n{n}")
    ]
    found = mine(made)
    rules = Rules([proven.rule for proven in found.proven])
    assert len({rules.form_of(page.url) for page in made}) >= 30


def test_a_rule_needs_support_and_nothing_that_refutes_it():
    made = pages(["session"], [], many=10)
    assert mine(made).proven
    assert not mine(made[:-1]).proven
    assert not mine([*made, Page(f"{SITE}/story/3?sid=other", 77)]).proven
    assert not mine(made, min_precision=0.75).proven
    assert mine(made[:-5], min_support=5, min_precision=0.5).proven


def test_one_value_tells_nothing_of_others():
    found = mine([Page(f"{SITE}/story/{n}{end}", n) for n in range(30) for end in ("", "?a=1")])
    assert [proven.rule.kind for proven in found.proven] == ["value"]


@pytest.mark.parametrize(
    "url",
    ["", "x" * 3_000, "https://a.example/" + "?a=1" * 900, "http://[1/", "a/b", "\x00", "?" * 9],
)
def test_urls_that_are_none_are_passed_over(url):
    found = mine([*pages(["session"], []), Page(url, 1), Page(url, 2)])
    assert len(found.proven) == 1


def test_the_bound_is_wilsons():
    # Of 20 of 20, from tables of the interval.
    assert Evidence(20).precision == pytest.approx(0.8389, abs=1e-4)
    assert Evidence().precision == 0
