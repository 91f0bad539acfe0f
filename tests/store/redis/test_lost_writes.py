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


@pytest.fixture
def crawler(crawler):
    """Open crawlers that take numbers one by one, so that a lost number is given again."""

    def open_pages(server, **options):
        pages = crawler(server, **options)
        process = pages.conductor._process
        number = process.number

        def next_number():
            process._numbers = range(0)
            return number()

        process.number = next_number
        return pages

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dedup_filter.store.redis.process._BLOCK", 1)
        yield open_pages


def lose_claim(server, pages, page):
    """Claim a page on a server that loses it."""
    past = Past(server.client())
    lost = claim(pages, page)
    past.come_back()
    return lost


def test_a_page_that_is_lost_can_be_kept_again(redis_server, crawlers):
    one, other = crawlers
    past = Past(redis_server.client())
    assert see(one, FIRST).outcome == "new"
    assert see(other, FIRST_AGAIN).outcome == "near"
    past.come_back()
    assert see(other, FIRST_AGAIN).outcome == "new"
    assert see(one, like(1, 3)).outcome == "near"


def test_a_lost_claim_is_committed_and_spares_the_page_that_has_its_number_by_now(servers, crawler):
    one, other = crawler(servers), crawler(servers)
    see(one, like(10))
    lost = lose_claim(servers, one, FIRST)
    assert see(other, SECOND).page == lost.page
    one.commit(lost)
    assert one.conductor.fate(lost.page) == "kept"
    assert see(one, SECOND_AGAIN).outcome == "near"
    assert see(other, FIRST_AGAIN).outcome == "near"
    assert len(one) == 3


@pytest.mark.parametrize("is_pending", [True, False])
def test_a_page_repeats_no_claim_that_has_the_number_of_its_original(
    redis_server, crawlers, is_pending
):
    """That of a repeat: it is written when it is committed, so its number can be given again."""
    one, other = crawlers
    held = claim(other, FIRST)
    past = Past(redis_server.client())
    claim(one, FIRST_AGAIN)
    past.come_back()
    theirs = claim(other, SECOND)
    if is_pending:
        found = claim(one, SECOND_AGAIN)
    other.commit(theirs)
    if not is_pending:
        found = claim(one, SECOND_AGAIN)
    assert found.original_page == theirs.page
    other.release(held)
    assert one.conductor.fate(theirs.page) == "kept"


@pytest.mark.parametrize("is_known_since", [False, True])
def test_a_page_that_is_released_is_never_another_with_its_number(servers, crawler, is_known_since):
    one, other = crawler(servers), crawler(servers)
    lost = lose_claim(servers, one, FIRST)
    assert see(other, SECOND).page == lost.page
    if is_known_since:
        assert see(one, SECOND_AGAIN).outcome == "near"
    one.release(lost)
    assert see(one, SECOND_AGAIN).outcome == "near"
    assert see(other, FIRST).outcome == "new"


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
    third.commit(second)
    assert other.conductor.fate_of_original(other.conductor.pending(waiting.page)) == "gone"
    assert claim(other, FIRST_AGAIN).outcome == "new"
    one.release(first)
    assert see(other, SECOND_AGAIN).original == SECOND.url


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
    assert {pages.conductor._process.crawl for pages in (one, other, joined)} == {4}
    assert any("was deleted, and is made anew" in each for each in warnings())
    for pages in (one, other, joined):
        pages.close()
    later = crawler(redis_server)
    assert later.conductor._process.crawl == 5
    assert see(later, FIRST).outcome == "revisit"


def test_signs_of_life_make_no_index_of_their_own(redis_server, crawler):
    one = crawler(redis_server)
    redis_server.client().flushall()
    for _ in range(2):
        with pytest.raises(StoreError, match="was deleted; it is made anew with the next page"):
            one.conductor._process.bring()
    assert redis_server.client().dbsize() == 0
    assert see(one, FIRST).outcome == "new"
    assert see(crawler(redis_server), FIRST_AGAIN).outcome == "near"


def test_a_page_that_is_released_does_not_take_the_entries_of_an_equal_one(redis_server, crawlers):
    """Which has its number by now."""
    one, other = crawlers
    lost = lose_claim(redis_server, one, FIRST)
    assert see(other, FIRST).page == lost.page
    one.release(lost)
    assert one.conductor.fate(lost.page) == "gone", "the other one is not the one that was claimed"
    assert see(one, FIRST_AGAIN).original == FIRST.url


def test_another_index_under_the_same_name_is_not_taken_for_it(redis_server, crawler):
    one = crawler(redis_server)
    redis_server.client().flushall()
    crawler(redis_server, shingle_size=5)
    with pytest.raises(Exception, match="made in another way"):
        see(one, FIRST)
    one.conductor._process.close()
