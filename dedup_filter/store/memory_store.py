"""The store of an index that lives as long as its process.

URLs in a list, sketches in one growing array, digests in a dict. About 600 bytes a page
with a URL of 60 characters.
"""

import sys

import numpy as np
import numpy.typing as npt

from dedup_filter.fingerprints import SKETCH_BYTES

__all__ = ["MemoryStore"]

UInt8Array = npt.NDArray[np.uint8]


class MemoryStore:
    """Pages by row, and the row of the first page with a given digest."""

    def __init__(self) -> None:
        self._urls: list[str] = []
        self._rows_by_digest: dict[bytes, int] = {}
        self._sketches: UInt8Array = np.zeros((64, SKETCH_BYTES), np.uint8)
        self._url_bytes = 0

    def __len__(self) -> int:
        return len(self._urls)

    def add(self, url: str, digest: bytes, sketch: UInt8Array) -> int:
        """Remember a page and return its row."""
        row = len(self._urls)
        if row == len(self._sketches):
            self._grow()
        self._urls.append(url)
        self._url_bytes += sys.getsizeof(url)
        self._sketches[row] = sketch
        self._rows_by_digest.setdefault(digest, row)
        return row

    def replace(self, row: int, digest: bytes, new_digest: bytes, sketch: UInt8Array) -> None:
        """Give a page another digest and sketch; it is no longer found by the one it had."""
        if self._rows_by_digest.get(digest) == row:
            del self._rows_by_digest[digest]
        self._sketches[row] = sketch
        self._rows_by_digest.setdefault(new_digest, row)

    def url(self, row: int) -> str:
        """Return the URL of a page."""
        return self._urls[row]

    def sketches(self, rows: list[int]) -> UInt8Array:
        """Return the sketches of some pages, (n, 256)."""
        return self._sketches[rows]

    def row_of_digest(self, digest: bytes) -> int | None:
        """Return the row of the first page with this digest."""
        return self._rows_by_digest.get(digest)

    @property
    def nbytes(self) -> int:
        """Memory of the store in bytes, its containers and their contents."""
        digests = len(self._rows_by_digest) * sys.getsizeof(bytes(16))
        containers = sys.getsizeof(self._urls) + sys.getsizeof(self._rows_by_digest)
        return self._sketches.nbytes + self._url_bytes + digests + containers

    def check(self) -> None:
        """Verify that all parts tell of the same pages."""
        assert len(self._urls) <= len(self._sketches)
        assert all(0 <= row < len(self._urls) for row in self._rows_by_digest.values())

    def _grow(self) -> None:
        grown = np.zeros((len(self._sketches) * 3 // 2, SKETCH_BYTES), np.uint8)
        grown[: len(self._sketches)] = self._sketches
        self._sketches = grown
