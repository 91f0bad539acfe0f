"""A page that a user named, read or recorded -> what of it can be compared with another's.

Shares of phrases are exact where both pages are at hand; where one is only recorded, its sketch is
a sample of them (`fingerprints/sketch.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from dedup_filter.fingerprints.sketch import (
    UInt32Array,
    contained,
    distinct_hashes,
    shared,
    union,
)
from dedup_filter.pages.directory.records import PageRecord, Place
from dedup_filter.review.explanation.judged import Judged
from dedup_filter.review.explanation.named_features import advertisements
from dedup_filter.review.explanation.named_page import NamedPage
from dedup_filter.text.headlines import Headline


@dataclass(frozen=True, eq=False)
class Side:
    """One of two pages, as far as it is known."""

    name: str
    """As the user gave it."""
    url: str
    """"" if it is a file."""
    reason: str | None = None
    """Why it is unjudged; None: it is judged, or was when it was recorded."""
    recorded: str | None = None
    """What was said of it when it was recorded; None: it is not recorded."""
    original: str | None = None
    """URL of the page that it was said to repeat."""
    language: str | None = None
    words: int = 0
    headline: Headline = field(default_factory=Headline)
    digest: str = ""
    fingerprints: Mapping[str, int] = field(default_factory=dict)
    """Text name ("new", "main", "span") -> fingerprint that candidates are looked up by. A record
    has one, "recorded". Later pages find the page by the first."""
    text: str | None = None
    """Its main text without what two pages of its host have shown; None: it is not known. What one
    page has shown may be that of the other page."""
    advertisements: list[str] = field(default_factory=list)
    """Words, in rows, that are taken for advertisements."""
    hashes: UInt32Array | None = None
    """All its phrases, hashed; None: only a sketch of them is known."""
    sketch: bytes = b""
    """Empty if it has no text."""

    @property
    def host(self) -> str:
        """The host of its URL; "" for none."""
        return Place.of(self.url).host

    @classmethod
    def stored(cls, name: str, page: NamedPage) -> "Side":
        """Tell what is known of a page that others are compared with: as it is recorded."""
        side, record = cls.of(name, page), page.record
        if record is None:
            return side
        return replace(
            side,
            headline=record.headline,
            digest=record.digest.hex(),
            fingerprints={} if record.fingerprint is None else {"recorded": record.fingerprint},
            sketch=record.sketch,
        )

    @classmethod
    def of(cls, name: str, page: NamedPage) -> "Side":
        """Tell what is known of a page that is judged now, if it can be."""
        found, record = page.judged, page.record
        outcome = None if record is None else record.outcome
        if isinstance(found, Judged):
            return cls._measured(name, found, page.url, outcome, page.kept.url_of_original)
        if record is not None:
            return cls._recorded(name, record, page)
        return cls(name, page.url, None if found is None else found.reason)

    @classmethod
    def _measured(
        cls, name: str, found: Judged, url: str, outcome: str | None, original: str | None
    ) -> "Side":
        analysed, measured = found.analysed, found.profile
        texts = analysed.new, analysed.main, analysed.span
        return cls(
            name,
            url,
            found.reason,
            outcome,
            original,
            language=measured.language,
            words=measured.word_count,
            headline=measured.headline,
            digest=measured.digest.hex(),
            fingerprints={text.name: text.fingerprint for text in measured.texts},
            text=found.main_text,
            advertisements=advertisements(analysed.main),
            hashes=union([distinct_hashes(each.hashes) for each in texts]),
            sketch=measured.sketch,
        )

    @classmethod
    def _recorded(cls, name: str, record: PageRecord, page: NamedPage) -> "Side":
        value = record.fingerprint
        return cls(
            name,
            page.url,
            record.reason if record.is_kept else None,
            record.outcome,
            page.kept.url_of_original,
            language=record.language,
            words=record.words,
            headline=record.headline,
            digest=record.digest.hex(),
            fingerprints={} if value is None else {"recorded": value},
            text=page.kept.text,
            sketch=record.sketch,
        )


class Likeness(NamedTuple):
    """Which share of the phrases (shingles) of each page the other one has."""

    of_second: float
    of_first: float
    jaccard: float
    is_estimated: bool
    """Whether only a sketch of one page's phrases is known."""


def likeness(first: Side, second: Side) -> Likeness | None:
    """Measure it; None: one of them has no text."""
    if not (first.sketch and second.sketch):
        return None
    of_second, of_first = _counted_in(second, first), _counted_in(first, second)
    there, asked, sizes = of_second
    return Likeness(
        _share(there, asked),
        _share(*of_first[:2]),
        _share(there, asked + sizes - there),
        first.hashes is None or second.hashes is None,
    )


def _counted_in(one: Side, other: Side) -> tuple[int, int, int]:
    """Count the phrases of a page that the other has, those asked for, and those of the other."""
    if one.hashes is not None and other.hashes is not None:
        there = len(np.intersect1d(one.hashes, other.hashes, assume_unique=True))
        return there, len(one.hashes), len(other.hashes)
    if one.hashes is not None:
        counts = contained(one.hashes, [other.sketch])
    else:
        counts = shared([one.sketch], [other.sketch])
    there, asked, sizes = (int(each[0]) for each in counts)
    return there, asked, sizes


def _share(there: int, asked: int) -> float:
    return there / asked if asked else 1.0
