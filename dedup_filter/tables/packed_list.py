"""Distinct fingerprints packed into one array of 8 bytes each, searched end to end.

No order, no prefix, no condition on the distance: each look-up compares them all, XOR and
popcount in numpy.

Cost: a look-up takes 2 us and 0.62 us more for every thousand entries. That is less than
any sorted table takes while entries are few or the distance is large: at k = 3 up to
about 15 thousand entries, at k = 7 up to about 300 thousand. (Chunks that fit the cache and
buffers that are used again were no faster; a comprehension over a dict is 75 times slower.)
"""

import numpy as np
import numpy.typing as npt

__all__ = ["PackedList"]

_LEAST_CAPACITY = 64


class PackedList:
    """Fingerprints in the order that additions and removals left them in.

    >>> packed = PackedList()
    >>> packed.add(0b1011)
    >>> packed.within(0b1000, 2)
    [11]
    """

    __slots__ = ("_array", "_count")

    def __init__(self) -> None:
        self._array = np.empty(_LEAST_CAPACITY, np.uint64)
        self._count = 0

    @property
    def values(self) -> npt.NDArray[np.uint64]:
        """The fingerprints: a view, to be read before the list next changes."""
        return self._array[: self._count]

    def add(self, fingerprint: int) -> None:
        """Append a fingerprint. Requires: it is not in the list."""
        if self._count == len(self._array):
            self._array = np.concatenate((self._array, np.empty_like(self._array)))
        self._array[self._count] = fingerprint
        self._count += 1

    def remove(self, fingerprint: int) -> None:
        """Remove a fingerprint; the last one takes its place. Cost: a scan.

        Raises:
            ValueError: it is not in the list.
        """
        places = np.flatnonzero(self.values == np.uint64(fingerprint))
        if not len(places):
            raise ValueError(f"{fingerprint} is not in the list")
        self._count -= 1
        self._array[places[0]] = self._array[self._count]

    def within(self, fingerprint: int, max_distance: int) -> list[int]:
        """Return the entries within `max_distance` bits."""
        entries = self.values
        near = np.bitwise_count(entries ^ np.uint64(fingerprint)) <= max_distance
        found: list[int] = entries[near].tolist()
        return found

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """Memory of the array in bytes, spare room included."""
        return self._array.nbytes

    def check(self) -> None:
        """Verify that no entry occurs twice.

        Raises:
            AssertionError: one does.
        """
        assert self._count <= len(self._array), "more entries than room"
        assert len(np.unique(self.values)) == self._count, "an entry occurs twice"
