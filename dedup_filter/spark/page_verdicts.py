"""Pages in a data frame -> the verdicts of the filter on them, in their order; two passes.

    pages -> packed blocks -> pages of each host in order, judged by the filter    (`host_pages`)
          -> kept pages that repeat an earlier page of another host are dropped    (`other_hosts`)

A page that repeats a dropped page names the page that the dropped one repeats: every original is
kept. Nothing is collected, and no task has all pages of a host in memory.

Differs from the filter on one machine:

- A host is judged as if there were no other, so a page that repeats a page of its host is not
  compared with other hosts. A site (hosts with the same menus) has no common frame.
- Pages of different hosts are compared when the frames of both are known: see `other_hosts`.
- Nothing is forgotten; the filter bounds the frames of all hosts and the pages that wait.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as Spark's own manual has it

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError
from dedup_filter.model import REPEATS
from dedup_filter.spark.data_frames import column, cut, fields_in, mapped, small_batches
from dedup_filter.spark.host_pages import JUDGED, READ, judged, read
from dedup_filter.spark.other_hosts import repeats_of_other_hosts
from dedup_filter.text.page_fields import PageText, names_in, path_to

_NO_MEANING = "max_pages expire_days keep_text changes revisit same_template workers".split()
_ONLY_IF_NAMED = ("title", "link")
"""Columns that are read only if they are named: many data frames have others of these names."""
VERDICT = "outcome original distance similarity lost lost_words cluster reason language".split()
"""The columns of a verdict, each named with the prefix."""
_OF_PAIR = "distance similarity lost lost_words".split()
"""The columns that compare a page with its original."""
_DECIDED = ["outcome", "original", *_OF_PAIR, "reason"]


def verdicts(
    pages: DataFrame,
    *,
    order: str | Sequence[str] | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    prefix: str = "dedup_",
    **options: Any,
) -> DataFrame:
    """Return the rows of some pages with the filter's verdict on each.

    The columns `url`, `html` (a string, or the bytes as they were fetched), `text` and
    `content_type` are read if they exist; `columns` gives other names for them:
    {"html": "body", "text": ["title", "page.body"]}. The texts of several columns are joined.
    "page.body" is the field "body" of the column "page", unless a column has that name. "title"
    names a column with the headlines of texts, or of HTML without a title; "link" a column with
    the HTTP header Link. A row with `html` is a page; a row with only `text` is a text without a
    frame. `order` names the columns by which pages are ordered; without it the rows keep their
    order. The options are the options of `NearDuplicateFilter.open`.

    These columns are added, each named with the prefix:

        outcome     "new", "near", "exact", or "unjudged"
        original    the URL of the page that this one repeats
        distance    differing bits of the two fingerprints; null if the page was compared with a
                    page that repeats its original
        similarity  the share of the page's words that its original has, 0 to 1; null likewise
        lost        the first lines and passages that its original lacks; null likewise
        lost_words  how many words its original lacks; null likewise
        cluster     the same number for the page and all pages that repeat the same page
        reason      why an unjudged page was not judged, or how an original was found if not by
                    its fingerprint: "canonical", "shared_phrases"
        language    of the page's text

    Rows are numbered as they come, and joined with their verdicts by this number. So `pages` must
    give the same rows in the same order each time that it is computed, as files do; persist or
    write other data frames first.

    Cost: the pages are read once, and each host is judged by one task, as are all pages without a
    URL: docs/scaling.md. Runs when it is called.

    Raises:
        ConfigError: an option or a column is wrong, or has no meaning here.
    """
    for name in _NO_MEANING:
        if name in options:
            raise ConfigError(f"{name} has no meaning on Spark: leave it out")
    config = FilterConfig.of(options)
    numbered, given = _numbered(pages, columns or {})
    with small_batches(pages.sparkSession):
        packed = _in_order(mapped(given, partial(read, config=config), READ), numbered, order)
        # Pages of no host have no frame, and may be judged anywhere.
        tasks = int(pages.sparkSession.conf.get("spark.sql.shuffle.partitions", "200") or 200)
        anywhere = F.concat(F.lit("#"), F.pmod(F.xxhash64("page"), F.lit(tasks)).cast("string"))
        group = F.when(F.col("host") == "", anywhere).otherwise(F.col("host"))
        of_hosts = packed.withColumn("group", group).repartition("group")
        rows = of_hosts.sortWithinPartitions("group", "page")
        found = mapped(rows, partial(judged, config=config), JUDGED)
        found.persist(StorageLevel.DISK_ONLY)
        try:
            decided = cut(_decided(found, config))
        finally:
            found.unpersist()
    named = decided.select("row", *(F.col(name).alias(f"{prefix}{name}") for name in VERDICT))
    return numbered.join(named, "row").drop("row")


def without_duplicates(pages: DataFrame, **options: Any) -> DataFrame:
    """Return the rows of pages that repeat no earlier page, unchanged.

    Pages that cannot be judged are kept. Parameters and errors: see `verdicts`.
    """
    prefix = "_dedup_"
    judged = verdicts(pages, prefix=prefix, **options)
    is_kept = ~F.col(f"{prefix}outcome").isin(*REPEATS)
    return judged.where(is_kept).drop(*(prefix + name for name in VERDICT))


def _numbered(
    pages: DataFrame, columns: Mapping[str, str | Sequence[str]]
) -> tuple[DataFrame, DataFrame]:
    """Return the pages with the number of each row, and the columns that are read."""
    numbered = pages.withColumn("row", F.monotonically_increasing_id())
    if "row" in pages.columns:
        raise ConfigError("the column 'row' is needed for the numbers of rows: name it otherwise")
    there = fields_in(pages.schema)
    read: list[Column] = [F.col("row")]
    for name in ("url", *PageText._fields):
        given = columns.get(name, () if name in _ONLY_IF_NAMED else name)
        named = [given] if isinstance(given, str) else given
        missing = [each for each in named if not path_to(there, each)]
        if missing and name in columns:
            raise ConfigError(f"there is no column {missing[0]!r}, only {[*names_in(there)]}")
        found = F.lit(None)
        if named and not missing:
            found = _joined([column(there, each) for each in named])
        is_bytes = name == "html" and pages.select(found.alias(name)).dtypes[0][1] == "binary"
        read.append(found.cast("binary" if is_bytes else "string").alias(name))
    return numbered, numbered.select(*read)


def _joined(columns: Sequence[Column]) -> Column:
    """Join the texts of columns, without missing ones, by line breaks."""
    if len(columns) == 1:
        return columns[0]
    texts = [each.cast("string") for each in columns]
    return F.when(F.coalesce(*texts).isNotNull(), F.concat_ws("\n", *texts))


def _in_order(read: DataFrame, numbered: DataFrame, order: str | Sequence[str] | None) -> DataFrame:
    """Give the pages numbers from 1 in their order."""
    if order is None:
        return read.withColumn("page", F.col("row") + 1)
    by = [order] if isinstance(order, str) else [*order]
    if missing := [name for name in by if name not in numbered.columns]:
        raise ConfigError(f"there is no column {missing[0]!r} to order by")
    keys = numbered.select("row", *(F.col(f"`{name}`") for name in by)).sort(*by, "row")
    numbers = cut(keys.select("row", (F.monotonically_increasing_id() + 1).alias("page")))
    return read.join(numbers, "row")


def _decided(found: DataFrame, config: FilterConfig) -> DataFrame:
    """Return the verdicts by row, from the verdicts within each host."""
    own = found.select("page", "row", "url", "language", *_DECIDED)
    if config.scope != "host":
        dropped = cut(repeats_of_other_hosts(found, config)).select("page", *_DECIDED)
        others = own.select("page", "row", "url", "language").join(dropped, "page")
        own = own.join(dropped, "page", "left_anti").unionByName(others)
        # A copy of its host -> an equal page of another host -> a page that is kept.
        own = _followed(_followed(own, dropped), dropped)
    urls = own.select(F.col("page").alias("original"), F.col("url").alias("named"))
    is_page = (F.col("outcome") != "unjudged") | F.col("original").isNotNull()
    cluster = F.when(is_page, F.coalesce("original", "page"))
    named = own.withColumn("cluster", cluster).join(urls, "original", "left").drop("original")
    return named.withColumnRenamed("named", "original").select("row", *VERDICT)


def _followed(verdicts: DataFrame, dropped: DataFrame) -> DataFrame:
    """Replace each original that is dropped itself by the page that it repeats."""
    onward = dropped.select(
        F.col("page").alias("original"),
        F.col("original").alias("last"),
        F.col("outcome").alias("how"),
    )
    # An equal page is as near as the page that it is equal to.
    is_as_near = F.col("how").isNull() | (F.col("how") == "exact")
    return verdicts.join(onward, "original", "left").select(
        *("page", "row", "url", "language", "reason"),
        F.when(F.col("how") == "near", "near").otherwise(F.col("outcome")).alias("outcome"),
        F.coalesce("last", "original").alias("original"),
        *(F.when(is_as_near, F.col(name)).alias(name) for name in _OF_PAIR),
    )
