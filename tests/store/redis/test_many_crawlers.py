"""Crawlers in processes of their own, which meet the same content at the same moment.

A. No two pages that are kept are near-duplicates.
B. Every page that is dropped repeats one that was kept, by whoever.
C. So it is when crawlers are killed, and when servers die or change, in the midst of claims; but
   the worst that comes of a death is a duplicate that is let through.

The oracle knows what the pages are like, and compares each with each. What a crawler kept it says
before it says so to the index, as a crawl writes an item first.
"""

import itertools
import random
from collections import Counter

import pytest
from gate import slow
from patience import PATIENCE, PROCESSES
from shared_crawlers import Article, K, Together, kept_on, like, profile_of, see
from shared_groups import (
    CRAWLERS,
    kept_twice,
    one_round_of_crawlers,
    repeats,
    require_each_once,
    require_no_loss,
    rounds_of_crawlers,
)
from site_pages import framed

from dedup_filter import NearDuplicateFilter, judge

MANY_MEET = 800
"""So many groups that crawlers meet at some of them, however the system runs their processes."""
MANY = 150
META = "dedup:{pages}:meta"
MOST_LOST = 8
"""Pages that four crawlers write in the time that a replica lags behind its master, and some."""


def each_way(few, many, on_cluster):
    """Parametrize: few pages on each kind of servers and in each way, many the other way round."""
    kinds = [
        ("redis_server", "see", few),
        ("redis_cluster", "claim", few),
        slow("redis_server", "claim", many),
        slow("redis_cluster", "see", on_cluster),
    ]
    return pytest.mark.parametrize(("servers", "way", "count"), kinds, indirect=["servers"])


@each_way(24, MANY_MEET, 200)
def test_crawlers_keep_each_content_once(servers, way, count):
    rounds = rounds_of_crawlers(f"{type(servers).__name__} {way}", count)
    with Together(servers.url, way, rounds) as crawlers:
        crawlers.listen()
    assert set(crawlers.became) == {page for each in rounds for pages in each for page in pages}
    assert set(crawlers.whats()) <= {"kept", "dropped", "released"}
    require_each_once(crawlers.became)
    require_no_loss(crawlers.became)
    # Nothing was lost altogether: of each group a page is kept, unless all were given back.
    fates = {}
    for page, (what, _) in crawlers.became.items():
        fates.setdefault(page.url.split("/")[3], set()).add(what)
    assert all("kept" in each or each == {"released"} for each in fates.values())
    assert crawlers.whats()["dropped"] > count
    assert crawlers.counts["met"] > 0 or count < MANY_MEET, "they did not meet"


@each_way(8, 40, 40)
def test_pages_whose_frames_are_learnt_meanwhile_are_kept_once(servers, way, count, article):
    """All of them crawl two mirrors of a site, in any order."""
    chance, rounds = random.Random("mirrors"), []
    for crawler in range(CRAWLERS):
        pages = [
            Article(f"http://{crawler}{mirror}.example/{number}", framed(article(number)))
            for mirror in "ab"
            for number in range(count)
        ]
        rounds.append([chance.sample(pages, len(pages))])
    with Together(servers.url, way, rounds) as crawlers:
        crawlers.listen()
    kept = Counter()
    for page, (what, original) in crawlers.became.items():
        number = page.url.rpartition("/")[2]
        kept[number] += what == "kept"
        assert original is None or original.rpartition("/")[2] == number
    assert kept == Counter(map(str, range(count)))
    with NearDuplicateFilter.open(servers.url, max_distance=K) as pages:
        pages.check()
        assert len(pages) == count


@pytest.mark.slow
@pytest.mark.parametrize("servers", ["redis_server", "redis_cluster"], indirect=True)
def test_what_a_killed_crawler_had_claimed_is_kept_by_others(servers):
    rounds = one_round_of_crawlers(type(servers).__name__, MANY)
    with Together(servers.url, "claim", rounds, lease=2) as crawlers:
        crawlers.listen(until=2 * MANY)
        crawlers.kill(0)
        crawlers.listen()
    assert 0 not in crawlers.ended
    require_no_loss(crawlers.became)
    assert crawlers.whats()["dropped"] > MANY // 4
    # Every page of the others was judged, however long a dead one had held what it repeats.
    assert set(crawlers.whats()) <= {"kept", "dropped", "released"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("servers", "way"),
    [("redis_server", "see"), ("redis_server", "claim"), ("redis_cluster", "see")],
    indirect=["servers"],
)
def test_crawlers_that_die_within_claims_leave_each_content_once(servers, way):
    """Three of four die, each in a call of the servers."""
    chance = random.Random(1)
    calls = {0: 6 * MANY, 1: 2 * MANY, 2: 6 * MANY}  # crawler 1 reads ahead: it makes fewer
    dying = {number: chance.randrange(20, most) for number, most in calls.items()}
    rounds = one_round_of_crawlers(f"{way} 1", MANY)
    with Together(servers.url, way, rounds, lease=2, dying=dying) as crawlers:
        crawlers.listen()
    assert crawlers.ended == {3}
    kept = kept_on(servers.url)
    pages = {page.url: page for each in rounds for likes in each for page in likes}
    require_each_once({pages[url]: ("kept", None) for url in kept})
    # A dead crawler may have kept a page without a word; one that said so may not have kept it.
    of_dead = {page.url for page in itertools.chain(*(each for at in dying for each in rounds[at]))}
    for page in rounds[3][0]:
        what, original = crawlers.became[page]
        assert what in {"kept", "dropped", "released"}
        assert what != "kept" or page.url in kept
        assert what != "dropped" or original in kept
        assert what != "dropped" or repeats(page, pages[original])
    assert of_dead & kept
    assert crawlers.whats()["dropped"] > MANY // 4


def crawl_to_feed(url, pages, pipe):
    """See pages, and send at each how many it is; in the end the URLs in the feed."""
    judge.profile_of = profile_of
    feed = []
    with NearDuplicateFilter.open(url, max_distance=K) as index:
        for number, page in enumerate(pages):
            verdict = see(index, page)
            if verdict.original_page is None or verdict.reason == "again":
                feed.append(page.url)
            pipe.send(number)
    pipe.send(feed)


@pytest.mark.parametrize("is_alone", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_killed_crawler_that_is_begun_again_at_once_lacks_no_page(
    redis_server, crawler, is_alone
):
    """Whether it is the only one, or another one keeps half of the pages and meets them all."""
    pages = [like(number) for number in range(1, 21)]
    of_other = [] if is_alone else pages[::2]
    other = None if is_alone else crawler(redis_server)
    kept_by_other = {page.url for page in of_other if see(other, page).outcome == "new"}
    assert len(kept_by_other) == len(of_other)
    links = []
    for _ in range(2):
        ours, theirs = PROCESSES.Pipe(duplex=False)
        begun = PROCESSES.Process(
            target=crawl_to_feed, args=(redis_server.url, [*pages, *pages], theirs), daemon=True
        )
        begun.start()
        if not links:
            while ours.recv() < len(pages) // 2:
                pass
            if other:
                assert {see(other, page).outcome for page in pages[:10]} == {"exact"}
            begun.kill()
            begun.join(PATIENCE)
        links.append(ours)
    while not isinstance(feed := links[1].recv(), list):
        pass
    begun.join(PATIENCE)
    assert sorted([*feed, *kept_by_other]) == sorted(page.url for page in pages)


def require_came_through(crawlers):
    """Require that the servers were away, and that it cost no page."""
    require_no_loss(crawlers.became)
    assert crawlers.counts["away"] > 0
    assert crawlers.whats()["dropped"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("way", ["claim", "see"])
def test_a_server_that_is_killed_and_comes_back_costs_no_page(start_redis, way):
    server = start_redis(durable=True)
    with Together(server.url, way, one_round_of_crawlers(way, MANY)) as crawlers:
        crawlers.listen(until=2 * MANY)
        server.kill()
        crawlers.listen(until=3 * MANY)
        server.start()
        crawlers.listen()
    require_came_through(crawlers)
    # Pages were judged when it was away, and are judged again; what was acknowledged is there.
    require_each_once(crawlers.became)


@pytest.mark.slow
@pytest.mark.parametrize(("way", "end"), [("claim", "pause"), ("see", "kill")])
def test_a_node_that_fails_over_costs_no_page(start_redis_cluster, way, end):
    cluster = start_redis_cluster(replicas=True, timeout_ms=1_000)
    with Together(cluster.url, way, one_round_of_crawlers(way, MANY)) as crawlers:
        crawlers.listen(until=MANY)
        master = cluster.master_of(META)
        heir = cluster.replica_of(master)
        getattr(master, end)()
        cluster.wait_promoted(heir)
        known = len(crawlers.became)
        cluster.recover()  # who hung thinks for a moment that it is the master still
        crawlers.listen()
    require_no_loss(crawlers.became)
    assert crawlers.whats()["dropped"] > 0
    # What the heir had not got is kept again: some pages, however many there are.
    assert len(kept_twice(crawlers.became)) <= MOST_LOST
    # The heir was there for some of them. Whether one met the outage itself is chance: a call that
    # waits may be answered by the heir.
    assert len(crawlers.became) > known


@pytest.mark.slow
def test_slots_that_move_and_a_replica_that_is_promoted_cost_nothing(start_redis_cluster):
    """No page is kept unjudged because a slot moves: that is waited for."""
    cluster = start_redis_cluster(replicas=True)
    rounds = one_round_of_crawlers("claim", groups=60)
    moved = 0
    # A machine under load may hold a node for longer than a crawl would wait.
    with Together(cluster.url, "claim", rounds, timeout=PATIENCE) as crawlers:
        crawlers.listen(until=60)
        while len(crawlers.ended) < CRAWLERS:
            for key in [META, *(node.ask("RANDOMKEY").decode() for node in cluster.masters())]:
                cluster.move_slot(key, at_once=1 + moved % 4)
            moved += 1
            if moved == 2:
                assert not crawlers.whats()["kept while away"], "it was not waited for"
                replica = cluster.replica_of(cluster.master_of(META))
                replica.ask("CLUSTER", "FAILOVER")  # as an operator does before an upgrade
                cluster.wait_promoted(replica)
                cluster.wait_ok()
            crawlers.listen(until=len(crawlers.became) + 100)
    assert moved > 2
    assert set(crawlers.became) == {like for (likes,) in rounds for like in likes}
    # Some versions of Redis hold all calls for longer than one may take while a replica takes over.
    assert set(crawlers.whats()) <= {"kept", "dropped", "released", "kept while away"}
    require_each_once(crawlers.became)
    require_no_loss(crawlers.became)
    with NearDuplicateFilter.open(cluster.url, max_distance=K) as pages:
        pages.check()
        assert len(pages) == crawlers.whats()["kept"]
