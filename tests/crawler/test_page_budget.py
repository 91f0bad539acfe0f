"""The budget against a model: a crawl of a random web in which some links are no pages."""

import pickle
from dataclasses import dataclass, field

from hypothesis import example, given
from hypothesis import strategies as st

from crawler.page_budget import PageBudget


@dataclass
class Job:
    """What Scrapy keeps of a crawl in JOBDIR."""

    state: dict = field(default_factory=dict)
    under_way: list[int] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)


def crawl(
    links: dict[int, list[int]],
    dead: set[int],
    max_pages: int | None,
    job: Job | None = None,
    stop_after: int | None = None,
) -> tuple[int, int]:
    """Crawl from 0 as the spider does; return pages yielded and live addresses asked for."""
    job = job or Job()
    job.state = pickle.loads(pickle.dumps(job.state))
    budget = PageBudget(max_pages)
    budget.keep_in(job.state)
    asked, pages, answered = 0, 0, 0
    under_way = job.under_way
    under_way += [0] if budget.admit("http://a/0") else []
    while under_way or answered == 0:
        if answered == stop_after:
            break
        answered += 1
        number = under_way.pop(0) if under_way else None
        if number is not None and number not in job.seen:
            job.seen.add(number)
            if number not in dead:
                asked += 1
                pages += 1
                budget.count_page()
                under_way += [to for to in links[number] if budget.admit(f"http://a/{to}")]
        if not under_way:
            under_way += [int(url.rsplit("/", 1)[1]) for url in budget.release()]
    return pages, asked


def reachable(links: dict[int, list[int]], dead: set[int]) -> int:
    found, queue = set(), [0]
    while queue:
        number = queue.pop()
        if number not in found and number not in dead:
            found.add(number)
            queue += links[number]
    return len(found)


webs = st.integers(1, 12).flatmap(
    lambda size: st.fixed_dictionaries(
        {number: st.lists(st.integers(0, size - 1), max_size=6) for number in range(size)}
    )
)


@given(webs, st.sets(st.integers(0, 11)), st.integers(1, 14))
def test_as_many_pages_as_wanted_or_all_there_are(links, dead, max_pages) -> None:
    pages, asked = crawl(links, dead, max_pages)
    assert pages == min(max_pages, reachable(links, dead))
    assert asked == pages


@given(
    webs,
    st.sets(st.integers(0, 11)),
    st.integers(1, 5),
    st.lists(st.none() | st.integers(0, 9), max_size=6),
)
@example({0: [1], 1: [2, 3], 2: [], 3: []}, set(), 2, [1, None])  # one is still under way
def test_each_run_of_a_job_goes_on_where_the_last_one_ended(links, dead, max_pages, stops) -> None:
    job, left = Job(), reachable(links, dead)
    for stop in stops:
        pages, _ = crawl(links, dead, max_pages, job, stop)
        assert pages == min(max_pages, left) if stop is None else pages <= min(max_pages, left)
        left -= pages
    assert crawl(links, dead, None, job)[0] == left


@given(webs, st.sets(st.integers(0, 11)))
def test_without_a_bound_all_pages_are_yielded(links, dead) -> None:
    assert crawl(links, dead, None)[0] == reachable(links, dead)


def test_an_address_waits_once_whatever_its_fragment() -> None:
    budget = PageBudget(1)
    assert budget.admit("http://a/")
    assert not budget.admit("http://a/b")
    assert not budget.admit("http://a/b#c")
    assert budget.release() == ["http://a/b"]
    assert budget.release() == []
