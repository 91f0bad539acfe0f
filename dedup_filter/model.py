"""The values that travel between the layers: documents, matches, verdicts.

They are plain frozen data without behaviour, so that every layer can use them without knowing
another layer. A `Verdict` has no truth: each page has one, so a test for truth is a mistake.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple, NoReturn, get_args

Outcome = Literal["new", "near", "exact", "revisit", "unjudged", "same_template"]
RECORDED: tuple[Outcome, ...] = ("new", "near", "exact", "revisit", "unjudged")
"""The outcomes of pages that an index records."""
REPEATS: tuple[Outcome, ...] = ("near", "exact")
"""The outcomes of a page that repeats an earlier page."""
DROPPED: tuple[Outcome, ...] = (*REPEATS, "same_template")
"""The outcomes of a page that is dropped: it is a repeat, or beyond the limit `same_template`."""

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
    "other_page",
    "pending",
    "error",
]
"""Why a page was not judged: docs/troubleshooting.md."""

Again = Literal["again"]
"""Of a revisit: the crawl that recorded the page did not end, so its feed may lack the page."""

Source = Literal["canonical", "shared_phrases"]
"""How the original of a duplicate was found, if not by its fingerprint or equal text: the page
names it as its canonical page, or shares rare phrases with it."""
SOURCES: tuple[Source, ...] = get_args(Source)

Fate = Literal["pending", "kept", "gone"]
"""The state of a page: claimed, committed, or released or forgotten."""


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a page without its markup, and further data for its profile."""

    text: str
    """The main text, blocks separated by newlines."""
    title: str = ""
    language: str | None = None
    """The language that the page declares (`<html lang>`): primary subtag in lower case."""
    whole_text: str = ""
    """All text that is read of the page, frame included; only if the page has unread text, or no
    letter and no digit in its main text. "": the main text is used instead."""
    headings: tuple[str, ...] = ()
    """Headings within the main text, if they have a weight."""
    images: tuple[int, ...] = ()
    """64-bit hashes of the images within the main text, if they have a weight."""
    unread_words: float = 0
    """Words of the page that are not read: in hidden parts, or in the data of scripts."""
    unread_hash: int = 0
    """64-bit hash of the unread text; 0 for none."""
    waiting_words: float = 0
    """Unread words that a script may show, so that they may be the page's content: all except
    hidden text that no script is known to show."""
    waiting_hash: int = 0
    """64-bit hash of the waiting text; 0 for none."""
    whole_hash: int = field(default=0, compare=False)
    """64-bit hash of all text that is compared, block by block, and of the page's notes; 0:
    `whole_text` is hashed instead."""
    canonical: tuple[str, ...] = field(default=(), compare=False)
    """URLs that the page names as canonical; may be relative."""
    selected: tuple[str, ...] = field(default=(), compare=False)
    """Effects of the user's selectors on the page: see `text.selectors`."""
    is_paged: bool = field(default=False, compare=False)
    """Whether it is one page of a sequence, by its links."""
    unread_reason: Reason = "by_script"
    """Why it is unjudged if more words are unread than read, and no page is equal."""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """A page that cannot be judged."""

    reason: Reason


class Match(NamedTuple):
    """A stored fingerprint that is proved to lie within k bits of a query."""

    row: int
    fingerprint: int
    distance: int


class NearPage(NamedTuple):
    """A kept page that is similar to the page of a query."""

    url: str
    distance: int
    """Differing bits of the two fingerprints; 0 if the contents of the pages are equal."""
    similarity: float | None
    """Share of the query's shingles that this page has, 0 to 1; None: the query was a
    fingerprint."""
    page: int
    """Number of its record."""
    source: Source | None = None
    """How it was found beyond `max_distance` bits; None: it is within."""


Rule = Literal["headline", "hidden", "paragraph", "lines", "words"]
"""Why a page does not repeat a page that it is near. In the other page is missing:

    headline   the page's headline: the other page has another one
    hidden     the page's hidden text, which is longer than its visible text
    paragraph  a paragraph
    lines      lines and links
    words      too many words in all
"""


class MissingLine(NamedTuple):
    """A line, or a short paragraph, of a page that is missing in the page that it is near."""

    text: str
    words: tuple[int, int] | None = None
    """First and end of the words that are in no phrase of the other page; None: all words."""


class Refusal(NamedTuple):
    """Why a page does not repeat a page that it is near: text that is missing in that page."""

    rule: Rule
    words: float
    """Number of missing words; 0 for "headline"."""
    allowed: float
    """Number of words that may be missing."""
    text: str
    """The first missing block; for "headline" the page's own headline."""
    page: int = 0
    """The number of the other page."""
    distance: int = 0
    """Differing bits of the two fingerprints."""
    url: str | None = None
    """URL of the other page."""
    lines: tuple[MissingLine, ...] = ()
    """All missing lines and paragraphs, if they are few and short, and the only reason."""
    paragraphs: tuple[int, ...] = ()
    """Hashes of all missing paragraphs, if they are the only reason for the refusal."""


def as_hex(fingerprint: int | None) -> str | None:
    """Write a fingerprint with all of its 16 digits; None stays None.

    >>> as_hex(31)
    '0x000000000000001f'
    """
    return None if fingerprint is None else f"{fingerprint:#018x}"


@dataclass(frozen=True, repr=False)
class Verdict:
    """The filter's verdict on a page, and the figures it is based on.

    A verdict is neither true nor false: `if verdict:` raises TypeError.

    >>> Verdict("near", "https://example.com/a", distance=3)
    Verdict('near', original='https://example.com/a', distance=3)
    """

    outcome: Outcome
    original: str | None = None
    """URL of the page that this page repeats; for a revisit, the URL of its record from the earlier
    crawl."""
    distance: int | None = None
    """Differing bits of the two fingerprints, 0 to 64."""
    similarity: float | None = None
    """Share of the words of the page that its original has, 0 to 1; 1: no text is lost. All visible
    text counts but the frame of the host and text that changes by itself. Estimated for long pages.
    For a revisit, the share of the page's own text that the earlier visit had."""
    reason: Reason | Source | Again | None = None
    """Why an "unjudged" page was not judged; for a duplicate, how its original was found (None:
    within `max_distance` bits, or as an equal page); "again" for a revisit of a page that was
    recorded by a crawl which did not end."""
    language: str | None = None
    candidates: int = 0
    """Stored pages that the page was compared with, confirmed or not: within k bits, named as its
    canonical page, or sharing phrases with it."""
    shingles: int = 0
    """Shingles of the text by which later pages find the page."""
    shingles_without_stopword: int = 0
    """Shingles among them with too few function words around, as in menus and adverts."""
    page: int | None = None
    """Number of the page's own record; None: the page was not recorded."""
    original_page: int | None = None
    """Number of the record of `original`."""
    fingerprint: int | None = None
    """The simhash by which later pages find the page, 64 bits; None: the page has no text of enough
    words, or only stopwords."""
    refused: Refusal | None = None
    """For a new page, why the nearest of its `candidates` is not its original; None: no candidate.
    """
    words: int = 0
    """Words of its main content, without blocks that two earlier pages of the host had."""
    detail: str | None = None
    """If the reason is "too_short", how short its text is: "4 of 20 words"."""
    canonical: str | None = None
    """URL that the page names as canonical; None: its own, or none."""
    selected: tuple[str, ...] = ()
    """Effects of the options `ignore` and `content` on the page: "ignored", "content",
    "no_content", "nothing_left" (docs/statistics.md)."""
    change: float | None = None
    """Share of the words of the page's own text and values that came or went since an earlier crawl
    recorded the page at its URL, 0 to 1. Text that changes by itself does not count. None: no
    earlier crawl did."""
    came: tuple[str, ...] = ()
    """With the option `changes`: the first lines and paragraphs that came since then."""
    went: tuple[str, ...] = ()
    """With the options `changes` and `keep_text`: the first lines and paragraphs that went."""
    lost: tuple[str, ...] | None = None
    """For a duplicate, the first lines and passages that its original lacks, at most five, escaped
    for a log; None: it is no duplicate."""
    lost_words: int | None = None
    """Words of all text that its original lacks."""
    text: str | None = field(default=None, repr=False)
    """The main text of the page without the frame of its host, one block a line; None: the filter
    was not opened with `with_text`, or the page has no text."""

    @property
    def cluster(self) -> int | None:
        """Number of the page's cluster: the number of its original, or its own number.

        None: the page was not recorded.
        """
        if self.outcome == "unjudged":
            return None
        return self.page if self.original_page is None else self.original_page

    @property
    def is_duplicate(self) -> bool:
        """Whether the page repeats an earlier page."""
        return self.outcome in REPEATS

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict is neither true nor false: test verdict.is_duplicate instead")

    def __repr__(self) -> str:
        shown = [
            f"{each.name}={value!r}"
            for each in fields(self)[1:]
            if each.repr and (value := getattr(self, each.name)) != each.default
        ]
        return f"Verdict({', '.join([repr(self.outcome), *shown])})"

    def _replace(self, **changes: Any) -> "Verdict":
        # `dataclasses.replace` takes ten times as long.
        verdict = object.__new__(Verdict)
        verdict.__dict__.update(self.__dict__, **changes)
        return verdict

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as JSON values.

        The fingerprint is "0x" and 16 hexadecimal digits: many readers of JSON have no integers of
        64 bits.
        """
        return {
            "outcome": self.outcome,
            "original": self.original,
            "distance": self.distance,
            "similarity": self.similarity,
            "lost": None if self.lost is None else [*self.lost],
            "lost_words": self.lost_words,
            "words": self.words,
            "reason": self.reason,
            "detail": self.detail,
            "cluster": self.cluster,
            "fingerprint": as_hex(self.fingerprint),
            "change": self.change,
            **({"came": [*self.came]} if self.came else {}),
            **({"went": [*self.went]} if self.went else {}),
        }

    def named(self, url_of: Callable[[int], str]) -> "Verdict":
        """Add the URL of the page's original, or of the page in `refused`."""
        if self.original_page is not None:
            return self._replace(original=url_of(self.original_page))
        if self.refused is not None:
            return self._replace(refused=self.refused._replace(url=url_of(self.refused.page)))
        return self

    def as_unjudged(self, reason: Reason) -> "Verdict":
        """Return the verdict on the same page if it cannot be judged after all."""
        return self._replace(
            outcome="unjudged",
            reason=reason,
            original=None,
            distance=None,
            similarity=None,
            lost=None,
            lost_words=None,
        )
