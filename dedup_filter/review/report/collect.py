"""The records of an index -> figures of all pages; pairs of duplicate and original; their texts.

    records                figures count all pages; only the latest duplicates are held, in pairs
    a text of a pair       -> JSON -> deflate -> base64, which is unpacked when the pair is viewed

Pairs, characters of a text, and bytes of all texts are bounded. Texts of the largest clusters come
first.

Cost: one pass over all records; 1 ms a text of 1,000 words.
"""

import json
import zlib
from base64 import b64encode
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import time as now
from typing import Any

from dedup_filter.config import FilterConfig
from dedup_filter.store.protocol import KeptContent, Recorded
from dedup_filter.store.records import PageRecord
from dedup_filter.text.content import find_content

_MOST_OF_URLS = 48 << 20
"""Characters of the URLs of all listed duplicates."""
_MOST_OF_TEXT = 40_000
"""Characters of a text: ten pages of a book."""
_MOST_BYTES = 24 << 20
"""Bytes of all texts, packed."""


@dataclass
class ReportData:
    """The data of a report on an index."""

    config: FilterConfig
    """Options of the last crawl."""
    hosts: int
    outcomes: Mapping[str, int]
    """Outcome -> number of pages."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Unjudged pages by reason."""
    crawls: Sequence[Mapping[str, Any]] = ()
    """Of each crawl its number, its name, when it began and ended, and how many pages it kept,
    dropped and saw again. A kept page is counted for the crawl that saw it first, and as seen again
    for a later crawl that saw it last."""
    clusters: int = 0
    """Kept pages that have duplicates, listed or not."""
    records: dict[int, PageRecord] = field(default_factory=dict)
    """Records of all pages in pairs, without sketches and visits."""
    pairs: list[PageRecord] = field(default_factory=list)
    """Records of the latest duplicates; without an original if its record is gone."""
    texts: dict[int, str] = field(default_factory=dict)
    """Number of a page of a pair -> its packed text."""
    has_texts: bool = False
    """Whether the index has any texts."""
    made: int = field(default_factory=lambda: int(now()))
    """When the data was collected, Unix seconds."""

    @property
    def pages(self) -> int:
        """Number of all pages."""
        return sum(self.outcomes.values())

    @property
    def duplicates(self) -> int:
        """Number of all duplicates, listed or not."""
        return self.outcomes["near"] + self.outcomes["exact"]

    @property
    def kept(self) -> int:
        """Number of kept pages."""
        return self.pages - self.duplicates

    @property
    def shown_texts(self) -> int:
        """Number of pairs whose texts can be read."""
        return sum(pair.page in self.texts for pair in self.pairs)

    def add(self, record: PageRecord) -> None:
        """Add the record of a page."""
        self.records[record.page] = record._replace(sketch=b"", visit=b"")


def collect(
    recorded: Recorded,
    records: Iterable[PageRecord],
    config: FilterConfig,
    most_duplicates: int,
    most_texts: int = 0,
) -> ReportData:
    """Collect the data of a report from an index and all its records.

    `most_duplicates`, `most_texts`: duplicates, and pairs with texts, that it has at most.
    """
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
    names = ("kept", "near", "exact", "revisits")
    found = ReportData(
        config,
        len(hosts),
        outcomes,
        reasons,
        [
            {**crawl._asdict(), **{name: of_crawls[crawl.number, name] for name in names}}
            for crawl in recorded.crawls()
        ],
        clusters=len(originals),
    )
    characters = sum(len(record.url) for record in last)
    while characters > _MOST_OF_URLS:
        characters -= len(last.popleft().url)
    for original in recorded.records(sorted({record.original or 0 for record in last})):
        found.add(original)
    for record in last:
        # If the original was forgotten, the record of its duplicate stays.
        known = record.original if record.original in found.records else None
        found.add(record._replace(original=known))
        found.pairs.append(found.records[record.page])
    _add_texts(found, recorded, most_texts)
    return found


def _add_texts(found: ReportData, recorded: Recorded, most: int) -> None:
    """Add the texts of at most `most` pairs: of the largest clusters first."""
    kept, size = recorded.with_text(), 0
    found.has_texts = bool(kept)
    sizes = Counter(pair.original for pair in found.pairs)
    readable = [pair for pair in found.pairs if pair.page in kept]
    for pair in sorted(readable, key=lambda pair: -sizes[pair.original])[:most]:
        pages = kept.intersection((pair.page, pair.original)) - found.texts.keys()
        packed = {page: _packed(recorded.content(found.records[page])) for page in pages}
        size += sum(map(len, packed.values()))
        if size > _MOST_BYTES:
            break
        found.texts.update(packed)


def _packed(kept: KeptContent) -> str:
    """Pack the main text of a page, and its whole length.

    The main text has blocks that earlier pages of the host had. The kept text lacks those that the
    other page of the pair had on the same host.
    """
    unpacked, text = kept.page(), kept.text or ""
    if unpacked is not None:
        text = "\n".join(block.text for block in find_content(unpacked.blocks).main)
    content = json.dumps([text[:_MOST_OF_TEXT], len(text)])
    return b64encode(zlib.compress(content.encode("ascii"), 9)).decode("ascii")
