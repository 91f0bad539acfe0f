"""Pairs of fingerprints on Spark, against every pair compared by numpy; pairs -> clusters."""

import random

import numpy as np
import pytest

import dedup_filter
from dedup_filter import ConfigError

pytest.importorskip("pyspark")

from dedup_filter.spark import clusters, near_pairs

pytestmark = pytest.mark.slow  # as is whatever starts a Spark


def planted(seed, count, distance):
    """Random fingerprints, a fifth of them near another one."""
    random = np.random.default_rng(seed)
    alone = random.integers(0, 2**64, count, dtype=np.uint64)
    near = alone[: count // 5].copy()
    for _ in range(distance + 1):  # a bit may be flipped back, or one too many be flipped
        near ^= np.uint64(1) << random.integers(0, 64, len(near)).astype(np.uint64)
    return np.concatenate([alone, near])


def brute_force(values, distance):
    values = np.unique(values.view(np.int64))
    differing = np.bitwise_count(values[:, None].view(np.uint64) ^ values.view(np.uint64))
    lefts, rights = np.nonzero(differing <= distance)
    return {
        (int(values[a]), int(values[b]), int(differing[a, b]))
        for a, b in zip(lefts, rights, strict=True)
        if a < b
    }


def framed(spark, values):
    return spark.createDataFrame([(int(each),) for each in values.view(np.int64)], "print bigint")


@pytest.mark.parametrize(("distance", "count"), [(3, 1_000), (12, 300)])
def test_finds_each_pair_once(spark, distance, count):
    values = planted(distance, count, distance)
    rows = near_pairs(framed(spark, values), distance, column="print").collect()
    assert len(rows) == len(set(rows))
    assert set(map(tuple, rows)) == brute_force(values, distance)
    assert rows


def test_cuts_a_hot_key_in_parts(spark):
    # 300 values that begin with the same 40 bits: all are in one bucket of most tables.
    random = np.random.default_rng(5)
    values = random.integers(0, 2**24, 300, dtype=np.uint64) | np.uint64(0xABCDE << 44)
    # Equal values are one value, however many there are; rows without a value are skipped.
    crowd = spark.range(100_000).selectExpr(f"{values.view(np.int64)[0]} AS print")
    nothing = spark.range(1).selectExpr("CAST(NULL AS BIGINT) AS print")
    given = framed(spark, values).union(crowd).union(nothing)
    rows = near_pairs(given, 3, column="print", most=20).collect()
    assert len(rows) == len(set(rows))
    assert set(map(tuple, rows)) == brute_force(values, 3)


def test_refuses_a_distance(spark):
    with pytest.raises(ConfigError, match="max_distance must be a whole number from 0 to 12"):
        near_pairs(spark.range(1).withColumnRenamed("id", "fingerprint"), 13)


def test_clusters_are_those_of_the_library(spark):
    draw = random.Random(3)
    pairs = [(draw.randrange(120), draw.randrange(120)) for _ in range(80)]
    pairs += [(200 + each, 201 + each) for each in range(9)]  # a chain
    pairs += [(300, 301 + each) for each in range(20)]  # a star
    pairs += [(400, 400)]
    found = {}
    for member, cluster in clusters(spark.createDataFrame(pairs, "a int, b int")).collect():
        found.setdefault(cluster, []).append(member)
    wanted = {each[0]: each for each in dedup_filter.clusters(pairs)}
    assert {cluster: sorted(members) for cluster, members in found.items()} == wanted
