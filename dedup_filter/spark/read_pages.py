"""Rows with HTML or text -> the same pages as packed blocks, a tenth of the bytes.

    row, url, html, text, content type, title
    -> row, url, host, form, title of a text | why the page cannot be judged

The form of a page is its bytes as of `page_bytes`: all its texts can be chosen from them later,
whatever the frame of its host is. The form of a text is the text.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.types import StructType

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.read_page import Source
from dedup_filter.model import Unjudged
from dedup_filter.spark.plans import arrow_schema
from dedup_filter.text.page_bytes import pack_page
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import host_of
from dedup_filter.text.reading import Page

if TYPE_CHECKING:
    from pyspark.sql.pandas._typing import ArrowMapIterFunction

READ = (
    StructType()
    .add("row", "long")
    .add("url", "string")
    .add("host", "string")
    .add("is_html", "boolean")
    .add("form", "binary")
    .add("title", "string")
    .add("reason", "string")
)


def reader(config: FilterConfig) -> "ArrowMapIterFunction":
    """Return a function for `mapInArrow`: rows of pages -> `READ`."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        schema = arrow_schema(READ)
        for batch in batches:
            rows = [_read(row, config) for row in batch.to_pylist()]
            yield pa.RecordBatch.from_pylist(rows, schema)

    return read


def _read(row: dict[str, Any], config: FilterConfig) -> dict[str, Any]:
    url, html, text = row["url"] or "", row["html"], row["text"]
    taken = {"row": row["row"], "url": url, "host": host_of(url), "is_html": html is not None}
    if html is None and text is None:
        return {**taken, "reason": "no_field"}
    if html is None:
        return {**taken, "form": text.encode(), "title": row["title"]}
    given = PageText(html, None, row["content_type"], title=row["title"])
    try:
        page = Source.of(given, url, taken["host"], config).content()
    except Exception:  # a billion pages do not fail for one; it is kept and counted
        return {**taken, "reason": "error"}
    if isinstance(page, Unjudged):
        return {**taken, "reason": page.reason}
    assert isinstance(page, Page), "HTML is a page"
    return {**taken, "form": pack_page(page)}
