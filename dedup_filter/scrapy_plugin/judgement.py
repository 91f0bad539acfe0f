"""A verdict, the page it was given on, and what became of that page.

    pending -> committed    an item of it went through: the page counts as seen
            -> released     nothing came of it: as if it had never come

A duplicate of a page that is still pending waits: if its original is released, the verdict on
the duplicate is void and the page is judged anew, for its content would be lost otherwise.
"""

from dataclasses import dataclass
from typing import Optional

from dedup_filter.model import Verdict

__all__ = ["Judgement"]


@dataclass(eq=False)
class Judgement:
    """What the pipeline acts on; items of one page share one."""

    verdict: Verdict
    url: str
    size: int = 0
    """Bytes of the page; 0 once they are counted as dropped."""
    is_told: bool = False
    """Whether the log has its line on this page."""
    is_counted: bool = False
    """Whether the verdict is in the stats."""
    is_pending: bool = False
    is_released: bool = False
    has_lost_items: bool = False
    """Whether an item of the page came to nothing."""
    original: Optional["Judgement"] = None
    """Of a duplicate: the judgement on its original, if that was pending."""
    is_elsewhere: bool = False
    """Whether this stands for a page that another process claimed."""

    @property
    def waits(self) -> bool:
        """Whether it is not known yet if the page's original stays."""
        return self.original is not None and self.original.is_pending

    @property
    def is_void(self) -> bool:
        """Whether the page must be judged anew."""
        return self.is_released or (self.original is not None and self.original.is_released)

    def give_up(self, reason: str) -> None:
        """Become unjudged: the fate of the original cannot be known, or takes too long."""
        self.original = None
        self.verdict = self.verdict._replace(
            outcome="unjudged",
            reason=reason,
            original=None,
            distance=None,
            similarity=None,
        )
