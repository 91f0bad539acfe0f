"""The budget against a model: a crawl of a random web in which some links are no pages."""

from hypothesis import given
from hypothesis import strategies as st

from crawler.page_budget import PageBudget


def crawl(links: dict[int, list[int]], dead: set[int], max_pages: int | None) -> tuple[int, int]:
    """Crawl from 0 as the spider does; return pages yielded and live addresses asked for."""
    budget = PageBudget(max_pages)
    seen, asked, pages = set(), 0, 0
    under_way = [0] if budget.admit("http://a/0") else []
    while under_way:
        number = under_way.pop(0)
        if number not in seen:
            seen.add(number)
            if number not in dead:
                asked += 1
                pages += 1
                budget.count_page()
                under_way += [to for to in links[number] if budget.admit(f"http://a/{to}")]
        if not under_way:
            under_way = [int(url.rsplit("/", 1)[1]) for url in budget.release()]
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
