"""Dropped pages of WARC files -> revisit records that take their places and name the originals.

    the bytes of the bodies are equal   the profile identical-payload-digest, with the HTTP head
    the texts are equal or similar      the profile `NEAR_PROFILE`, without a block

A replay then shows the original at the URL of the dropped page. For a page that is only similar it
takes the head of the original, too: the length and the encoding of another body would not fit.

A revisit record has all fields of the dropped record that still hold, also its ID: requests and
metadata that name the ID lead to it. The date of the original is not known if an earlier scan with
the same index has kept it.

Cost: reads each dropped record and its original once more. Memory: 200 bytes for each page that has
copies.
"""

import gzip
from base64 import b32encode
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from hashlib import sha1
from typing import NamedTuple

from dedup_filter.scan.files import open_input
from dedup_filter.scan.inputs import Input
from dedup_filter.scan.streams import GZIP_MAGIC
from dedup_filter.scan.warc import parts_of
from dedup_filter.scan.work import Entry

EQUAL_PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NEAR_PROFILE = "urn:dedup-filter:revisit:near-duplicate"
_OF_CONTENT = (
    "warc-type content-type content-length warc-block-digest warc-payload-digest warc-profile "
    "warc-refers-to warc-refers-to-target-uri warc-refers-to-date warc-truncated"
).split()
"""Fields of a dropped record that do not hold for its revisit record."""
_MOST_ORIGINALS = 1_000


class _Original(NamedTuple):
    date: str | None
    digest: str


class Revisits:
    """Makes the revisit records of a scan.

    `files`: the inputs; `entries`: returns all entries of the scan;
    `repeats`: the outcomes of pages that are dropped.

    Raises:
        OSError: by all methods: a file cannot be read.
    """

    def __init__(
        self,
        files: Sequence[Input],
        entries: Callable[[], Iterator[Entry]],
        repeats: Collection[str],
    ) -> None:
        self._files = files
        wanted = {_cluster(each) for each in entries() if each.outcome in repeats}
        self._kept = {
            cluster: each[:3]
            for each in entries()
            if each.outcome not in repeats and (cluster := _cluster(each)) in wanted
        }
        """Cluster -> file, start and end of its kept record."""
        self._original = lru_cache(_MOST_ORIGINALS)(self._read_original)

    def record(self, entry: Entry) -> bytes:
        """Return the record that takes the place of a dropped record, in its compression."""
        dropped = self._bytes(*entry[:3])
        fields, head, payload = parts_of(dropped)
        original = self._original(_cluster(entry))
        digest = _digest(payload)
        is_equal = original is not None and original.digest == digest
        named = {
            "WARC-Type": "revisit",
            "WARC-Profile": EQUAL_PROFILE if is_equal else NEAR_PROFILE,
            "WARC-Refers-To-Target-URI": entry.found["original"],
            "WARC-Refers-To-Date": None if original is None else original.date,
            "WARC-Payload-Digest": digest if is_equal else None,
        }
        block = head if is_equal else b""
        if block:
            named["Content-Type"] = "application/http; msgtype=response"
        lines = [
            "WARC/1.1",
            *(f"{name}: {value}" for name, value in named.items() if value),
            *(f"{name}: {value}" for name, value in fields if name.lower() not in _OF_CONTENT),
            f"Content-Length: {len(block)}",
        ]
        made = "\r\n".join([*lines, "", ""]).encode() + block + b"\r\n\r\n"
        return gzip.compress(made, mtime=0) if dropped.startswith(GZIP_MAGIC) else made

    def _read_original(self, cluster: int | None) -> _Original | None:
        """Return what is named of a kept page; None: it is in no input."""
        if cluster not in self._kept:
            return None
        fields, _, payload = parts_of(self._bytes(*self._kept[cluster]))
        return _Original(dict(fields).get("WARC-Date"), _digest(payload))

    def _bytes(self, file: int, start: int, end: int) -> bytes:
        with open_input(self._files[file].place) as content:
            content.seek(start)
            return content.read(end - start)


def _cluster(entry: Entry) -> int | None:
    """Return the number by which a dropped page names the kept page of its cluster."""
    found = entry.found.get("cluster") or entry.found.get("page")
    return None if found is None else int(found)


def _digest(payload: bytes) -> str:
    return f"sha1:{b32encode(sha1(payload, usedforsecurity=False).digest()).decode()}"
