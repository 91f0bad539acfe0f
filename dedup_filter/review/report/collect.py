"""The records of an index -> figures of all pages, and the pairs of duplicate and original.

One pass over all records. Figures count all pages; only the latest duplicates are held, with the
pages that they repeat.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import time as now
from typing import Any, Literal, NamedTuple

from dedup_filter.store.records import PageRecord
from dedup_filter.store.sqlite.page_reader import Snapshot, statistics

Kind = Literal["near", "exact", "kept"]
"""The outcome of a duplicate; "kept": both pages were kept."""

_MOST_CHARACTERS = 48 << 20
"""Characters of the URLs of all listed duplicates."""


class Bounds(NamedTuple):
    """The settings that separate duplicates from kept pages."""

    max_distance: int
    min_similarity: float | None


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
    reasons, originals = Counter[Any](), set()
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
        if record.is_kept:
            reasons[record.reason] += record.outcome == "unjudged"
        else:
            last.append(record)
            originals.add(record.original)
    found.reasons = dict(+reasons)
    found.clusters = len(originals)
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
