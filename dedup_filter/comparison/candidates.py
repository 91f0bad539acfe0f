"""A page -> the stored pages that it may repeat, and how their hosts are related to its own.

    matches of its texts within k bits    -> candidates, the nearest to each text
    the page that it names as canonical   -> a candidate at any distance, if their sketches agree
    pages that share keys with it         -> the same, those that share most

Knows no index and no store; the caller brings what they have found.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.fingerprints.sketch import contained
from dedup_filter.model import Match, Source
from dedup_filter.text.headlines import Headline
from dedup_filter.thresholds import MOST

Found = dict[int, tuple[int, int]]
"""Pages like one that is judged: the number of its first text that found each, and the distance."""

NAMED_EVIDENCE = 32
"""Phrases of a page that the sketch of its canonical page must sample, if it has so many: beyond k
bits, 24 of 32 agree by chance in one of 300 pages that are half alike, 12 of 16 in one of 26."""
SHARED_EVIDENCE = 64
"""The same for a page that shares keys. As no site names it, and what shares some phrases shares
more of those that are sampled, 32 are too few: 5 pages of the labelled texts are lost."""
MOST_SHARING = 16
"""Candidates that share keys, those with most; more share a phrase than a text."""
MOST_COMPARED = 64
"""Candidates of one text that are compared at most, the nearest: 1.5 ms. Most pages have a handful;
only templates and empty shells have more."""


class Stored(Protocol):
    """What a page is compared with, of a stored page."""

    @property
    def page(self) -> int:
        """Its number."""

    @property
    def host(self) -> str:
        """Where it was found; empty for none."""

    @property
    def fingerprint(self) -> int | None:
        """What it is found by; only pages that have one can be beyond k bits."""

    @property
    def sketch(self) -> bytes:
        """The sketch of all its texts."""

    @property
    def headline(self) -> Headline:
        """What the page is headed by."""

    @property
    def crawl(self) -> int:
        """The last crawl in which the page was seen."""

    @property
    def url_key(self) -> int:
        """The same for all spellings of its URL."""

    @property
    def digest(self) -> bytes:
        """See `PageProfile`."""


class Candidate(NamedTuple):
    """A stored page that the page which is judged may repeat."""

    text: int
    """The number of the first of its texts, in its profile, that is within k bits of this one."""
    distance: int
    is_same_host: bool
    has_same_menus: bool
    """Whether a page of its host has shown the menus of the page that is judged."""
    sketch: bytes
    headline: Headline
    page: int = 0
    """Its number."""
    crawl: int = 0
    """The last one that it was seen in."""
    url_key: int = 0
    digest: bytes = b""
    source: Source | None = None
    """By what it was found, perhaps beyond k bits; None: by a fingerprint, or equal text."""


def found_by_texts(look_ups: Iterable[Sequence[Match]]) -> tuple[Found, int]:
    """Join what is near the texts of a page, the `MOST_COMPARED` nearest to each.

    Returns the pages, and how many look-ups found more.
    """
    found: Found = {}
    capped = 0
    for number, near in enumerate(look_ups):
        capped += len(near) > MOST_COMPARED
        for match in near[:MOST_COMPARED]:
            found.setdefault(match.row, (number, match.distance))
    return found, capped


def found_beyond(page: PageProfile, stored: Iterable[Stored], evidence: int) -> Found:
    """Take stored pages for found, whatever their distance, if they say most of what the page says.

    Each is found by the nearest text of the page. Its sketch must sample `evidence` phrases of that
    text, or all, and contain most of them.
    """
    found: Found = {}
    for each in stored if page.texts else ():
        value = each.fingerprint or 0
        distances = [(text.fingerprint ^ value).bit_count() for text in page.texts]
        nearest = distances.index(min(distances))
        hashes = page.texts[nearest].hashes
        there, sampled, _ = (int(each[0]) for each in contained(hashes, [each.sketch]))
        if sampled >= min(evidence, len(hashes)) and there >= MOST * sampled:
            found[each.page] = nearest, distances[nearest]
    return found


def found_by_phrases(
    page: PageProfile, host: str, shared: Mapping[int, int], stored: Iterable[Stored]
) -> Found:
    """Take pages for found that share keys with one: those that share most.

    `shared`: how many each shares, by number.
    """
    asked = [each for each in stored if is_found_by_phrases(page, host, each.host)]
    asked.sort(key=lambda each: (-shared[each.page], each.page))
    return found_beyond(page, asked[:MOST_SHARING], SHARED_EVIDENCE)


def is_found_by_phrases(page: PageProfile, own_host: str, host: str) -> bool:
    """Tell whether phrases find pages of a host: not if it is another one with the same menus.

    Those are look-alikes: pages of one template, each on its own host.
    """
    is_same, has_same_menus = relation(page, own_host, host)
    return is_same or not has_same_menus


def relation(page: PageProfile, own_host: str, host: str) -> tuple[bool, bool]:
    """Return whether two hosts are the same, and whether the second has shown the page's menus.

    `own_host` is the host of the page, "" for none. See `Candidate`.
    """
    is_of_site = page.around.is_of_site
    return bool(own_host) and host == own_host, is_of_site is not None and is_of_site(host)
