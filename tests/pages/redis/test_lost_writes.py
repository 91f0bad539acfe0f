"""Writes that a server took and lost: what a replica that is promoted has not seen.

The keys of a server are put back to what they were at some moment, which is what crawlers see of
a fail-over; numbers of pages are given again then. What they made of it must harm nobody: a page
that is forgotten can be kept again, and none is dropped for one that was never kept.
"""

import logging

import pytest
from shared_crawlers import Past

from dedup_filter.errors import StoreError

FIRST, SECOND, THIRD = 1, 2, 3


def lose_claim(server, claim, pages, page):
    """Claim a page on a server that loses it."""
    past = Past(server.client())
    lost = claim(pages, page)
    past.come_back()
    return lost


@pytest.fixture
def crawlers(redis_server, crawler, like, see):
    """Two crawlers that have seen some pages."""
    one, other = crawler(redis_server), crawler(redis_server)
    for number in range(10, 20):
        see(one, like(number))
    see(other, like(20))
    return one, other


def require_agreement(*crawlers):
    for pages in crawlers:
        pages.check()
    assert len({len(pages) for pages in crawlers}) == 1


def test_a_page_that_is_lost_can_be_kept_again(redis_server, crawlers, like, see, caplog):
    one, other = crawlers
    past = Past(redis_server.client())
    assert see(one, like(FIRST)).outcome == "new"
    assert see(other, like(FIRST, 1)).outcome == "near"
    past.come_back()
    assert see(other, like(FIRST, 1)).outcome == "new"
    assert see(one, like(FIRST, 3)).outcome == "near"
    require_agreement(one, other)
    lost = [record for record in caplog.records if "lost" in record.message]
    assert len(lost) == 2, "each crawler says it once"


def test_a_claim_that_is_lost_is_recorded_when_it_is_committed(
    redis_server, crawlers, like, see, claim
):
    one, other = crawlers
    lost = lose_claim(redis_server, claim, one, like(FIRST))
    kept = claim(other, like(SECOND))
    see(one, like(THIRD))
    one.commit(lost)
    other.commit(kept)
    for number in (FIRST, SECOND, THIRD):
        assert see(other, like(number, 1)).outcome == "near"
    require_agreement(one, other)


def test_a_late_commit_spares_the_page_that_has_its_number_by_now(
    servers, crawler, like, see, claim
):
    one, other = crawler(servers), crawler(servers)
    see(one, like(10))
    lost = lose_claim(servers, claim, one, like(FIRST))
    assert see(other, like(SECOND)).page == lost.page
    one.commit(lost)
    assert one.fate(lost.page) == "kept", "it is the number of the other one"
    assert see(one, like(SECOND, 1)).outcome == "near"
    assert see(other, like(FIRST, 1)).outcome == "near"
    require_agreement(one, other)
    assert len(one) == 3


@pytest.mark.parametrize("is_pending", [True, False])
def test_a_page_that_is_taken_back_does_not_take_another_with_it(
    redis_server, crawlers, like, see, is_pending
):
    one, other = crawlers
    past = Past(redis_server.client())

    def fail(page, *_):
        past.come_back()
        assert see(other, like(SECOND)).page == page
        see(other, like(THIRD))
        one._kept._log.sync()
        raise StoreError("no more calls")

    page = like(FIRST)
    learn = one._framed._learn
    one._framed._learn = lambda *args, **_: fail(args[3].page)
    with pytest.raises(StoreError):
        (one.claim if is_pending else one.see)(page.url, html=f"<p>{page.text}</p>")
    one._framed._learn = learn
    assert see(one, like(SECOND, 1)).outcome == "near"
    require_agreement(one, other)


def test_a_crawler_never_has_two_claims_of_one_number(redis_server, crawlers, like, see, claim):
    one, other = crawlers
    lost = lose_claim(redis_server, claim, one, like(FIRST))
    again = claim(one, like(SECOND))
    assert again.page != lost.page
    one.commit(lost)
    one.release(again)
    assert see(other, like(FIRST, 1)).outcome == "near"
    assert see(other, like(SECOND, 1)).outcome == "new"
    require_agreement(one, other)


def test_who_waits_for_a_page_is_not_told_of_another_with_its_number(
    redis_server, crawler, crawlers, like, see, claim
):
    one, other = crawlers
    past = Past(redis_server.client())
    first = claim(one, like(FIRST))
    waiting = claim(other, like(FIRST, 1))
    assert waiting.original_page == first.page
    past.come_back()
    third = crawler(redis_server)
    second = claim(third, like(SECOND))
    assert second.page == first.page
    assert other.fate(first.page) == "gone"
    one.release(first)
    assert claim(other, like(FIRST, 1)).outcome == "new"
    again = see(other, like(SECOND, 1))
    assert (again.outcome, other.fate(again.page)) == ("new", "kept"), (
        "its original can be asked of"
    )
    third.commit(second)
    assert see(other, like(SECOND, 2)).original_page == again.page
    require_agreement(one, third)


def test_a_number_that_somebody_waited_for_is_not_taken(redis_server, crawlers, like, claim):
    one, other = crawlers
    past = Past(redis_server.client())
    first = claim(one, like(FIRST))
    claim(other, like(FIRST, 1))
    past.come_back()
    assert other.fate(first.page) == "gone"
    second = claim(other, like(SECOND))
    other.commit(second)
    assert other.fate(second.page) == "kept"


def test_a_page_that_was_visited_again_does_not_take_another_with_it(
    redis_server, crawler, like, see, claim
):
    before = crawler(redis_server)
    see(before, like(FIRST))
    past = Past(redis_server.client())
    see(before, like(SECOND))
    before.close()
    one = crawler(redis_server)
    again = claim(one, like(SECOND, 1, site="a")._replace(url=like(SECOND).url))
    assert again.outcome == "revisit"
    past.come_back()
    other = crawler(redis_server)
    see(other, like(THIRD))  # with the number that the first visit had
    one.commit(again)
    assert see(one, like(THIRD, 1)).outcome == "near"
    assert see(other, like(SECOND, 3)).outcome == "near"


def test_crawlers_go_on_when_everything_is_deleted(redis_server, crawlers, like, see, caplog):
    one, other = crawlers
    crawl = one._kept._process.crawl
    redis_server.client().flushall()
    assert see(one, like(FIRST)).outcome == "new"
    assert see(other, like(FIRST, 1)).outcome == "near"
    assert see(other, like(12)).outcome == "new"
    assert one._kept._process.crawl == other._kept._process.crawl == crawl
    require_agreement(one, other)
    assert len([r for r in caplog.records if r.levelno >= logging.WARNING]) == 2


def test_crawls_are_counted_on_when_everything_was_deleted(redis_server, crawler, like, see):
    for _ in range(3):
        crawler(redis_server).close()
    one = crawler(redis_server)
    redis_server.client().flushall()
    see(one, like(FIRST))
    other = crawler(redis_server)
    assert see(other, like(FIRST)).outcome == "exact"
    assert other._kept._process.crawl == one._kept._process.crawl == 4
    one.close()
    other.close()
    later = crawler(redis_server)
    assert later._kept._process.crawl == 5
    assert see(later, like(FIRST)).outcome == "revisit"


def test_signs_of_life_make_no_index_of_their_own(redis_server, crawler, like, see):
    one = crawler(redis_server)
    redis_server.client().flushall()
    with pytest.raises(Exception, match="deleted"):
        one._kept._process.bring()
    assert redis_server.client().dbsize() == 0
    assert see(one, like(FIRST)).outcome == "new"
    assert see(crawler(redis_server), like(FIRST, 1)).outcome == "near"


def test_another_index_under_the_same_name_is_not_taken_for_it(redis_server, crawler, like, see):
    one = crawler(redis_server)
    redis_server.client().flushall()
    crawler(redis_server, shingle_size=5)
    with pytest.raises(Exception, match="made in another way"):
        see(one, like(FIRST))


def test_a_part_of_the_log_that_is_gone_costs_its_pages_only(redis_server, crawler, like, see):
    one = crawler(redis_server)
    see(one, like(FIRST))
    redis_server.client().delete("dedup:{pages}:log:0")
    see(one, like(SECOND))
    other = crawler(redis_server)
    assert see(other, like(SECOND, 1)).outcome == "near"
    assert see(other, like(FIRST, 1)).outcome == "new"
    require_agreement(other)
