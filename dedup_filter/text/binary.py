"""Bytes -> whether they can be a page at all.

A body is binary when it begins as a well-known file format does, or when more than 5 % of
its first 4 KB are bytes that no text has (the "binary data bytes" of the WHATWG MIME Sniffing
Standard, section 3; of random or compressed bytes they are 10.5 %). Text in UTF-16 and
UTF-32 has zero bytes by right and is told by its byte order mark or by where they stand.

Cost: 5 us.
"""

from w3lib.encoding import read_bom

__all__ = ["looks_binary", "utf16_without_mark"]

_SAMPLE_BYTES = 4096
_MAX_BINARY_SHARE = 0.05
_BINARY_BYTES = bytes(b for b in range(0x20) if b not in b"\t\n\f\r\x1b")

_SIGNATURES = (
    b"%PDF-",
    b"PK\x03\x04",  # zip and all that is made of it: office documents, e-books, jars
    b"\x1f\x8b\x08",  # gzip
    b"BZh",
    b"7z\xbc\xaf\x27\x1c",
    b"\xfd7zXZ\x00",
    b"Rar!\x1a\x07",
    b"\x28\xb5\x2f\xfd",  # zstandard
    b"\x89PNG\r\n",
    b"\xff\xd8\xff",  # JPEG
    b"GIF87a",
    b"GIF89a",
    b"RIFF",
    b"OggS",
    b"ID3",
    b"\x1aE\xdf\xa3",  # Matroska, WebM
    b"\x7fELF",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",  # old office documents
    b"wOFF",
    b"wOF2",
    b"SQLite format 3\x00",
)


def looks_binary(body: bytes) -> bool:
    """Tell whether a body is not text in any encoding; an empty one is not binary.

    >>> looks_binary(b"%PDF-1.7 ..."), looks_binary(b"<p>text"), looks_binary(b"")
    (True, False, False)
    """
    if body.startswith(_SIGNATURES):
        return True
    if read_bom(body)[0] or utf16_without_mark(body):
        return False
    sample = body[:_SAMPLE_BYTES]
    binary = len(sample) - len(sample.translate(None, _BINARY_BYTES))
    return binary > _MAX_BINARY_SHARE * len(sample)


def utf16_without_mark(body: bytes) -> str | None:
    """Name the byte order of UTF-16 text that lacks its mark; None for other bytes.

    Markup is ASCII, so at least a fifth of the high bytes are zero, and hardly a low one.
    """
    sample = body[:_SAMPLE_BYTES]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if even + odd <= 0.1 * len(sample):
        return None
    if even > 20 * odd:
        return "utf-16-be"
    return "utf-16-le" if odd > 20 * even else None
