"""Pages of passages whose words occur once, and what is measured of them."""

from collections.abc import Callable

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import PageProfile, PageTexts, Passage, Surroundings, profile
from dedup_filter.model import Document
from dedup_filter.text.headlines import Headline

NO_HEADLINE = Headline()


def words(name: str, count: int) -> str:
    """A text of words that occur once: of n words it has n - 2 shingles."""
    return " ".join(f"{name}{number}" for number in range(count))


def new(text: str) -> Passage:
    """A block that the host has not shown."""
    return Passage(text, 0, in_own=True, in_rare=True, in_whole=True)


def shown_once(text: str) -> Passage:
    return Passage(text, 1, in_own=False, in_rare=True, in_whole=True)


def aside(text: str) -> Passage:
    """A new block beside the main content, within the whole text."""
    return Passage(text, 0, in_own=False, in_rare=False, in_whole=True)


def frame(text: str) -> Passage:
    return Passage(text, 2, in_own=False, in_rare=False, in_whole=True)


def measured(
    *passages: Passage,
    headline: Headline = NO_HEADLINE,
    unread: float = 0,
    times_shown: Callable[[str], int] = lambda _: 0,
    is_frame_known: bool = False,
) -> PageProfile:
    """The profile of a page of these passages."""
    text = "\n".join(passage.text for passage in passages)
    document = Document(text, whole_text=text, unread_words=unread)
    around = Surroundings(times_shown, is_frame_known)
    return profile(PageTexts(document, passages, headline, around), FilterConfig())
