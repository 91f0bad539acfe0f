"""Pages of passages whose words occur once, and what is measured of them."""

from collections.abc import Callable

from dedup_filter.config import FilterConfig
from dedup_filter.features.analysis import words_of
from dedup_filter.fingerprints.profile import (
    PageProfile,
    PageTexts,
    Passage,
    PassageKind,
    Surroundings,
    profile,
)
from dedup_filter.model import Document
from dedup_filter.text.headlines import Headline
from dedup_filter.text.lines import compared_lines
from dedup_filter.text.plain_text import normalize
from dedup_filter.thresholds import LINE_WORDS

NO_HEADLINE = Headline()


def words(name: str, count: int) -> str:
    """A text of words that occur once: of n words it has n - 2 shingles."""
    return " ".join(f"{name}{number}" for number in range(count))


def _kind(text: str) -> PassageKind:
    return "line" if len(text.split()) <= LINE_WORDS else "prose"


def new(text: str) -> Passage:
    """A block that the host has not shown."""
    return Passage(text, 0, _kind(text), in_new=True, in_main=True, in_span=True)


def shown_once(text: str) -> Passage:
    return Passage(text, 1, _kind(text), in_new=False, in_main=True, in_span=True)


def aside(text: str) -> Passage:
    """A new block beside the body of the main content, within the span."""
    kind = _kind(text)
    return Passage(text, 0, kind, in_new=False, in_main=False, in_span=True, is_beside=True)


def links(text: str) -> Passage:
    """A new block of links within the main content."""
    return new(text)._replace(kind="link", has_links=True)


def frame(text: str) -> Passage:
    return Passage(text, 2, _kind(text), in_new=False, in_main=False, in_span=True)


def measured(
    *passages: Passage,
    headline: Headline = NO_HEADLINE,
    unread: float = 0,
    waiting: float = 0,
    times_shown: Callable[[str], int] = lambda _: 0,
    is_frame_known: bool = False,
    is_view: bool = False,
) -> PageProfile:
    """The profile of a page of these passages, which hides `unread` words.

    Of these `waiting` wait for a script.
    """
    text = "\n".join(passage.text for passage in passages)
    document = Document(
        text,
        whole_text=text,
        unread_words=unread,
        unread_hash=int(unread),
        waiting_words=waiting,
        waiting_hash=int(waiting),
    )
    around = Surroundings(times_shown, is_frame_known, is_view)
    parts = compared_lines(
        [normalize(passage.text) for passage in passages],
        [passage.kind == "line" for passage in passages],
    )
    texts = PageTexts(document, passages, words_of(parts), headline, around)
    return profile(texts, FilterConfig())
