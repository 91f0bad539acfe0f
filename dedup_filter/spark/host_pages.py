"""The pages of each host, in their order -> the filter's verdicts; kept pages -> their profiles.

    a row with HTML or text -> packed blocks, a tenth of the bytes            `read`
    the packed pages of a host, in order -> verdicts, as of the filter        `judged`
    a kept page -> the values that find it, and what it is compared by

A host is judged by a `Judge` with an index in memory that only this host has. So the frame of the
host, copies within the host and pages that are judged again are its work. The profile of a kept
page is returned when the frame of its host, or template, is known, so other hosts' pages are
compared with more knowledge than a crawl has when the page arrives.

Knows no other host: menus that hosts share are compared in `other_hosts`.

Memory of a task: the frame of one host, its index (950 bytes a kept page), the last `_HELD` kept
pages, and two batches of rows. Cost: 4 ms a host besides the filter's cost a page.
"""

import pickle
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import pyarrow as pa

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.fingerprints.read_page import ReadPage, content_of
from dedup_filter.judge import Judge, _Judged
from dedup_filter.model import Unjudged, Verdict
from dedup_filter.spark.data_frames import Row
from dedup_filter.store.key_table import phrase_keys
from dedup_filter.store.location import MEMORY, open_store
from dedup_filter.store.protocol import Waiting
from dedup_filter.store.records import PageRecord
from dedup_filter.store.sqlite_store import signed
from dedup_filter.text.headlines import canonical_marks, part_hash, times_headed, title_parts
from dedup_filter.text.page_bytes import pack_page
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import Place, named_key
from dedup_filter.text.reading import Page

_HELD = 256
"""The last kept pages of a host, whose profiles may change: up to 20 MB. The filter lets 16 pages
of a host wait for its frame. A page still waiting after 256 others is not judged again."""
_OF_VERDICT = "outcome distance similarity lost lost_words reason language".split()

READ = pa.schema(
    {"row": pa.int64(), **dict.fromkeys(("url", "host", "reason"), pa.string())}
    | {"form": pa.binary()}
)
JUDGED = pa.schema(
    {
        **dict.fromkeys(("row", "page", "original"), pa.int64()),
        **dict.fromkeys(("group", "url", "outcome", "reason", "language"), pa.string()),
        "distance": pa.int32(),
        "similarity": pa.float64(),
        "lost": pa.list_(pa.string()),
        "lost_words": pa.int64(),
        # Of a kept page. The values by which later pages find it:
        "equal": pa.binary(),
        "fingerprint": pa.int64(),
        "keys": pa.list_(pa.int64()),
        # The values by which it finds earlier pages:
        "asked_fingerprints": pa.list_(pa.int64()),
        "asked_keys": pa.list_(pa.int64()),
        # A packed `KeptPage`, without and with its profile:
        "stored": pa.binary(),
        "compared": pa.binary(),
    }
)

Menus = frozenset[int]
"""Hashes of menus."""


class KeptPage(NamedTuple):
    """What a page is compared by, with earlier and with later pages."""

    record: PageRecord
    menus: Menus
    host_menus: Menus
    """Menus of the first page of its host that has any."""
    profile: PageProfile | None
    """None: the page is compared with later pages. Its surroundings know no other host."""

    def pack(self) -> bytes:
        """Return it as bytes."""
        return zlib.compress(pickle.dumps(self), 1)

    @classmethod
    def unpacked(cls, packed: bytes) -> "KeptPage":
        """Read what `pack` has returned, on another machine of the cluster."""
        page: KeptPage = pickle.loads(zlib.decompress(packed))  # noqa: S301
        return page


def read(rows: Iterator[Row], config: FilterConfig) -> Iterator[Row]:
    """Pack the pages of rows: `row`, `url` and the fields of `PageText` -> `READ`."""
    for row in rows:
        place = Place.of(row["url"] or "")
        packed = _packed(row, place, config)
        result = {"reason": packed} if isinstance(packed, str) else {"form": packed}
        yield {"row": row["row"], "url": place.url, "host": place.host, **result}


def _packed(row: Row, place: Place, config: FilterConfig) -> bytes | str:
    """Return a packed page, or the reason why it cannot be judged."""
    given = PageText(**{name: row[name] for name in PageText._fields})
    if given.html is not None:
        given = given._replace(text=None)
    elif given.text is None:
        return "no_field"
    try:
        content = content_of(given, place, config)
    except Exception:  # a billion pages do not fail for one; it is kept and counted
        return "error"
    if isinstance(content, Unjudged):
        return content.reason
    return pickle.dumps(pack_page(content) if isinstance(content, Page) else content)


def _unpacked(form: bytes, config: FilterConfig) -> ReadPage:
    content = pickle.loads(form)  # noqa: S301 - `_packed` has made it
    is_page = isinstance(content, bytes)
    return ReadPage.unpacked(content, config) if is_page else ReadPage.of(content, config)


def judged(rows: Iterator[Row], config: FilterConfig) -> Iterator[Row]:
    """Judge pages: rows of `READ` with `page` and `group`, sorted by group and page -> `JUDGED`.

    `page`: a number that ascends in the order of pages. The pages of a host are in one group.
    """
    for _, pages in groupby(rows, itemgetter("group")):
        with closing(_HostJudge(config)) as judge:
            yield from _judged_host(pages, judge, config)


class _HostJudge(Judge):
    """A judge that remembers profiles as they were last recorded."""

    def __init__(self, config: FilterConfig) -> None:
        super().__init__(config, open_store(MEMORY, config))
        self.profiles: dict[int, PageProfile] = {}
        """Number -> profile of a kept page; the owner removes pages."""
        self._latest: PageProfile

    def see(self, place: Place, page: ReadPage | Unjudged) -> Verdict:
        """Judge a page, and keep it for good."""
        verdict = super().see(place, page)
        if verdict.page is not None and not verdict.is_duplicate:
            self.profiles[verdict.page] = self._latest
        return verdict

    def _judged(self, place: Place, page: ReadPage) -> _Judged:
        judged = super()._judged(place, page)
        self._latest = judged.profile
        return judged

    def _replace(self, record: PageRecord, page: Waiting, found_by: PageProfile) -> None:
        super()._replace(record, page, found_by)
        if record.page in self.profiles:
            self.profiles[record.page] = found_by


def _judged_host(pages: Iterable[Row], judge: _HostJudge, config: FilterConfig) -> Iterator[Row]:
    numbers: dict[int, int] = {}  # number in the index -> number in the order
    held: dict[int, tuple[Row, Place, Verdict, Menus]] = {}
    host_menus: Menus = frozenset()

    def released(number: int) -> Row:
        row, place, verdict, menus = held.pop(number)
        profile = _frozen(judge.profiles.pop(number), place)
        record = PageRecord.of(place, profile, verdict, 0, 0)._replace(page=row["page"])
        return row | _values(KeptPage(record, menus, host_menus, profile), config)

    for given in pages:
        place, menus = Place.of(given["url"]), host_menus
        verdict = Verdict("unjudged", reason=given["reason"])
        if given["form"] is not None:
            page = _unpacked(given["form"], config)
            menus = frozenset(page.shown.menus if config.learn_frames else ())
            host_menus = host_menus or menus
            verdict = judge.see(place, page)
        row = given | {name: getattr(verdict, name) for name in _OF_VERDICT}
        row["original"] = numbers.get(verdict.original_page or 0)
        if verdict.page not in judge.profiles:
            yield row
            continue
        numbers[verdict.page] = given["page"]
        held[verdict.page] = row, place, verdict, menus
        if len(held) > _HELD:
            yield released(next(iter(held)))
    while held:
        yield released(next(iter(held)))


def _frozen(page: PageProfile, place: Place) -> PageProfile:
    """Return a profile that keeps no host in memory: with counts of its own headlines alone."""
    marks = canonical_marks(named_key(place, page.canonical), page.headline)
    heads = filter(None, (page.headline.h1, *title_parts(page.headline.title), *marks))
    counts = {part_hash(head): times_headed(head, page.counts) for head in heads}
    return replace(page, counts=[counts], site_counts=(), text="")


def _values(kept: KeptPage, config: FilterConfig) -> Row:
    """Return the values that find a kept page, and by which it finds others."""
    record, page = kept.record, kept.profile
    assert page is not None
    keys, asked_keys = set[int](), set[int]()
    if config.looks_for_phrases:
        keys.update(phrase_keys(record.keys))
        asked_keys.update(*(phrase_keys(text.keys) for text in page.texts))
    if config.canonical:
        keys.add(signed(record.url_key))
        asked_keys |= {signed(key) for key in [record.canonical_key] if key is not None}
    return {
        "equal": page.digest,
        "fingerprint": None if page.fingerprint is None else signed(page.fingerprint),
        "keys": [*keys],
        "asked_fingerprints": [signed(text.fingerprint) for text in page.texts],
        "asked_keys": [*asked_keys],
        "stored": kept._replace(profile=None).pack(),
        "compared": kept.pack(),
    }
