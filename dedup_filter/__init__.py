"""A streaming near-duplicate filter for web crawlers.

In a Scrapy project: `ADDONS = {"dedup_filter.Addon": 500}`. Anywhere else:

    with NearDuplicateFilter.open() as pages:
        verdict = pages.see("https://example.com/a", html=body)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dedup_filter.config import FilterConfig
    from dedup_filter.errors import ConfigError, DedupError
    from dedup_filter.filter import NearDuplicateFilter
    from dedup_filter.fingerprints.profile import fingerprint
    from dedup_filter.hamming.clusters import clusters
    from dedup_filter.hamming.hamming_index import HammingIndex
    from dedup_filter.hamming.near_pairs import near_pairs
    from dedup_filter.hamming.pairs import hamming_distance
    from dedup_filter.model import Match, NearPage, Verdict
    from dedup_filter.scrapy_plugin import Addon, NearDuplicate
    from dedup_filter.store.sqlite_store import add_hamming_distance

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
    "add_hamming_distance",
    "clusters",
    "fingerprint",
    "hamming_distance",
    "near_pairs",
]


_MODULES = {
    "Addon": "scrapy_plugin",
    "ConfigError": "errors",
    "DedupError": "errors",
    "FilterConfig": "config",
    "HammingIndex": "hamming.hamming_index",
    "Match": "model",
    "NearDuplicate": "scrapy_plugin",
    "NearDuplicateFilter": "filter",
    "NearPage": "model",
    "Verdict": "model",
    "add_hamming_distance": "store.sqlite_store",
    "clusters": "hamming.clusters",
    "fingerprint": "fingerprints.profile",
    "hamming_distance": "hamming.pairs",
    "near_pairs": "hamming.near_pairs",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used.

    So the library works without Scrapy, and `scrapy` imports the command `dedup` quickly.
    """
    if name == "__version__":
        from importlib.metadata import version

        return version("dedup-filter")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List all names, imported or not."""
    return sorted({*globals(), *__all__, "__version__"})
