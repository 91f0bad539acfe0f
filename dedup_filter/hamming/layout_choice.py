"""Which layout the tables have at present, when another is due, and when a scan is quicker.

A layout that was given stays. One that was planned is planned anew when there are twice the
entries that it was planned for, and then for twice as many as there are.
"""

import sys

from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.table_plan import plan, scan_limit

__all__ = ["LayoutChoice"]

_YOUNG_SLICES = 4
"""How many times sooner than alone tables pay beside others: a look-up has a fixed cost."""


class LayoutChoice:
    """The layout of an index, as it grows.

    Raises:
        ConfigError: the distance is out of range, or the layout cannot be exact for it.
    """

    def __init__(self, max_distance: int, layout: Layout | None, expected: int) -> None:
        self.layout = layout or plan(max_distance, expected)
        self.layout.require_exact(max_distance)
        self.max_distance = max_distance
        self._planned_for = expected if layout is None else sys.maxsize

    def for_entries(self, count: int) -> Layout:
        """Return the layout for so many entries; it is the present one, or planned anew."""
        if count <= 2 * self._planned_for:
            return self.layout
        self._planned_for = 2 * count
        return plan(self.max_distance, self._planned_for)

    def is_scanned(self, count: int, layout: Layout | None = None) -> bool:
        """Tell whether a scan of so many entries is quicker than the tables of a layout."""
        return count <= self.scan_limit(layout)

    def is_scanned_beside(self, count: int) -> bool:
        """Tell the same of entries that are asked beside larger tables."""
        return self.is_scanned(_YOUNG_SLICES * count)

    def scan_limit(self, layout: Layout | None = None) -> int:
        """Return up to how many entries a scan is quicker."""
        return scan_limit(layout or self.layout, self.max_distance)
