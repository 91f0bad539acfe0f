"""Servers that hang, take no writes, answer into the void or change while crawlers are at work."""

import time

import pytest
from patience import wait_until
from redis_servers import RedisServer
from shared_crawlers import claim, end_rest, let_lapse, like, lose_answer, profile_of, see
from site_pages import framed

from dedup_filter.config import FilterConfig
from dedup_filter.errors import StoreAway, StoreError
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.model import Document
from dedup_filter.store.redis.connection import TIMEOUT
from dedup_filter.store.redis.shared_keeper import SharedReader

MUCH_TOO_LONG = 20 * TIMEOUT
"""Seconds that no machine makes of a call that is given up in time."""
LENGTH = "dedup:{pages}:length"


def test_a_server_that_hangs_is_away_and_comes_back(start_redis, crawler, monkeypatch):
    """For clusters see test_many_crawlers.py, for what it costs a crawl: test_redis_away.py."""
    monkeypatch.setattr("dedup_filter.store.redis.connection.TIMEOUT", 0.5)
    server = start_redis()
    pages = crawler(server)
    see(pages, like(1))
    held = claim(pages, like(2))
    server.pause()
    begin = time.monotonic()
    with pytest.raises(StoreAway, match="cannot be reached"):
        see(pages, like(3))
    with pytest.MonkeyPatch.context() as patch:  # however slow the machine, its rest is not over
        patch.setattr(pages.conductor._pages._process.connection, "_rests_until", float("inf"))
        patch.setattr(pages.conductor._pages._process.connection, "_client", "not asked again")
        with pytest.raises(StoreAway):
            see(pages, like(3))
    server.resume()

    def is_back():
        try:
            return see(pages, like(1, 1)).outcome == "near"
        except StoreAway:
            return False

    wait_until(is_back, "the index")
    pages.commit(held)
    assert see(pages, like(2, 1)).outcome == "near"
    assert see(pages, like(3)).outcome == "new", "what was recorded unknown to anybody is gone"
    server.pause()
    with pytest.raises(StoreError):
        pages.close()
    assert time.monotonic() - begin < MUCH_TOO_LONG


@pytest.mark.parametrize(
    ("settle", "fate", "outcome"), [("commit", "kept", "near"), ("release", "gone", "new")]
)
def test_what_is_settled_and_never_told_of_is_done_once(
    redis_server, crawlers, settle, fate, outcome
):
    one, other = crawlers
    verdict = claim(one, like(1))
    lose_answer(one, settle)
    with pytest.raises(StoreAway):
        getattr(one, settle)(verdict)
    end_rest(one)
    assert (one.conductor.fate(verdict.page) == "pending") == (settle == "commit")
    length = redis_server.ask("GET", LENGTH)
    getattr(one, settle)(verdict)
    assert redis_server.ask("GET", LENGTH) == length
    assert one.conductor.fate(verdict.page) == fate
    assert see(other, like(1, 1)).outcome == outcome


def test_a_page_that_was_kept_and_never_told_of_is_taken_back(crawlers):
    one, other = crawlers
    lose_answer(one, "commit")
    with pytest.raises(StoreAway):
        see(one, like(1))
    end_rest(one)
    assert see(one, like(1, 1)).outcome == "new"
    assert see(other, like(1, 2)).original == like(1, 1).url


def measures(like):
    return profile_of(ReadPage.of(Document(like.text), FilterConfig()), None, None)


@pytest.mark.parametrize("settle", ["commit", "release"])
def test_of_a_page_whose_lease_was_over_only_a_commit_is_recorded(redis_server, crawlers, settle):
    one, other = crawlers
    verdict = claim(one, like(1))
    let_lapse(one)
    see(other, like(2))  # this releases it
    assert other.conductor.fate(verdict.page) == "gone"
    length = redis_server.ask("GET", LENGTH)
    one.conductor._pages.replace(verdict.page, measures(like(3)))
    assert redis_server.ask("GET", LENGTH) == length, "it is left so"
    getattr(one, settle)(verdict)
    assert see(other, like(1, 1)).outcome == ("near" if settle == "commit" else "new")
    assert len(other) == 13


def test_a_page_whose_lease_is_over_before_it_is_told_of_is_compared_anew(crawlers):
    one, other = crawlers
    records = one.conductor._pages._records
    commit = records.commit

    def late(*arguments):
        del records.commit
        let_lapse(one)
        see(other, like(2))  # this releases it
        assert see(other, like(1, 1)).outcome == "new"
        return commit(*arguments)

    records.commit = late
    assert see(one, like(1)).outcome == "near"


def test_a_server_without_memory_changes_nothing(start_redis, crawler):
    server = start_redis(settings={"maxmemory-policy": "noeviction"})
    one, other = crawler(server), crawler(server)
    see(one, like(9))
    kept, released = claim(one, like(1)), claim(one, like(2))
    client = server.client()
    client.config_set("maxmemory", "500kb")
    for call in (
        lambda: see(other, like(3)),
        lambda: one.commit(kept),
        lambda: one.release(released),
    ):
        with pytest.raises(StoreAway, match="no memory left: raise its maxmemory"):
            call()
        end_rest(one, other)
    assert client.hlen("dedup:{pages}:flight") in (1, 2)
    client.config_set("maxmemory", "0")
    one.commit(kept)
    assert see(one, like(3)).outcome == "new"
    assert see(other, like(1, 1)).outcome == "near"
    assert see(other, like(2, 1)).outcome == "new"


def test_a_slot_that_moves_for_long_is_waited_for_and_nothing_is_half_done(
    redis_cluster, crawler, monkeypatch
):
    monkeypatch.setattr("dedup_filter.store.redis.connection.TIMEOUT", 0.2)
    one, other = crawler(redis_cluster), crawler(redis_cluster)
    see(one, like(1))
    held = claim(one, like(2))
    with redis_cluster.moving(LENGTH) as move_one:
        while True:
            for call in (lambda: see(other, like(3)), lambda: one.commit(held)):
                with pytest.raises(StoreAway, match="a slot of the cluster is moving"):
                    call()
            if not move_one():
                break
    end_rest(one, other)
    one.commit(held)
    assert see(other, like(3)).outcome == "new"
    assert see(other, like(2, 1)).outcome == "near"
    assert redis_cluster.client().get(LENGTH) == b"4"


def test_who_waits_too_long_for_a_page_lets_its_like_through(crawlers, monkeypatch):
    one, other = crawlers
    monkeypatch.setattr("dedup_filter.store.redis.redis_pages._LONGEST_WAIT", 0.05)
    held = claim(one, like(1))
    verdict = see(other, like(1, 1))
    assert (verdict.outcome, verdict.reason, verdict.page) == ("unjudged", "pending", None)
    one.commit(held)
    assert see(other, like(1, 1)).outcome == "near"
    assert len(other) == 12


def test_new_measures_of_a_kept_page_are_those_of_its_record(servers, crawler):
    one, other = crawler(servers), crawler(servers)
    page = see(one, like(1)).page
    lose_answer(one, "replace")
    with pytest.raises(StoreAway):
        one.conductor._pages.replace(page, measures(like(2)))
    end_rest(one)
    if isinstance(servers, RedisServer):  # it was one step
        one.check()
        assert see(other, like(2, 1)).original_page == page
    else:  # the record did not follow: nothing is dropped for it, until it does
        assert see(other, like(1, 1)).outcome == "new"
        assert see(other, like(2, 1)).outcome == "new"
        one.conductor._pages.replace(page, measures(like(3)))
        one.check()
        assert see(other, like(3, 1)).original_page == page


@pytest.mark.parametrize("way", ["see", "claim"])
def test_a_page_whose_recording_failed_half_way_can_be_judged_or_committed_again(
    redis_server, crawler, article, way
):
    one, other = crawler(redis_server, min_similarity=0.7), crawler(redis_server)
    # When a later page counts, provisional ones get other measures: the call that fails.
    lose_answer(one, "replace")
    judged = []

    def judge(number):
        return getattr(one, way)(f"http://a.example/{number}", html=framed(article(number)))

    def judge_all():
        for number in range(12):
            judged.append(judge(number))
            one.commit(judged[-1])

    with pytest.raises(StoreAway):
        judge_all()
    end_rest(one)
    failed = len(judged) - (way == "claim")
    assert 0 < failed < 11
    again = judged[-1] if way == "claim" else judge(failed)
    assert (again.outcome, one.conductor.fate(again.page)) == (
        "new",
        {"see": "kept", "claim": "pending"}[way],
    )
    one.commit(again)
    assert redis_server.client().hlen("dedup:{pages}:flight") == 0
    assert one.conductor.totals()["pages"] == failed + 1 == len(one)
    repeat = other.see("http://b.example/", html=framed(article(failed)))
    assert repeat.original_page == again.page


@pytest.mark.parametrize("way", ["commit", "release"])
def test_a_page_that_is_pending_elsewhere_is_not_forgotten(servers, crawler, way):
    one, other = crawler(servers), crawler(servers)
    see(one, like(9))
    held = claim(one, like(1))
    assert other.forget(like(1).url) == 0
    getattr(one, way)(held)
    there = way == "commit"
    mine = claim(other, like(2))
    assert other.forget(like(2).url) == 1, "what is pending here can be forgotten"
    other.commit(mine)
    assert one.conductor.fate(mine.page) == other.conductor.fate(mine.page) == "gone"
    assert other.conductor.fate(held.page) == ("kept" if there else "gone")
    assert other.forget(like(1).url) == there
    with SharedReader.open(servers.url) as reader:
        assert reader.recorded() == {1}
    assert see(other, like(1, 1)).outcome == "new"
