"""Items -> the page and the URL in their fields, and a warning if a setting names a wrong field.

If DEDUP_HTML_FIELD or DEDUP_TEXT_FIELDS names fields that an item does not have, or that hold no
text, the names may be misspelt: the log names the fields that the item has, once for each reason.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from itemadapter import ItemAdapter

from dedup_filter.model import Reason
from dedup_filter.text.page_fields import FieldNames, PageText, names_in, page_in, url_in
from dedup_filter.wording import printable

_LONGEST = 500
"""Characters of a list of fields in a warning."""

logger = logging.getLogger("dedup_filter")


class ItemFields:
    """Read the fields of the items of one crawl."""

    def __init__(self, names: FieldNames) -> None:
        self.names = names
        self._warned: set[Reason] = set()

    def url(self, item: Any) -> str:
        """Return the URL of an item's page, "" if there is none in its fields."""
        return url_in(_Fields(item), self.names) or ""

    def page(self, item: Any) -> PageText | Reason:
        """Return the text of an item's page, or the reason why its fields hold none."""
        fields = _Fields(item)
        page = page_in(fields, self.names)
        if isinstance(page, str) and self.names.name_page and page not in self._warned:
            self._warned.add(page)
            logger.warning("%s %s", type(item).__name__, self._warning(fields, page))
        return page

    def _warning(self, fields: Mapping[str, Any], reason: Reason) -> str:
        html = [] if self.names.html is None else [self.names.html]
        named = {"HTML_FIELD": html, "TEXT_FIELDS": self.names.text}
        looked = [f"{_listed(each)} (DEDUP_{name})" for name, each in named.items() if each]
        return (
            f"without page text ({reason}): looked for {', '.join(looked)}; its fields are "
            f"{_listed(names_in(fields)) or 'none'}; it and others like it are kept unjudged"
        )


class _Fields(Mapping[str, Any]):
    """The fields of an item, whatever the kind of the item and of the items within it."""

    def __init__(self, item: Any) -> None:
        self._item = ItemAdapter(item if ItemAdapter.is_item(item) else {})

    def __getitem__(self, name: str) -> Any:
        try:
            value = self._item[name]
        except AttributeError:  # a dataclass or attrs field without a value
            return None
        return _Fields(value) if ItemAdapter.is_item(value) else value

    def __iter__(self) -> Iterator[str]:
        return iter(self._item)

    def __len__(self) -> int:
        return len(self._item)


def _listed(names: Iterable[object]) -> str:
    return printable(", ".join(map(repr, names)), _LONGEST)
