"""Bytes that are no page -> Document: the text of a PDF, or a hash of all bytes; else the reason.

    PDF, with the option `read_pdf`        its text (`pdf`)
    bytes that the option `payloads` names a document without text, with a hash of the bytes

A document without text repeats only a document with the same hash, 96 bits of which are stored. If
there is none, the bytes stay unjudged with their reason, and later equal bytes find them.

Which bytes: with "documents" PDF, office files and archives, by their first bytes; with "all" any
bytes. Bytes shorter than `LEAST_BYTES` are never compared: an empty answer of an API, or a picture
of one pixel, says nothing (docs/decisions/0017-payloads.md).

Cost: 0.1 ms for 1 MB; for a PDF see `pdf`.
"""

import re
from math import inf
from typing import NamedTuple, TypeGuard

import xxhash

from dedup_filter.model import Document, Reason, Unjudged
from dedup_filter.text.pdf import PDF_START, read_pdf

PAYLOADS = ("none", "documents", "all")
"""Values of the option `payloads`: which bytes are compared."""
LEAST_BYTES = 64
BYTES_TYPE = "application/octet-stream"
"""The content type of bytes that are no page, whatever they begin with."""
_DOCUMENT = re.compile(
    # PDF, ZIP (also of newer office files), gzip, bzip2, 7z, xz, RAR, Zstandard, old office files.
    rb"%PDF-|PK\x03\x04|\x1f\x8b\x08|BZh|7z\xbc\xaf\x27\x1c|\xfd7zXZ\x00|Rar!\x1a\x07|\x28\xb5\x2f\xfd|"
    rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
)


class Payloads(NamedTuple):
    """The options on bytes that are no page; by default they are not judged."""

    compared: str = "none"
    """One of `PAYLOADS`."""
    reads_pdf: bool = False

    def take(self, body: bytes) -> bool:
        """Return whether bytes that are no page are judged."""
        return self._compare(body) or self._read(body)

    def are_data(self, body: object, content_type: str | None) -> TypeGuard[bytes]:
        """Return whether some HTML is bytes of another content type, not to be read as a page."""
        kind = (content_type or "text/").lower()
        is_other = self.compared == "all" and not ("text/" in kind or "html" in kind)
        return is_other and isinstance(body, bytes)

    def document(self, body: bytes, reason: Reason, title: str = "") -> Document | Unjudged:
        """Make a document of bytes that are no page; `reason`: why they are none."""
        found = read_pdf(body, title) if self._read(body) else Unjudged(reason)
        if isinstance(found, Document) or not self._compare(body):
            return found
        high, low = divmod(xxhash.xxh3_128_intdigest(body), 2**64)
        return Document(
            "", unread_words=inf, unread_hash=low, whole_hash=high, unread_reason=found.reason
        )

    def _read(self, body: bytes) -> bool:
        return self.reads_pdf and body.startswith(PDF_START)

    def _compare(self, body: bytes) -> bool:
        if len(body) < LEAST_BYTES or self.compared == "none":
            return False
        return self.compared == "all" or _DOCUMENT.match(body) is not None
