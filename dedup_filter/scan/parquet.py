"""Parquet files: rows in, rows out; needs pyarrow.

For judging, only the columns with pages and URLs are read. Rows are written with the schema and the
compression of the file that they come from. A row group is read in pieces, so memory depends
neither on the file nor on its row groups.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

from dedup_filter.errors import ConfigError, DedupError, needs_extra
from dedup_filter.model import Verdict
from dedup_filter.scan.files import is_url, open_input, version_of
from dedup_filter.text.page_fields import URL_NAMES, FieldNames, names_in, path_to

_ROWS = 64
"""Rows that are read at once to be judged."""
_ROWS_COPIED = 256
_BUFFER = 2**20
"""Bytes of a column that are read at once. Without this, whole row groups would be read."""
_GROUP_BYTES = 64 * 2**20
"""Uncompressed bytes of a row group that is written."""
_DEFAULTS = FieldNames("html", ("text",), "url")
"""Default columns: html or text may be missing, and so may url."""
_INTEGERS = ("distance", "lost_words", "words", "cluster")
_SHARES = ("similarity", "change")
_LINES = ("lost",)
"""Fields of a mark by their types; the others are strings."""


class DamagedFileError(DedupError):
    """A file is not Parquet, or is cut off: the directory of its rows is at its end."""


class ParquetRows:
    """The rows of a file.

    Raises:
        DedupError: by all methods: the file cannot be read, or pyarrow is not installed; on
            opening, DamagedFileError if the file is damaged.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._size = version_of(name)[1]
        arrow = _pyarrow()
        with _naming(name):
            source = open_input(name) if is_url(name) else name
            self._file = arrow.parquet.ParquetFile(source, pre_buffer=False, buffer_size=_BUFFER)
        self.schema = self._file.schema_arrow

    @property
    def compression(self) -> str:
        """The compression of the first column."""
        metadata = self._file.metadata
        if not (metadata.num_row_groups and metadata.num_columns):
            return "snappy"
        name: str = metadata.row_group(0).column(0).compression
        return "none" if name == "UNCOMPRESSED" else name

    def columns(self, names: FieldNames) -> list[str]:
        """Return the columns to be read.

        Raises:
            ConfigError: a named column, or a named field within a column, is missing.
        """
        there = _fields_in(self.schema)
        if missing := missing_columns(there, names):
            raise ConfigError(f"{self._name} {missing}")
        urls = URL_NAMES if names.url is None else ()
        read = {path[0] for name in (*names.all, *urls) if (path := path_to(there, name))}
        return [name for name in there if name in read]

    def items(self, columns: Sequence[str], start: int) -> Iterator[tuple[int, int, Any]]:
        """Yield (number, bytes passed, row as a mapping) from a row on."""
        first, count = 0, self._file.metadata.num_rows
        for batch in self.batches(_ROWS, columns):
            rows = batch.slice(max(start - first, 0)).to_pylist()
            first += len(batch)
            for row, item in enumerate(rows, first - len(rows)):
                yield row, self._size * (row + 1) // count, item

    def batches(
        self, rows: int = _ROWS_COPIED, columns: Sequence[str] | None = None
    ) -> Iterator[Any]:
        """Yield record batches of so many rows, of some columns; None: of all."""
        with _naming(self._name):
            yield from self._file.iter_batches(rows, columns=columns)

    def __enter__(self) -> "ParquetRows":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


class ParquetOutput:
    """A file of rows with the schema of another file, with or without marks and texts.

    `mark` is the name of the column of marks, `text` of texts; columns of these names are replaced.
    """

    def __init__(
        self, file: BinaryIO, like: ParquetRows, mark: str | None, text: str | None = None
    ) -> None:
        arrow = _pyarrow()
        types = {
            **dict.fromkeys(Verdict("new").as_json(), arrow.string()),
            **dict.fromkeys(_INTEGERS, arrow.int64()),
            **dict.fromkeys(_SHARES, arrow.float64()),
            **dict.fromkeys(_LINES, arrow.list_(arrow.string())),
        }
        marks = arrow.struct([*types.items()])
        self._schema = like.schema
        self._added = [each for each in (text, mark) if each is not None]
        for name in self._added:
            if name in self._schema.names:
                self._schema = self._schema.remove(self._schema.get_field_index(name))
            kind = marks if name == mark else arrow.string()
            self._schema = self._schema.append(arrow.field(name, kind))
        self._writer = arrow.parquet.ParquetWriter(file, self._schema, compression=like.compression)
        self._waiting: list[Any] = []
        self._bytes = 0

    def write(
        self, batch: Any, added: Mapping[str, Sequence[Any]], is_wanted: Sequence[bool]
    ) -> None:
        """Write the rows of a batch that are wanted; `added`: column -> a value for each row."""
        arrow = _pyarrow()
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        for name in self._added:
            columns[name] = arrow.array(added[name], self._schema.field(name).type)
        rows = arrow.RecordBatch.from_arrays(
            [columns[name] for name in self._schema.names], schema=self._schema
        ).filter(arrow.array(is_wanted))
        self._waiting.append(rows)
        self._bytes += rows.nbytes
        if self._bytes >= _GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        """Write buffered rows and the end of the file."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if any(map(len, self._waiting)):
            rows = _pyarrow().Table.from_batches(self._waiting, self._schema)
            self._writer.write_table(rows, row_group_size=len(rows))
        self._waiting.clear()
        self._bytes = 0


def require_alike(files: Sequence[str], names: FieldNames) -> None:
    """Require that files can be judged, and be written to one file.

    Raises:
        ConfigError: a column is missing, or columns differ.
        DedupError: all files are damaged.
    """
    first: tuple[str, Any] | None = None
    damage: DamagedFileError | None = None
    for name in files:
        try:
            rows = ParquetRows(name)
        except DamagedFileError as error:
            damage = damage or error
            continue
        with rows:
            rows.columns(names)
            first = first or (name, rows.schema)
            if not rows.schema.equals(first[1]):
                raise ConfigError(f"{name} has other columns than {first[0]}: scan it by itself")
    if first is None and damage is not None:
        raise damage


def missing_columns(there: Mapping[str, Any], names: FieldNames) -> str | None:
    """Describe the needed columns, and fields within columns, that are missing; None: none."""
    pages = [*filter(None, (names.html, *names.text))]
    missing = [name for name in pages if not path_to(there, name)]
    may_miss = names.html == _DEFAULTS.html and names.text == _DEFAULTS.text
    if may_miss and len(missing) < len(pages):
        missing = []
    others = {*names.all}.difference(pages, [_DEFAULTS.url])
    missing += sorted(name for name in others if not path_to(there, name))
    if not missing:
        return None
    return (
        f"has no column {' or '.join(map(repr, missing))} (its columns: "
        f"{', '.join(names_in(there))}); name columns with --html-field, --text-fields, "
        "--url-field, --title-field"
    )


def _fields_in(fields: Iterable[Any]) -> dict[str, Any]:
    """Return the names of columns as a mapping; nested fields are nested mappings."""
    is_struct = _pyarrow().types.is_struct
    return {
        each.name: _fields_in(map(each.type.field, range(each.type.num_fields)))
        if is_struct(each.type)
        else None
        for each in fields
    }


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Turn errors of pyarrow into errors that name the file."""
    arrow = _pyarrow()
    try:
        yield
    except (arrow.ArrowException, OSError) as error:
        is_damaged = getattr(error, "errno", None) is None  # errors of the system have a number
        kind = DamagedFileError if is_damaged else DedupError
        raise kind(f"{name} cannot be read as Parquet: {error}") from error


def _pyarrow() -> Any:
    with needs_extra("parquet", "Parquet"):
        import pyarrow as module
        import pyarrow.parquet
    return module
