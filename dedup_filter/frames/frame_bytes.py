"""What is known of a host's frame <-> bytes.

    state    the number of pages of the host, its blocks in the order in which they were last shown,
             and how many pages have shown each
    lesson   what one page adds to that
    note     what is known so far of a page that waits to be judged again

Numbers are little-endian, block hashes 8 bytes each. The bytes are stored on disk: never change a
meaning, raise the format, which is the first byte.
"""

import struct
import zlib
from typing import NamedTuple

import numpy as np

__all__ = ["EarlyNote", "HostState", "Lesson"]

_FORMAT = 1
_HEAD = struct.Struct("<BII")


class HostState(NamedTuple):
    """All that is known of a host."""

    pages: int
    shown: list[int]
    """Hashes of blocks, the last shown last."""
    times: list[int]
    """How many pages have shown each."""

    def to_bytes(self) -> bytes:
        """Return it as bytes. Most counts are 1, so compressed they take next to nothing."""
        times = np.array(self.times, "<u4").tobytes()
        return _packed(self.pages, self.shown) + zlib.compress(times, 1)

    @classmethod
    def from_bytes(cls, packed: bytes) -> "HostState":
        """Read what `to_bytes` returned. Raises ValueError for other bytes."""
        pages, shown, rest = _unpacked(packed)
        times = np.frombuffer(zlib.decompress(rest), "<u4")
        if len(times) != len(shown):
            raise ValueError("these bytes are no state of a host")
        return cls(pages, shown, times.tolist())


class Lesson(NamedTuple):
    """What one page taught of its host."""

    is_kept: bool
    shown: list[int]
    """Hashes of its blocks, each once."""

    def to_bytes(self) -> bytes:
        """Return it as bytes."""
        return _packed(int(self.is_kept), self.shown)

    @classmethod
    def from_bytes(cls, packed: bytes) -> "Lesson":
        """Read what `to_bytes` returned. Raises ValueError for other bytes."""
        is_kept, shown, _ = _unpacked(packed)
        return cls(bool(is_kept), shown)


class EarlyNote(NamedTuple):
    """What is known of a page that waits, see `EarlyPage`."""

    tellings: int
    new: frozenset[int]

    def to_bytes(self) -> bytes:
        """Return it as bytes."""
        return _packed(self.tellings, sorted(self.new))

    @classmethod
    def from_bytes(cls, packed: bytes) -> "EarlyNote":
        """Read what `to_bytes` returned. Raises ValueError for other bytes."""
        tellings, new, _ = _unpacked(packed)
        return cls(tellings, frozenset(new))


def _packed(number: int, hashes: list[int]) -> bytes:
    return _HEAD.pack(_FORMAT, number, len(hashes)) + np.array(hashes, "<u8").tobytes()


def _unpacked(packed: bytes) -> tuple[int, list[int], bytes]:
    if len(packed) < _HEAD.size or packed[0] != _FORMAT:
        raise ValueError(f"these bytes are nothing known of a host in format {_FORMAT}")
    _, number, count = _HEAD.unpack_from(packed)
    hashes = np.frombuffer(packed, "<u8", count, _HEAD.size)
    return number, hashes.tolist(), packed[_HEAD.size + 8 * count :]
