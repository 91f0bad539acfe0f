"""The values that travel between the layers: documents, matches, verdicts.

Plain frozen data without behaviour of their own, so that every layer may use them and
none has to know another.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

Outcome = Literal["new", "near", "exact", "revisit", "unjudged"]
REPEATS: tuple[Outcome, ...] = ("near", "exact")
"""The outcomes of a page that repeats one that was seen before it."""

Reason = Literal[
    "too_short",
    "by_script",
    "no_text",
    "too_large",
    "too_slow",
    "binary",
    "not_html",
    "no_field",
    "wrong_type",
    "no_response",
    "pending",
    "error",
]
"""Why a page was not judged: docs/statistics.md."""

Source = Literal["canonical", "shared_phrases"]
"""By what the original of a duplicate was found, but for its fingerprint or equal text: the page
names it as its canonical page, or has phrases in common with it that hardly another has."""
SOURCES: tuple[Source, ...] = get_args(Source)

Fate = Literal["pending", "kept", "gone"]
"""What has become of a page: claimed only, committed, or released or forgotten."""


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a page without its markup, and what else its profile needs."""

    text: str
    """The main text, blocks separated by newlines."""
    title: str = ""
    language: str | None = None
    """What the page declares of itself (`<html lang>`): primary subtag in lower case."""
    whole_text: str = ""
    """All text that is read of the page, frame included; only if the page has unread text, or no
    letter and no digit in its main text. "": take the main text for it."""
    headings: tuple[str, ...] = ()
    """Those within the main text; only where they are asked for."""
    images: tuple[int, ...] = ()
    """64-bit hashes of the images within the main text; only where they are asked for."""
    unread_words: float = 0
    """Words of the page that are not read: in hidden parts, or in the data of scripts."""
    unread_hash: int = 0
    """64 bits of that text; 0 for none."""
    waiting_words: float = 0
    """Unread words that wait for a script, so that they may be the page's content: all but hidden
    text that no script is known to move into sight."""
    waiting_hash: int = 0
    """64 bits of that text; 0 for none."""
    whole_hash: int = field(default=0, compare=False)
    """64 bits of all text that is read, block by block, and of the page's notes; 0: `whole_text` is
    hashed instead."""
    own_hash: int = field(default=0, compare=False)
    """64 bits of the notes and of the normal form of all text that is not known to be frame; 0:
    `whole_text` is hashed instead."""
    canonical: tuple[str, ...] = field(default=(), compare=False)
    """URLs that the page names as its canonical ones; may be relative."""
    selected: tuple[str, ...] = field(default=(), compare=False)
    """What selectors of a user have done to the page: see `text.selectors`."""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """A page that cannot be judged."""

    reason: Reason


class Match(NamedTuple):
    """A stored fingerprint that is proved to lie within k bits of the one asked for."""

    row: int
    fingerprint: int
    distance: int


class NearPage(NamedTuple):
    """A kept page that is like one that was asked about."""

    url: str
    distance: int
    """Differing bits of the two fingerprints; 0 if all that the pages say is equal."""
    similarity: float | None
    """Share of the asked page's shingles that this one has, 0 to 1; None if only a fingerprint was
    asked about."""
    page: int
    """Number of its record."""
    source: Source | None = None
    """By what it was found beyond `max_distance` bits; None: it is within."""


Rule = Literal["headline", "hidden", "paragraph", "lines", "words"]
"""What is missing in a page that is near another, so that this one does not repeat it:

    headline   it has another headline
    hidden     it does not hide the text that this page hides, which is more than the page shows
    paragraph  a paragraph
    lines      lines and links
    words      too many words in all
"""


class MissingLine(NamedTuple):
    """A line of a page that is missing in the one that it is near."""

    text: str
    words: tuple[int, int] | None = None
    """First and end of the words that stand in no phrase of the other page; None: all of them."""


class Refusal(NamedTuple):
    """Why a page that is near another does not repeat it: what is missing in that page."""

    rule: Rule
    words: float
    """Words that are missing; 0 for "headline"."""
    allowed: float
    """Words that may be missing."""
    text: str
    """The first block that is missing; for "headline" the page's own."""
    page: int
    """The number of the other page."""
    distance: int
    """Differing bits of the two fingerprints."""
    url: str | None = None
    """URL of the other page."""
    lines: tuple[MissingLine, ...] = ()
    """All lines that are missing, if they are few and nothing else keeps the two pages apart."""


def as_hex(fingerprint: int | None) -> str | None:
    """Write a fingerprint with all of its 16 digits; None stays None.

    >>> as_hex(31)
    '0x000000000000001f'
    """
    return None if fingerprint is None else f"{fingerprint:#018x}"


class Verdict(NamedTuple):
    """What the filter says of a page, and the figures it is based on."""

    outcome: Outcome
    original: str | None = None
    """URL of the page that this one repeats; of a revisit: the URL of its record from the earlier
    crawl."""
    distance: int | None = None
    """Differing bits of the two fingerprints, 0 to 64."""
    similarity: float | None = None
    """Share of the page's shingles that its original has, 0 to 1; estimated for long pages."""
    reason: Reason | Source | None = None
    """Why an "unjudged" page was not judged; of a duplicate by what its original was found, None:
    within `max_distance` bits, or as an equal page."""
    language: str | None = None
    candidates: int = 0
    """Stored pages that it was compared with, confirmed or not: those within k bits, the one that
    it names as canonical, and those that share phrases with it."""
    shingles: int = 0
    """Shingles of the text that the page is known by."""
    shingles_without_stopword: int = 0
    """How many of them have too few function words around them, as menus and adverts have."""
    page: int | None = None
    """Number of the page's own record; None: nothing was recorded of it."""
    original_page: int | None = None
    """Number of the record of `original`."""
    fingerprint: int | None = None
    """The simhash by which later pages find the page, 64 bits; None: it has no text of enough
    words, or only stopwords."""
    refused: Refusal | None = None
    """Of a new page: why the nearest of its `candidates` is not its original; None: it has none."""
    frame_share: float = 0.0
    """Share of the words in the span of the main content that are frame of the page's host, 0 to 1;
    they do not count."""
    words: int = 0
    """Words of its main content, without what two earlier pages of the host have shown."""
    canonical: str | None = None
    """URL that the page names as its canonical one; None: its own, or none."""
    selected: tuple[str, ...] = ()
    """What the options `ignore` and `content` have done to the page: "ignored", "content",
    "no_content", "nothing_left" (docs/statistics.md)."""

    @property
    def cluster(self) -> int | None:
        """Number of the page that it and all that repeat the same page hang on.

        That is the number of its original, or its own; None: nothing was recorded of it.
        """
        if self.outcome == "unjudged":
            return None
        return self.page if self.original_page is None else self.original_page

    @property
    def is_duplicate(self) -> bool:
        """Whether the page repeats one that was seen before it."""
        return self.outcome in REPEATS

    def as_json(self) -> dict[str, Any]:
        """Return what it says of the page, in values that JSON has.

        The fingerprint is "0x" and 16 hexadecimal digits: many readers of JSON have no integers of
        64 bits.
        """
        return {
            "outcome": self.outcome,
            "original": self.original,
            "distance": self.distance,
            "similarity": self.similarity,
            "reason": self.reason,
            "cluster": self.cluster,
            "fingerprint": as_hex(self.fingerprint),
        }

    def named(self, url_of: Callable[[int], str]) -> "Verdict":
        """Add the URL of the page's original, or of the page that was refused as such."""
        if self.original_page is not None:
            return self._replace(original=url_of(self.original_page))
        if self.refused is not None:
            return self._replace(refused=self.refused._replace(url=url_of(self.refused.page)))
        return self

    def as_unjudged(self, reason: Reason) -> "Verdict":
        """Return the verdict on the same page if it cannot be judged after all."""
        return self._replace(
            outcome="unjudged", reason=reason, original=None, distance=None, similarity=None
        )
