"""Pairs of fingerprints on Spark, against every pair compared by numpy."""

import numpy as np
import pytest

from dedup_filter import ConfigError

pyspark = pytest.importorskip("pyspark")

from dedup_filter.spark import near_pairs  # noqa: E402 - it needs pyspark


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


@pytest.mark.parametrize(("distance", "count"), [(0, 100), (3, 1_000), (7, 400), (12, 300)])
def test_finds_each_pair_once(spark, distance, count):
    values = planted(distance, count, distance)
    rows = near_pairs(framed(spark, values), distance, column="print").collect()
    assert len(rows) == len(set(rows))
    assert set(map(tuple, rows)) == brute_force(values, distance)
    assert rows or not distance


def test_cuts_a_hot_key_in_parts(spark):
    # 300 values that begin with the same 40 bits: all are in one bucket of most tables.
    random = np.random.default_rng(5)
    values = random.integers(0, 2**24, 300, dtype=np.uint64) | np.uint64(0xABCDE << 44)
    rows = near_pairs(framed(spark, values), 3, column="print", most=20).collect()
    assert len(rows) == len(set(rows))
    assert set(map(tuple, rows)) == brute_force(values, 3)


def test_takes_a_value_once_however_often_it_occurs(spark):
    crowd = spark.range(100_000).selectExpr("7 AS fingerprint")
    others = spark.createDataFrame([(5,), (6,), (-1,), (None,)], "fingerprint bigint")
    rows = near_pairs(crowd.union(others), 2).collect()
    assert sorted(map(tuple, rows)) == [(5, 6, 2), (5, 7, 1), (6, 7, 1)]


def test_refuses_a_distance(spark):
    with pytest.raises(ConfigError, match="max_distance must be a whole number from 0 to 12"):
        near_pairs(spark.range(1).withColumnRenamed("id", "fingerprint"), 13)
