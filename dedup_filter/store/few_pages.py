"""Records of a few pages -> the look-ups of a page, by comparing it with each of them.

For indexes that find the pages that may be like a page otherwise, and have read their records.
Implements `comparison.look_ups.LookUps`, but for `stored` and `visits`. Knows no index.
"""

from collections.abc import Iterable, Sequence

from dedup_filter.fingerprints.sketch import phrases_in
from dedup_filter.model import Match
from dedup_filter.store.records import PageRecord


class FewPages:
    """The look-ups among the pages that `candidates` returns."""

    inner_rings = ()

    def __init__(self, max_distance: int) -> None:
        self._max_distance = max_distance

    def candidates(self) -> Iterable[PageRecord]:
        """Return the kept and pending pages, the earliest first."""
        raise NotImplementedError

    def equal(self, digest: bytes) -> list[int]:
        """Return the pages with a digest, the earliest first."""
        return [each.page for each in self.candidates() if each.digest == digest]

    def near(
        self, fingerprint: int, most: int | None = None, distance: int | None = None
    ) -> list[Match]:
        """Return the pages within a distance, nearest first."""
        bound = self._max_distance if distance is None else distance
        found = [
            Match(each.page, each.fingerprint, apart)
            for each in self.candidates()
            if each.fingerprint is not None
            and (apart := (each.fingerprint ^ fingerprint).bit_count()) <= bound
        ]
        return sorted(found, key=lambda match: (match.distance, match.row))[:most]

    def sharing(self, texts: Sequence[bytes]) -> dict[int, int]:
        """Return the pages that share keys with texts; the most keys of one text."""
        asked, found = [phrases_in(keys) for keys in texts], dict[int, int]()
        for each in self.candidates():
            keys = phrases_in(each.keys)
            if most := max((len(keys & text) for text in asked), default=0):
                found[each.page] = most
        return found


def latest_first(records: Iterable[PageRecord], key: int) -> list[PageRecord]:
    """Return those records that are of the URL with this key, the latest first."""
    return sorted(
        (each for each in records if each.url_key == key),
        key=lambda each: (each.crawl, each.page),
        reverse=True,
    )
