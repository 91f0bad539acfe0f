"""Crawlers that are killed, and servers that die, in the midst of claims.

C. No page is dropped unless one that it repeats was kept, by whoever; the worst that comes of a
   death is a duplicate that is let through.

What a crawler kept it says before it says so to the index, as a crawl writes an item first.
"""

import pytest
from shared_crawlers import Together
from shared_groups import one_round_of_crawlers, require_each_once, require_no_loss

LEASE = 2.0
FEW, MANY = 80, 250


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("servers", "groups"),
    [("redis_server", FEW), slow("redis_server", MANY), slow("redis_cluster", MANY)],
    indirect=["servers"],
)
def test_what_a_killed_crawler_had_claimed_is_kept_by_others(servers, groups):
    rounds = one_round_of_crawlers(type(servers).__name__, groups)
    with Together(servers.url, "claim", rounds, LEASE, min_similarity=0.7) as crawlers:
        crawlers.listen(until=2 * groups)
        crawlers.kill(0)
        crawlers.listen()
    assert crawlers.ended == {"c1", "c2", "c3"}
    require_no_loss(crawlers.became)
    assert crawlers.whats()["dropped"] > groups
    # Every page of the others was judged, however long a dead one had held what it repeats.
    assert set(crawlers.whats()) <= {"kept", "dropped", "released"}


def require_came_through(crawlers):
    """Require that the servers were away, and that it cost no page."""
    assert len(crawlers.ended) == 4
    require_no_loss(crawlers.became)
    assert crawlers.counts["away"] > 0
    assert crawlers.whats()["dropped"] > 0


@pytest.mark.parametrize(
    ("way", "groups"), [("claim", FEW), slow("claim", MANY), slow("see", MANY)]
)
def test_a_server_that_is_killed_and_comes_back_costs_no_page(start_redis, way, groups):
    server, rounds = start_redis(durable=True), one_round_of_crawlers(way, groups)
    with Together(server.url, way, rounds, min_similarity=0.7) as crawlers:
        crawlers.listen(until=2 * groups)
        server.kill()
        crawlers.listen(until=3 * groups)
        server.start()
        crawlers.listen()
    require_came_through(crawlers)
    # Pages were judged when it was away, and are judged again; what was acknowledged is there.
    require_each_once(crawlers.became)


@pytest.mark.parametrize(
    ("way", "end", "groups"),
    [("claim", "pause", 150), slow("claim", "pause", MANY), slow("see", "kill", MANY)],
)
def test_a_node_that_fails_over_costs_no_page(start_redis_cluster, way, end, groups):
    cluster = start_redis_cluster(replicas=True, timeout_ms=1_000)
    rounds = one_round_of_crawlers(way, groups)
    with Together(cluster.url, way, rounds, min_similarity=0.7) as crawlers:
        crawlers.listen(until=groups)
        master = cluster.master_of("dedup:{pages}:length")
        heir = cluster.replica_of(master)
        getattr(master, end)()
        cluster.wait_promoted(heir)
        cluster.recover()  # who hung thinks for a moment that it is the master still
        crawlers.listen()
    require_came_through(crawlers)
