"""Items of an earlier crawl's feed -> pages that an index remembers, as if they came in a crawl.

Where an item has its page and its URL is guessed by the names of its fields, or said, as in a
crawl. Nothing else is asked of an item. Options that shape fingerprints are those that the
index was made with, and distance and scope those of its tables, unless they are given.

Cost: that of judging the pages.
"""

from collections.abc import Mapping
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.page_fields import HTML_NAMES, TEXT_NAMES, URL_NAMES, FieldNames, page_in, url_in
from dedup_filter.store.index_directory import IndexDirectory
from dedup_filter.store.page_reader import PageReader
from dedup_filter.store.table_files import TableFiles
from dedup_filter.transfer.imported import Imported
from dedup_filter.transfer.page_lines import Object

__all__ = ["Items", "stored_options"]


class Items:
    """Takes items; the index is open from the start.

    Raises:
        DedupError: the index cannot be opened or written.
    """

    def __init__(
        self,
        directory: str | Path,
        imported: Imported,
        names: FieldNames,
        crawl: str,
        options: Mapping[str, Any],
    ) -> None:
        self._names = names
        self._imported = imported
        options = {**stored_options(directory), **options}
        self._filter = NearDuplicateFilter.open(Path(directory), crawl=crawl, **options)

    def take(self, item: Object) -> None:
        """Judge the page of an item. Raises ValueError if it has none: why."""
        if "sketch" in item and "original_page" in item:
            raise ValueError(
                "is a page of an export, and the first line of the export, which says how "
                "fingerprints were made, is not before it"
            )
        url = url_in(item, self._names)
        if url is None:
            where = self._names.url or f"{', '.join(URL_NAMES[:3])} ..."
            raise ValueError(f"has no URL (looked for: {where}); say where with --url-field")
        page = page_in(item, self._names)
        if page == "no_text":
            self._imported.outcomes["unjudged"] += 1
            return
        if isinstance(page, str):
            raise ValueError(self._why_not(page))  # noqa: TRY004 - the reason is the string
        verdict = self._filter.see(url, html=page.html, text=page.text)
        self._imported.outcomes[verdict.outcome] += 1

    def close(self) -> None:
        """Write everything to disk and let go of the index."""
        self._filter.close()

    def _why_not(self, reason: str) -> str:
        named = [name for name in (self._names.html, *self._names.text) if name]
        where = ", ".join(named or [*HTML_NAMES[:1], *TEXT_NAMES[:1]]) + ("" if named else " ...")
        what = "no text of a page" if reason == "no_field" else "something else than text"
        return f"has {what} (looked for: {where}); say where with --html-field or --text-fields"


def stored_options(directory: str | Path) -> dict[str, Any]:
    """Return the options that an index was made with, as far as it tells; none if it is new."""
    files = IndexDirectory.at(directory)
    try:
        files.require_index()
    except ConfigError:
        return {}
    with PageReader.open_to_read(directory) as reader:
        parts = reader.scheme.parts
    default = FilterConfig()
    options = {
        option.name: type(getattr(default, option.name))(parts[option.name])
        for option in fields_of(FilterConfig)
        if option.name in parts
    }
    saved = TableFiles(files.tables).load()
    if not isinstance(saved, str) and {"max_distance", "by_host"} <= saved.about.keys():
        options["max_distance"] = saved.about["max_distance"]
        options["scope"] = "host" if saved.about["by_host"] else "all"
    return options
