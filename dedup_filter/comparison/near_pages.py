"""A page, or a fingerprint -> the kept pages like it, nearest first; the index is not changed.

    page -> its fingerprints, digest and keys -> index -> records -> distance, share of its shingles

All like pages are returned, confirmed or not; `look_ups` decides which of them a page repeats.
Knows no index and no store; the caller brings the records.
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from dedup_filter.comparison.candidates import (
    SHARED_EVIDENCE,
    Found,
    Stored,
    found_beyond,
    is_found_by_phrases,
)
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.fingerprints.sketch import contained, shared
from dedup_filter.model import NearPage

_Hashes = npt.NDArray[np.uint32]


class Recorded(Stored, Protocol):
    """The fields of a record that `find` needs."""

    @property
    def is_pending(self) -> bool:
        """Whether the page is not committed."""


class Query(NamedTuple):
    """The keys by which pages are looked up."""

    host: str
    """With `scope` "host", only pages of this host are found."""
    fingerprints: tuple[int, ...]
    """Fingerprints of the texts of the page, see `PageProfile.texts`."""
    shingles: tuple[_Hashes | bytes, ...] = ()
    """The shingle hashes, or a sketch, of each text; none if only a fingerprint is known."""
    digest: bytes | None = None
    page: PageProfile | None = None
    """None: only the record of the page is known."""

    @classmethod
    def of(cls, host: str, page: PageProfile) -> "Query":
        """Make the query for a page that was profiled."""
        texts = page.texts
        prints = tuple(text.fingerprint for text in texts)
        return cls(host, prints, tuple(text.hashes for text in texts), page.digest, page)

    @property
    def keys(self) -> list[bytes]:
        """Keys of its texts, which find pages at any distance."""
        return [] if self.page is None else [text.keys for text in self.page.texts]

    @classmethod
    def of_record(cls, record: Recorded) -> "Query":
        """Make the query for a recorded page: its sketch stands for its shingles."""
        known = () if record.fingerprint is None else (record.fingerprint,)
        return cls(record.host, known, (record.sketch,), record.digest)

    def found(self, records: Iterable[Recorded], max_distance: int) -> list[NearPage]:
        """Return the pages of some records that are like the page, nearest first, then by number.

        The records belong to pages near a fingerprint, with the digest, or that share keys.
        Pending pages are left out. Cost: 20 us a record.
        """
        by_text: dict[int, list[tuple[Recorded, int]]] = {}
        found, others = [], {}
        for record in records:
            if record.is_pending:
                continue
            if self.digest is not None and record.digest == self.digest:
                found.append(NearPage(record.url, 0, 1.0, record.page))
                continue
            if record.fingerprint is None:
                continue
            for number, each in enumerate(self.fingerprints):
                distance = (record.fingerprint ^ each).bit_count()
                if distance <= max_distance:
                    by_text.setdefault(number, []).append((record, distance))
                    break
            else:
                others[record.page] = record
        for page, (number, distance) in self._beyond(others.values()).items():
            by_text.setdefault(number, []).append((others[page], distance))
        for number, near in by_text.items():
            shares = self._shares(number, [record.sketch for record, _ in near])
            found += [
                NearPage(
                    record.url,
                    distance,
                    share,
                    record.page,
                    None if distance <= max_distance else "shared_phrases",
                )
                for (record, distance), share in zip(near, shares, strict=True)
            ]
        return sorted(found, key=lambda each: (each.distance, each.page))

    def _beyond(self, records: Iterable[Recorded]) -> Found:
        """Find the records that contain most phrases of the page."""
        page, host = self.page, self.host
        if page is None:
            return {}
        asked = [each for each in records if is_found_by_phrases(page, host, each.host)]
        return found_beyond(page, asked, SHARED_EVIDENCE)

    def _shares(self, number: int, sketches: list[bytes]) -> list[float] | list[None]:
        if not self.shingles:
            return [None] * len(sketches)
        known = self.shingles[number]
        if isinstance(known, bytes):
            there, asked, _ = shared([known] * len(sketches), sketches)
        else:
            there, asked, _ = contained(known, sketches)
        shares: list[float] = (there / np.maximum(asked, 1)).tolist()
        return shares
