"""Pages, and the earlier pages that each repeats -> the dropped pages.

    page 1    kept      repeats none
    page 2    dropped   repeats 1
    page 3    kept      repeats 2, which is dropped
    page 4    dropped   repeats 2 and 3

A page is dropped if it repeats an earlier page that is kept: the kept pages are the
lexicographically first maximal independent set of the graph. In each round a page is decided if all
its earlier neighbours are decided, or one of them is kept. So the longest chain of undecided pages
bounds the number of rounds; mostly five to ten, as each kept page decides all pages that repeat it
(Blelloch, Fineman and Shun 2012, "Greedy sequential maximal independent set and matching
are parallel on average"). When at most `few` pages and pairs are left, the driver decides them one
by one.

Equal pages make no pairs, because n equal pages would make n**2 / 2: only the first of them that is
not dropped counts.
"""

from collections import defaultdict

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as Spark's own manual has it

from dedup_filter.spark.plans import cut

FEW = 100_000
"""At most this many pages and pairs are decided by the driver, in 0.2 s and 50 MB."""


def dropped_pages(pages: DataFrame, repeats: DataFrame, few: int = FEW) -> DataFrame:
    """Return the dropped pages, in one column, `page`.

    `pages`: `page`, a number that ascends in their order, and `equal`, the same value for equal
    pages. `repeats`: `page`, and `other`, an earlier page that it repeats unless `other` is
    dropped; this frame is computed more than once.
    """
    crowds = pages.groupBy("equal").agg(F.count("page").alias("pages")).where("pages > 1")
    alike = pages.join(crowds.select("equal"), "equal")
    repeats = repeats.select("page", "other")
    ends = repeats.select("page").union(repeats.select("other")).distinct()
    known = ends.join(alike, "page", "full").withColumn("is_kept", F.lit(None).cast("boolean"))
    known = cut(known)
    while True:
        counts = known.agg(F.count("page"), F.count_if(F.col("is_kept").isNull())).first()
        assert counts is not None, "there is always one row of totals"
        nodes, undecided = counts
        if not undecided:
            return known.where("NOT is_kept").select("page")
        if nodes + repeats.count() <= few:
            return _decided_here(known, repeats)
        known, repeats = _decided(known, repeats)


def _decided_here(known: DataFrame, repeats: DataFrame) -> DataFrame:
    """Decide all pages in this process, in their order."""
    others = defaultdict(list)
    for page, other in repeats.collect():
        others[page].append(other)
    kept: set[int] = set()
    values, dropped = {None: False}, []
    for page, equal, is_kept in sorted(known.collect()):
        repeats_none = kept.isdisjoint(others[page]) and not values.get(equal)
        if is_kept or (is_kept is None and repeats_none):
            kept.add(page)
            values[equal] = equal is not None
        else:
            dropped.append((page,))
    return known.sparkSession.createDataFrame(dropped, "page bigint")


def _decided(known: DataFrame, repeats: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Decide the pages of one round; leave out the pairs of decided pages."""
    crowds = known.where("equal IS NOT NULL AND (is_kept IS NULL OR is_kept)").groupBy("equal")
    first = crowds.agg(F.min(F.struct("page", "is_kept")).alias("first"))
    others = known.select(F.col("page").alias("other"), F.col("is_kept").alias("other_is_kept"))
    around = (
        repeats.join(others, "other")
        .groupBy("page")
        .agg(
            F.bool_or(F.coalesce("other_is_kept", F.lit(False))).alias("repeats_kept"),
            F.bool_or(F.col("other_is_kept").isNull()).alias("may_repeat"),
        )
    )
    is_first = F.col("equal").isNull() | (F.col("first.page") == F.col("page"))
    is_equal = (F.col("first.page") < F.col("page")) & F.col("first.is_kept")
    is_kept = (
        F.when(F.col("is_kept").isNotNull(), F.col("is_kept"))
        .when(F.col("repeats_kept") | is_equal, False)
        .when(~F.coalesce("may_repeat", F.lit(False)) & is_first, True)
    )
    known = cut(
        known.join(first, "equal", "left")
        .join(around, "page", "left")
        .select("page", "equal", is_kept.alias("is_kept"))
    )
    undecided = known.where("is_kept IS NULL").select("page")
    return known, cut(repeats.join(undecided, "page"))
