"""The records of an index -> figures of all pages, and the pairs of duplicate and original.

One pass over all records. Figures and charts count all pages; only the latest duplicates are held,
with the pages that they repeat.
"""

from array import array
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import time as now
from typing import Any, Literal, NamedTuple

import numpy as np

from dedup_filter.store.records import PageRecord
from dedup_filter.store.sqlite.page_reader import Snapshot, statistics

Kind = Literal["near", "exact", "too far", "too different", "other rule"]
"""For a duplicate its outcome; for two kept pages why the later page is no duplicate."""

_Counts = Counter[Any]

_MOST_HOSTS = 15
_MOST_COLUMNS = 40
_MOST_CHARACTERS = 48 << 20
"""Characters of the URLs of all listed duplicates."""
_SECOND, _MINUTE, _HOUR, _DAY = 1, 60, 3_600, 86_400
_SPANS = [_SECOND, 2, 5, 10, 30, _MINUTE, 5 * _MINUTE, 15 * _MINUTE, _HOUR, 3 * _HOUR, 12 * _HOUR]
"""Seconds that a column of the chart over time can stand for, besides whole days."""


class Bounds(NamedTuple):
    """The settings that separate duplicates from kept pages."""

    max_distance: int
    min_similarity: float | None


class KeptPages(NamedTuple):
    """Kept pages that have a fingerprint, in the order of their numbers; 16 bytes each."""

    pages: "array[int]"
    fingerprints: "array[int]"


class Pair(NamedTuple):
    """Two similar pages, by their numbers."""

    page: int
    """The later page."""
    original: int | None
    """The page that it repeats, or nearly; None: that page and its record are gone."""
    distance: int | None
    similarity: float | None
    kind: Kind


@dataclass
class ReportData:
    """The data of a report on an index."""

    identity: str
    """Unique name of the index."""
    made: int
    """When the data was collected, Unix seconds."""
    bounds: Bounds
    figures: Mapping[str, Any]
    """Figures of all pages, see `statistics`."""
    reasons: Mapping[str, int]
    """Unjudged pages by reason."""
    crawls: Sequence[Mapping[str, Any]]
    shingle_size: int
    ads: str = "window"
    """The option `ads`: how shingles are taken for advertisements."""
    records: dict[int, PageRecord] = field(default_factory=dict)
    """Records of all pages in pairs, without sketches."""
    pairs: list[Pair] = field(default_factory=list)
    """The latest duplicates with their originals."""
    kept: "KeptPages" = field(default_factory=lambda: KeptPages(array("q"), array("Q")))
    over_time: Mapping[str, Any] = field(default_factory=dict)
    by_host: Mapping[str, Any] = field(default_factory=dict)
    by_distance: Mapping[str, Any] = field(default_factory=dict)
    clusters: int = 0
    """Kept pages that have duplicates, listed or not."""

    @property
    def duplicates(self) -> int:
        """Number of all duplicates, listed or not."""
        return int(self.figures["outcomes"]["near"] + self.figures["outcomes"]["exact"])

    def add(self, record: PageRecord) -> None:
        """Add the record of a page."""
        self.records[record.page] = record._replace(sketch=b"")


def collect(
    snapshot: Snapshot, records: Iterable[PageRecord], bounds: Bounds, most_duplicates: int
) -> ReportData:
    """Collect the data of a report from a snapshot and all its records."""
    in_all, crawls = statistics(snapshot)
    reasons, hosts, distances, clusters, times = (
        _Counts(),
        _Counts(),
        _Counts(),
        _Counts(),
        _Times(),
    )
    found = ReportData(
        identity=str(snapshot.noted("identity")),
        made=int(now()),
        bounds=bounds,
        figures=in_all,
        reasons=reasons,
        crawls=crawls,
        shingle_size=int(snapshot.scheme.parts.get("shingle_size", 3)),
        ads=snapshot.scheme.parts.get("ads", "window"),
    )
    last = deque[PageRecord](maxlen=most_duplicates)
    for record in records:
        times.add(record)
        if record.is_kept:
            reasons[record.reason] += record.outcome == "unjudged"
            if record.fingerprint is not None:
                found.kept.pages.append(record.page)
                found.kept.fingerprints.append(record.fingerprint)
        else:
            last.append(record)
            hosts[record.host, record.outcome] += 1
            distances[record.distance, record.outcome] += 1
            clusters[record.original] += 1
    found.reasons = dict(+reasons)
    found.clusters = len(clusters)
    found.over_time, found.by_host = times.columns(), _by_host(hosts)
    found.by_distance = _by_distance(distances, bounds.max_distance)
    characters = sum(len(record.url) for record in last)
    while characters > _MOST_CHARACTERS:
        characters -= len(last.popleft().url)
    for record in last:
        _add_pair(snapshot, found, record)
    return found


def _add_pair(snapshot: Snapshot, found: ReportData, record: PageRecord) -> None:
    original = record.original
    if original is not None and original not in found.records:
        try:
            found.add(snapshot.record(original))
        except KeyError:  # the original was forgotten; the record of its duplicate stays
            original = None
    found.add(record)
    kind: Kind = "exact" if record.outcome == "exact" else "near"
    found.pairs.append(Pair(record.page, original, record.distance, record.similarity, kind))


def _by_host(counts: _Counts) -> dict[str, Any]:
    """Count the duplicates of the hosts with most duplicates, and the hosts left out."""
    totals: _Counts = Counter()
    for (host, _), count in counts.items():
        totals[host] += count
    # Equal counts are sorted by name, so that a report does not depend on the order of pages.
    names = sorted(totals, key=lambda host: (-totals[host], host))
    shown = names[:_MOST_HOSTS]
    return {
        "hosts": shown,
        "near": [counts[host, "near"] for host in shown],
        "exact": [counts[host, "exact"] for host in shown],
        "others": len(names) - len(shown),
        "of_others": sum(totals[host] for host in names[_MOST_HOSTS:]),
    }


def _by_distance(counts: _Counts, max_distance: int) -> dict[str, Any]:
    measured = [distance for distance, _ in counts if distance is not None]
    bits = range(max([max_distance, *measured]) + 1)
    return {each: [counts[bit, each] for bit in bits] for each in ("near", "exact")}


class _Times:
    """When kept pages and duplicates were recorded."""

    def __init__(self) -> None:
        self._seconds = {name: array("q") for name in ("kept", "near", "exact")}

    def add(self, record: PageRecord) -> None:
        """Add the time when a kept page was seen first, or when a duplicate was seen."""
        self._seconds["kept" if record.is_kept else record.outcome].append(record.first_seen)

    def columns(self) -> dict[str, Any]:
        """Count pages in spans of equal length, at most `_MOST_COLUMNS`."""
        seconds = {name: np.array(each, np.int64) for name, each in self._seconds.items()}
        all_seconds = np.concatenate(list(seconds.values()))
        if not len(all_seconds):
            return {"start": 0, "span": 1, **{name: [] for name in seconds}}
        first, last = int(all_seconds.min()), int(all_seconds.max())
        days = _DAY * max(1, -(-(last - first) // (_DAY * (_MOST_COLUMNS - 1))))
        spans = (each for each in _SPANS if (last // each - first // each) < _MOST_COLUMNS)
        span = next(spans, days)
        start = first // span * span
        count = (last - start) // span + 1
        columns = {
            name: np.bincount((each - start) // span, minlength=count).tolist()
            for name, each in seconds.items()
        }
        return {"start": start, "span": span, **columns}
