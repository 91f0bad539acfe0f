"""Pairs of members -> clusters: the connected components, each named by its least member.

Large-star and small-star in turns (Kiveris, Lattanzi, Mirrokni, Rastogi and Vassilvitskii 2014,
"Connected Components in MapReduce and Beyond"):

    large-star   each neighbour greater than a node is linked to the node's least neighbour
    small-star   the node itself and its lesser neighbours are linked to its least neighbour

Both preserve the components. At the end each member is linked to the least of its cluster: after
about log(n)**2 rounds at most, mostly four to six. The neighbours of a member are aggregated, not
collected, even if there are millions: only the least one is needed.

A chain of small steps is one cluster, though its ends may be far apart.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as Spark's own manual has it

from dedup_filter.spark.plans import content, cut


def clusters(pairs: DataFrame) -> DataFrame:
    """Return `member` and `cluster`, the least member of its cluster, for each member of a pair.

    The first two columns of `pairs` are the members: numbers, strings, or other values with an
    order. A pair of a member with itself makes a cluster of one.
    """
    left, right = (F.col(f"`{name}`") for name in pairs.columns[:2])
    edges = pairs.select(F.greatest(left, right).alias("a"), F.least(left, right).alias("b"))
    alone = edges.where("a = b").select(F.col("a").alias("member"), F.col("b").alias("cluster"))
    edges = cut(edges.where("a > b").distinct())
    before = None
    while (now := content(edges)) != before:
        edges, before = cut(_small_star(_large_star(edges))), now
    stars = edges.select(F.col("a").alias("member"), F.col("b").alias("cluster"))
    centres = edges.select(F.col("b").alias("member"), F.col("b").alias("cluster")).distinct()
    known = stars.union(centres)
    return cut(known.union(alone.distinct().join(known, "member", "left_anti")))


def _large_star(edges: DataFrame) -> DataFrame:
    both = edges.union(edges.select("b", "a"))  # each node, and each of its neighbours
    least = both.groupBy("a").agg(F.min("b").alias("least"))
    hung = both.where("b > a").join(least, "a")
    return hung.select(F.col("b").alias("a"), F.least("a", "least").alias("b")).distinct()


def _small_star(edges: DataFrame) -> DataFrame:
    least = edges.groupBy("a").agg(F.min("b").alias("least"))
    hung = edges.join(least, "a").where("b != least").select(F.col("b").alias("a"), "least")
    return hung.union(least).toDF("a", "b").distinct()
