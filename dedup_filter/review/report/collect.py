"""The records of an index -> figures of all pages, and the pairs of duplicate and original.

One pass over all records. Figures count all pages; only the latest duplicates are held, with the
pages that they repeat.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import time as now
from typing import Any, Literal, NamedTuple

from dedup_filter.config import FilterConfig
from dedup_filter.store.protocol import Recorded
from dedup_filter.store.records import PageRecord

Kind = Literal["near", "exact"]
"""The outcome of a duplicate."""

_MOST_CHARACTERS = 48 << 20
"""Characters of the URLs of all listed duplicates."""


class Pair(NamedTuple):
    """A duplicate and its original, by their numbers."""

    page: int
    original: int | None
    """None: that page and its record are gone."""
    distance: int | None
    similarity: float | None
    kind: Kind


@dataclass
class ReportData:
    """The data of a report on an index."""

    config: FilterConfig
    """Options of the last crawl."""
    figures: Mapping[str, Any]
    """Numbers of `pages`, `kept` pages and `hosts`, and `outcomes`: outcome -> number of pages."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Unjudged pages by reason."""
    crawls: Sequence[Mapping[str, Any]] = ()
    """Of each crawl its number, its name, when it began and ended, and how many pages it kept,
    dropped and saw again. A kept page is counted for the crawl that saw it first, and as seen again
    for a later crawl that saw it last."""
    clusters: int = 0
    """Kept pages that have duplicates, listed or not."""
    shingle_size: int = 3
    ads: str = "window"
    """The option `ads`: how shingles are taken for advertisements."""
    records: dict[int, PageRecord] = field(default_factory=dict)
    """Records of all pages in pairs, without sketches."""
    pairs: list[Pair] = field(default_factory=list)
    """The latest."""
    made: int = field(default_factory=lambda: int(now()))
    """When the data was collected, Unix seconds."""

    @property
    def duplicates(self) -> int:
        """Number of all duplicates, listed or not."""
        return int(self.figures["outcomes"]["near"] + self.figures["outcomes"]["exact"])

    def add(self, record: PageRecord) -> None:
        """Add the record of a page."""
        self.records[record.page] = record._replace(sketch=b"")


def collect(
    recorded: Recorded, records: Iterable[PageRecord], config: FilterConfig, most_duplicates: int
) -> ReportData:
    """Collect the data of a report from an index and all its records."""
    outcomes, reasons, of_crawls = Counter[str](), Counter[str](), Counter[tuple[int, str]]()
    hosts, originals = set[str](), set[int | None]()
    last = deque[PageRecord](maxlen=most_duplicates)
    for record in records:
        outcomes[record.outcome] += 1
        hosts.add(record.host)
        if record.outcome == "unjudged":
            reasons[record.reason or ""] += 1
        if record.is_kept:
            of_crawls[record.first_crawl, "kept"] += 1
            of_crawls[record.crawl, "revisits"] += record.crawl != record.first_crawl
        else:
            of_crawls[record.crawl, record.outcome] += 1
            originals.add(record.original)
            last.append(record)
    kept = sum(count for (_, what), count in of_crawls.items() if what == "kept")
    parts, names = recorded.scheme.parts, ("kept", "near", "exact", "revisits")
    found = ReportData(
        config,
        {"pages": outcomes.total(), "kept": kept, "hosts": len(hosts), "outcomes": outcomes},
        reasons,
        [
            {**crawl._asdict(), **{name: of_crawls[crawl.number, name] for name in names}}
            for crawl in recorded.crawls()
        ],
        clusters=len(originals),
        shingle_size=int(parts.get("shingle_size", 3)),
        ads=parts.get("ads", "window"),
    )
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
