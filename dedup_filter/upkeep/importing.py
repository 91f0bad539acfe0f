"""Lines -> an index. The first line tells what they are: an export of an index, or items.

A line is taken whole or not at all. The first bad one ends it, unless bad lines are to be
counted and passed over; the lines before it are in the index.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Protocol

from dedup_filter.errors import ConfigError, DedupError
from dedup_filter.text.page_fields import FieldNames
from dedup_filter.upkeep.imported import Imported
from dedup_filter.upkeep.items import Items
from dedup_filter.upkeep.lines import BadLine, Line
from dedup_filter.upkeep.page_lines import HEADER_KEY, Object
from dedup_filter.upkeep.places import Target
from dedup_filter.upkeep.restoring import Restoring

__all__ = ["ImportOptions", "Imported", "import_lines"]


@dataclass(frozen=True)
class ImportOptions:
    """How lines are taken."""

    skip_bad_lines: bool = False
    crawl: str = "import"
    """Items: the crawl they count as."""
    names: FieldNames = field(default_factory=FieldNames)
    """Items: the fields with the page and its URL."""
    first_line: int = 1
    """Items: the lines before it are passed over."""
    filter_options: Mapping[str, Any] = field(default_factory=dict)
    """Items: as for `NearDuplicateFilter.open`."""


class _Taker(Protocol):
    def take(self, line: Object) -> None: ...

    def close(self) -> None: ...


def import_lines(lines: Iterable[Line], target: Target, options: ImportOptions) -> Imported:
    """Put what lines tell into an index, which is made if there is none.

    Raises:
        BadLine: one of them is not what the first one promises. Those before it are taken.
        DedupError: the index cannot be opened or written.
    """
    imported = Imported()
    rest = iter(lines)
    first = _first_object(rest, imported, options)
    if first is None:
        return imported
    line, fields = first
    taker: _Taker
    if HEADER_KEY in fields:
        if options.first_line > 1:
            raise ConfigError(
                "an export is imported from its first line on: what the index has already is "
                "passed over"
            )
        taker = Restoring(target, imported)
    else:
        taker = Items(target, imported, options.names, options.crawl, options.filter_options)
    try:
        _take_all(taker, chain([line], rest), imported, options)
    finally:
        taker.close()
    return imported


def _first_object(
    lines: Iterator[Line], imported: Imported, options: ImportOptions
) -> tuple[Line, Object] | None:
    for line in lines:
        try:
            return line, line.fields()
        except BadLine as bad:  # noqa: PERF203 - each of them may be bad
            _count_bad(bad, imported, options)
    return None


def _take_all(
    taker: _Taker, lines: Iterable[Line], imported: Imported, options: ImportOptions
) -> None:
    for line in lines:
        if line.number < options.first_line:
            continue
        try:
            _take(taker, line)
        except BadLine as bad:
            _count_bad(bad, imported, options)
        else:
            imported.lines += 1


def _take(taker: _Taker, line: Line) -> None:
    try:
        taker.take(line.fields())
    except DedupError:
        raise
    except ValueError as why:
        raise line.bad(str(why)) from None


def _count_bad(bad: BadLine, imported: Imported, options: ImportOptions) -> None:
    if not options.skip_bad_lines:
        raise bad
    imported.bad_lines += 1
    imported.first_bad = imported.first_bad or str(bad)
