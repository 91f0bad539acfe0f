"""Item -> the text of its page, or the reason why it has none.

Works for dict, Item, dataclass, attrs and pydantic items. Pure; knows itemadapter, not Scrapy.
How fields are found and read: `dedup_filter.page_fields`.
"""

from collections.abc import Callable
from typing import Any

from itemadapter import ItemAdapter

from dedup_filter.page_fields import (
    HTML_NAMES,
    TEXT_NAMES,
    URL_NAMES,
    FieldNames,
    PageText,
    is_long,
    looks_like_markup,
    page_in,
    url_in,
)

__all__ = [
    "HTML_NAMES",
    "TEXT_NAMES",
    "URL_NAMES",
    "FieldNames",
    "PageText",
    "is_long",
    "item_page",
    "item_url",
    "looks_like_markup",
]


def item_page(item: Any, names: FieldNames, is_page: Callable[[PageText], bool]) -> PageText | str:
    """Return the text of an item's page, or the reason why there is none."""
    if not ItemAdapter.is_item(item):
        return "no_field"
    return page_in(ItemAdapter(item), names, is_page)


def item_url(item: Any, names: FieldNames) -> str | None:
    """Return the URL of an item's page, or None if the item does not tell."""
    return url_in(ItemAdapter(item), names) if ItemAdapter.is_item(item) else None
