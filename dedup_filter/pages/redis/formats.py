"""What is written to the servers of a shared index: the names of its keys, and its log of events.

An event is 24 bytes, all little-endian:

    value   8   a page's fingerprint; of one too short to have one, 8 bytes of its digest
    number  6   the page's number
    kind    1   LONG or SHORT: the page is there from now on; GONE: it is not any more
    salt    1   a random byte: two logs that differ have other bytes at the same place
    host    4   hash of its host
    seen    4   when it was seen, Unix seconds

Events are numbered from 1, in the order in which the server took them. The event that adds a page
gives the page its number; one that adds it anew, with other measures or at another place, has the
number that the page got then.

Never change any of this without another format number. Records of pages are in `records`; all keys
are listed in docs/formats.md.
"""

import re
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

from dedup_filter.pages.directory import PageRecord

__all__ = [
    "CHUNK",
    "EVENT_BYTES",
    "FORMAT",
    "GONE",
    "LONG",
    "SHORT",
    "Entry",
    "Keys",
    "decode",
    "entry_of",
]

FORMAT: Final = 2
LONG: Final = 1
SHORT: Final = 2
GONE: Final = 3

CHUNK: Final = 4_000
"""Events in one key. Small, as each is written anew when it is full; many, as keys themselves take
room. So many bytes and a header just fit into 96 KiB, a size in which servers allocate; 4,096
would take 112."""

_EVENT = np.dtype(
    {
        "names": ["value", "number", "kind", "host", "seen"],
        "formats": ["<u8", "<u8", "u1", "<u4", "<u4"],
        "offsets": [0, 8, 14, 16, 20],
    }
)
EVENT_BYTES: Final = _EVENT.itemsize
_NUMBER = np.uint64(2**48 - 1)
_SPREAD = 1_024
"""Slots that records and hosts are spread over, at most."""


class Keys(NamedTuple):
    """The keys of the index of a name.

    What is in braces tells a cluster the slot of a key. All that one step touches is in one slot;
    records are spread over many, by the numbers of their pages, and lessons by the host's hash.
    """

    name: str

    def named(self, name: str) -> str:
        """Name a key in the slot of the log.

        >>> Keys("pages").named("log:0")
        'dedup:{pages}:log:0'
        """
        return f"dedup:{{{self.name}}}:{name}"

    def page(self, number: int) -> str:
        """Name the key with the record of a page.

        >>> Keys("pages").page(2_000)
        'dedup:{pages:976}:page:2000'
        """
        return f"dedup:{{{self.name}:{number % _SPREAD}}}:page:{number}"

    @property
    def pages(self) -> str:
        """The pattern, as Redis reads it, of the keys with records."""
        # A name has none of the characters that mean something in a pattern.
        return f"dedup:{{{self.name}:*}}:page:*"

    def frame(self, host: str) -> str:
        """Name the key with what pages taught of a host.

        >>> Keys("pages").frame("a.example")
        'dedup:{pages:904}:frame:9ec428c465056f88'
        """
        hashed = _hash(host)
        return f"dedup:{{{self.name}:{hashed % _SPREAD}}}:frame:{hashed:016x}"

    def page_number(self, key: str) -> int | None:
        """Return the number of the page whose record a key has; None if it has none.

        >>> Keys("pages").page_number("dedup:{pages:976}:page:2000")
        2000
        """
        found = re.fullmatch(r"dedup:\{.*\}:page:([0-9]{1,15})", key)
        number = int(found[1]) if found else 0
        return number if number and self.page(number) == key else None


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
        host_hash = _hash(host) & 0xFFFF_FFFF
        if fingerprint is not None:
            return cls(fingerprint, LONG, host_hash)
        return cls(int.from_bytes(digest[:8], "little"), SHORT, host_hash)

    @property
    def fields(self) -> tuple[bytes, int, int]:
        """What scripts write of it: value, kind and host."""
        return self.value.to_bytes(8, "little"), self.kind, self.host


def entry_of(record: PageRecord) -> Entry:
    """Return what the log tells of a page with this record."""
    return Entry.of(record.fingerprint, record.digest, record.host)


def decode(events: bytes | bytearray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.void]]:
    """Read events, (n,): the numbers of their pages; and their value, kind, host and seen."""
    found = np.frombuffer(events, _EVENT)
    return (found["number"] & _NUMBER).astype(np.int64), found


def _hash(host: str) -> int:
    return xxhash.xxh3_64_intdigest(host.encode("utf-8", "surrogatepass"))
