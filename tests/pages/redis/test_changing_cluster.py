"""A cluster that is changed while crawlers are at work: slots move, a replica is promoted.

No page is kept unjudged because a slot moves: that is waited for.
"""

import pytest
from shared_crawlers import K, Together, claim, end_rest, like, see
from shared_groups import CRAWLERS, one_round_of_crawlers, require_each_once, require_no_loss

from dedup_filter import NearDuplicateFilter
from dedup_filter.errors import StoreAway

LOG = "dedup:{pages}:length"
SOME_RECORDS = [f"dedup:{{pages:{number}}}:page:{number}" for number in (1, 500)]


@pytest.mark.slow
def test_slots_that_move_and_a_replica_that_is_promoted_cost_nothing(start_redis_cluster):
    cluster = start_redis_cluster(replicas=True)
    rounds = one_round_of_crawlers("claim", groups=60)
    moved = 0
    with Together(cluster.url, "claim", rounds, min_similarity=0.7) as crawlers:
        crawlers.listen(until=60)
        while len(crawlers.ended) < CRAWLERS:
            for key in [LOG, *SOME_RECORDS]:
                cluster.move_slot(key, at_once=1 + moved % 4)
            moved += 1
            if moved == 2:
                assert not crawlers.whats()["kept while away"], "it was not waited for"
                replica = cluster.replica_of(cluster.master_of(LOG))
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


def test_a_slot_that_moves_for_long_is_waited_for_and_nothing_is_half_done(
    redis_cluster, crawler, monkeypatch
):
    monkeypatch.setattr("dedup_filter.pages.redis.connection.TIMEOUT", 0.2)
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
    end_rest(one, other)
    one.commit(held)
    assert see(other, like(3)).outcome == "new"
    assert see(other, like(2, 1)).outcome == "near"
    one.check()
    assert redis_cluster.client().get(LOG) == b"3"
