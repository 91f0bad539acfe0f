"""Crawls beyond one machine: data frames of pages -> the pages without duplicates, on Spark.

    verdicts             pages -> the same rows with the filter's verdict on each
    without_duplicates   pages -> the pages that repeat no earlier one
    near_pairs           fingerprints -> all pairs within k bits
    clusters             pairs -> connected components

Plain data frame operations, and Python in Arrow batches; no code of ours runs in the JVM. The
package must be installed on the executors, with its extra `spark`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dedup_filter.spark.page_verdicts import verdicts, without_duplicates
    from dedup_filter.spark.pairs import clusters, near_pairs

__all__ = ["clusters", "near_pairs", "verdicts", "without_duplicates"]

_MODULES = {
    "clusters": "pairs",
    "near_pairs": "pairs",
    "verdicts": "page_verdicts",
    "without_duplicates": "page_verdicts",
}


def __getattr__(name: str) -> Any:
    """Import a function on its first use: pyspark may not be installed."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
