"""The pages of each host, in their order -> the filter's verdicts; kept pages -> their profiles.

    a row with HTML or text -> packed blocks, a tenth of the bytes            `read`
    the packed pages of a host, in order -> verdicts, as of the filter        `judged`
    a kept page -> the values that find it, and what it is compared by

The filter itself judges a host, with an index in memory that only this host has. So the frame of
the host, copies within the host and pages that are judged again are its work. The profile of a kept
page is returned when the frame of its host, or template, is known (see `frames`), so other hosts'
pages are compared with more knowledge than a crawl has when the page arrives.

Knows no other host: menus that hosts share are compared in `other_hosts`.

Memory of a task: the frame of one host, its index (300 bytes a kept page), the last `_HELD` kept
pages, and two batches of rows. Cost: 4 ms a host besides the filter's cost a page.
"""

import pickle
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pyarrow as pa

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.fingerprints.read_page import ReadPage, Source
from dedup_filter.fingerprints.sketch import KEY
from dedup_filter.judging import PageJudge
from dedup_filter.model import Unjudged, Verdict
from dedup_filter.spark.data_frames import Row
from dedup_filter.store.location import MEMORY, open_index
from dedup_filter.store.records import PageRecord
from dedup_filter.store.sqlite.page_reader import signed
from dedup_filter.text.headlines import canonical_marks, part_hash, times_headed, title_parts
from dedup_filter.text.page_bytes import pack_page
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import Place, host_of, named_key
from dedup_filter.text.reading import Page

if TYPE_CHECKING:
    from dedup_filter.store.protocol import KeptPages

_HELD = 256
"""The last kept pages of a host, whose profiles may change: up to 20 MB. The filter lets 16 pages
of a host wait for its frame. A page that waits while so many others are kept keeps its profile."""
_OF_VERDICT = ("outcome", "distance", "similarity", "reason", "language")

READ = pa.schema(
    {
        "row": pa.int64(),
        "url": pa.string(),
        "host": pa.string(),
        "form": pa.binary(),
        "is_html": pa.bool_(),
        "reason": pa.string(),
    }
)
JUDGED = pa.schema(
    {
        **dict.fromkeys(("row", "page"), pa.int64()),
        **dict.fromkeys(("group", "url", "outcome"), pa.string()),
        "original": pa.int64(),
        "distance": pa.int32(),
        "similarity": pa.float64(),
        **dict.fromkeys(("reason", "language"), pa.string()),
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


def read(rows: Iterator[Row], config: FilterConfig) -> Iterator[Row]:
    """Pack the pages of rows: `row` and the fields of `PageText` -> `READ`."""
    for row in rows:
        url = row["url"] or ""
        host = host_of(url)
        yield {"row": row["row"], "url": url, "host": host, **_packed(row, url, host, config)}


def _packed(row: Row, url: str, host: str, config: FilterConfig) -> Row:
    given = PageText(**{name: row[name] for name in PageText._fields})
    if given.html is not None:
        given = given._replace(text=None)
    elif given.text is None:
        return {"reason": "no_field"}
    try:
        content = Source.of(given, url, host, config).content()
    except Exception:  # a billion pages do not fail for one; it is kept and counted
        return {"reason": "error"}
    if isinstance(content, Unjudged):
        return {"reason": content.reason}
    form = pack_page(content) if isinstance(content, Page) else pickle.dumps(content)
    return {"form": form, "is_html": isinstance(content, Page)}


def judged(rows: Iterator[Row], config: FilterConfig) -> Iterator[Row]:
    """Judge pages: rows of `READ` with `page` and `group`, sorted by group and page -> `JUDGED`.

    `page`: a number that ascends in the order of pages. The pages of a host are in one group.
    """
    for _, pages in groupby(rows, itemgetter("group")):
        with closing(open_index(MEMORY, config, None)) as index:
            yield from _judged_host(pages, _ProfiledIndex(index), config)


class _ProfiledIndex:
    """An index, and the profiles of its kept pages as the filter has last recorded them."""

    def __init__(self, index: "KeptPages") -> None:
        self._index = index
        self.profiles: dict[int, PageProfile] = {}
        """Number in the index -> profile; the owner removes pages."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def record(
        self, place: Place, page: PageProfile, found: Verdict, *given: Any, **named: Any
    ) -> Verdict:
        """Record a page."""
        verdict = self._index.record(place, page, found, *given, **named)
        if verdict.page is not None and not verdict.is_duplicate:
            self.profiles[verdict.page] = page
        return verdict

    def replace(self, number: int, page: PageProfile, text: str | None = None) -> None:
        """Give a page another profile."""
        self._index.replace(number, page, text)
        if number in self.profiles:
            self.profiles[number] = page


def _judged_host(
    pages: Iterable[Row], index: _ProfiledIndex, config: FilterConfig
) -> Iterator[Row]:
    judge = PageJudge(config, cast("KeptPages", index))
    numbers: dict[int, int] = {}  # number in the index -> number in the order
    held: dict[int, tuple[Row, Place, Verdict, Menus]] = {}
    host_menus: Menus = frozenset()

    def released(number: int) -> Row:
        row, place, verdict, menus = held.pop(number)
        profile = _frozen(index.profiles.pop(number), place)
        record = PageRecord.of(place, profile, verdict, 0, 0)._replace(page=row["page"])
        return row | _values(KeptPage(record, menus, host_menus, profile), config)

    for given in pages:
        place, menus = Place.of(given["url"]), host_menus
        verdict = Verdict("unjudged", reason=given["reason"])
        if given["form"] is not None:
            page = _unpacked(given, config)
            menus = frozenset(page.shown.menus if config.learn_frames else ())
            host_menus = host_menus or menus
            verdict = judge.claim(place, page, is_pending=False)
        row = given | {name: getattr(verdict, name) for name in _OF_VERDICT}
        row["original"] = numbers.get(verdict.original_page or 0)
        if verdict.page is None or verdict.page not in index.profiles:
            yield row
            continue
        numbers[verdict.page] = given["page"]
        held[verdict.page] = row, place, verdict, menus
        if len(held) > _HELD:
            yield released(next(iter(held)))
    while held:
        yield released(next(iter(held)))


def _unpacked(row: Row, config: FilterConfig) -> ReadPage:
    if row["is_html"]:
        return ReadPage.unpacked(row["form"], config)
    return ReadPage.of(pickle.loads(row["form"]), config)  # noqa: S301 - `read` has packed it


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
        keys = keys_in(record.keys)
        asked_keys = asked_keys.union(*(keys_in(text.keys) for text in page.texts))
    if config.canonical:
        keys.add(signed(record.url_key))
        asked_keys |= {signed(key) for key in [record.canonical_key] if key is not None}
    return {
        "equal": page.digest,
        "fingerprint": None if page.fingerprint is None else signed(page.fingerprint),
        "keys": [*keys],
        "asked_fingerprints": [signed(text.fingerprint) for text in page.texts],
        "asked_keys": [*asked_keys],
        "stored": pickle.dumps(kept._replace(profile=None)),
        "compared": zlib.compress(pickle.dumps(kept), 1),
    }


def keys_in(keys: bytes) -> set[int]:
    """Return the keys of a page or a text (`phrase_keys`), without zeros, which pad."""
    return set(np.frombuffer(keys, KEY).tolist()) - {0}
