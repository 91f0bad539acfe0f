"""Lines of JSON -> an index. The first line tells what they are: an export, or items of a feed.

A line is taken whole or not at all. The first bad one ends the import, unless bad lines are to be
counted and passed over; the lines before it are in the index. Without a good one none is made.

Records of an export come back as they were, under their own numbers if these are free. A page that
is there already (same URL, digest, first time and outcome) is passed over, so that an import which
was interrupted can be run again. A host's frames come back unless this index knows the host itself.
A shared index numbers pages itself, and keeps nothing of dropped pages, frames and texts. An
original that is not among the lines counts as forgotten: page 0.

An item of a feed has its page in `html`, else in `text`, and its URL in `url`, unless other fields
are named. Items are judged as in a crawl, with the options that the index was made with or that
its crawlers use, unless others are given. Cost: that of judging the pages.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, closing, suppress
from functools import cache
from typing import Any, get_args

import xxhash

from dedup_filter.errors import DedupError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.hamming import HammingIndex
from dedup_filter.model import Outcome
from dedup_filter.pages.directory.frame_store import HostFrames
from dedup_filter.pages.directory.page_store import PageStore
from dedup_filter.pages.directory.records import Crawl, PageRecord, url_key
from dedup_filter.pages.redis import SharedKeeper
from dedup_filter.text.page_fields import FieldNames, PageText, page_in, url_in
from dedup_filter.upkeep import Index, export_lines

__all__ = ["import_lines"]

_FORGOTTEN = 0
"""The number of an original that no index has a record of."""


def import_lines(
    lines: Iterable[tuple[int, bytes]],
    index: Index,
    names: FieldNames,
    options: Mapping[str, Any],
    *,
    skip_bad_lines: bool = False,
) -> dict[str, Any]:
    """Put what numbered lines tell into an index, which is made if there is none.

    Items have their pages in the fields of these names, and are judged with these arguments of
    `NearDuplicateFilter.open`. Returns what became of the lines:

        lines          taken, without bad ones
        outcomes       of pages that were recorded, and of items that could not be judged
        there_already  pages of an export that were recorded before
        hosts          of an export whose frames were recorded
        hosts_known    whose frames this index knew itself, and keeps
        not_kept       lines of an export that such an index keeps nothing of
        bad_lines      passed over; first_bad: what was wrong with the first of them

    Raises:
        DedupError: a line is not what the first one promises, and those before it are taken; or
            the index cannot be opened or written.
    """
    became, first_bad, records = Counter[str](), None, None
    with ExitStack() as opened:

        @cache
        def pages() -> NearDuplicateFilter:
            return opened.enter_context(
                NearDuplicateFilter.open(index.location, **{**index.filter_options(), **options})
            )

        for number, content in lines:
            if content.isspace():
                continue
            try:
                line = _object(content)
                if records is not None:
                    became[records.take(line)] += 1
                elif export_lines.HEADER_KEY in line:
                    scheme, crawls = export_lines.scheme_and_crawls_in(line)
                    records = _Records(opened.enter_context(closing(index.target(scheme))), crawls)
                    became["header"] += 1
                else:
                    url, page = _page_in(line, names)
                    became[pages().see(url, html=page.html, text=page.text).outcome] += 1
            except DedupError:
                raise
            except ValueError as why:
                if not skip_bad_lines:
                    raise DedupError(f"line {number}: it {why}") from None
                became["bad_lines"] += 1
                first_bad = first_bad or f"line {number}: it {why}"
    return {
        "lines": became.total() - became["bad_lines"],
        "outcomes": {name: became[name] for name in get_args(Outcome) if became[name]},
        **{name: became[name] for name in ("there_already", "hosts", "hosts_known", "not_kept")},
        "bad_lines": became["bad_lines"],
        "first_bad": first_bad,
    }


def _object(content: bytes) -> export_lines.Object:
    # Nothing else is parsed: a hundred thousand brackets would fill the stack.
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        with suppress(ValueError, RecursionError):
            value: export_lines.Object = json.loads(content)
            return value
    raise ValueError("is no JSON object; one on each line is wanted (a .jsonl feed), not an array")


class _Records:
    """Takes the lines of an export behind the first, and tells what became of each."""

    def __init__(self, target: PageStore | SharedKeeper, crawls: Iterable[Crawl]) -> None:
        self._target = target
        self._there = HammingIndex(0)
        """Pages that were there before, by what never changes of them."""
        for record in target.records():
            self._there.add_new(_key(record), record.page)
        self._numbers = HammingIndex(0)
        """Pages by their numbers in the export."""
        self._last = 0
        """The last number in the export."""
        self._hosts = target.known_hosts()
        self._crawls = {crawl.number: target.restore_crawl(crawl) for crawl in crawls}

    def take(self, line: export_lines.Object) -> str:
        """Put back what a line tells. Raises ValueError if it cannot be: why."""
        if export_lines.HEADER_KEY in line:
            raise ValueError("begins another export: import each by itself")
        if export_lines.FRAMES_KEY in line:
            return self._take_host(export_lines.host_in(line))
        return self._take_page(*export_lines.record_in(line))

    def _take_page(self, record: PageRecord, text: str | None) -> str:
        for crawl in (record.crawl, record.first_crawl):
            if crawl not in self._crawls:
                raise ValueError(f"has crawl {crawl}, of which the first line says nothing")
        if record.page <= self._last:
            raise ValueError(f"has page {record.page} after page {self._last}: out of order")
        there = self._there.rows_of(_key(record))
        number = there[0] if there else self._target.restore(self._renumbered(record), text)
        if number is None:
            return "not_kept"
        self._last = record.page
        self._numbers.add_new(record.page, number)
        return "there_already" if there else record.judged.outcome

    def _renumbered(self, record: PageRecord) -> PageRecord:
        """Return a record with the numbers that its crawls and its original have here."""
        judged = record.judged
        if judged.original is not None:
            judged = judged._replace(original=self._number(judged.original))
        crawl, first_crawl = self._crawls[record.crawl], self._crawls[record.first_crawl]
        return record._replace(crawl=crawl, first_crawl=first_crawl, judged=judged)

    def _number(self, page: int) -> int:
        """Return the number that a page of the export has here."""
        return next(iter(self._numbers.rows_of(page)), _FORGOTTEN)

    def _take_host(self, known: HostFrames) -> str:
        if known.host in self._hosts:
            return "hosts_known"
        here = self._number
        lessons = [each._replace(page=here(each.page)) for each in known.lessons]
        early = [each._replace(page=page) for each in known.early if (page := here(each.page))]
        if not self._target.restore_host(known._replace(lessons=lessons, early=early)):
            return "not_kept"
        self._hosts.add(known.host)
        return "hosts"


def _page_in(item: export_lines.Object, names: FieldNames) -> tuple[str, PageText]:
    """Return URL and page of an item. Raises ValueError if it has none: why."""
    if "sketch" in item and "original_page" in item:
        raise ValueError("is a page of an export, whose first line is not before it")
    url, page = url_in(item, names), page_in(item, names)
    if url is None:
        raise ValueError(f"has no URL (looked for: {names.url}); say where with --url-field")
    if isinstance(page, PageText):
        return url, page
    where = ", ".join(filter(None, (names.html, *names.text)))
    options = "--html-field or --text-fields"
    raise ValueError(f"has no text of a page (looked for: {where}); say where with {options}")


def _key(record: PageRecord) -> int:
    fixed = f"{url_key(record.url)} {record.first_seen} {record.judged.outcome} "
    return xxhash.xxh3_64_intdigest(fixed.encode() + record.digest)
