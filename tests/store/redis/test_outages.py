"""Servers that hang, take no writes, answer into the void or change while crawlers are at work."""

import time
from dataclasses import replace

import pytest
from made_profiles import said_profile
from patience import wait_until
from shared_crawlers import Past, claim, end_rest, let_lapse, like, lose_answer, see, stop

from dedup_filter.errors import StoreAway, StoreError
from dedup_filter.store.redis import layout
from dedup_filter.store.redis.connection import TIMEOUT
from dedup_filter.store.redis.pages import SharedPages
from dedup_filter.upkeep import index_at

MUCH_TOO_LONG = 20 * TIMEOUT
"""Seconds that no machine makes of a call that is given up in time."""


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
        patch.setattr(pages.conductor._process.connection, "_rests_until", float("inf"))
        patch.setattr(pages.conductor._process.connection, "_client", "not asked again")
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
    ("error", "meant"),
    [
        (OSError(9, "Bad file descriptor"), StoreAway),
        (ValueError("I/O operation on closed file."), StoreAway),
        (RuntimeError("dictionary changed size during iteration"), StoreAway),
        (AttributeError("'NoneType' object has no attribute 'readline'"), StoreAway),
        (ValueError("a fault of our own"), ValueError),
    ],
)
def test_a_race_within_the_client_library_is_an_outage(redis_server, crawler, error, meant):
    def work(_):
        raise error

    connection = crawler(redis_server).conductor._process.connection
    with pytest.raises(meant):
        connection.call(work)


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
    assert one.conductor.fate(verdict.page) == "pending"
    assert other.conductor.fate(verdict.page) == fate
    one.conductor.totals()  # a heartbeat would write them at any moment
    before = Past(redis_server.client()).keys
    getattr(one, settle)(verdict)
    assert {*Past(redis_server.client()).keys} <= {*before}
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


@pytest.mark.parametrize("settle", ["commit", "release"])
def test_of_a_page_whose_lease_was_over_only_a_commit_is_recorded(crawlers, settle):
    one, other = crawlers
    verdict = claim(one, like(1))
    let_lapse(one)
    assert other.conductor.fate(verdict.page) == "gone"
    getattr(one, settle)(verdict)
    assert see(other, like(1, 1)).outcome == ("near" if settle == "commit" else "new")
    assert len(other) == 12


@pytest.mark.parametrize("judge", [see, claim])
@pytest.mark.parametrize("is_met", [False, True])
def test_a_process_that_stops_between_writing_and_deciding_looks_again(
    crawlers, monkeypatch, is_met, judge
):
    """Its record has expired; another page is kept meanwhile, or only its entries are removed."""
    one, other = crawlers
    look, stopped = SharedPages._look, []

    def late(pages, number, *rest):
        if pages is one.conductor._pages and not stopped:
            stopped.append(number)
            let_lapse(one)
            met = see(other, like(1, 1)) if is_met else other.judge("", text=like(1, 1).text)
            assert met.outcome == "new"
        return look(pages, number, *rest)

    monkeypatch.setattr(SharedPages, "_look", late)
    assert judge(one, like(1)).outcome == ("near" if is_met else "new")
    assert len(one) == 12


def test_a_page_that_a_reader_met_before_its_record_takes_another_number(crawlers, monkeypatch):
    """Else two pages could be kept, as the reader has removed its entry."""
    one, other = crawlers
    write, early = SharedPages._write_and_look, []

    def entries_first(pages, number, held):
        if pages is one.conductor._pages and not early:
            early.append(number)
            pages.connection.ask_all(pages.adds(number, held.keys))
            assert see(other, like(1, 1)).outcome == "new"
        return write(pages, number, held)

    monkeypatch.setattr(SharedPages, "_write_and_look", entries_first)
    assert see(one, like(1)).outcome == "near"
    assert len(one) == 12


@pytest.mark.parametrize("way", ["see", "claim"])
def test_of_pages_that_claim_at_once_the_first_is_kept_and_the_other_looks_again(
    crawlers, monkeypatch, way
):
    """Both have read before any wrote; the later one has looked before the first one is there."""
    one, other = crawlers
    mine, theirs = one.conductor._pages, other.conductor._pages
    claim_page, decide, claims, later = SharedPages.claim, SharedPages._decide, [], []

    def after_the_other(pages, *given, **options):
        if pages is mine and not claims:
            claims.append(lambda: claim_page(mine, *given, **options))
            later.append(claim(other, like(1, 1)))
        else:
            claim_page(pages, *given, **options)

    def after_the_first(pages, *given):
        if pages is theirs and len(claims) == 1:
            claims.append(None)
            claims[0]()
        return decide(pages, *given)

    monkeypatch.setattr(SharedPages, "claim", after_the_other)
    monkeypatch.setattr(SharedPages, "_decide", after_the_first)
    first = getattr(one, way)(like(1).url, **like(1).given)
    assert first.outcome == "new"
    assert (later[0].outcome, later[0].original_page) == ("near", first.page)
    assert claims[1:] == [None]


@pytest.mark.parametrize("way", ["release", "commit"])
def test_a_page_that_was_claiming_and_is_settled_before_it_is_overruled_is_read_again(
    crawlers, monkeypatch, way
):
    """One that withdrew is in no bucket any more."""
    one, other = crawlers
    mine, later = one.conductor._pages, []
    claim_page, take = SharedPages.claim, SharedPages._take

    def after_the_other(pages, *given, **options):
        if pages is mine and not later:
            with monkeypatch.context() as patch:
                patch.setattr(SharedPages, "_decide", lambda *_: True)  # it is claiming still
                later.append(claim(other, like(1, 1)))
        claim_page(pages, *given, **options)

    def settle_after(pages, *given, **options):
        take(pages, *given, **options)
        if pages is mine and pages._own and len(later) == 1:
            later.append(getattr(other, way)(later[0]))

    monkeypatch.setattr(SharedPages, "claim", after_the_other)
    monkeypatch.setattr(SharedPages, "_take", settle_after)
    verdict = claim(one, like(1))
    assert len(later) == 2
    assert verdict.outcome == ("new" if way == "release" else "near")


def test_a_claim_that_its_owner_has_settled_and_a_server_brings_back_ends(redis_server, crawlers):
    one, _ = crawlers
    held = claim(one, like(1))
    past = Past(redis_server.client())
    one.release(held)
    past.come_back()
    one.conductor._process.bring()  # which renews nothing that it does not hold
    name = one.conductor._pages.name(held.page)
    assert 0 < redis_server.client().ttl(name) <= 30
    assert see(one, like(1, 2)).outcome == "new", "its owner knows at once"


def test_a_page_of_two_texts_is_found_by_the_keys_of_both(redis_server, crawler, monkeypatch):
    """Of two pages that look up each other by other texts one would be missed."""
    pages = crawler(redis_server)
    one, other = said_profile(like(1).text), said_profile(like(2).text)
    both = replace(one, texts=(*one.texts, *other.texts))
    monkeypatch.setattr("dedup_filter.judge.profile_of", lambda *_: both)
    number = see(pages, like(1)).page
    prints, phrases = zip(*((text.fingerprint, text.keys) for text in both.texts), strict=True)
    records = pages.conductor._pages
    keys = [*records.layout.keys_of(one.digest, prints, phrases)]
    assert len(keys) == 1 + 2 + 16
    found = layout.found_in(records.connection.ask_all(records.reads(keys)), keys)
    assert found == [[number]] * len(keys)


def test_a_server_without_memory_changes_nothing(start_redis, crawler):
    server = start_redis(settings={"maxmemory-policy": "noeviction"})
    one, other = crawler(server), crawler(server)
    see(one, like(9))
    kept, released = claim(one, like(1)), claim(one, like(2))
    client = server.client()
    client.config_set("maxmemory", "500kb")
    for call in (lambda: see(other, like(3)), lambda: one.commit(kept)):
        with pytest.raises(StoreAway, match="no memory left: raise its maxmemory"):
            call()
        end_rest(one, other)
    one.release(released)
    client.config_set("maxmemory", "0")
    one.commit(kept)
    assert see(one, like(3)).outcome == "new"
    assert see(other, like(1, 1)).outcome == "near"
    assert see(other, like(2, 1)).outcome == "new"


def test_who_waits_too_long_for_a_page_lets_its_like_through(crawlers, monkeypatch):
    one, other = crawlers
    monkeypatch.setattr("dedup_filter.shared_judge._LONGEST_WAIT", 0.05)
    held = claim(one, like(1))
    verdict = see(other, like(1, 1))
    assert (verdict.outcome, verdict.reason, verdict.page) == ("unjudged", "pending", None)
    one.commit(held)
    assert see(other, like(1, 1)).outcome == "near"
    assert len(other) == 12


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
    with index_at(servers.url).recorded() as recorded:
        assert recorded.count() == 1
    assert see(other, like(1, 1)).outcome == "new"


@pytest.mark.parametrize("is_long_ago", [True, False])
def test_pages_of_a_killed_crawler_come_again_and_no_others(servers, crawler, is_long_ago):
    """Whether the next crawler begins a crawl, or joins that of the killed one."""
    one, killed = crawler(servers), crawler(servers)
    see(killed, like(1))
    assert see(one, like(1)).outcome == "exact", "both are at work"
    see(one, like(2))
    if is_long_ago:
        one.close()
    stop(killed)
    if is_long_ago:
        let_lapse(killed)
    after = crawler(servers)
    found = [see(after, like(number)) for number in (1, 2, 1)]
    again, others = ("revisit", "again"), ("revisit", None) if is_long_ago else ("exact", None)
    assert [(each.outcome, each.reason) for each in found] == [again, others, ("exact", None)]
    one.close()
    after.close()
    with index_at(servers.url).recorded() as recorded:
        ended = [each.ended is not None for each in recorded.crawls()]
    assert ended == ([False, True] if is_long_ago else [False])
    if is_long_ago:
        assert see(crawler(servers), like(1)).reason is None, "the crawl after it has ended"
