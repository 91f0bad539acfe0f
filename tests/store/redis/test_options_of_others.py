"""Crawlers that share an index and were given different options: a warning, or a refusal."""

from time import time

import pytest
from shared_crawlers import Past, let_lapse, like, see, stop

from dedup_filter import ConfigError
from dedup_filter.upkeep import index_at


@pytest.fixture
def open_pages(redis_server, crawler):
    return lambda **options: crawler(redis_server, **options)


def test_an_option_that_others_have_otherwise_is_warned_of(open_pages, warnings):
    for option, theirs, mine in [
        ("max_pages", 1_000, None),
        ("expire_days", None, 2),
        ("max_distance", 3, 10),
        ("min_similarity", 0.7, None),
        ("ignore", ["p", "a"], {"example.com": "p"}),
    ]:
        others = open_pages(**{option: theirs})
        open_pages(**{option: mine}).close()
        others.close()
        (said,) = warnings()
        there = f"{option} ({theirs} there, {mine} here); "
        assert f"with other options than this one: {there}" in said
        assert "?name=pages: crawlers are at work on it" in said


def test_all_that_differs_is_said_in_one_sentence(open_pages, warnings):
    for _ in range(3):
        open_pages(max_pages=5, expire_days=2, scope="host").close()
    for bound in (10, 10, 20):  # those before have ended
        open_pages(max_pages=bound)
    assert len(warnings()) == 1
    open_pages(expire_days=1)
    (said,) = warnings()
    assert "expire_days (None there, 1 here), max_pages (10 or 20 there, None here); " in said


def test_options_of_a_dead_crawler_count_no_more(open_pages, redis_server, warnings):
    dead = open_pages(max_pages=10, scope="host")
    stop(dead)
    let_lapse(dead)
    open_pages(max_pages=20, scope="all")
    assert not warnings()
    assert index_at(redis_server.url).figures()["processes"] == 1


@pytest.mark.parametrize("days", [None, 2])
def test_a_killed_crawler_is_listed_until_its_pages_have_expired(
    open_pages, redis_server, monkeypatch, days
):
    killed = open_pages(expire_days=days)
    stop(killed)
    let_lapse(killed)
    listed, name = "dedup:{pages}:processes", killed.conductor._process.name.hex()
    sizes, later = [], [0, 1, 3]
    for day in later:
        moment = int(time()) + 86_400 * day
        monkeypatch.setattr("dedup_filter.store.redis.process.now", lambda moment=moment: moment)
        open_pages(expire_days=days).close()
        sizes.append(len(redis_server.client().hget(listed, name) or b""))
    assert sizes[:2] == [12, 12], "its crawl, and when it was found to be dead"
    assert sizes[2] == (12 if days is None else 0)
    killed.conductor._process.bring()
    assert len(redis_server.client().hget(listed, name)) > 12, "it was not dead"


@pytest.mark.parametrize(("theirs", "mine"), [("all", "host"), ("host", "all")])
def test_another_scope_is_refused_while_others_are_at_work(
    open_pages, redis_server, warnings, theirs, mine
):
    others = open_pages(scope=theirs)
    before = Past(redis_server.client()).keys
    with pytest.raises(ConfigError) as refused:
        open_pages(scope=mine, crawl="job")
    assert str(refused.value).startswith(
        f"scope={mine} cannot be chosen now: crawlers with scope={theirs} are at work on "
        f"the shared index redis://{redis_server.address}/0?name=pages; "
    )
    assert Past(redis_server.client()).keys == before
    others.close()
    open_pages(scope=mine)
    assert not warnings()


def test_a_page_is_judged_by_the_options_of_who_meets_it(open_pages):
    wide, narrow = (open_pages(shared_phrases=False, max_distance=bits) for bits in (3, 1))
    assert see(wide, like(1)).outcome == "new"
    assert see(narrow, like(1, 0b11)).outcome == "new"
    assert see(wide, like(1, 0b110)).outcome == "near"
    assert see(narrow, like(1, 0b1)).outcome == "near", "what all agree on is kept once"
