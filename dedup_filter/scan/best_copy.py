"""The verdicts of a scan -> the same verdicts, with the best copy of each page kept, not the first.

    log           -> a score for each copy of a page
    index, scores -> the best copy that contains the other copies, if it is not the first
    log           -> the entries from which outputs are written

The best copy is the one with

    first      the first place in the input
    longest    the most words of main content (`Verdict.words`)
    canonical  the URL that most of the others name as canonical; if none is named, the first

A filter keeps the first copy of a page, as it cannot know which copies follow. Once all pages are
judged, all copies are known: the kept page, and the pages dropped for it. The copy with the highest
score is kept; of equal scores, the first in the input. It gets the verdict of the first copy, and
all other copies become its duplicates.

Each copy repeats the first or a part of it. So a copy replaces the first only if its sketch has
enough of the phrases of each other copy (`min_similarity`; on one host, and for a part of a larger
page, half as much may be missing). Else the next best copy is tried; after some tries the first
stays. Verdicts of an earlier scan of the same index do not change, and neither does an index.

Memory: 48 bytes a page. Cost: 20 us a page, 0.3 ms a copy.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dedup_filter.fingerprints.sketch import shared
from dedup_filter.scan.work import Entry, Policy, entries_in
from dedup_filter.store.protocol import Recorded
from dedup_filter.store.records import PageRecord
from dedup_filter.text.page_url import url_key
from dedup_filter.thresholds import HALF

_MOST_TRIED = 8
"""Copies of a page that are tried in place of the first."""
_AT_ONCE = 256
"""Sketches that are compared at a time: 10 KB each."""
_COPY = np.dtype(
    [(name, np.int64) for name in ("kept", "page", "place", "words")]
    + [("key", np.uint64), ("named", np.uint64)]
)
"""A copy of the page `kept`: its number, its place in the log, its words, the key of its URL, and
the key of the URL that it names as canonical, or 0."""
_OWN = ("page", "words", "fingerprint", "change")
"""Values of a page that do not depend on its original."""


class BestCopies:
    """The best copies of the pages of a scan, chosen by a policy.

    Raises:
        DedupError: the index cannot be read.
        OSError: the log cannot be read.
    """

    def __init__(self, log: Path, index: Recorded, policy: Policy, least: float | None) -> None:
        self._log, self._index, self._policy, self._least = log, index, policy, least
        self._best: dict[int, tuple[int, int]] = {}
        """Kept page -> place and number of its best copy, unless that is the first."""
        self._choose()

    def entries(self) -> Iterator[Entry]:
        """Yield the entries of the log with the best copies in place of the first."""
        firsts: dict[int, dict[str, Any]] = {}
        """The verdicts of first copies, until their best copies come."""
        for place, entry in enumerate(entries_in(self._log)):
            kept = entry.kept_page
            if kept is None or kept not in self._best:
                yield entry
                continue
            best_place, best_page = self._best[kept]
            own = {name: entry.found.get(name) for name in _OWN}
            if own["page"] == kept:
                firsts[kept] = entry.found
            if place == best_place:
                found = {**firsts.pop(kept), **own}
            else:
                page, best = self._index.records([entry.found["page"], best_page])
                found = {**_repeat(page, best), **own}
                found |= {"original": best.url, "cluster": kept}
            yield entry._replace(found=found)

    def _choose(self) -> None:
        copies = np.fromiter(self._copies(), _COPY)
        copies = copies[np.argsort(copies["kept"], kind="stable")]
        bounds = np.flatnonzero(np.diff(copies["kept"], prepend=-1, append=-1))
        sizes = np.diff(bounds)
        for start, size in zip(bounds[:-1][sizes > 1], sizes[sizes > 1], strict=True):
            group = copies[start : start + size]
            kept, pages, places = (group[name].tolist() for name in ("kept", "page", "place"))
            if pages[0] != kept[0]:  # an earlier scan has kept it
                continue
            scores = group["words"]
            if self._policy == "canonical":
                times = Counter(group["named"].tolist())
                scores = np.array([times[key] for key in group["key"].tolist()])
            for best in np.argsort(-scores, kind="stable")[:_MOST_TRIED].tolist():
                if best == 0:
                    break
                if self._has_all(pages[best], [*pages[:best], *pages[best + 1 :]]):
                    self._best[kept[0]] = places[best], pages[best]
                    break

    def _copies(self) -> Iterator[tuple[int, int, int, int, int, int]]:
        for place, entry in enumerate(entries_in(self._log)):
            kept, found = entry.kept_page, entry.found
            if kept is not None:
                named = found.get("named") or 0
                yield kept, found["page"], place, found["words"], url_key(entry.url), named

    def _has_all(self, number: int, pages: list[int]) -> bool:
        """Return whether a copy has enough of the phrases of each other copy."""
        least = self._least
        if least is None:
            return True
        for start in range(0, len(pages), _AT_ONCE):
            some = [number, *pages[start : start + _AT_ONCE]]
            records = [*self._index.records(some)]
            if len(records) < len(some):  # a record was evicted (`max_pages`)
                return False
            copy = records[0]
            others = [each for each in records if each.digest != copy.digest]
            sketches = [each.sketch for each in others]
            counts = shared(sketches, [copy.sketch] * len(others))
            for other, common, of_other, of_copy in zip(others, *counts, strict=True):
                # On one host, or for a part of a larger page, half as much may be missing.
                is_part = common < HALF * (of_other + of_copy - common)
                is_halved = is_part or other.host == copy.host
                if of_other - common > (1 - least) * (HALF if is_halved else 1) * of_other:
                    return False
        return True


def _repeat(page: PageRecord, kept: PageRecord) -> dict[str, Any]:
    """Return outcome, distance and similarity of a page and the kept page that it repeats."""
    if page.digest == kept.digest:
        return {"outcome": "exact", "distance": 0, "similarity": 1.0}
    common, of_page, _ = (int(each[0]) for each in shared([page.sketch], [kept.sketch]))
    one, other = page.fingerprint, kept.fingerprint
    distance = None if one is None or other is None else (one ^ other).bit_count()
    return {"outcome": "near", "distance": distance, "similarity": common / max(of_page, 1)}
