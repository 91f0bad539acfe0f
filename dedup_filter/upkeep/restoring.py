"""The lines of an export -> the records they were made of, in this index.

Into a new index everything comes back under its own number. Into one that has pages already,
pages get numbers after those; what is there already (same URL, text, first time and outcome) is
passed over, so that an import which was interrupted can be run again. What is known of a host's
frames comes back unless this index knows of the host itself.

A shared index numbers pages itself. It keeps nothing of dropped pages, of frames and of texts.

An original that is not among the lines is gone, as if it had been forgotten: page 0.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from zlib import error as ZlibError  # noqa: N812 - it is a class

import numpy as np
import xxhash

from dedup_filter.frames.frame_bytes import EarlyNote, HostState, Lesson
from dedup_filter.pages.directory.crawls import Crawl
from dedup_filter.pages.directory.records import PageRecord
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.snapshot import KnownHost
from dedup_filter.pages.directory.url_key import url_key
from dedup_filter.upkeep.imported import Imported
from dedup_filter.upkeep.page_lines import (
    FRAMES_KEY,
    HEADER_KEY,
    Object,
    host_in,
    record_in,
    scheme_and_crawls_in,
)
from dedup_filter.upkeep.places import Keeper, Target

__all__ = ["Restoring"]

_GONE = 0
"""The number of an original that no index has a record of."""


class Restoring:
    """Takes the lines of one or more exports; the first of them opens the index.

    Raises:
        DedupError: by `take`, when the index cannot be opened or written.
    """

    def __init__(self, target: Target, imported: Imported) -> None:
        self._target = target
        self._imported = imported
        self._opened: Keeper | None = None
        self._there = _PagesThere()
        self._crawls: dict[int, int] = {}
        self._numbers = _Numbers()
        self._hosts: set[str] = set()

    def take(self, line: Object) -> None:
        """Put back what a line tells. Raises ValueError if it cannot be: why."""
        if HEADER_KEY in line:
            self._begin(*scheme_and_crawls_in(line))
        elif FRAMES_KEY in line:
            self._take_host(host_in(line))
        else:
            self._take_page(*record_in(line))

    def close(self) -> None:
        """Write everything to disk and let go of the index."""
        if self._opened is not None:
            self._opened.close()

    @property
    def _keeper(self) -> Keeper:
        assert self._opened is not None, "the first line opens it"
        return self._opened

    def _begin(self, scheme: Scheme, crawls: list[Crawl]) -> None:
        if self._opened is None:
            self._opened = self._target.keeper(scheme)
            self._there = _PagesThere.of(self._opened.records())
            self._hosts = self._opened.known_hosts()
        else:
            scheme.require(self._opened.scheme, str(self._target))
        self._crawls = {crawl.number: self._keeper.restore_crawl(crawl) for crawl in crawls}
        self._numbers = _Numbers()

    def _take_page(self, record: PageRecord, text: str | None) -> None:
        for crawl in (record.crawl, record.first_crawl):
            if crawl not in self._crawls:
                raise ValueError(f"has crawl {crawl}, of which the first line says nothing")
        self._numbers.require_next(record.page)
        number = self._there.number(record)
        if number is not None:
            self._imported.there_already += 1
        else:
            number = self._restored(record, text)
            if number is None:
                self._imported.not_kept += 1
                return
            self._imported.outcomes[record.judged.outcome] += 1
        self._numbers.add(record.page, number)

    def _restored(self, record: PageRecord, text: str | None) -> int | None:
        original = record.judged.original
        restored = record._replace(
            crawl=self._crawls[record.crawl],
            first_crawl=self._crawls[record.first_crawl],
            judged=record.judged._replace(
                original=None if original is None else self._numbers.get(original, _GONE)
            ),
        )
        return self._keeper.restore(restored, text)

    def _take_host(self, known: KnownHost) -> None:
        _require_readable(known)
        if known.frames.host in self._hosts:
            self._imported.hosts_known += 1
            return
        number = self._numbers.get
        lessons = [each._replace(page=number(each.page, _GONE)) for each in known.frames.lessons]
        early = [each._replace(page=number(each.page, _GONE)) for each in known.early]
        there = known.frames._replace(lessons=lessons)
        if not self._keeper.restore_host(KnownHost(there, [each for each in early if each.page])):
            self._imported.not_kept += 1
            return
        self._hosts.add(known.frames.host)
        self._imported.hosts += 1


def _require_readable(known: KnownHost) -> None:
    """Refuse what frames could not read when the index is opened. Raises ValueError."""
    try:
        if known.frames.state is not None:
            HostState.from_bytes(known.frames.state)
        for lesson in known.frames.lessons:
            Lesson.from_bytes(lesson.lesson)
        for early in known.early:
            EarlyNote.from_bytes(early.note)
    except (ValueError, ZlibError) as error:
        raise ValueError(f"tells nothing of frames that can be read ({error})") from None


class _Numbers:
    """Numbers of pages in an export, ascending -> their numbers in this index."""

    def __init__(self) -> None:
        self._there = array("q")
        self._here = array("q")

    def require_next(self, page: int) -> None:
        if self._there and page <= self._there[-1]:
            raise ValueError(f"has page {page} after page {self._there[-1]}: out of order")

    def add(self, page: int, number: int) -> None:
        self._there.append(page)
        self._here.append(number)

    def get(self, page: int, default: int) -> int:
        place = bisect_left(self._there, page)
        if place < len(self._there) and self._there[place] == page:
            return self._here[place]
        return default


class _PagesThere:
    """The pages that an index has, found by what does not change of them: 16 bytes each."""

    def __init__(self) -> None:
        self._keys = np.empty(0, np.uint64)
        self._pages = np.empty(0, np.int64)

    @classmethod
    def of(cls, records: Iterable[PageRecord]) -> "_PagesThere":
        """Note all pages of an index."""
        keys, pages = array("Q"), array("q")
        for record in records:
            keys.append(_key(record))
            pages.append(record.page)
        found = cls()
        unsorted = np.array(keys, np.uint64)
        order = np.argsort(unsorted, kind="stable")
        found._keys, found._pages = unsorted[order], np.array(pages, np.int64)[order]
        return found

    def number(self, record: PageRecord) -> int | None:
        """Return the number that a page has there."""
        if not len(self._keys):
            return None
        key = np.uint64(_key(record))
        place = int(self._keys.searchsorted(key))
        if place < len(self._keys) and self._keys[place] == key:
            return int(self._pages[place])
        return None


def _key(record: PageRecord) -> int:
    fixed = f"{url_key(record.url)} {record.first_seen} {record.judged.outcome} "
    return xxhash.xxh3_64_intdigest(fixed.encode() + record.digest)
