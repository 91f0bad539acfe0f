"""A verdict together with the page it was given on."""

from dataclasses import dataclass

from dedup_filter.model import Verdict

__all__ = ["Judgement"]


@dataclass
class Judgement:
    """What the pipeline acts on; items of one page share one."""

    verdict: Verdict
    url: str
    size: int = 0
    """Bytes of the page; 0 once they are counted as dropped."""
    is_told: bool = False
    """Whether the log has its line on this page."""
