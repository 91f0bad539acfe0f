"""All tables of one layout as one: distinct fingerprints -> those within k bits of a query.

    fingerprint ─┬─ table 1: blocks A | B C D      each finds the entries that agree with
                 ├─ table 2: blocks B | A C D      the query (nearly) in its leading blocks;
                 ├─ table 3: blocks C | A B D      together they find every entry
                 └─ table 4: blocks D | A B C      within the distance

Guarantee: exact for every distance up to `max_distance`. The proof is in `table_shape`; which
row has a fingerprint is not known here.

Cost: a look-up makes `layout.probe_count(k)` probes and compares
`layout.expected_candidates(k, n)` entries; `add` inserts into each table.
"""

from collections.abc import Iterable, Sequence

from dedup_filter.index.layout import Layout
from dedup_filter.tables import Permutation, SortedTable

__all__ = ["PermutedTables"]


class PermutedTables:
    """The permuted tables that a layout needs for a distance.

    Raises:
        ConfigError: the layout cannot be exact for the distance.
    """

    __slots__ = ("_probes", "layout", "max_distance", "tables")

    def __init__(self, layout: Layout, max_distance: int) -> None:
        layout.require_exact(max_distance)
        self.layout = layout
        self.max_distance = max_distance
        self.tables = [
            SortedTable(Permutation(shape.order), shape.prefix_bits)
            for shape in layout.tables_needed(max_distance)
        ]
        self._probes: dict[int, list[list[int]]] = {}

    def add(self, fingerprint: int) -> None:
        """Add a fingerprint. Requires: it is not stored yet."""
        for table in self.tables:
            table.add(fingerprint)

    def fill(self, fingerprints: Sequence[int]) -> None:
        """Add many distinct fingerprints at once. Requires: none of them is stored yet."""
        for table in self.tables:
            table.fill(fingerprints)

    def remove(self, fingerprint: int) -> None:
        """Remove a fingerprint.

        Raises:
            ValueError: it is not stored.
        """
        for table in self.tables:
            table.remove(fingerprint)

    def within(self, fingerprint: int, max_distance: int) -> set[int]:
        """Return the stored fingerprints within `max_distance`, which is at most the tables'."""
        found: set[int] = set()
        probes = self._probes.get(max_distance) or self._make_probes(max_distance)
        for table, masks in zip(self.tables, probes, strict=True):
            if masks:  # a smaller distance than the tables' needs fewer of them
                found.update(table.within(fingerprint, max_distance, masks))
        return found

    def __len__(self) -> int:
        return len(self.tables[0])

    @property
    def nbytes(self) -> int:
        """Estimated memory of all entries in bytes."""
        return sum(table.nbytes for table in self.tables)

    def check(self, fingerprints: Iterable[int]) -> None:
        """Verify each table, and that each holds exactly the given distinct fingerprints.

        Raises:
            AssertionError: one does not.
        """
        expected = list(fingerprints)
        for table in self.tables:
            table.check()
            assert len(table) == len(expected), "a table with too few or too many entries"
            assert all(entry in table for entry in expected), "a fingerprint missing in a table"

    def _make_probes(self, distance: int) -> list[list[int]]:
        """Return the masks of every table in its own order of bits, and keep them."""
        shapes = self.layout.tables_needed(self.max_distance)
        masks = [
            [table.permutation.apply(mask) for mask in shape.probes(distance)]
            for table, shape in zip(self.tables, shapes, strict=True)
        ]
        return self._probes.setdefault(distance, masks)
