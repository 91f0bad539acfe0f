"""A page -> the stored pages that it may repeat, and how their hosts are related to its own.

    matches of its texts within k bits    -> candidates, the nearest to each text
    the page that it names as canonical   -> a candidate at any distance, if their sketches agree

Knows no index and no store; the caller brings what they have found.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import NamedTuple

from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.fingerprints.sketch import contained
from dedup_filter.model import Match
from dedup_filter.text.headlines import Headline
from dedup_filter.thresholds import MOST

Found = dict[int, tuple[int, int]]
"""Pages like one that is judged: the number of its first text that found each, and the distance."""

_EVIDENCE = 32
"""Phrases of a page that the sketch of its canonical page must sample, if it has so many: beyond k
bits, 24 of 32 agree by chance in one of 300 pages that are half alike, 12 of 16 in one of 26."""
MOST_COMPARED = 64
"""Candidates of one text that are compared at most, the nearest: 1.5 ms. Most pages have a handful;
only templates and empty shells have more."""


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
    is_canonical: bool = False
    """Whether the page that is judged names it as canonical; then it may be beyond k bits."""


def found_by_texts(look_ups: Iterable[Sequence[Match]], before: float = inf) -> tuple[Found, int]:
    """Join what is near the texts of a page, the `MOST_COMPARED` nearest to each.

    Returns the pages, those before a number, and how many look-ups found more.
    """
    found: Found = {}
    capped = 0
    for number, near in enumerate(look_ups):
        capped += len(near) > MOST_COMPARED
        for match in near[:MOST_COMPARED]:
            if match.row < before:
                found.setdefault(match.row, (number, match.distance))
    return found, capped


def found_by_url(page: PageProfile, stored: Mapping[int, tuple[int, bytes]]) -> Found:
    """Take pages with these fingerprints and sketches for found, whatever their distance.

    Each is found by the nearest text of the page. Beyond k bits, its sketch must sample 32
    phrases of that text, or all, and contain most of them.
    """
    found: Found = {}
    for number, (value, sketch) in stored.items() if page.texts else ():
        distances = [(text.fingerprint ^ value).bit_count() for text in page.texts]
        nearest = distances.index(min(distances))
        hashes = page.texts[nearest].hashes
        there, sampled, _ = (int(each[0]) for each in contained(hashes, [sketch]))
        if sampled >= min(_EVIDENCE, len(hashes)) and there >= MOST * sampled:
            found[number] = nearest, distances[nearest]
    return found


def relation(page: PageProfile, own_host: str, host: str) -> tuple[bool, bool]:
    """Return whether two hosts are the same, and whether the second has shown the page's menus.

    `own_host` is the host of the page, "" for none. See `Candidate`.
    """
    is_of_site = page.around.is_of_site
    return bool(own_host) and host == own_host, is_of_site is not None and is_of_site(host)
