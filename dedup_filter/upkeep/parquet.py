"""Records of an index -> a Parquet file, with the columns of the view `judged_pages`.

64-bit fingerprints are signed, as in the view (`schema.sql`). The file appears whole or not at all.
Records pass one by one, so memory does not grow with their number. Parquet cannot hold halves of
surrogate pairs in texts: U+FFFD replaces each.
"""

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from dedup_filter.errors import ConfigError, needs_extra
from dedup_filter.store.records import PageRecord
from dedup_filter.store.sqlite_store import signed
from dedup_filter.upkeep.whole_file import require_free, require_place, whole_file

COLUMNS = {
    "page": "int64",
    "url": "string",
    "host": "string",
    "outcome": "string",
    "reason": "string",
    "original_page": "int64",
    "original": "string",
    "distance": "int64",
    "similarity": "float64",
    "language": "string",
    "words": "int64",
    "first_seen": "timestamp",
    "last_seen": "timestamp",
    "first_crawl": "int64",
    "crawl": "int64",
    "fingerprint": "int64",
    "digest": "binary",
    "h1": "string",
    "title": "string",
}
"""Name -> type in Arrow; values are as in the view, but times are moments."""
_ROWS_AT_ONCE = 20_000
"""Rows in a group of the file, which are in memory together."""
_HALVES = re.compile("[\ud800-\udfff]")


def require_target(path: str, *, is_forced: bool) -> None:
    """Require that a Parquet file can be written to a path, before an index is read.

    Raises:
        ConfigError: the name does not end in ".parquet", a file is there and not forced, or a
            library is missing.
    """
    if not path.lower().endswith(".parquet") or "://" in path:
        # It may be an address with a password in it.
        raise ConfigError(f"--to must be FILE.parquet, not {path.partition(':')[0]!r}")
    (require_place if is_forced else require_free)(Path(path))
    with needs_extra("parquet", "--to"):
        import_module("pyarrow")


def write_parquet(records: Iterable[tuple[PageRecord, str | None]], path: str) -> int:
    """Write records, each with the URL of its original, to a file; return their number.

    Raises:
        OSError: the file cannot be written; an earlier file is still there.
    """
    import pyarrow as arrow
    from pyarrow import parquet

    moment = arrow.timestamp("s", "UTC")
    types = (moment if kind == "timestamp" else getattr(arrow, kind)() for kind in COLUMNS.values())
    schema = arrow.schema(zip(COLUMNS, types, strict=True))
    rows, pages = _rows(records), 0
    with (
        whole_file(Path(path)) as file,
        parquet.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        while group := list(islice(rows, _ROWS_AT_ONCE)):
            columns = map(arrow.array, zip(*group, strict=True), schema.types)
            writer.write_batch(arrow.RecordBatch.from_arrays(list(columns), schema=schema))
            pages += len(group)
    return pages


def _rows(records: Iterable[tuple[PageRecord, str | None]]) -> Iterator[tuple[Any, ...]]:
    for record, original in records:
        bits = record.fingerprint
        values = record._asdict() | {
            "original_page": record.original,
            "original": original,
            "fingerprint": None if bits is None else signed(bits),
        }
        yield tuple(
            _HALVES.sub("\ufffd", value) if isinstance(value, str) else value
            for value in map(values.__getitem__, COLUMNS)
        )
