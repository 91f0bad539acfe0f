"""What came of an import."""

from collections import Counter
from dataclasses import dataclass, field

__all__ = ["Imported"]


@dataclass
class Imported:
    """Counts, by what became of the lines."""

    lines: int = 0
    """Those taken, bad ones not among them."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """Pages that were recorded, and items that could not be judged, by outcome."""
    there_already: int = 0
    """Pages of an export that were recorded before."""
    hosts: int = 0
    """Hosts of an export whose frames are known from now on."""
    hosts_known: int = 0
    """Hosts of which this index knew something itself, and keeps that."""
    not_kept: int = 0
    """Lines of an export of which this index keeps nothing."""
    bad_lines: int = 0
    first_bad: str | None = None
    """What was wrong with the first of them."""

    @property
    def pages(self) -> int:
        """All pages of the lines, but those that were there already."""
        return sum(self.outcomes.values())
