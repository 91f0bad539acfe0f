"""What becomes of a page: its states, and the events that move it from one to another.

A duplicate of a page that is still claimed waits for the fate of that page (`claims`). If its
original is released, the verdict on the duplicate is void and the page is judged anew: its
content would be lost otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Optional

from dedup_filter.model import Verdict

__all__ = ["TRANSITIONS", "Event", "Judgement", "State"]


class State(Enum):
    """What the crawl knows of a page."""

    UNRECORDED = "the index holds no record of it"
    CLAIMED = "the index holds a pending record of it"
    COMMITTED = "it counts as seen"
    RELEASED = "it is as if it had never come, and what repeats it is judged anew"
    WITHDRAWN = "it repeats a page whose fate is not known: unjudged, without a record"


class Event(Enum):
    """What happens to a page."""

    CLAIM = "the index recorded it as pending"
    ITEM_PASSED = "an item of it went through all pipelines"
    DUPLICATE_DROPPED = "its items are dropped because of its verdict"
    ONLY_LINKS = "its response gave links and no item"
    KEPT_ELSEWHERE = "the process that had claimed it committed it"
    NO_ITEM_PASSED = "no item of it went through, and none is to come"
    REPEATS_ITSELF = "it repeats only a page of the response that brought it"
    GONE_ELSEWHERE = "the process that had claimed it released it"
    ORIGINAL_RELEASED = "the page that it repeats was released"
    ORIGINAL_UNKNOWN = "the fate of the page that it repeats is unknown, or takes too long"
    CRAWL_ENDED = "the crawl ended before its fate was known"


TRANSITIONS: Mapping[State, Mapping[Event, State]] = {
    State.UNRECORDED: {
        Event.CLAIM: State.CLAIMED,
        Event.ORIGINAL_UNKNOWN: State.WITHDRAWN,
    },
    State.CLAIMED: {
        Event.ITEM_PASSED: State.COMMITTED,
        Event.DUPLICATE_DROPPED: State.COMMITTED,
        Event.ONLY_LINKS: State.COMMITTED,
        Event.KEPT_ELSEWHERE: State.COMMITTED,
        Event.NO_ITEM_PASSED: State.RELEASED,
        Event.REPEATS_ITSELF: State.RELEASED,
        Event.GONE_ELSEWHERE: State.RELEASED,
        Event.ORIGINAL_RELEASED: State.RELEASED,
        Event.CRAWL_ENDED: State.RELEASED,
        Event.ORIGINAL_UNKNOWN: State.WITHDRAWN,
    },
    State.COMMITTED: {},
    State.RELEASED: {},
    State.WITHDRAWN: {},
}
"""The state that follows for each state and event; an event that is not named changes nothing."""


@dataclass(eq=False)
class Judgement:
    """The verdict on a page, and the state that the page is in; items of one page share one."""

    verdict: Verdict
    url: str
    size: int = 0
    """Bytes of the page; 0 once they are counted as dropped."""
    original: Optional["Judgement"] = None
    """Of a duplicate: the judgement on its original, if that was claimed."""
    is_elsewhere: bool = False
    """Whether this stands for a page that another process claimed."""
    state: State = State.UNRECORDED
    is_logged: bool = False
    """Whether the log has its line on this page."""
    is_counted: bool = False
    """Whether the verdict is in the stats."""
    has_lost_items: bool = False
    """Whether an item of the page was dropped or failed on its way."""

    def move(self, event: Event) -> bool:
        """Enter the state that follows an event; return whether a claim has ended by it."""
        was_claimed = self.is_claimed
        self.state = TRANSITIONS[self.state].get(event, self.state)
        return was_claimed and not self.is_claimed

    @property
    def is_claimed(self) -> bool:
        """Whether it is not known yet if the page stays."""
        return self.state is State.CLAIMED

    @property
    def waits(self) -> bool:
        """Whether it is not known yet if the page's original stays."""
        return self.original is not None and self.original.is_claimed

    @property
    def is_void(self) -> bool:
        """Whether the page must be judged anew."""
        pages = (self, self.original)
        return any(page is not None and page.state is State.RELEASED for page in pages)

    def mark_unjudged(self, reason: str) -> None:
        """Replace the verdict by "unjudged", and stop waiting for the original."""
        self.original = None
        self.verdict = self.verdict.as_unjudged(reason)
