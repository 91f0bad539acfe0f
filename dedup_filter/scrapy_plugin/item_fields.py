"""Items -> the page and the URL in their fields, and a warning if a setting names a wrong field.

    no_field, wrong_type    the named fields of an item hold no text: the names may be misspelt
    no_tag                  the field named for HTML holds plain text, such as a title
    no_title                the field named for the title is missing

Each warning is logged once a crawl, for the first such item.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from itemadapter import ItemAdapter

from dedup_filter.model import Reason
from dedup_filter.text.page_fields import FieldNames, PageText, has_tag, names_in, page_in, url_in
from dedup_filter.wording import printable

_LONGEST = 500
"""Characters of a list of fields in a warning."""
_NO_TAG, _NO_TITLE = "no_tag", "no_title"

logger = logging.getLogger("dedup_filter")


class ItemFields:
    """Read the fields of the items of one crawl."""

    def __init__(self, names: FieldNames) -> None:
        self.names = names
        self._warned: set[str] = set()

    def url(self, item: Any) -> str:
        """Return the URL of an item's page, "" if there is none in its fields."""
        return url_in(_Fields(item), self.names) or ""

    def page(self, item: Any) -> PageText | Reason:
        """Return the text of an item's page, or the reason why its fields hold none."""
        fields = _Fields(item)
        page = page_in(fields, self.names)
        problem = page if isinstance(page, str) else self._lack(page)
        if self.names.name_page and problem is not None and problem not in self._warned:
            self._warned.add(problem)
            logger.warning("%s %s", type(item).__name__, self._warning(fields, problem))
        return page

    def _lack(self, page: PageText) -> str | None:
        html = page.html
        if isinstance(html, str | bytes) and html.strip() and not has_tag(html):
            return _NO_TAG
        return _NO_TITLE if self.names.title is not None and page.title is None else None

    def _warning(self, fields: Mapping[str, Any], problem: str) -> str:
        names = self.names
        html, title = ([] if name is None else [name] for name in (names.html, names.title))
        there = f"its fields are {_listed(names_in(fields)) or 'none'}"
        if problem == _NO_TAG:
            return (
                f"without a tag in {_listed(html)}: DEDUP_HTML_FIELD is for the field with the "
                "page's HTML; name fields with plain text in DEDUP_TEXT_FIELDS"
            )
        if problem == _NO_TITLE:
            return f"without a title: looked for {_listed(title)} (DEDUP_TITLE_FIELD); {there}"
        named = {"HTML_FIELD": html, "TEXT_FIELDS": names.text, "TITLE_FIELD": title}
        looked = [f"{_listed(each)} (DEDUP_{name})" for name, each in named.items() if each]
        return (
            f"without page text ({problem}): looked for {', '.join(looked)}; {there}; it and "
            "others like it are kept unjudged"
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
