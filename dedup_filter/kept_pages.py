"""What was kept: profiles in, verdicts out. The index and the store as one.

    profile -> same digest                 exact
            -> index -> candidates within k bits -> sketches -> the most similar   near

What a page was kept with can be replaced when more is known of its host (`framed_pages`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints import similarities
from dedup_filter.index import HammingIndex
from dedup_filter.model import Match, Outcome, Verdict
from dedup_filter.profile import PageProfile
from dedup_filter.store import MemoryStore

__all__ = ["Comparison", "KeptPages"]


class Comparison(NamedTuple):
    """A verdict, and the row of the original where it names one."""

    verdict: Verdict
    row: int | None


class KeptPages:
    """The pages that later ones may repeat."""

    def __init__(self, config: FilterConfig) -> None:
        self._config = config
        self._index = HammingIndex(config.max_distance)
        self._store = MemoryStore()

    def __len__(self) -> int:
        return len(self._store)

    @property
    def nbytes(self) -> int:
        """Memory of the index and of what is kept of each page, in bytes."""
        return self._index.nbytes + self._store.nbytes

    def compare(self, page: PageProfile) -> Comparison:
        """Tell whether a page repeats one that was kept. Cost: one look-up in the index."""
        about = Verdict(
            "new",
            language=page.language,
            shingles=page.shingles,
            shingles_without_stopword=page.shingles_without_stopword,
        )
        if page.is_blank:
            return Comparison(replace(about, outcome="unjudged", reason="no_text"), None)
        row = self._store.row_of_digest(page.digest)
        if row is not None:
            same = Match(row, page.fingerprint, 0)
            return Comparison(self._repeat(about, "exact", same, 1.0), row)
        if not page.is_long_enough:
            return Comparison(replace(about, outcome="unjudged", reason="too_short"), None)
        candidates = self._index.within(page.fingerprint)
        about = replace(about, candidates=len(candidates))
        match, similarity = self._most_similar(page, candidates)
        if match is None:
            return Comparison(about, None)
        return Comparison(self._repeat(about, "near", match, similarity), match.row)

    def see(self, url: str, page: PageProfile) -> Verdict:
        """Compare a page, and keep it unless it is a duplicate or blank."""
        verdict = self.compare(page).verdict
        if not verdict.is_duplicate and verdict.reason != "no_text":
            self.add(url, page)
        return verdict

    def similarity(self, page: PageProfile, row: int) -> float:
        """Estimate the similarity of a page to one that was kept."""
        return float(similarities(page.sketch, self._store.sketches([row]))[0])

    def add(self, url: str, page: PageProfile) -> int:
        """Keep a page and return its row."""
        row = self._store.add(url, page.digest, page.sketch)
        if page.is_long_enough:
            self._index.add(page.fingerprint, row)
        return row

    def replace(self, row: int, before: PageProfile, after: PageProfile) -> None:
        """Give a page another profile."""
        self._store.replace(row, before.digest, after.digest, after.sketch)
        if before.is_long_enough:
            self._index.remove(before.fingerprint, row)
        if after.is_long_enough:
            self._index.add(after.fingerprint, row)

    def check(self) -> None:
        """Verify the invariants of index and store."""
        self._index.check()
        self._store.check()
        assert len(self._index) <= len(self._store)

    def _repeat(self, about: Verdict, outcome: Outcome, match: Match, similarity: float) -> Verdict:
        return replace(
            about,
            outcome=outcome,
            original=self._store.url(match.row),
            distance=match.distance,
            similarity=similarity,
        )

    def _most_similar(
        self, page: PageProfile, candidates: Sequence[Match]
    ) -> tuple[Match | None, float]:
        """Confirm the candidates; of equally similar ones the nearest, then the earliest."""
        if not candidates:
            return None, 0.0
        estimates = similarities(page.sketch, self._store.sketches([m.row for m in candidates]))
        least = self._config.min_similarity
        if least is None:
            return candidates[0], float(estimates[0])
        best = int(estimates.argmax())  # the first maximum: candidates come nearest first
        if estimates[best] < least:
            return None, 0.0
        return candidates[best], float(estimates[best])
