"""Item -> its page, or the reason why it has none.

Works for dict, Item, dataclass, attrs and pydantic items. Pure; knows itemadapter, not Scrapy.
How fields are found and read: `dedup_filter.text.page_fields`.
"""

from typing import Any

from itemadapter import ItemAdapter

from dedup_filter.text.page_fields import FieldNames, PageText, page_in, url_in

__all__ = ["item_page", "item_url"]


def item_page(item: Any, names: FieldNames) -> PageText | str:
    """Return the page of an item, or the reason why there is none."""
    return page_in(ItemAdapter(item), names) if ItemAdapter.is_item(item) else "no_field"


def item_url(item: Any, names: FieldNames) -> str | None:
    """Return the URL of an item's page, or None if the item does not tell."""
    return url_in(ItemAdapter(item), names) if ItemAdapter.is_item(item) else None
