"""Connected components, and which pages are dropped, against plain loops over the same pairs."""

import random

import pytest

import dedup_filter

pytest.importorskip("pyspark")

from dedup_filter.spark import clusters
from dedup_filter.spark.dropped_pages import dropped_pages


def test_clusters_are_those_of_the_library(spark):
    draw = random.Random(3)
    pairs = [(draw.randrange(120), draw.randrange(120)) for _ in range(80)]
    pairs += [(200 + each, 201 + each) for each in range(15)]  # a chain
    pairs += [(300, 301 + each) for each in range(40)]  # a star
    pairs += [(400, 400)]
    found = {}
    for member, cluster in clusters(spark.createDataFrame(pairs, "a int, b int")).collect():
        found.setdefault(cluster, []).append(member)
    wanted = {each[0]: each for each in dedup_filter.clusters(pairs)}
    assert {cluster: sorted(members) for cluster, members in found.items()} == wanted


def greedy(equal, repeats):
    kept, values = set(), set()
    for page in sorted(equal):
        if equal[page] in values or any(other in kept for other in repeats.get(page, ())):
            continue
        kept.add(page)
        values.add(equal[page])
    return set(equal) - kept


@pytest.mark.parametrize("few", [0, 10**6])
def test_drops_what_repeats_a_kept_page(spark, few):
    draw = random.Random(9)
    equal = {page: draw.choice([page + 1000, page % 9]) for page in range(1, 91)}
    repeats = {page: draw.sample(range(1, page), min(page - 1, 2)) for page in range(2, 91, 3)}
    pages = spark.createDataFrame(list(equal.items()), "page bigint, equal int")
    pairs = [(page, other) for page, others in repeats.items() for other in others]
    rows = dropped_pages(pages, spark.createDataFrame(pairs, "page bigint, other bigint"), few)
    dropped = [row.page for row in rows.collect()]
    assert len(dropped) == len(set(dropped))
    assert set(dropped) == greedy(equal, repeats)
