"""Spark against the library's own engines, in one run: the same answers, and at which rates.

    python benchmarks/spark.py --fingerprints 300000
    python benchmarks/spark.py --sets FOLDER [--names shelled-en,ota] [--pages 500]

The first compares all pairs within k bits of random fingerprints, a tenth of which have a near one
planted, with those of `hamming.near_pairs`. The second compares the verdicts on labelled sets, page
for page, with those of the filter (`labelled_sets`), and tells what is moved for a page.
"""

import argparse
import logging
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from labelled_sets import read_sets
from pyspark.sql import SparkSession

from dedup_filter import NearDuplicateFilter, near_pairs
from dedup_filter.spark import near_pairs as spark_pairs
from dedup_filter.spark import verdicts
from dedup_filter.text.page_bytes import pack_page
from dedup_filter.text.reading import Page, read

VERDICT = ("outcome", "original", "distance", "similarity", "reason", "language")
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
    logging.basicConfig(level=logging.WARNING)
    logging.getLogger("dedup_filter").setLevel(logging.INFO)
    if given.fingerprints:
        compare_pairs(spark, given.fingerprints, given.max_distance)
    if given.sets:
        for each in read_sets(given.sets, [*filter(None, given.names.split(","))]):
            field = "html" if each.is_pages else "text"
            rows = [
                {"url": row.get("url", row["id"]), field: row[field]}
                for row in islice(each.rows, given.pages)
            ]
            compare_verdicts(spark, each.name, rows)


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


def compare_verdicts(spark: SparkSession, name: str, rows: list[dict[str, str]]) -> None:
    """Compare the verdicts on some pages, in order."""
    begun = perf_counter()
    with NearDuplicateFilter.open() as pages:
        wanted = [pages.see(**row) for row in rows]
    local = perf_counter() - begun
    with tempfile.TemporaryDirectory() as folder:
        # From a file: rows that the driver holds would be sent with every task.
        path = f"{folder}/pages"
        numbered = ({"place": place, **row} for place, row in enumerate(rows))
        for some in batched(numbered, 200):
            frame = spark.createDataFrame(some, "place int, url string, html string, text string")
            frame.coalesce(1).write.mode("append").parquet(path)
        begun = perf_counter()
        frame = verdicts(spark.read.parquet(path), order="place", prefix="")
        found = sorted(frame.select("place", *VERDICT).collect())
        seconds = perf_counter() - begun
    different = [
        f"  {row['url']}: {verdict.outcome} {verdict.original}, there {got.outcome} {got.original}"
        for row, verdict, got in zip(rows, wanted, found, strict=True)
        if tuple(getattr(verdict, part) for part in VERDICT) != got[1:]
    ]
    print(
        f"{name}: {len(rows):,} pages, {sum(each.is_duplicate for each in wanted):,} dropped, "
        f"{len(different)} differ; {len(rows) / local:.0f} pages/s here, "
        f"{len(rows) / seconds:.0f} there; {form_bytes(rows):,.0f} bytes a page are moved",
        *different[:SHOWN],
        sep="\n",
        flush=True,
    )


def batched(rows: Any, size: int) -> Iterator[list[Any]]:
    """Yield some rows at a time."""
    rows = iter(rows)
    while some := list(islice(rows, size)):
        yield some


def form_bytes(rows: list[dict[str, str]]) -> float:
    """Return the mean bytes of the form in which a page goes to the others of its host."""
    sizes = []
    for row in rows[:200]:
        page = read(row.get("html"), row.get("text"), None)
        packed = pack_page(page) if isinstance(page, Page) else row.get("text", "").encode()
        sizes.append(len(packed))
    return sum(sizes) / len(sizes)


if __name__ == "__main__":
    main()
