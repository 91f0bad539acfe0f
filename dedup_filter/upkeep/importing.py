"""Lines of JSON -> an index. The first line tells what they are: an export, or items of a feed.

A line is taken whole or not at all. The first bad one ends the import, unless bad lines are to be
counted and passed over; the lines before it are in the index.

Records of an export come back as they were: into a new index under their own numbers, into one
that has pages already under numbers after those. A page that is there already (same URL, digest,
first time and outcome) is passed over, so that an import which was interrupted can be run again. A
host's frames come back unless this index knows the host itself. A shared index numbers pages
itself, and keeps nothing of dropped pages, frames and texts. An original that is not among the
lines counts as forgotten: page 0.

An item of a feed has its page in `html`, else in `text`, and its URL in `url`, unless other fields
are named. Items are judged as in a crawl, with the options that the index was made with or that
its crawlers use, unless others are given. Cost: that of judging the pages.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import xxhash

from dedup_filter.errors import DedupError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.hamming import HammingIndex
from dedup_filter.pages.directory.frame_store import HostFrames
from dedup_filter.pages.directory.page_store import PageStore
from dedup_filter.pages.directory.records import PageRecord, url_key
from dedup_filter.pages.redis import SharedKeeper
from dedup_filter.text.page_fields import FieldNames, page_in, url_in
from dedup_filter.upkeep import export_lines
from dedup_filter.upkeep.directory import DirectoryIndex
from dedup_filter.upkeep.servers import ServerIndex

__all__ = ["BadLine", "ImportOptions", "Imported", "Index", "Line", "import_lines", "read_lines"]

Index = DirectoryIndex | ServerIndex
Target = PageStore | SharedKeeper
"""An index that is open for the records of an export."""

_FORGOTTEN = 0
"""The number of an original that no index has a record of."""
_LONGEST_LINE = 128 * 2**20
"""Bytes. The largest page that is judged has 16 MiB of characters, six bytes each if escaped."""


class BadLine(DedupError):  # noqa: N818 - the fault is the name
    """A line of a file is not what is wanted there."""


class Line(NamedTuple):
    """A line of a file."""

    file: str
    number: int
    content: bytes

    def fields(self) -> export_lines.Object:
        """Read the object of JSON on it. Raises ValueError if there is none: why."""
        if len(self.content) >= _LONGEST_LINE:
            raise ValueError(f"is longer than {_LONGEST_LINE // 2**20} MiB")
        is_array = self.number == 1 and self.content[:1] == b"["
        hint = "; an object on each line is wanted (a .jsonl feed), not one array" * is_array
        try:
            value = json.loads(self.content)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"is not JSON ({error}){hint}") from None
        if not isinstance(value, dict):
            raise ValueError(f"is no JSON object{hint}")  # noqa: TRY004 - the line is bad
        return value


@dataclass(frozen=True)
class ImportOptions:
    """How lines are taken."""

    skip_bad_lines: bool = False
    first_line: int = 1
    """The lines before it are passed over."""
    crawl: str = "import"
    """Items: the crawl they count as."""
    names: FieldNames = field(default_factory=FieldNames)
    """Items: the fields with the page and its URL."""
    filter_options: Mapping[str, Any] = field(default_factory=dict)
    """Items: as for `NearDuplicateFilter.open`."""


@dataclass
class Imported:
    """Counts, by what became of the lines."""

    lines: int = 0
    """Lines that were taken, without bad ones."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """Pages that were recorded, and items that could not be judged, by outcome."""
    there_already: int = 0
    """Pages of an export that were recorded before."""
    hosts: int = 0
    """Hosts of an export whose frames were recorded."""
    hosts_known: int = 0
    """Hosts whose frames this index knew itself, and keeps."""
    not_kept: int = 0
    """Lines of an export that such an index keeps nothing of."""
    bad_lines: int = 0
    first_bad: str | None = None
    """What was wrong with the first of them."""


def read_lines(file: BinaryIO, name: str) -> Iterator[Line]:
    """Yield the lines of a file that are not blank; `name` is what messages call it."""
    number = 0
    while content := file.readline(_LONGEST_LINE):
        number += 1
        if not content.isspace():
            yield Line(name, number, content)
        while len(content) == _LONGEST_LINE and content[-1:] != b"\n":  # the rest of it
            content = file.readline(_LONGEST_LINE)


def import_lines(lines: Iterable[Line], index: Index, options: ImportOptions) -> Imported:
    """Put what lines tell into an index, which is made if there is none.

    Raises:
        BadLine: one of them is not what the first one promises. Those before it are taken.
        DedupError: the index cannot be opened or written.
    """
    imported = Imported()
    taker: _Records | _Items | None = None
    try:
        for line in lines:
            if line.number < options.first_line:
                continue
            try:
                fields = line.fields()
                if taker is None:
                    is_export = export_lines.HEADER_KEY in fields
                    taker = (_Records if is_export else _Items)(index, options, imported)
                taker.take(fields)
                imported.lines += 1
            except DedupError:
                raise
            except ValueError as why:
                bad = BadLine(f"{line.file}, line {line.number}: it {why}")
                if not options.skip_bad_lines:
                    raise bad from None
                imported.bad_lines += 1
                imported.first_bad = imported.first_bad or str(bad)
    finally:
        if taker is not None:
            taker.close()
    return imported


class _Records:
    """Takes the lines of one or more exports; the first of them opens the index."""

    def __init__(self, index: Index, _: ImportOptions, imported: Imported) -> None:
        self._index = index
        self._imported = imported
        self._target: Target | None = None
        self._there = HammingIndex(0)
        """Pages that were there before, by what never changes of them."""
        self._crawls: dict[int, int] = {}
        self._numbers = HammingIndex(0)
        """Pages by their numbers in the export."""
        self._last = 0
        """The last number in the export."""
        self._hosts: set[str] = set()

    def take(self, line: export_lines.Object) -> None:
        """Put back what a line tells. Raises ValueError if it cannot be: why."""
        if export_lines.HEADER_KEY in line:
            self._begin(line)
            return
        if self._target is None:
            raise ValueError("belongs to an export whose first line was refused")
        if export_lines.FRAMES_KEY in line:
            self._take_host(export_lines.host_in(line), self._target)
        else:
            self._take_page(*export_lines.record_in(line), self._target)

    def close(self) -> None:
        """Write everything to disk and let go of the index."""
        if self._target is not None:
            self._target.close()

    def _begin(self, line: export_lines.Object) -> None:
        self._crawls, self._numbers, self._last = {}, HammingIndex(0), 0
        scheme, crawls = export_lines.scheme_and_crawls_in(line)
        if self._target is None:
            self._target = self._index.target(scheme)
            pairs = ((_key(record), record.page) for record in self._target.records())
            there = np.fromiter(pairs, [("key", np.uint64), ("page", np.int64)])
            self._there.add_many(there["key"], there["page"])
            self._hosts = self._target.known_hosts()
        else:
            scheme.require(self._target.scheme, str(self._index))
        self._crawls = {crawl.number: self._target.restore_crawl(crawl) for crawl in crawls}

    def _take_page(self, record: PageRecord, text: str | None, target: Target) -> None:
        for crawl in (record.crawl, record.first_crawl):
            if crawl not in self._crawls:
                raise ValueError(f"has crawl {crawl}, of which the first line says nothing")
        if record.page <= self._last:
            raise ValueError(f"has page {record.page} after page {self._last}: out of order")
        there = self._there.rows_of(_key(record))
        number = there[0] if there else target.restore(self._renumbered(record), text)
        if there:
            self._imported.there_already += 1
        elif number is None:
            self._imported.not_kept += 1
        else:
            self._imported.outcomes[record.judged.outcome] += 1
        if number is not None:
            self._last = record.page
            self._numbers.add_new(record.page, number)

    def _renumbered(self, record: PageRecord) -> PageRecord:
        """Return a record with the numbers that its crawls and its original have here."""
        original = record.judged.original
        here = None if original is None else self._number(original)
        return record._replace(
            crawl=self._crawls[record.crawl],
            first_crawl=self._crawls[record.first_crawl],
            judged=record.judged._replace(original=here),
        )

    def _number(self, page: int) -> int:
        """Return the number that a page of the export has here."""
        return next(iter(self._numbers.rows_of(page)), _FORGOTTEN)

    def _take_host(self, known: HostFrames, target: Target) -> None:
        if known.host in self._hosts:
            self._imported.hosts_known += 1
            return
        here = self._number
        lessons = [each._replace(page=here(each.page)) for each in known.lessons]
        early = [each._replace(page=page) for each in known.early if (page := here(each.page))]
        if target.restore_host(known._replace(lessons=lessons, early=early)):
            self._hosts.add(known.host)
            self._imported.hosts += 1
        else:
            self._imported.not_kept += 1


class _Items:
    """Takes the items of a feed; the index is open from the start."""

    def __init__(self, index: Index, options: ImportOptions, imported: Imported) -> None:
        names = replace(options.names, url=options.names.url or "url")
        self._names = names if names.name_page else replace(names, html="html", text=("text",))
        self._imported = imported
        filter_options = {**index.filter_options(), **options.filter_options}
        self._filter = NearDuplicateFilter.open(
            index.location, crawl=options.crawl, **filter_options
        )

    def take(self, item: export_lines.Object) -> None:
        """Judge the page of an item. Raises ValueError if it has none: why."""
        if "sketch" in item and "original_page" in item:
            raise ValueError(
                "is a page of an export, and the first line of the export, which says how "
                "fingerprints were made, is not before it"
            )
        names = self._names
        url = url_in(item, names)
        if url is None:
            raise ValueError(f"has no URL (looked for: {names.url}); say where with --url-field")
        page = page_in(item, names)
        if isinstance(page, str):
            what = "no text of a page" if page == "no_field" else "something else than text"
            where = ", ".join(filter(None, (names.html, *names.text)))
            raise ValueError(  # noqa: TRY004 - the reason is the string
                f"has {what} (looked for: {where}); say where with --html-field or --text-fields"
            )
        verdict = self._filter.see(url, html=page.html, text=page.text)
        self._imported.outcomes[verdict.outcome] += 1

    def close(self) -> None:
        """Write everything to disk and let go of the index."""
        self._filter.close()


def _key(record: PageRecord) -> int:
    fixed = f"{url_key(record.url)} {record.first_seen} {record.judged.outcome} "
    return xxhash.xxh3_64_intdigest(fixed.encode() + record.digest)
