"""A streaming near-duplicate filter for web crawlers.

In a Scrapy project: `ADDONS = {"dedup_filter.Addon": 500}`. Anywhere else:

    with NearDuplicateFilter.open() as pages:
        verdict = pages.see("https://example.com/a", html=body)
"""

from typing import TYPE_CHECKING, Any

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError, DedupError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.fingerprints.profile import fingerprint
from dedup_filter.hamming.clusters import clusters
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.near_pairs import near_pairs
from dedup_filter.hamming.pairs import hamming_distance
from dedup_filter.model import Match, NearPage, Verdict

if TYPE_CHECKING:
    from dedup_filter.scrapy_plugin import Addon, NearDuplicate

__all__ = [
    "Addon",
    "ConfigError",
    "DedupError",
    "FilterConfig",
    "HammingIndex",
    "Match",
    "NearDuplicate",
    "NearDuplicateFilter",
    "NearPage",
    "Verdict",
    "clusters",
    "fingerprint",
    "hamming_distance",
    "near_pairs",
]


def __getattr__(name: str) -> Any:
    """Import the Scrapy side when it is first asked for: the library works without Scrapy."""
    if name in ("Addon", "NearDuplicate"):
        from dedup_filter import scrapy_plugin

        return getattr(scrapy_plugin, name)
    if name == "__version__":
        from importlib.metadata import version

        return version("dedup-filter")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
