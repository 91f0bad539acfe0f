"""A page that a user named, read or recorded -> its properties that can be compared.

If both pages were read, shares of phrases are exact. If a page is only recorded, they are estimated
from its sketch, a sample of its phrases (`fingerprints/sketch.py`).
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
from dedup_filter.review.explanation.judged_page import JudgedPage
from dedup_filter.review.explanation.named_features import advertisements
from dedup_filter.review.explanation.named_page import NamedPage
from dedup_filter.store.records import PageRecord
from dedup_filter.text.headlines import Headline
from dedup_filter.text.page_url import Place


@dataclass(frozen=True, eq=False)
class ComparedPage:
    """One of two pages, as far as it is known."""

    name: str
    """As the user gave it."""
    url: str
    """"" for a file without URL."""
    reason: str | None = None
    """Why the page is unjudged; None: it is judged, or was when it was recorded."""
    recorded: str | None = None
    """The recorded outcome; None: the page is not recorded."""
    original: str | None = None
    """URL of the recorded original."""
    language: str | None = None
    words: int = 0
    headline: Headline = field(default_factory=Headline)
    digest: str = ""
    fingerprints: Mapping[str, int] = field(default_factory=dict)
    """Text name ("new", "main", "span") -> fingerprint by which candidates are looked up. A record
    has one, "recorded". Later pages find the page by the first."""
    text: str | None = None
    """Its main text without blocks that two pages of its host had; None: it is not known. Blocks
    that one page had stay: they may come from the other of the two pages."""
    advertisements: list[str] = field(default_factory=list)
    """Words, in rows, that are taken for advertisements."""
    hashes: UInt32Array | None = None
    """All its phrases, hashed; None: only a sketch of them is known."""
    sketch: bytes = b""
    """Empty if the page has no text."""

    @property
    def host(self) -> str:
        """The host of its URL; "" for none."""
        return Place.of(self.url).host

    @classmethod
    def stored(cls, name: str, page: NamedPage) -> "ComparedPage":
        """Return the page in its role as a stored page: with the values of its record."""
        compared, record = cls.of(name, page), page.record
        if record is None:
            return compared
        return replace(
            compared,
            headline=record.headline,
            digest=record.digest.hex(),
            fingerprints={} if record.fingerprint is None else {"recorded": record.fingerprint},
            sketch=record.sketch,
        )

    @classmethod
    def of(cls, name: str, page: NamedPage) -> "ComparedPage":
        """Return the page as judged now; if that is impossible, as recorded."""
        found, record = page.judged, page.record
        outcome = None if record is None else record.outcome
        if isinstance(found, JudgedPage):
            return cls._judged(name, found, page.url, outcome, page.kept.url_of_original)
        if record is not None:
            return cls._recorded(name, record, page)
        return cls(name, page.url, None if found is None else found.reason)

    @classmethod
    def _judged(
        cls, name: str, found: JudgedPage, url: str, outcome: str | None, original: str | None
    ) -> "ComparedPage":
        analysed, profile = found.analysed, found.profile
        texts = analysed.new, analysed.main, analysed.span
        return cls(
            name,
            url,
            found.reason,
            outcome,
            original,
            language=profile.language,
            words=profile.word_count,
            headline=profile.headline,
            digest=profile.digest.hex(),
            fingerprints={text.name: text.fingerprint for text in profile.texts},
            text=found.main_text,
            advertisements=advertisements(analysed.main),
            hashes=union([distinct_hashes(each.hashes) for each in texts]),
            sketch=profile.sketch,
        )

    @classmethod
    def _recorded(cls, name: str, record: PageRecord, page: NamedPage) -> "ComparedPage":
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
    """The share of the phrases (shingles) of each page that the other page has."""

    of_second: float
    of_first: float
    jaccard: float
    is_estimated: bool
    """Whether only a sketch of one page's phrases is known."""


def likeness(first: ComparedPage, second: ComparedPage) -> Likeness | None:
    """Return the likeness of two pages; None: one of them has no text."""
    if not (first.sketch and second.sketch):
        return None
    of_second, of_first = _counted_in(second, first), _counted_in(first, second)
    common, comparable, size = of_second
    return Likeness(
        _share(common, comparable),
        _share(*of_first[:2]),
        _share(common, comparable + size - common),
        first.hashes is None or second.hashes is None,
    )


def _counted_in(one: ComparedPage, other: ComparedPage) -> tuple[int, int, int]:
    """Count common phrases, comparable phrases of one page, and phrases of the other page."""
    if one.hashes is not None and other.hashes is not None:
        common = len(np.intersect1d(one.hashes, other.hashes, assume_unique=True))
        return common, len(one.hashes), len(other.hashes)
    if one.hashes is not None:
        counts = contained(one.hashes, [other.sketch])
    else:
        counts = shared([one.sketch], [other.sketch])
    common, comparable, size = (int(each[0]) for each in counts)
    return common, comparable, size


def _share(common: int, comparable: int) -> float:
    return common / comparable if comparable else 1.0
