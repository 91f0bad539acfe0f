"""Layer "scrapy_plugin": one line in a Scrapy project -> repeated pages are dropped as they come.

    response -> Visit ─┐
    item -> PageText ──┴─> verdict -> item kept, marked or dropped

The only layer that imports Scrapy. It chooses the text of an item's page, calls the filter, acts on
the verdict and counts. It knows neither text extraction nor fingerprints nor the index.
"""

from dedup_filter.scrapy_plugin.pipeline import Addon, NearDuplicate

__all__ = ["Addon", "NearDuplicate"]
