"""Crawls beyond one machine: data frames of pages -> the pages without duplicates, on Spark.

    verdicts             pages -> the same rows with the filter's verdict on each
    without_duplicates   pages -> the pages that repeat no earlier one
    near_pairs           fingerprints -> all pairs within k bits
    clusters             pairs -> connected components

Plain data frame operations, and Python in Arrow batches; no code of ours runs in the JVM. The
package must be installed on the executors, with its extra `spark`.
"""

from dedup_filter.errors import needs_extra

with needs_extra("spark", "Spark"):
    from dedup_filter.spark.page_verdicts import verdicts, without_duplicates
    from dedup_filter.spark.pairs import clusters, near_pairs

__all__ = ["clusters", "near_pairs", "verdicts", "without_duplicates"]
