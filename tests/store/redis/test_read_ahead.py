"""Pages for which servers are read together get the verdicts that they get one by one."""

import random
from itertools import product
from time import monotonic

import pytest
from gate import slow
from made_text import prose
from shared_crawlers import claim, like, see
from site_pages import framed

from dedup_filter.text.page_fields import PageText

PAGES, AHEAD = 20, 8
SEEDS = [1, *(slow(seed) for seed in range(2, 12))]


def stream(seed, crawl):
    """Make pages of some hosts: new ones, copies, edits, print views, the same page again."""
    chance, pages = random.Random(seed), []
    for number in range(PAGES):
        host, text = f"http://{chance.choice('abc')}.example", (number, 0)
        url, notice = f"{host}/{number}", chance.choice(["", "The office is closed today. " * 3])
        if pages and chance.random() < 0.5:
            before, (text, _), _ = chance.choice(pages)
            url, text = chance.choice([url, before]), (text, chance.choice([0, 0, 1, 8 * crawl]))
        pages.append((url, text, notice))
    return [
        {"url": url, "html": framed(prose(seed * 1000 + number, edits), notice)}
        for url, (number, edits), notice in pages
    ]


def measured(pages, verdicts):
    """Return what is said of each page, its number aside, and what of it is recorded."""
    said = [(each.outcome, each.original, each.distance, each.reason) for each in verdicts]
    there = pages.conductor._pages
    views = there.views(there.numbers()).values()
    records = {
        each.record._replace(page=0, original=None, first_seen=0, last_seen=0)
        for each in views
        if each
    }
    return said, records


@pytest.mark.parametrize("seed", SEEDS)
def test_verdicts_and_records_are_those_of_one_by_one(redis_server, crawler, monkeypatch, seed):
    """In two crawls: in the second one, pages come again."""
    for module in ("filter", "shared_judge"):
        monkeypatch.setattr(f"dedup_filter.{module}.MOST_AHEAD", AHEAD)
    found = []
    for name in ("alone", "ahead"):
        redis_server.flush()
        for crawl in range(2):
            given = stream(seed, crawl)
            with crawler(redis_server, crawl=f"{crawl}") as pages:
                if name == "alone":
                    verdicts = [pages.see(**each) for each in given]
                else:
                    verdicts = [*pages.see_many(given)]
                pages.flush()
                found.append(measured(pages, verdicts))
    assert found[:2] == found[2:]
    outcomes = {outcome for said, _ in found for outcome, *_ in said}
    assert {"new", "exact", "near", "revisit"} <= outcomes


@pytest.mark.parametrize("seed", SEEDS)
def test_pages_that_others_keep_meanwhile_are_met(redis_server, crawler, seed):
    """Two processes judge in turns; one of them, or both, read before the other one writes."""
    found = []
    for ahead in ((), "a", "ab"):
        redis_server.flush()
        chance, said = random.Random(seed), []
        with crawler(redis_server) as one, crawler(redis_server) as other:
            crawlers = {"a": one, "b": other}
            given = {name: [some_page(chance, name) for _ in range(15)] for name in crawlers}
            read = {name: opened(crawlers[name], given[name]) for name in crawlers}
            for at, (name, pages) in product(range(15), crawlers.items()):
                if name in ahead:
                    pages.conductor.read_ahead(read[name][at:])
                verdict = pages.conductor.see(*read[name][at])
                said.append((verdict.outcome, verdict.original))
        found.append(said)
    assert found[0] == found[1] == found[2]
    assert {"new", "near", "exact"} == {outcome for outcome, _ in found[0]}


def some_page(chance, site):
    return like(chance.randrange(12), chance.randrange(3), site)


def opened(pages, given):
    return [pages._read(each.url, PageText(**each.given)) for each in given]


@pytest.mark.parametrize("becomes", ["released", "kept", "gone"])
def test_what_became_of_an_original_that_was_read_ahead(redis_server, crawler, becomes):
    one, other = crawler(redis_server), crawler(redis_server)
    held = claim(other, like(1))
    read = opened(one, [like(1, 1, "b"), like(2, 0, "b")])
    one.conductor.read_ahead(read)
    if becomes == "released":
        other.release(held)
    else:
        other.commit(held)
    if becomes == "gone":
        other.forget(like(1).url)
    assert one.conductor.see(*read[0]).outcome == ("near" if becomes == "kept" else "new")
    assert one.conductor.see(*read[1]).outcome == "new"


@pytest.mark.parametrize("seconds", [1, 10])
def test_what_is_read_ahead_does_not_count_for_long(redis_server, crawler, monkeypatch, seconds):
    """A page that repeats another writes nothing that would meet a change."""
    one, other = crawler(redis_server), crawler(redis_server)
    see(other, like(1))
    see(other, like(3))
    read = opened(one, [like(1, 1, "b"), like(2, 0, "b"), like(3, 1, "b")])
    one.conductor.read_ahead(read)
    other.forget(like(1).url)
    moment = monotonic() + seconds
    monkeypatch.setattr("dedup_filter.store.redis.calls.monotonic", lambda: moment)
    assert [one.conductor.see(*each).outcome for each in read] == ["new", "new", "near"]


@pytest.mark.parametrize("text_of_later", [0, 1], ids=["unchanged", "edited"])
def test_a_visit_that_another_process_made_meanwhile(redis_server, crawler, text_of_later):
    """Both fetch a page of an earlier crawl again; the second one repeats the first one."""
    found = []
    for is_ahead in (False, True):
        redis_server.flush()
        with crawler(redis_server, crawl="first") as pages:
            see(pages, like(1))
        again = [like(1, text_of_later)._replace(url=like(1).url), like(2)]
        with crawler(redis_server) as one, crawler(redis_server) as other:
            read = opened(one, again)
            if is_ahead:
                one.conductor.read_ahead(read)
            verdicts = [see(other, again[0]), one.conductor.see(*read[0])]
            found.append([(each.outcome, each.original) for each in verdicts])
    assert found[0] == found[1]
    assert [outcome for outcome, _ in found[0]] == ["revisit", "exact"]
