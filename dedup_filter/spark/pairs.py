"""Fingerprints in a data frame -> all pairs of them within k bits, by a join on (table, key).

    value -> (table, key) once for each table     stored
          -> (table, key XOR probe)               asked
    asked = stored in (table, key)                candidates
    bit_count(a XOR b) <= k, each once            pairs

`hamming.layout` gives the tables and probes; the layout with the least cost to move and compare
rows is used. Equal fingerprints are one value.

A key with more than `most` values is cut into s parts by a hash of the values. For all i and j, one
task compares part i of the query values with part j of the stored values: so no task compares
more than most**2 pairs for a key.

Manku, Jain and Das Sarma (2007), section 3; Norouzi, Punjani and Fleet (2012).

Pairs -> clusters, the connected components, each named by its least member: large-star and
small-star in turns (Kiveris, Lattanzi, Mirrokni, Rastogi and Vassilvitskii 2014, "Connected
Components in MapReduce and Beyond").

    large-star   each neighbour greater than a node is linked to the node's least neighbour
    small-star   the node itself and its lesser neighbours are linked to its least neighbour

Both preserve the components. At the end each member is linked to the least of its cluster: after
about log(n)**2 rounds at most, mostly four to six. The neighbours of a member are aggregated, not
collected, even if there are millions: only the least one is needed.
"""

from math import comb

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as Spark's own manual has it

from dedup_filter.hamming.layout import MAX_DISTANCE, Layout, TableShape, probe_keys, require_whole
from dedup_filter.spark.data_frames import cut
from dedup_filter.store.sqlite_store import signed

MOST_OF_KEY = 20_000
"""Values of a key that one task compares with as many others: 2 to 4 seconds."""
_MOST_BLOCKS = 12
_MOST_TABLES = 40
_MOVED, _COMPARED = 1.0, 0.02
"""Microseconds to move a row to its key, and to compare a row there."""


def near_pairs(
    fingerprints: DataFrame,
    max_distance: int = 3,
    *,
    column: str = "fingerprint",
    most: int = MOST_OF_KEY,
) -> DataFrame:
    """Return all pairs of distinct fingerprints within a distance, each once.

    `column` is a bigint: Spark's integers are signed, so a fingerprint from 2**63 on is given, and
    returned, less 2**64. Rows without a fingerprint are skipped. Columns of the result: `left`,
    `right` (left < right), `distance`.

    Cost: `benchmarks/spark.py`. With a million random fingerprints and k = 3, four rows of 24 bytes
    are moved for each fingerprint.

    Raises:
        ConfigError: `max_distance` is not a whole number from 0 to 12.
    """
    require_whole("max_distance", max_distance, 0, MAX_DISTANCE)
    values = fingerprints.select(F.col(column).cast("bigint").alias("value"))
    values = cut(values.where("value IS NOT NULL").distinct())
    return neighbours(values, values, max_distance, most=most).where("left < right")


def neighbours(
    asked: DataFrame, stored: DataFrame, max_distance: int, *, most: int = MOST_OF_KEY
) -> DataFrame:
    """Return the stored values within a distance of each `asked` value: left, right, distance.

    Both have one column, `value`, of distinct numbers. A value is no neighbour of itself.
    """
    layout = join_layout(stored.count(), max_distance)
    shapes = layout.tables_needed(max_distance)
    spark = stored.sparkSession
    probes = spark.createDataFrame(
        [
            (table, int(probe))
            for table, shape in enumerate(shapes)
            for probe in probe_keys(shape, max_distance, shape.prefix_bits)
        ],
        "table int, probe bigint",
    )
    keyed = _keyed(stored, shapes)
    sizes = keyed.groupBy("table", "key").count().where(F.col("count") > most)
    parts = cut(
        sizes.select("table", "key", F.ceil(F.col("count") / most).cast("int").alias("parts"))
    )
    of_key = ["table", "key", "i", "j"]
    asking = _keyed(asked, shapes).join(F.broadcast(probes), "table")
    asking = asking.withColumn("key", F.col("key").bitwiseXOR(F.col("probe")))
    lefts = _cut_in_parts(asking, parts, mine="i", other="j").select(
        *of_key, F.col("value").alias("left")
    )
    rights = _cut_in_parts(keyed, parts, mine="j", other="i").select(
        *of_key, F.col("value").alias("right")
    )
    differing = F.col("left").bitwiseXOR(F.col("right"))
    distance = F.bit_count(differing)
    return (
        lefts.join(rights, of_key)
        .where((distance <= max_distance) & (F.col("left") != F.col("right")))
        .select("left", "right", distance.alias("distance"))
        .distinct()
    )


def join_layout(count: int, max_distance: int) -> Layout:
    """Return the layout with the least cost for a join of `count` fingerprints.

    >>> join_layout(100, 3), join_layout(300_000, 3), join_layout(10**10, 3)
    (Layout(4, 1), Layout(4, 1), Layout(6, 3))
    """
    layouts = [
        Layout(blocks, leading)
        for blocks in range(2, _MOST_BLOCKS + 1)
        for leading in range(1, blocks)
        if comb(blocks, leading) <= _MOST_TABLES
    ]
    return min(
        (layout for layout in layouts if layout.is_exact(max_distance)),
        key=lambda layout: _cost(layout, count, max_distance),
    )


def _cost(layout: Layout, count: int, max_distance: int) -> float:
    cost = 0.0
    for shape in layout.tables_needed(max_distance):
        probes = shape.probe_count(max_distance)
        cost += _MOVED * (1 + probes) + _COMPARED * probes * count / 2**shape.prefix_bits
    return cost


def _keyed(values: DataFrame, shapes: tuple[TableShape, ...]) -> DataFrame:
    """Return (value, table, key) for each value and table."""
    value = F.col("value")
    keys = [
        F.struct(F.lit(table).alias("table"), _key(value, shape).alias("key"))
        for table, shape in enumerate(shapes)
    ]
    return values.select("value", F.inline(F.array(*keys)))


def _key(value: Column, shape: TableShape) -> Column:
    """Return the first bits of the permuted form of a value, as a number."""
    moved = []
    for mask, by in shape.key_moves(shape.prefix_bits):
        taken = value.bitwiseAND(F.lit(signed(mask)))
        moved.append(F.shiftleft(taken, by) if by >= 0 else F.shiftrightunsigned(taken, -by))
    key = moved[0]
    for other in moved[1:]:
        key = key.bitwiseOR(other)
    return key


def _cut_in_parts(rows: DataFrame, parts: DataFrame, *, mine: str, other: str) -> DataFrame:
    """Add to each row the number of its own part, and copy the row for each part of the others."""
    hashed = F.pmod(F.xxhash64("value"), F.coalesce("parts", F.lit(1))).cast("int")
    others = F.sequence(F.lit(0), F.coalesce("parts", F.lit(1)) - 1)
    return (
        rows.join(F.broadcast(parts), ["table", "key"], "left")
        .withColumn(mine, hashed)
        .withColumn(other, F.explode(others))
    )


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
    while (now := _content(edges)) != before:
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


def _content(frame: DataFrame) -> tuple[int, ...]:
    """Return numbers that are equal for the same distinct rows, and almost never for others."""
    hashed = frame.select(F.xxhash64(*frame.columns).alias("hash"))
    counts = hashed.agg(F.count("hash"), F.coalesce(F.bit_xor("hash"), F.lit(0))).first()
    assert counts is not None, "there is always one row of totals"
    return tuple(counts)
