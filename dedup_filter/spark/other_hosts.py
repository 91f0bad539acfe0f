"""Kept pages of hosts -> those that repeat an earlier kept page of another host.

    equal pages       -> the first of them; the others repeat it
    first pages       -> pairs that fingerprints, phrases or canonical URLs find
    each pair         -> compared by the filter's rule
    pairs that agree  -> connected components -> greedy, in the order of pages, one task each

A page is dropped if it repeats an earlier page that is not dropped itself. A component is decided
in one pass over its pairs, because each pair leads to an earlier page.

Differs from the filter: a page is compared with all earlier pages, also with pages that are
dropped, so among many candidates others are the nearest. In the filter a phrase of more than 16
kept pages finds none; here it finds its first pages. In the filter hosts with the same menus share
a frame until their own is known; here a page on such a host repeats only equal pages of the others.

Hot values: equal pages make no pairs; equal fingerprints are one value to `pairs`, which cuts hot
keys in parts; a fingerprint or a phrase finds its first `MOST_COMPARED` pages; and no text of a
page has more candidates.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - as Spark's own manual has it

from dedup_filter.comparison.candidates import MOST_COMPARED
from dedup_filter.comparison.look_ups import repeated
from dedup_filter.comparison.loss import loss_of
from dedup_filter.config import FilterConfig
from dedup_filter.frames.host_frames import host_hash
from dedup_filter.spark.data_frames import Row, cut, mapped
from dedup_filter.spark.host_pages import KeptPage
from dedup_filter.spark.pairs import clusters, neighbours
from dedup_filter.store.few_pages import FewPages, latest_first
from dedup_filter.store.records import PageRecord

REPEATED = pa.schema(
    {
        "page": pa.int64(),
        "original": pa.int64(),
        "outcome": pa.string(),
        "distance": pa.int32(),
        "similarity": pa.float64(),
        "lost": pa.list_(pa.string()),
        "lost_words": pa.int64(),
        "reason": pa.string(),
        "rank": pa.int32(),
    }
)
"""A page and an earlier page that it repeats. `rank`: 0 for the best of several."""


def repeats_of_other_hosts(judged: DataFrame, config: FilterConfig) -> DataFrame:
    """Return `REPEATED` for each dropped page: rows of `host_pages.JUDGED`, read several times.

    The original of a page that is equal to an earlier page may be dropped itself.
    """
    kept = judged.where("equal IS NOT NULL")
    first = kept.groupBy("equal").agg(F.min("page").alias("original"))
    equal = kept.select("page", "equal").join(first, "equal").where("page != original")
    equal = equal.selectExpr(
        *("page", "original", "'exact' AS outcome", "0 AS distance", "1D AS similarity"),
        *("CAST(ARRAY() AS ARRAY<STRING>) AS lost", "0L AS lost_words"),
        *("CAST(NULL AS STRING) AS reason", "0 AS rank"),
    )
    firsts = kept.join(first.select(F.col("original").alias("page")), "page", "left_semi")
    pairs = cut(_near(firsts, config.max_distance).union(_sharing(firsts)).distinct())
    stored = firsts.select(F.col("page").alias("other"), "stored")
    of_page = pairs.join(stored, "other").groupBy("page").agg(F.collect_list("stored").alias("all"))
    asked = firsts.select("page", "compared").join(of_page, "page")
    return equal.union(_greedy(cut(mapped(asked, partial(_compared, config=config), REPEATED))))


def _near(pages: DataFrame, max_distance: int) -> DataFrame:
    """Return pages, and earlier ones within k bits: page, other."""
    texts = F.posexplode("asked_fingerprints").alias("text", "left")
    asked = pages.select("page", "group", texts)
    values = cut(asked.select(F.col("left").alias("value")).distinct())
    stored = pages.select(F.col("fingerprint").alias("value")).dropna().distinct()
    near = neighbours(values, stored, max_distance).toDF("left", "key", "distance")
    near = near.union(values.selectExpr("value", "value", "0"))
    return _met(asked.join(near, "left"), pages.withColumn("key", F.col("fingerprint")))


def _sharing(pages: DataFrame) -> DataFrame:
    """Return pages, and earlier ones that share phrases or that they name as canonical."""
    asked = pages.select("page", "group", F.explode("asked_keys").alias("key"))
    asked = asked.withColumns({"text": F.lit(0), "distance": F.lit(0)})
    return _met(asked, pages.withColumn("key", F.explode("keys")))


def _met(asked: DataFrame, stored: DataFrame) -> DataFrame:
    """Join pages with earlier pages of other hosts that have their keys: page, other.

    The first `MOST_COMPARED` pages of a key, and as many of a text, the nearest, then the pages
    with most of its keys.
    """
    found = stored.select("key", F.col("page").alias("other"), F.col("group").alias("its_group"))
    met = asked.join(_first(found, ["key"], "other"), "key")
    pairs = met.where("other < page AND group != its_group").groupBy("page", "text", "other")
    ranked = pairs.agg(F.min("distance").alias("distance"), (-F.count("key")).alias("lacks"))
    return _first(ranked, ["page", "text"], "distance", "lacks", "other").select("page", "other")


def _first(rows: DataFrame, of: Sequence[str], *order: str) -> DataFrame:
    """Return the first `MOST_COMPARED` rows of each group."""
    place = F.row_number().over(Window.partitionBy(*of).orderBy(*order))
    return rows.withColumn("place", place).where(F.col("place") <= MOST_COMPARED).drop("place")


def _compared(rows: Iterator[Row], config: FilterConfig) -> Iterator[Row]:
    """Compare pages with earlier ones: `page`, `compared`, `all` -> `REPEATED`, unordered."""
    for row in rows:
        asked = KeptPage.unpacked(row["compared"])
        earlier = sorted(map(KeptPage.unpacked, row["all"]))
        assert asked.profile is not None
        of_site = {each.record.host for each in earlier if asked.menus & each.host_menus}
        # On hosts with the same menus the frame is needed to distinguish pages of one template.
        is_any_compared = asked.profile.is_frame_known or config.min_similarity is None
        known = [each.record for each in earlier]
        look_ups = _Earlier([e for e in known if is_any_compared or e.host not in of_site], config)
        page = replace(asked.profile, site_counts=[dict.fromkeys(map(host_hash, of_site), 1)])
        for rank, found in enumerate(repeated(asked.record.place, page, look_ups, config)):
            loss = loss_of(page, found.candidate, is_same_host=False, shares=found.shares)
            yield {"page": row["page"], "rank": rank, "outcome": "near"} | {
                "original": found.candidate.page,
                "distance": found.candidate.distance,
                "similarity": loss.similarity,
                "lost": loss.lines,
                "lost_words": loss.words,
                "reason": found.candidate.source,
            }


class _Earlier(FewPages):
    """Earlier pages of other hosts; implements `LookUps`."""

    def __init__(self, records: Iterable[PageRecord], config: FilterConfig) -> None:
        super().__init__(config.max_distance)
        self._known = {each.page: each for each in records}

    def candidates(self) -> Iterable[PageRecord]:
        return self._known.values()

    def visits(self, key: int) -> list[PageRecord]:
        return latest_first(self.candidates(), key)

    def stored(self, pages: Sequence[int]) -> list[PageRecord]:
        return [self._known[page] for page in pages]


def _greedy(repeated: DataFrame) -> DataFrame:
    members = clusters(repeated.select("page", "original")).withColumnRenamed("member", "page")
    rows = repeated.join(members, "page").repartition("cluster")
    return mapped(rows.sortWithinPartitions("cluster", "page", "rank"), _decided, REPEATED)


def _decided(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield the first row of each page whose original is not dropped before."""
    cluster, dropped = None, set[int]()
    for row in rows:
        if row["cluster"] != cluster:
            cluster, dropped = row["cluster"], set()
        if row["page"] not in dropped and row["original"] not in dropped:
            dropped.add(row["page"])
            yield row
