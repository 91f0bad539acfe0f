"""A cluster that is changed while crawlers are at work: slots move, a replica is promoted.

A. No two pages that are kept are near-duplicates.
B. Every page that is dropped repeats one that was kept.

And no page is kept unjudged because a slot moves: that is waited for.
"""

from collections import Counter

import pytest
from redis_servers import wait_until
from shared_crawlers import K, Together
from shared_groups import CRAWLERS, one_round_of_crawlers, require_guarantees

from dedup_filter import NearDuplicateFilter
from dedup_filter.errors import StoreAway

LOG = "dedup:{pages}:length"
SOME_RECORDS = [f"dedup:{{pages:{number}}}:page:{number}" for number in (1, 500)]
GROUPS = 60


def promote_replica(cluster):
    """Let a replica of the log's node take over, as an operator does before an upgrade."""
    replica = cluster.replica_of(cluster.master_of(LOG))
    replica.ask("CLUSTER", "FAILOVER")
    wait_until(lambda: replica.ask("ROLE")[0] == b"master", "a replica that is promoted")
    cluster.wait_ok()


def outcomes(crawlers):
    return Counter(what for what, _ in crawlers.became.values())


@pytest.mark.slow
def test_slots_that_move_and_a_replica_that_is_promoted_cost_nothing(start_redis_cluster):
    cluster = start_redis_cluster(replicas=True)
    rounds = one_round_of_crawlers("claim", GROUPS)
    moved = 0
    with Together(cluster.url, "claim", rounds, min_similarity=0.7) as crawlers:
        crawlers.listen(until=60)
        while len(crawlers.ended) < CRAWLERS:
            for key in [LOG, *SOME_RECORDS]:
                cluster.move_slot(key, at_once=1 + moved % 4)
            moved += 1
            if moved == 2:
                assert not outcomes(crawlers)["kept while away"], "it was not waited for"
                promote_replica(cluster)
            crawlers.listen(until=len(crawlers.became) + 100)
    assert moved > 2
    assert set(crawlers.became) == {like for (likes,) in rounds for like in likes}
    # Some versions of Redis hold all calls for longer than one may take while a replica takes over.
    assert set(outcomes(crawlers)) <= {"kept", "dropped", "released", "kept while away"}
    require_guarantees(crawlers.became)
    with NearDuplicateFilter.open(cluster.url, max_distance=K) as pages:
        pages.check()
        assert len(pages) == outcomes(crawlers)["kept"]


def test_a_slot_that_moves_for_long_is_waited_for_and_nothing_is_half_done(
    redis_cluster, crawler, like, see, claim, monkeypatch
):
    monkeypatch.setattr("dedup_filter.pages.redis.connection.TIMEOUT", 0.5)
    one, other = crawler(redis_cluster), crawler(redis_cluster)
    see(one, like(1))
    held = claim(one, like(2))
    with redis_cluster.moving(LOG) as move_one:
        while True:
            for call in (lambda: see(other, like(3)), lambda: one.commit(held)):
                with pytest.raises(StoreAway, match="a slot of the cluster is moving"):
                    call()
            if not move_one():
                break
    for pages in (one, other):
        pages._kept._process.connection._rests_until = 0.0
    one.commit(held)
    assert see(other, like(3)).outcome == "new"
    assert see(other, like(2, 1)).outcome == "near"
    one.check()
    assert redis_cluster.client().get("dedup:{pages}:length") == b"3"
