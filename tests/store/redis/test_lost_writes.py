"""Writes that a server took and lost: what a replica that is promoted has not seen.

The keys of a server are put back to what they were at some moment, which is what crawlers see of
a fail-over; numbers of pages are given again then. What they made of it must harm nobody: a page
that is forgotten can be kept again, and none is dropped for one that was never kept.
"""

import pytest
from shared_crawlers import Past, claim, end_rest, like, lose_answer, see

from dedup_filter.errors import StoreAway, StoreError

FIRST, SECOND, THIRD = like(1), like(2), like(3)
FIRST_AGAIN, SECOND_AGAIN, THIRD_AGAIN = like(1, 1), like(2, 1), like(3, 1)


def lose_claim(server, pages, page):
    """Claim a page on a server that loses it."""
    past = Past(server.client())
    lost = claim(pages, page)
    past.come_back()
    return lost


def test_a_page_that_is_lost_can_be_kept_again(redis_server, crawlers, warnings):
    one, other = crawlers
    past = Past(redis_server.client())
    assert see(one, FIRST).outcome == "new"
    assert see(other, FIRST_AGAIN).outcome == "near"
    past.come_back()
    assert see(other, FIRST_AGAIN).outcome == "new"
    assert see(one, like(1, 3)).outcome == "near"
    assert ["lost" in said for said in warnings()] == [True] * 2, "each crawler says it once"


def test_a_lost_claim_is_committed_and_spares_the_page_that_has_its_number_by_now(servers, crawler):
    one, other = crawler(servers), crawler(servers)
    see(one, like(10))
    lost = lose_claim(servers, one, FIRST)
    assert see(other, SECOND).page == lost.page
    one.commit(lost)
    assert one.conductor.fate(lost.page) == "kept", "it is the number of the other one"
    assert see(one, SECOND_AGAIN).outcome == "near"
    assert see(other, FIRST_AGAIN).outcome == "near"
    assert len(one) == 3


@pytest.mark.parametrize("way", ["claim", "see"])
def test_a_page_that_is_taken_back_does_not_take_another_with_it(redis_server, crawlers, way):
    one, other = crawlers
    past = Past(redis_server.client())

    def fail(page):
        past.come_back()
        assert see(other, SECOND).page == page
        see(other, THIRD)
        one.conductor._pages._log.sync()
        raise StoreError("no more calls")

    counting = one.conductor._counting
    one.conductor._counting = lambda *args: fail(args[-1].verdict.page)
    with pytest.raises(StoreError):
        getattr(one, way)(FIRST.url, html=f"<p>{FIRST.text}</p>")
    one.conductor._counting = counting
    assert see(one, SECOND_AGAIN).outcome == "near"


def test_nor_does_one_that_was_kept_and_never_told_of(redis_server, crawlers):
    one, other = crawlers
    past = Past(redis_server.client())
    lose_answer(one, "commit")
    with pytest.raises(StoreAway):
        see(one, FIRST)
    past.come_back()
    see(other, SECOND)  # with the number that it had
    end_rest(one)
    see(one, THIRD)
    assert see(one, SECOND_AGAIN).outcome == "near"


def test_a_crawler_never_has_two_claims_of_one_number(redis_server, crawlers):
    one, other = crawlers
    lost = lose_claim(redis_server, one, FIRST)
    again = claim(one, SECOND)
    assert again.page != lost.page
    one.commit(lost)
    one.release(again)
    assert see(other, FIRST_AGAIN).outcome == "near"
    assert see(other, SECOND_AGAIN).outcome == "new"


@pytest.mark.parametrize("is_lost_first", [True, False])
def test_a_page_that_is_released_is_never_another_with_its_number(servers, crawler, is_lost_first):
    one, other = crawler(servers), crawler(servers)
    past = Past(servers.client())
    claimed = claim(one, FIRST)
    waiting = claim(one, FIRST_AGAIN)
    assert waiting.original_page == claimed.page
    if not is_lost_first:
        one.release(claimed)
    past.come_back()
    assert see(other, SECOND).page == claimed.page
    if is_lost_first:
        one.release(claimed)
    assert one.conductor.fate(claimed.page) == "gone"
    assert see(one, FIRST_AGAIN).outcome == "new"


def test_who_waits_for_a_page_is_not_told_of_another_with_its_number(
    redis_server, crawler, crawlers
):
    one, other = crawlers
    past = Past(redis_server.client())
    first = claim(one, FIRST)
    waiting = claim(other, FIRST_AGAIN)
    assert waiting.original_page == first.page
    past.come_back()
    third = crawler(redis_server)
    second = claim(third, SECOND)
    assert second.page == first.page
    assert other.conductor.fate(first.page) == "gone"
    one.release(first)
    other.release(claim(other, FIRST_AGAIN))
    again = see(other, SECOND_AGAIN)
    assert (again.outcome, other.conductor.fate(again.page)) == ("new", "kept"), (
        "its original can be asked of"
    )
    third.commit(second)
    assert see(other, like(2, 2)).original_page == again.page


def test_a_number_that_somebody_waited_for_is_not_taken(redis_server, crawlers):
    one, other = crawlers
    past = Past(redis_server.client())
    first = claim(one, FIRST)
    claim(other, FIRST_AGAIN)
    past.come_back()
    assert other.conductor.fate(first.page) == "gone"
    second = claim(other, SECOND)
    other.commit(second)
    assert other.conductor.fate(second.page) == "kept"
    one.release(first)


def test_a_page_that_was_visited_again_does_not_take_another_with_it(redis_server, crawler):
    before = crawler(redis_server)
    see(before, FIRST)
    past = Past(redis_server.client())
    see(before, SECOND)
    before.close()
    one = crawler(redis_server)
    again = claim(one, SECOND_AGAIN._replace(url=SECOND.url))
    assert again.outcome == "revisit"
    past.come_back()
    other = crawler(redis_server)
    see(other, THIRD)  # with the number that the first visit had
    one.commit(again)
    assert see(one, THIRD_AGAIN).outcome == "near"
    assert see(other, like(2, 3)).outcome == "near"


def test_crawls_go_on_and_are_counted_on_when_everything_is_deleted(
    redis_server, crawler, warnings
):
    for _ in range(3):
        crawler(redis_server).close()
    one, other = crawler(redis_server), crawler(redis_server)
    see(one, like(12))
    redis_server.client().flushall()
    assert see(one, FIRST).outcome == "new"
    assert see(other, FIRST_AGAIN).outcome == "near"
    assert see(other, like(12)).outcome == "new"
    joined = crawler(redis_server)
    assert see(joined, FIRST).outcome == "exact"
    assert {pages.conductor._pages._process.crawl for pages in (one, other, joined)} == {4}
    assert len(warnings()) == 2
    for pages in (one, other, joined):
        pages.close()
    later = crawler(redis_server)
    assert later.conductor._pages._process.crawl == 5
    assert see(later, FIRST).outcome == "revisit"


def test_signs_of_life_make_no_index_of_their_own(redis_server, crawler):
    one = crawler(redis_server)
    redis_server.client().flushall()
    with pytest.raises(StoreError, match="deleted"):
        one.conductor._pages._process.bring()
    assert redis_server.client().dbsize() == 0
    assert see(one, FIRST).outcome == "new"
    assert see(crawler(redis_server), FIRST_AGAIN).outcome == "near"


def test_another_index_under_the_same_name_is_not_taken_for_it(redis_server, crawler):
    one = crawler(redis_server)
    redis_server.client().flushall()
    crawler(redis_server, shingle_size=5)
    with pytest.raises(Exception, match="made in another way"):
        see(one, FIRST)
    one.close()


def test_a_part_of_the_log_that_is_gone_costs_its_pages_only(redis_server, crawler):
    one = crawler(redis_server)
    see(one, FIRST)
    redis_server.client().delete("dedup:{pages}:log:0")
    see(one, SECOND)
    one.close()
    other = crawler(redis_server)
    assert see(other, SECOND_AGAIN).outcome == "near"
    assert see(other, FIRST_AGAIN).outcome == "new"
