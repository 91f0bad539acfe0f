"""Crawlers that are killed, and servers that die, in the midst of thousands of claims.

C. No page is dropped unless one that it repeats was kept, by whoever; the worst that comes of a
   death is a duplicate that is let through.

What a crawler kept it says before it says so to the index, as a crawl writes an item first.
"""

import itertools

import pytest
from shared_crawlers import Together, kill
from shared_groups import one_round_of_crawlers, repeats

LEASE = 4.0
GROUPS = 250


def require_no_loss(became):
    """Find for each page that was dropped the one that was kept."""
    kept = {like.url: like for like, (what, _) in became.items() if what.startswith("kept")}
    for page, (what, original) in became.items():
        if what == "dropped":
            assert original in kept, f"{page} was dropped for {original}, which was not kept"
            assert repeats(page, kept[original])


@pytest.mark.parametrize(
    "servers",
    ["redis_server", pytest.param("redis_cluster", marks=pytest.mark.slow)],
    indirect=True,
)
def test_what_a_killed_crawler_had_claimed_is_kept_by_others(servers):
    rounds = one_round_of_crawlers(type(servers).__name__, GROUPS)
    with Together(servers.url, "claim", rounds, LEASE, min_similarity=0.7) as crawlers:
        crawlers.listen(until=400)
        kill(crawlers.processes[0])
        crawlers.listen()
    assert crawlers.ended == {"c1", "c2", "c3"}
    require_no_loss(crawlers.became)
    whats = [what for what, _ in crawlers.became.values()]
    assert whats.count("dropped") > 250
    # Every page of the others was judged, however long a dead one had held what it repeats.
    assert set(whats) <= {"kept", "dropped", "released"}


@pytest.mark.parametrize("way", [pytest.param("see", marks=pytest.mark.slow), "claim"])
def test_a_server_that_is_killed_and_comes_back_costs_no_page(start_redis, way):
    server, rounds = start_redis(durable=True), one_round_of_crawlers(way, GROUPS)
    with Together(server.url, way, rounds, min_similarity=0.7) as crawlers:
        crawlers.listen(until=400)
        server.kill()
        crawlers.listen(until=600)
        server.start()
        crawlers.listen()
    assert len(crawlers.ended) == 4
    require_no_loss(crawlers.became)
    assert crawlers.counts["away"] > 0
    whats = [what for what, _ in crawlers.became.values()]
    assert whats.count("dropped") > 0
    # Pages were judged when it was away, and are judged again; what was acknowledged is there.
    kept = [like for like, (what, _) in crawlers.became.items() if what == "kept"]
    assert not [pair for pair in itertools.combinations(kept, 2) if repeats(*pair)]


@pytest.mark.parametrize(
    ("way", "end"), [pytest.param("see", "kill", marks=pytest.mark.slow), ("claim", "pause")]
)
def test_a_node_that_fails_over_costs_no_page(start_redis_cluster, way, end):
    cluster = start_redis_cluster(replicas=True, timeout_ms=1_000)
    rounds = one_round_of_crawlers(way, GROUPS)
    with Together(cluster.url, way, rounds, min_similarity=0.7) as crawlers:
        crawlers.listen(until=400)
        master = cluster.master_of("dedup:{pages}:length")
        getattr(master, end)()
        cluster.wait_failover(master)
        cluster.recover()  # who hung thinks for a moment that it is the master still
        crawlers.listen()
    assert len(crawlers.ended) == 4
    require_no_loss(crawlers.became)
    assert crawlers.counts["away"] > 0
    assert [what for what, _ in crawlers.became.values()].count("dropped") > 0
