"""A page beyond k bits is found by rare phrases that it shares with another page."""

import pytest

from dedup_filter.store.key_table import MOST_OF_KEY

WHOLE, PART = "http://a.example/whole", "http://b.example/part"


@pytest.fixture
def page(article):
    """Make pages of paragraphs, each of which has a number."""

    def make(numbers, headline="One story"):
        text = "".join(f"<p>{article(number, words=60)}</p>" for number in numbers)
        return f"<title>{headline}</title><h1>{headline}</h1>{text}"

    return make


@pytest.fixture
def whole(page):
    return page(range(8))


@pytest.fixture
def part(page):
    return page(range(2, 5))


def is_found(verdict, original=WHOLE):
    """Whether it is a duplicate of that page, found by phrases; else it must be new."""
    if verdict.outcome == "new":
        assert (verdict.original, verdict.reason) == (None, None)
        return False
    assert (verdict.outcome, verdict.reason, verdict.original) == (
        "near",
        "shared_phrases",
        original,
    )
    assert verdict.distance > 12
    assert verdict.similarity > 0.9
    return True


def test_is_found_at_any_distance(pages, page, whole, part):
    pages.see("http://c.example/other", html=page(range(100, 108)))
    pages.see(WHOLE, html=whole)
    verdict = pages.see(PART, html=part)
    assert is_found(verdict)
    assert verdict.candidates == 1
    # And by the rule that holds for all candidates: of this page too much is missing.
    more = pages.see("http://b.example/more", html=page([2, 3, 4, 20]))
    assert not is_found(more)
    assert not is_found(pages.see("http://b.example/2", html=page([2, 3, 4], "Another one")))


def test_what_is_like_a_page_includes_it(pages, whole, part, page):
    pages.see(WHOLE, html=whole)
    [own] = pages.find("http://a.example/part", html=part)
    assert (own.url, own.source) == (WHOLE, "shared_phrases")
    pages.see("http://a.example/2", html=page([50, 51, 52, 2]))
    [near] = pages.find(PART, html=part)
    assert (near.url, near.source) == (WHOLE, "shared_phrases")
    assert near.distance == pages.see(PART, html=part).distance > 12
    assert near.similarity > 0.9


def test_on_the_host_of_the_page_the_rules_of_one_host_decide(place, page, whole, part):
    with place.open(learn_frames=False) as pages:
        pages.see(WHOLE, html=whole)
        assert is_found(pages.see("http://a.example/part", html=part))
        price = "Price: 17 pounds, and a penny."
        line = pages.see("http://a.example/2", html=f"{part}<p>{price}")
        assert not is_found(line)
        assert (line.refused.rule, line.refused.text) == ("lines", price)
        other = pages.see("http://a.example/3", html=page(range(2, 5), "Another one"))
        assert not is_found(other)
        assert other.refused.rule == "headline"


def test_of_one_host_alone_those_that_share_most_are_compared(place, page, whole, monkeypatch):
    """Pages of other hosts, which do not count, take no room among them."""
    monkeypatch.setattr("dedup_filter.comparison.candidates.MOST_SHARING", 1)
    with place.open(scope="host") as pages:
        pages.see("http://b.example/part", html=page(range(2, 5)))
        pages.see(WHOLE, html=whole)
        verdict = pages.see("http://a.example/part", html=page(range(2, 5)))
        assert is_found(verdict)


@pytest.mark.parametrize(
    "options", [{"shared_phrases": False}, {"scope": "host"}, {"min_similarity": None}], ids=str
)
def test_not_if_it_is_switched_off_or_other_hosts_or_sketches_do_not_count(
    place, whole, part, options
):
    with place.open(**options) as pages:
        pages.see(WHOLE, html=whole)
        assert not is_found(pages.see(PART, html=part))


def test_switched_off_nothing_is_kept_for_it(kept_place, whole, part):
    with kept_place.open(shared_phrases=False) as pages:
        pages.see(WHOLE, html=whole)
        pages.flush()
        with kept_place.recorded() as recorded:
            assert [record.keys for record in recorded.records()] == [b""]
    with kept_place.open() as pages:
        assert not is_found(pages.see(PART, html=part))


def test_pages_that_are_pending_released_or_forgotten(pages, whole, part):
    first = pages.claim(WHOLE, html=whole)
    copy = pages.claim(PART, html=part)
    assert is_found(copy)
    pages.release(first)
    # It is judged anew, and a copy of it found that stands nearer.
    again = pages.claim(PART, html=part)
    assert not is_found(again)
    pages.release(again)
    pages.commit(pages.claim(WHOLE, html=whole))
    assert is_found(pages.see(PART, html=part))
    assert pages.forget(WHOLE) == 1
    assert not is_found(pages.see(PART, html=part))


def test_after_the_index_was_closed_or_its_process_killed(kept_place, page, whole, part):
    with kept_place.open() as pages:
        pages.see(WHOLE, html=whole)
        assert is_found(pages.see(PART, html=part))
    pages = kept_place.open()
    assert is_found(pages.see(PART, html=part))
    pages.see("http://a.example/2", html=page(range(20, 28), "Second"))
    pages.claim("http://a.example/3", html=page(range(30, 38), "Third"))
    pages.flush()
    kept_place.crash(pages)
    with kept_place.open() as pages:
        second = pages.see("http://b.example/2", html=page(range(22, 26), "Second"))
        assert is_found(second, "http://a.example/2")
        third = pages.see("http://b.example/3", html=page(range(32, 36), "Third"))
        assert not is_found(third)
        pages.check()


def test_a_page_that_is_seen_again_is_found_by_what_it_says_now(kept_place, page):
    end = page(range(6, 12))
    with kept_place.open() as pages:
        pages.see(WHOLE, html=page(range(12)))
        before = pages.claim(PART, html=end)
        assert is_found(before)
        pages.release(before)
    with kept_place.open() as pages:
        assert pages.see(WHOLE, html=page(range(11))).outcome == "revisit"
        assert pages.see(WHOLE, html=page(range(9))).outcome == "near"
    with kept_place.open() as pages:
        assert pages.see(WHOLE, html=page(range(10))).outcome == "revisit"
        assert not is_found(pages.see(PART, html=end))
        assert is_found(pages.see("http://c.example/", html=page(range(2, 6))))


def test_what_more_pages_share_than_a_key_may_have_finds_none_of_them(local_place, page):
    pages = local_place.open()

    def part_of(number):
        return pages.see(f"http://b.example/{number}", html=page(range(2, 5), f"Story {number}"))

    for number in range(MOST_OF_KEY + 1):
        verdict = pages.see(f"http://h{number}.example/", html=page(range(8), f"Story {number}"))
        assert verdict.outcome == "new"
        if number == MOST_OF_KEY - 1:
            assert is_found(part_of(3), "http://h3.example/")
    assert part_of(3).candidates == 0
    for number in 7, 8:  # one more, as the page that was kept has them, too
        pages.forget(f"http://h{number}.example/")
    assert is_found(part_of(4), "http://h4.example/")
    pages.close()
