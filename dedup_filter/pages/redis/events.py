"""What happens to the pages of a shared index, as a log of events of 24 bytes each.

    value   8   a page's fingerprint; of one too short to have one, 8 bytes of its digest
    number  6   the page's number
    kind    1   LONG or SHORT: the page is there from now on; GONE: it is not any more
    salt    1   chance: two histories that differ have other bytes at the same place
    host    4   hash of its host
    seen    4   when it was seen, Unix seconds

All little-endian. Events are numbered from 1, in the order in which the server took them. The
event that adds a page gives the page its number; one that adds it anew, with other measures,
has the number that it got then.

Written to servers: never change it without another format number.
"""

import random
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

__all__ = [
    "CHUNK",
    "EVENT_BYTES",
    "GONE",
    "LONG",
    "SHORT",
    "Entry",
    "EventArray",
    "News",
    "decode",
    "host_hash",
    "kinds",
    "numbers",
    "salt",
]

EventArray = npt.NDArray[np.void]

LONG: Final = 1
SHORT: Final = 2
GONE: Final = 3

CHUNK: Final = 4_000
"""Events in one key. Small, as each is written anew when it is full; many, as keys themselves take
room. So many bytes and a header just fit into 96 KiB, a size in which servers allocate; 4,096
would take 112."""

_EVENT = np.dtype([("value", "<u8"), ("number", "<u8"), ("host", "<u4"), ("seen", "<u4")])
EVENT_BYTES: Final = _EVENT.itemsize
_NUMBER = np.uint64(2**48 - 1)


class Entry(NamedTuple):
    """What the log tells of a page."""

    value: int
    """Fingerprint, or 8 bytes of the digest."""
    kind: int
    """`LONG` or `SHORT`."""
    host: int

    @classmethod
    def of(cls, fingerprint: int | None, digest: bytes, host: str) -> "Entry":
        """Return the entry of a page; one too short to have a fingerprint has None."""
        if fingerprint is not None:
            return cls(fingerprint, LONG, host_hash(host))
        return cls(int.from_bytes(digest[:8], "little"), SHORT, host_hash(host))


class News(NamedTuple):
    """Events, and the number of the first of them."""

    first: int
    events: bytes
    is_last: bool = True
    """Whether these were all there are."""

    @property
    def end(self) -> int:
        """The number of the last of them."""
        return self.first + len(self.events) // EVENT_BYTES - 1


def decode(events: bytes) -> EventArray:
    """Read events, (n,) of fields value, number (with kind and salt in it), host and seen."""
    return np.frombuffer(events, _EVENT)


def numbers(events: EventArray) -> npt.NDArray[np.int64]:
    """Return the number of the page of each event, (n,)."""
    found: npt.NDArray[np.int64] = (events["number"] & _NUMBER).astype(np.int64)
    return found


def kinds(events: EventArray) -> npt.NDArray[np.int64]:
    """Return the kind of each event, (n,)."""
    found: npt.NDArray[np.int64] = (events["number"] >> np.uint64(48) & np.uint64(0xFF)).astype(
        np.int64
    )
    return found


def host_hash(host: str) -> int:
    """Hash the name of a host to 32 bits."""
    return xxhash.xxh3_64_intdigest(host.encode("utf-8", "surrogatepass")) & 0xFFFF_FFFF


def salt() -> int:
    """Return the byte of chance in an event."""
    return random.getrandbits(8)
