"""Pages in a data frame -> the verdicts of the filter on them, in their order.

    pages -> blocks (`read_pages`) -> pages of each host in order (`host_pass`)
         -> query and stored fingerprints     ^
         -> near values -> candidates         |  hosts with wrong predictions
         -> examined -> dropped pages --------+

A page is dropped if it repeats an earlier page that was kept. Its own text depends on which earlier
pages of its host were dropped. So hosts are processed again with the new results, until these no
longer change. Then each verdict equals the filter's, by induction over the order: if all earlier
verdicts are right, so are the frame, the candidates and the verdict of the next page.

Differs from the filter on one machine:

- A host with more than `host_pages` pages is cut into parts, each with a frame of its own.
- In a site (hosts with the same menu) a host gets the updates of the first `MOST_UPDATES` hosts.
- Pages are found by their fingerprints alone, and not by phrases that they share.
- Nothing is forgotten; the filter bounds the frames of all hosts and the pages that wait.
- Among pages with equal fingerprints, the first `MOST_COMPARED` that are not dropped are
  candidates, and as many earlier versions of pages that were judged again since.

Nothing is collected. Hot values: equal fingerprints are one value to `fingerprint_pairs`,
which cuts hot keys in parts; and no page has more than `MOST_COMPARED` candidates of a value.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - as Spark's own manual has it

from dedup_filter.comparison.candidates import MOST_COMPARED
from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError
from dedup_filter.model import REPEATS
from dedup_filter.spark.dropped_pages import dropped_pages
from dedup_filter.spark.fingerprint_pairs import neighbours
from dedup_filter.spark.host_pass import TOLD, passer
from dedup_filter.spark.plans import batches_of, column, content, cut, fields_in
from dedup_filter.spark.read_pages import READ, reader
from dedup_filter.text.page_fields import names_in, path_to
from dedup_filter.wording import counted

logger = logging.getLogger(__name__)

MOST_UPDATES = 32
"""Hosts of a site whose first pages are sent to other hosts: as on Redis (`frame_exchange`)."""
HOST_PAGES = 20_000
"""Pages of a host that one task processes in turn: one to two minutes."""
MOST_ROUNDS = 12
_SPREAD = 4096
"""Groups of pages that belong to no host."""
_BATCH = 64
"""Pages that Python gets at a time: 7 MB of HTML."""
_UNUSED = (
    *("shared_phrases", "canonical", "max_pages", "expire_days", "keep_text"),
    *("revisit", "workers"),
)

_STORED = ("host", "fingerprint", "digest", "sketch", "headline")
"""Fields by which a candidate is compared."""
VERDICT = "outcome original distance similarity cluster reason language".split()
"""The columns of a verdict, each named with the prefix."""


def verdicts(
    pages: DataFrame,
    *,
    order: str | Sequence[str] | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    prefix: str = "dedup_",
    host_pages: int = HOST_PAGES,
    **options: Any,
) -> DataFrame:
    """Return the rows of some pages with the filter's verdict on each.

    The columns `url`, `html` (a string, or the bytes as they were fetched), `text` and
    `content_type` are read if they exist; `columns` gives other names for them:
    {"html": "body", "text": ["title", "page.body"]}. The texts of several columns are joined.
    "page.body" is the field "body" of the column "page", unless a column has that name. "title"
    names a column with the headlines of texts, or of HTML without a title. A row with `html` is a
    page; a row with only `text` is a text without a frame. `order` names the columns by which
    pages are ordered; without it the rows keep their order. The options are the options of
    `NearDuplicateFilter.open`.

    These columns are added, each named with the prefix:

        outcome     "new", "near", "exact", or "unjudged"
        original    the URL of the page that this one repeats
        distance    differing bits of the two fingerprints
        similarity  the share of the page's phrases that its original has, 0 to 1
        cluster     the same number for the page and all pages that repeat the same page
        reason      why an unjudged page was not judged
        language    of the page's text

    Rows are numbered as they come, and joined with their verdicts by this number. So `pages` must
    give the same rows in the same order each time that it is computed, as files do; persist or
    write other data frames first.

    Cost: the pages are read once; each host is processed twice, and once more for each round with
    a wrong prediction for one of its pages: docs/scaling.md. Runs when it is called.

    Raises:
        ConfigError: an option or a column is wrong, or has no meaning here.
    """
    config = _config(options, host_pages)
    numbered, given = _numbered(pages, columns or {})
    with batches_of(pages.sparkSession, _BATCH):
        read = given.mapInArrow(reader(config), READ)
        read = _in_order(read, numbered, order).persist(StorageLevel.DISK_ONLY)
        try:
            found = _judged(_grouped(read, config, host_pages), config)
        finally:
            read.unpersist()
    named = found.select("row", *(F.col(name).alias(f"{prefix}{name}") for name in VERDICT))
    return numbered.join(named, "row").drop("row")


def without_duplicates(pages: DataFrame, **options: Any) -> DataFrame:
    """Return the rows of pages that repeat no earlier page, unchanged.

    Pages that cannot be judged are kept. Parameters and errors: see `verdicts`.
    """
    prefix = "_dedup_"
    judged = verdicts(pages, prefix=prefix, **options)
    is_kept = ~F.col(f"{prefix}outcome").isin(*REPEATS)
    return judged.where(is_kept).drop(*(prefix + name for name in VERDICT))


def _config(options: dict[str, Any], host_pages: int) -> FilterConfig:
    for name in _UNUSED:
        if name in options:
            raise ConfigError(f"{name} has no meaning on Spark: leave it out")
    if type(host_pages) is not int or host_pages < 1:
        raise ConfigError(f"host_pages must be a whole number from 1, not {host_pages!r}")
    return FilterConfig.of({**options, "shared_phrases": False})


def _numbered(
    pages: DataFrame, columns: Mapping[str, str | Sequence[str]]
) -> tuple[DataFrame, DataFrame]:
    """Return the pages with the number of each row, and the columns that are read."""
    numbered = pages.withColumn("row", F.monotonically_increasing_id())
    if "row" in pages.columns:
        raise ConfigError("the column 'row' is needed for the numbers of rows: name it otherwise")
    there = fields_in(pages.schema)
    read: list[Column] = [F.col("row")]
    for name in ("url", "html", "text", "content_type", "title"):
        given = columns.get(name, () if name == "title" else name)
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


def _grouped(read: DataFrame, config: FilterConfig, host_pages: int) -> DataFrame:
    """Give each page the name of its group: a host, or a part of one."""
    spread = F.concat(F.lit("#"), F.pmod(F.xxhash64("page"), F.lit(_SPREAD)))
    if not config.learn_frames:
        return read.withColumn("group", spread)
    is_framed = F.col("is_html") & (F.col("host") != "") & F.col("reason").isNull()
    framed = read.where(is_framed)
    large = framed.groupBy("host").count().where(F.col("count") > host_pages).select("host")
    within = framed.join(F.broadcast(large), "host").select("page", "host")
    place = F.row_number().over(Window.partitionBy("host").orderBy("page")) - 1
    parts = cut(within.select("page", F.floor(place / host_pages).alias("part")))
    group = F.concat("host", F.lit("/"), F.coalesce("part", F.lit(0)))
    return read.join(parts, "page", "left").withColumn(
        "group", F.when(is_framed, group).otherwise(spread)
    )


def _judged(pages: DataFrame, config: FilterConfig) -> DataFrame:
    """Return the verdicts by row."""
    judged = pages.where("reason IS NULL")
    dropped = pages.select("page").limit(0)
    updates = pages.selectExpr("group", "page", "'' site", "page added_by", "form update").limit(0)
    candidates = None
    told = cut(_passed(judged, dropped, candidates, updates, config))
    near = _Near(config.max_distance)
    for number in range(1, MOST_ROUNDS + 1):
        candidates = _candidates(told, dropped, near, config)
        edges = _edges(told, candidates)
        now_dropped = dropped_pages(_nodes(told, config), edges)
        foretold, updates = updates, cut(_updates(told))
        due = _due(told, now_dropped, candidates, foretold, updates)
        count = due.count()
        is_settled = not count and content(now_dropped) == content(dropped)
        dropped = now_dropped
        if is_settled:
            break
        logger.info("round %d: %s to be passed again", number, counted(count, "host"))
        if count:
            again = judged.join(due, "group")
            passed = _passed(again, dropped, candidates, updates, config)
            told = cut(told.join(due, "group", "left_anti").unionByName(passed))
    else:
        logger.warning("after %d rounds some verdicts may differ from the filter's", MOST_ROUNDS)
    return _verdicts(pages, told, dropped, edges, config)


def _passed(
    pages: DataFrame,
    dropped: DataFrame,
    candidates: DataFrame | None,
    updates: DataFrame,
    config: FilterConfig,
) -> DataFrame:
    """Process groups of pages with the predictions for each page."""
    foretold = pages.join(dropped.withColumn("is_dropped", F.lit(True)), "page", "left")
    foretold = foretold.fillna(False, "is_dropped")
    if candidates is None:
        foretold = foretold.withColumn("candidates", F.lit(None).cast("array<int>"))
    else:
        found = F.struct("text", "distance", F.col("other").alias("page"), "version", *_STORED)
        of_page = candidates.groupBy("page").agg(
            F.array_sort(F.collect_list(found)).alias("candidates")
        )
        foretold = foretold.join(of_page, "page", "left")
    of_site = F.struct(F.col("added_by").alias("page"), "site", "update")
    of_page = updates.groupBy("page").agg(F.array_sort(F.collect_list(of_site)).alias("updates"))
    foretold = foretold.join(of_page, "page", "left").select(
        *("group", "page", "url", "is_html", "form", "title", "is_dropped", "candidates", "updates")
    )
    in_order = foretold.repartition("group").sortWithinPartitions("group", "page")
    return in_order.mapInArrow(passer(config), TOLD)


class _Near:
    """The pairs of near values among all values so far."""

    def __init__(self, max_distance: int) -> None:
        self._max_distance = max_distance
        self._values: DataFrame | None = None
        self._pairs: DataFrame | None = None

    def of(self, values: DataFrame) -> DataFrame:
        """Return left, right, distance: all near pairs in both directions, each value with itself.

        Only new values are looked up.
        """
        values = values.distinct()
        if self._values is None:
            values = new = cut(values)
        else:
            new = cut(values.join(self._values, "value", "left_anti"))
            if new.isEmpty():
                assert self._pairs is not None
                return self._pairs
            values = cut(self._values.union(new))
        pairs = neighbours(new, values, self._max_distance)
        pairs = cut(pairs.union(new.selectExpr("value", "value", "0")))
        if self._pairs is not None:
            known = pairs.join(new.withColumnRenamed("value", "right"), "right", "left_anti")
            back = known.selectExpr("right AS left", "left AS right", "distance")
            pairs = cut(self._pairs.union(pairs).union(back))
        self._values, self._pairs = values, pairs
        return pairs


def _candidates(
    told: DataFrame, dropped: DataFrame, near: _Near, config: FilterConfig
) -> DataFrame:
    """Return the candidates of each page, and the fields by which they are compared.

    As in the filter: the pages nearest to each text; each belongs to the first text that finds it.
    An exact copy of an earlier page needs no candidates.
    """
    pages = told.where("kind = 'page' AND size(texts) > 0")
    alive = pages.join(dropped, "page", "left_anti")
    keys = _keys(config)
    first = alive.groupBy(*keys).agg(F.min("page").alias("first"))
    asking = pages.join(first, keys, "left").where("first IS NULL OR first >= page")
    asks = asking.select("group", "page", "host", F.posexplode("texts").alias("text", "value"))
    by_page = Window.partitionBy("page").orderBy("since")
    versions = told.where("kind = 'version'").withColumn("until", F.lead("since").over(by_page))
    values = asks.select("value").union(versions.select(F.col("fingerprint").alias("value")))
    versions = versions.join(dropped, "page", "left_anti")
    within = ["host"] if config.scope == "host" else []
    of_value = Window.partitionBy("fingerprint", F.col("until").isNull(), *within).orderBy("page")
    versions = cut(versions.withColumn("place", F.row_number().over(of_value)))
    first_ones = versions.where(F.col("place") <= MOST_COMPARED).select(
        F.col("fingerprint").alias("right"),
        F.col("page").alias("other"),
        *["version", "since", "until", *within],
    )
    met = asks.join(near.of(values), asks.value == F.col("left"))
    met = met.join(first_ones, ["right", *within])
    met = met.where("since < page AND (until IS NULL OR page <= until)")
    of_text = Window.partitionBy("page", "text").orderBy("distance", "other")
    nearest = met.withColumn("rank", F.row_number().over(of_text)).where(f"rank <= {MOST_COMPARED}")
    found = nearest.groupBy("group", "page", "other").agg(
        F.min(F.struct("text", "distance", "version")).alias("by")
    )
    stored = versions.select("version", *_STORED)
    return cut(found.select("group", "page", "other", "by.*").join(stored, "version"))


def _edges(told: DataFrame, candidates: DataFrame) -> DataFrame:
    """Return the pairs of a page and an earlier page that it repeats."""
    examined = told.where("kind = 'examined' AND rule IS NULL")
    examined = examined.select("page", "version", "share", "is_exact")
    edges = candidates.select("page", "version", "other", "text", "distance")
    return cut(edges.join(examined, ["page", "version"]))


def _nodes(told: DataFrame, config: FilterConfig) -> DataFrame:
    """Return the pages that can be kept, with a value that is the same for equal pages."""
    pages = told.where("kind = 'page' AND equal_digest IS NOT NULL")
    # As a text: the driver gets binary values as bytearrays, which are not hashable.
    written = [F.hex(name) if name == "equal_digest" else F.col(name) for name in _keys(config)]
    return pages.select("page", F.concat_ws(" ", *written).alias("equal"))


def _keys(config: FilterConfig) -> list[str]:
    return ["equal_digest", "host"] if config.scope == "host" else ["equal_digest"]


def _updates(told: DataFrame) -> DataFrame:
    """Return the updates of other hosts to the sites that the pages of each group use.

    `page`: the first page of the group that uses the site. `added_by`: the page with the update.
    """
    asked = told.where("kind = 'site'").select("group", "page", "site")
    first = Window.partitionBy("site").orderBy("page")
    added = told.where("kind = 'update'").select(
        "site",
        F.col("group").alias("other"),
        F.col("page").alias("added_by"),
        "update",
        F.row_number().over(first).alias("place"),
    )
    added = added.where(F.col("place") <= MOST_UPDATES)
    updates = asked.join(added, "site").where(F.col("other") != F.col("group"))
    return updates.select("group", "page", "site", "added_by", "update")


def _due(
    told: DataFrame,
    dropped: DataFrame,
    candidates: DataFrame,
    foretold: DataFrame,
    updates: DataFrame,
) -> DataFrame:
    """Return the groups that were processed with predictions that are now known to be wrong."""
    # A page whose text was shown before has the same update, dropped or kept.
    counted = told.where("kind = 'page' AND counts")
    counted = counted.join(dropped.withColumn("is_dropped", F.lit(True)), "page", "left")
    otherwise = counted.where("was_dropped = (is_dropped IS NULL)").select("group")
    examined = told.where("kind = 'examined'").select("page", "version")
    unexamined = candidates.join(examined, ["page", "version"], "left_anti").select("group")
    known, before = (
        each.groupBy("group").agg(F.bit_xor(F.xxhash64("page", "site", "update")).alias(name))
        for each, name in ((updates, "now"), (foretold, "then"))
    )
    changed = known.join(before, "group", "full").where("NOT now <=> then").select("group")
    return cut(otherwise.union(unexamined).union(changed).distinct())


def _verdicts(
    pages: DataFrame, told: DataFrame, dropped: DataFrame, edges: DataFrame, config: FilterConfig
) -> DataFrame:
    """Return the verdicts; the original of a dropped page is an equal page, else the nearest."""
    measured = told.where("kind = 'page'")
    measured = measured.select("page", F.col("reason").alias("why"), "language", *_keys(config))
    kept = measured.where("equal_digest IS NOT NULL").join(dropped, "page", "left_anti")
    equal = kept.groupBy(*_keys(config)).agg(F.min("page").alias("equal"))
    best = F.struct("distance", (-F.col("share")).alias("lacks"), "text", "other", "is_exact")
    near = edges.join(kept.select(F.col("page").alias("other")), "other", "left_semi")
    near = near.groupBy("page").agg(F.min(best).alias("best"))
    known = measured.join(equal, _keys(config), "left").join(near, "page", "left")
    is_equal = F.col("equal") < F.col("page")
    known = known.select(
        *["page", "why", "language"],
        F.when(is_equal, F.col("equal")).otherwise(F.col("best.other")).alias("of"),
        F.when(is_equal, 0).otherwise(F.col("best.distance")).alias("distance"),
        F.when(is_equal, 1.0).otherwise(-F.col("best.lacks")).alias("similarity"),
        F.when(is_equal, True).otherwise(F.col("best.is_exact")).alias("is_exact"),
    )
    originals = pages.join(kept.select("page"), "page").select(
        F.col("page").alias("of"), F.col("url").alias("original")
    )
    found = pages.select("page", "row", "reason").join(known, "page", "left")
    found = found.join(originals, "of", "left")
    why = F.coalesce("reason", "why")
    is_repeat = F.col("of").isNotNull()
    outcome = F.when(is_repeat, F.when(F.col("is_exact"), "exact").otherwise("near"))
    outcome = outcome.when(why.isNotNull(), "unjudged").otherwise("new")
    return cut(
        found.select(
            *["row", "original", "distance", "similarity", "language"],
            outcome.alias("outcome"),
            F.when(~is_repeat, why).alias("reason"),
            F.when(is_repeat | why.isNull(), F.coalesce("of", "page")).alias("cluster"),
        )
    )
