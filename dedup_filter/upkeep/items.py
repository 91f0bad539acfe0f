"""Items of an earlier crawl's feed -> pages that an index remembers, as if they came in a crawl.

An item has its page in `html`, else in `text`, and its URL in `url`, unless other fields are
named. Nothing else is asked of it. Options that shape fingerprints are those that the
index was made with, and distance and scope those of its tables, or those of the crawlers of a
shared index, unless they are given.

Cost: that of judging the pages.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.text.page_fields import FieldNames, page_in, url_in
from dedup_filter.upkeep.imported import Imported
from dedup_filter.upkeep.page_lines import Object
from dedup_filter.upkeep.places import Target

__all__ = ["Items"]


class Items:
    """Takes items; the index is open from the start.

    Raises:
        DedupError: the index cannot be opened or written.
    """

    def __init__(
        self,
        target: Target,
        imported: Imported,
        names: FieldNames,
        crawl: str,
        options: Mapping[str, Any],
    ) -> None:
        self._names = _in_a_feed(names)
        self._imported = imported
        options = {**target.options(), **options}
        self._filter = NearDuplicateFilter.open(target.location, crawl=crawl, **options)

    def take(self, item: Object) -> None:
        """Judge the page of an item. Raises ValueError if it has none: why."""
        if "sketch" in item and "original_page" in item:
            raise ValueError(
                "is a page of an export, and the first line of the export, which says how "
                "fingerprints were made, is not before it"
            )
        url = url_in(item, self._names)
        if url is None:
            raise ValueError(
                f"has no URL (looked for: {self._names.url}); say where with --url-field"
            )
        page = page_in(item, self._names)
        if isinstance(page, str):
            raise ValueError(self._why_not(page))  # noqa: TRY004 - the reason is the string
        verdict = self._filter.see(url, html=page.html, text=page.text)
        self._imported.outcomes[verdict.outcome] += 1

    def close(self) -> None:
        """Write everything to disk and let go of the index."""
        self._filter.close()

    def _why_not(self, reason: str) -> str:
        where = ", ".join(name for name in (self._names.html, *self._names.text) if name)
        what = "no text of a page" if reason == "no_field" else "something else than text"
        return f"has {what} (looked for: {where}); say where with --html-field or --text-fields"


def _in_a_feed(names: FieldNames) -> FieldNames:
    """Complete names by those that fields of a feed have unless it is said otherwise."""
    names = replace(names, url=names.url or "url")
    return names if names.name_page else replace(names, html="html", text=("text",))
