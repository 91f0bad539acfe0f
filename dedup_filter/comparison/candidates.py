"""A page -> the stored pages that it may repeat, and how their hosts are related to its host.

    matches of its texts within k bits    -> candidates, the nearest to each text
    the page that it names as canonical   -> a candidate at any distance, if their sketches agree
    pages that share keys with it         -> likewise, the pages that share most keys

Knows no index and no store; the caller brings the results of the look-ups.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.fingerprints.sketch import contained
from dedup_filter.frames.host_frames import host_hash
from dedup_filter.model import Match, Source
from dedup_filter.text.headlines import Headline, canonical_marks, times_headed
from dedup_filter.text.page_url import Kinship, Place, kinship, named_key
from dedup_filter.thresholds import MOST

Found = dict[int, tuple[int, int]]
"""Stored pages like the judged page -> number of its first text that found each, and distance."""

NAMED_EVIDENCE = 32
"""Phrases of a page (or all, if fewer) that the sketch of its canonical page must sample: beyond k
bits, 24 of 32 agree by chance in one of 300 pages that are half alike, 12 of 16 in one of 26."""
SHARED_EVIDENCE = 64
"""The same for a page that shares keys. No site names this page, and pages that share some phrases
share more of the sampled ones. So 32 are too few: 5 pages of the labelled texts are lost."""
MOST_SHARING = 16
"""Candidates that share most keys. Pages beyond these share a phrase rather than a text."""
MOST_COMPARED = 64
"""At most this many candidates of one text are compared, the nearest: 1.5 ms. Most pages have a
handful; only templates and empty shells have more."""


class Stored(Protocol):
    """The fields of a stored page that a page is compared with."""

    @property
    def page(self) -> int:
        """Its number."""

    @property
    def host(self) -> str:
        """The host of its URL; empty for none."""

    @property
    def fingerprint(self) -> int | None:
        """The fingerprint that finds it; only pages that have one can be beyond k bits."""

    @property
    def sketch(self) -> bytes:
        """The sketch of all its texts."""

    @property
    def visit(self) -> bytes:
        """What later visits are compared with beside the sketch: see `visits`."""

    @property
    def headline(self) -> Headline:
        """The headline of the page."""

    @property
    def crawl(self) -> int:
        """The last crawl in which the page was seen."""

    @property
    def url_key(self) -> int:
        """The same for all spellings of its URL."""

    @property
    def digest(self) -> bytes:
        """See `PageProfile`."""

    @property
    def url(self) -> str:
        """The URL of the page."""

    @property
    def canonical_key(self) -> int | None:
        """The key of the other URL that it names as canonical."""


class Candidate(NamedTuple):
    """A stored page that the judged page may repeat."""

    text: int
    """Number of the judged page's first text, in its profile, that is within k bits of this one."""
    distance: int
    is_same_host: bool
    has_same_menus: bool
    """Whether a page of its host has shown the menus of the judged page."""
    sketch: bytes
    headline: Headline
    page: int = 0
    """Its number."""
    crawl: int = 0
    """The last crawl in which it was seen."""
    url_key: int = 0
    digest: bytes = b""
    source: Source | None = None
    """The look-up that found it, perhaps beyond k bits; None: a fingerprint, or equal text."""
    relate: Callable[[], Kinship] = lambda: "other"
    """Returns `kinship`: most candidates are refused without it."""

    @property
    def kinship(self) -> Kinship:
        """How its URL is related to the URL of the judged page."""
        return self.relate()


def found_by_texts(look_ups: Iterable[Sequence[Match]]) -> tuple[Found, int]:
    """Join the pages near the texts of a page, the `MOST_COMPARED` nearest to each text.

    Returns the pages, and the number of look-ups that found more.
    """
    found: Found = {}
    capped = 0
    for number, near in enumerate(look_ups):
        capped += len(near) > MOST_COMPARED
        for match in near[:MOST_COMPARED]:
            found.setdefault(match.row, (number, match.distance))
    return found, capped


def found_beyond(page: PageProfile, stored: Iterable[Stored], evidence: int) -> Found:
    """Return the stored pages, at any distance, that contain most phrases of the page.

    Each is compared with the nearest text of the page. Its sketch must sample `evidence` phrases of
    this text, or all if there are fewer, and contain most of the sampled phrases.
    """
    known = list(stored) if page.texts else []
    nearest = [
        min(
            ((text.fingerprint ^ (each.fingerprint or 0)).bit_count(), number)
            for number, text in enumerate(page.texts)
        )
        for each in known
    ]
    counts = counts_in(page, [number for _, number in nearest], [each.sketch for each in known])
    return {
        each.page: (number, distance)
        for each, (distance, number), (there, sampled, _) in zip(
            known, nearest, counts, strict=True
        )
        if sampled >= min(evidence, len(page.texts[number].hashes)) and there >= MOST * sampled
    }


def counts_in(
    page: PageProfile, texts: Sequence[int], sketches: Sequence[bytes]
) -> list[tuple[int, int, int]]:
    """Return what `contained` counts of n texts of a page, by their numbers, in a sketch each."""
    counts = np.zeros((len(texts), 3), np.intp)
    for text in set(texts):
        numbers = [number for number, each in enumerate(texts) if each == text]
        found = contained(page.texts[text].hashes, [sketches[number] for number in numbers])
        counts[numbers] = np.transpose(found)
    return [(there, sampled, size) for there, sampled, size in counts.tolist()]


def found_by_phrases(
    page: PageProfile, host: str, shared: Mapping[int, int], stored: Iterable[Stored]
) -> Found:
    """Return the pages that share most keys with a page and pass `found_beyond`.

    `shared`: page number -> how many keys it shares.
    """
    asked = [each for each in stored if is_found_by_phrases(page, host, each.host)]
    asked.sort(key=lambda each: (-shared[each.page], each.page))
    return found_beyond(page, asked[:MOST_SHARING], SHARED_EVIDENCE)


def is_found_by_phrases(page: PageProfile, own_host: str, host: str) -> bool:
    """Return whether phrases find pages of a host: not if it is another host with the same menus.

    Pages of such hosts are look-alikes: pages of one template, each on its own host.
    """
    is_same, has_same_menus = relation(page, own_host, host)
    return is_same or not has_same_menus


def relation(page: PageProfile, own_host: str, host: str) -> tuple[bool, bool]:
    """Return whether two hosts are the same, and whether the second has shown the page's menus.

    `own_host` is the host of the page, "" for none. See `Candidate`.
    """
    mark = host_hash(host)
    has_same_menus = any(counts.get(mark, 0) for counts in page.site_counts)
    return bool(own_host) and host == own_host, has_same_menus


def relation_of_urls(page: PageProfile, place: Place, stored: Stored) -> Kinship:
    """Return how the URL of a page, its place, and the URL of a stored page are related.

    URLs of one canonical URL are spellings of one, unless pages under other headlines name it, too.
    """
    if page.is_paged:
        return "series"
    if not ("://" in place.url and "://" in stored.url):
        return "other"  # a page without a URL has a name that says nothing
    related = kinship(place.url, stored.url)
    if related != "other":
        return related
    mine = named_key(place, page.canonical)
    theirs = stored.url_key if stored.canonical_key is None else stored.canonical_key
    if mine != theirs:
        return related
    of_all, of_headline = (
        times_headed(mark, page.counts) for mark in canonical_marks(mine, page.headline)
    )
    return "spelling" if of_all <= of_headline else related
