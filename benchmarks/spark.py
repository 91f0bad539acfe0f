"""Spark beside the library's own engines, in one run: pairs, verdicts, and rates.

    python benchmarks/spark.py --fingerprints 300000
    python benchmarks/spark.py --sets FOLDER [--names shelled-en,ota] [--pages 500]

The first compares all pairs of random fingerprints within k bits, a tenth with a near one planted,
with the pairs of `hamming.near_pairs`. The second scores the verdicts on labelled sets
(`labelled_sets`) and the filter's verdicts, and counts the pages whose verdicts differ.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from labelled_sets import LabelledSet, read_sets
from pyspark.sql import SparkSession
from stream_score import score

from dedup_filter import NearDuplicateFilter, near_pairs
from dedup_filter.spark import near_pairs as spark_pairs
from dedup_filter.spark import verdicts

SHOWN = 10


def main() -> None:
    """Do what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--partitions", default="4", help="of a shuffle")
    parser.add_argument("--fingerprints", type=int, default=0)
    parser.add_argument("-k", "--max-distance", type=int, default=3)
    parser.add_argument("--sets", type=Path)
    parser.add_argument("--names", default="")
    parser.add_argument("--pages", type=int, help="of each set, the first so many")
    given = parser.parse_args()
    settings = {
        "spark.sql.shuffle.partitions": given.partitions,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "3g",
    }
    spark = SparkSession.builder.master(given.master).config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    if given.fingerprints:
        compare_pairs(spark, given.fingerprints, given.max_distance)
    if given.sets:
        for each in read_sets(given.sets, [*filter(None, given.names.split(","))]):
            each.rows = each.rows[: given.pages]
            compare_verdicts(spark, each)


def compare_pairs(spark: SparkSession, count: int, distance: int) -> None:
    """Compare the pairs of random fingerprints, a tenth of them near another one."""
    random = np.random.default_rng(1)
    values = random.integers(0, 2**64, count, dtype=np.uint64)
    near = values[: count // 10].copy()
    for _ in range(distance):
        near ^= np.uint64(1) << random.integers(0, 64, len(near)).astype(np.uint64)
    values = np.concatenate([values, near])
    begun = perf_counter()
    wanted = set(near_pairs(values, distance))
    local = perf_counter() - begun
    rows = spark.createDataFrame([(each,) for each in values.view(np.int64).tolist()], "value long")
    begun = perf_counter()
    found = spark_pairs(rows, distance, column="value").collect()
    seconds = perf_counter() - begun
    got = {tuple(sorted((row.left % 2**64, row.right % 2**64))) for row in found}
    print(
        f"{len(values):,} fingerprints, k = {distance}: {len(wanted):,} pairs, {len(found):,} on "
        f"Spark, {len(wanted ^ got)} differ; {local:.1f} s here, {seconds:.1f} s there"
    )


def compare_verdicts(spark: SparkSession, labelled: LabelledSet) -> None:
    """Score both, and count the pages whose originals differ."""
    field = "html" if labelled.is_pages else "text"
    rows = [{"url": row.get("url", row["id"]), field: row[field]} for row in labelled.rows]
    begun = perf_counter()
    with NearDuplicateFilter.open() as pages:
        here = [pages.see(**row).original for row in rows]
    local = perf_counter() - begun
    begun = perf_counter()
    there = originals_on_spark(spark, rows)
    seconds = perf_counter() - begun
    ids = {row["url"]: each["id"] for row, each in zip(rows, labelled.rows, strict=True)}
    print(f"{labelled.name}: {len(rows):,} pages")
    for name, originals, took in ("filter", here, local), ("Spark", there, seconds):
        named = {
            ids[row["url"]]: ids[original]
            for row, original in zip(rows, originals, strict=True)
            if original is not None
        }
        due, caught, right, wrong = found = score([*ids.values()], labelled.labels, named)
        print(
            f"  {name}: {len(named):,} dropped, F1 {found.f1:.4f}, {caught} of {due} caught, "
            f"{right} right, {wrong} wrong, {len(rows) / took:.0f} pages/s"
        )
    different = [
        (
            "only by Spark" if a is None else "only by the filter" if b is None else "as another",
            f"    {row['url']}: {a}, on Spark {b}",
        )
        for row, a, b in zip(rows, here, there, strict=True)
        if a != b
    ]
    print("  dropped", dict(Counter(kind for kind, _ in different)))
    print(*(shown for _, shown in different[:SHOWN]), sep="\n", flush=True)


def originals_on_spark(spark: SparkSession, rows: Iterable[dict[str, str]]) -> list[str | None]:
    """Return the original of each page, None for a kept one."""
    with tempfile.TemporaryDirectory() as folder:
        # From a file: rows that the driver holds would be sent with every task.
        path = f"{folder}/pages"
        numbered = ({"place": place, **row} for place, row in enumerate(rows))
        for some in batched(numbered, 200):
            frame = spark.createDataFrame(some, "place int, url string, html string, text string")
            frame.coalesce(1).write.mode("append").parquet(path)
        found = verdicts(spark.read.parquet(path), order="place", prefix="")
        return [row.original for row in sorted(found.select("place", "original").collect())]


def batched(rows: Iterator[Any], size: int) -> Iterator[list[Any]]:
    """Yield some rows at a time."""
    while some := list(islice(rows, size)):
        yield some


if __name__ == "__main__":
    main()
