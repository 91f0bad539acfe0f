"""The records of an index -> figures of all pages, and the pairs of duplicate and original.

One pass over all records. Figures count all pages; only the latest duplicates are held, with the
pages that they repeat.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import time as now
from typing import Any, Literal, NamedTuple

from dedup_filter.store.protocol import Recorded
from dedup_filter.store.records import Crawl, PageRecord

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
    """Numbers of `pages`, `kept` pages and `hosts`, and `outcomes`: outcome -> number of pages."""
    reasons: Mapping[str, int]
    """Unjudged pages by reason."""
    crawls: Sequence[Mapping[str, Any]]
    """Of each crawl its number, its name, when it began and ended, and how many pages it kept,
    dropped and saw again."""
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
    recorded: Recorded, records: Iterable[PageRecord], bounds: Bounds, most_duplicates: int
) -> ReportData:
    """Collect the data of a report from an index and all its records."""
    reasons, originals, counts = Counter[Any](), set(), _Counts()
    parts = recorded.scheme.parts
    found = ReportData(
        identity=recorded.identity,
        made=int(now()),
        bounds=bounds,
        figures={},
        reasons=reasons,
        crawls=(),
        shingle_size=int(parts.get("shingle_size", 3)),
        ads=parts.get("ads", "window"),
    )
    last = deque[PageRecord](maxlen=most_duplicates)
    for record in records:
        counts.add(record)
        if record.is_kept:
            reasons[record.reason] += record.outcome == "unjudged"
        else:
            last.append(record)
            originals.add(record.original)
    found.reasons = dict(+reasons)
    found.clusters = len(originals)
    found.figures, found.crawls = counts.figures(), [*map(counts.of_crawl, recorded.crawls())]
    characters = sum(len(record.url) for record in last)
    while characters > _MOST_CHARACTERS:
        characters -= len(last.popleft().url)
    for original in recorded.records(sorted({record.original or 0 for record in last})):
        found.add(original)
    for record in last:
        # If the original was forgotten, the record of its duplicate stays.
        known = record.original if record.original in found.records else None
        found.add(record)
        kind: Kind = "exact" if record.outcome == "exact" else "near"
        found.pairs.append(Pair(record.page, known, record.distance, record.similarity, kind))
    return found


class _Counts:
    """Counts of pages, in all and by crawl.

    A kept page is counted for the crawl that saw it first; if a later crawl saw it, also as seen
    again by the latest one.
    """

    def __init__(self) -> None:
        self._outcomes, self._of_crawls = Counter[str](), Counter[tuple[int, str]]()
        self._hosts = set[str]()
        self._kept = 0

    def add(self, record: PageRecord) -> None:
        """Count a page."""
        self._outcomes[record.outcome] += 1
        self._hosts.add(record.host)
        self._kept += record.is_kept
        if record.is_kept:
            self._of_crawls[record.first_crawl, "kept"] += 1
            self._of_crawls[record.crawl, "revisits"] += record.crawl != record.first_crawl
        else:
            self._of_crawls[record.crawl, record.outcome] += 1

    def figures(self) -> dict[str, Any]:
        """Return the counts of all pages."""
        numbers = {"pages": self._outcomes.total(), "kept": self._kept, "hosts": len(self._hosts)}
        return {**numbers, "outcomes": self._outcomes}

    def of_crawl(self, crawl: Crawl) -> dict[str, Any]:
        """Return a crawl with its counts."""
        names = ("kept", "near", "exact", "revisits")
        counts = {name: self._of_crawls[crawl.number, name] for name in names}
        return {**crawl._asdict(), **counts}
