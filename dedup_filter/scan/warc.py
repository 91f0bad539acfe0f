"""A WARC file -> its records, one at a time; a damaged record is reported and passed over.

The file is plain, or has a gzip member for each record (ISO 28500, annex D). Each record is read by
itself, so damage costs one record: reading continues at the next place that looks like the start of
a record. A file that was compressed as a whole is one damaged record.

A page is a response with status 200, or a `resource` or `conversion` record (as in WET files), at a
URL of HTTP. The encodings of its body are undone; for Brotli and Zstandard urllib3 needs the extra
"warc". A body without the encoding that its header names stays as it is; if the body is cut off,
its beginning is the page.

Memory: one record, and its body while an encoding is undone; a larger record is cut to the limit.
Cost: about the cost of decompressing the file. Nothing here knows Scrapy.
"""

import re
import zlib
from collections.abc import Iterator
from io import BytesIO
from os import SEEK_END
from typing import BinaryIO, NamedTuple

from urllib3 import HTTPHeaderDict, HTTPResponse
from urllib3.exceptions import HTTPError

from dedup_filter.scan.streams import GZIP_MAGIC

_BLOCK = 2**16
_LONGEST_HEAD = 2**20
_BLANK = b"\r\n\0 "
"""Bytes between two records: blank lines, and the padding of tapes."""
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_FOLDED = re.compile(r"\r?\n[ \t]+")
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})")
_CHUNK_SIZE = re.compile(rb"(?:\r?\n)?([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\n]*)?\r?\n")
_RECORD_START = re.compile(
    # Magic, flags, time, extra flags and system of RFC 1952. The bytes of the magic alone occur by
    # chance in compressed data.
    rb"\x1f\x8b\x08[\x00-\x1f].{4}[\x00\x02\x04][\x00-\x0d\xff]" rb"|WARC/\d+\.\d+\r?\n",
    re.DOTALL,
)
_LONGEST_START = 16


class WarcRecord(NamedTuple):
    """A record: a page, or why it is none (`not_page`), or why it cannot be read (`problem`)."""

    start: int
    """Offset in the file, in bytes."""
    end: int
    """Offset of the next record, or of what looks like it."""
    url: str = ""
    content_type: str | None = None
    body: bytes = b""
    link: str | None = None
    """The header Link of the response."""
    not_page: str | None = None
    """"other_type", "no_http_url", "no_http_head", "status" or "too_large"."""
    problem: str | None = None


class _DamagedError(Exception):
    """A record cannot be read; `end` is where it ends, if that is known."""

    def __init__(self, problem: str, end: int | None = None) -> None:
        super().__init__(problem)
        self.end = end


def read_warc(file: BinaryIO, most: int, start: int = 0) -> Iterator[WarcRecord]:
    """Yield the records of a file from an offset on, and close it; a body has at most `most` bytes.

    Raises:
        OSError: the file cannot be read.
    """
    with file:
        size = file.seek(0, SEEK_END)
        at = _after_blank(file, start)
        while at < size:
            try:
                record = _record(file, at, size, most)
            except _DamagedError as error:
                end = error.end or _next_start(file, at + 1) or size
                record = WarcRecord(at, end, problem=str(error))
            yield record
            at = record.end


def parts_of(record: bytes) -> tuple[list[tuple[str, str]], bytes, bytes]:
    """Return the fields of a sound record, its HTTP head with the blank line, and its payload.

    The payload is in the encoding in which it was sent; without an HTTP head it is the block.
    """
    if record.startswith(GZIP_MAGIC):
        record = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(record)
    fields, block = _head(record, None)
    block = block[: int(fields["Content-Length"])]
    end = _BLANK_LINE.search(block) if _STATUS.match(block) else None
    split = 0 if end is None else end.end()
    return list(fields.items()), block[:split], block[split:]


def _record(file: BinaryIO, at: int, size: int, most: int) -> WarcRecord:
    file.seek(at)
    is_member = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    file.seek(at)
    most_known = most + _LONGEST_HEAD
    known, end = _member(file, most_known) if is_member else (_start(file), None)
    fields, content = _head(known, end)
    length = int(fields["Content-Length"])
    if end is None:
        end_of_content = at + len(known) - len(content) + length
        if end_of_content > size:
            raise _DamagedError("the file ends within a record")
        content += file.read(max(min(length, most_known) - len(content), 0))
        file.seek(end_of_content)
        follows = file.read(1)
        record_end = _after_blank(file, end_of_content)
    else:
        follows, record_end = content[length:], end
        if len(content) < length and len(known) < most_known:
            raise _DamagedError("the record is shorter than its Content-Length", end)
        if follows.lstrip(_BLANK).startswith(b"WARC/"):
            raise _DamagedError(
                "several records are compressed together, so single ones cannot be copied: "
                "compress each record by itself, with `warcio recompress`",
                end,
            )
    if follows[:1] not in b"\r\n":
        raise _DamagedError("the record is longer than its Content-Length", end)
    return _page(fields, content[:length], most)._replace(start=at, end=record_end)


def _start(file: BinaryIO) -> bytes:
    """Read a plain record, at least to the end of its head."""
    known = b""
    while block := file.read(_BLOCK):
        known += block
        if _BLANK_LINE.search(known) or len(known) > _LONGEST_HEAD:
            break
    return known


def _head(known: bytes, end: int | None) -> tuple[HTTPHeaderDict, bytes]:
    head, content = _split(known)
    if not head.startswith(b"WARC/"):
        raise _DamagedError("no WARC record begins here", end)
    fields = _fields(head)
    if not fields.get("Content-Length", "").isdecimal():
        raise _DamagedError("the record has no Content-Length", end)
    return fields, content


def _member(file: BinaryIO, most: int) -> tuple[bytes, int]:
    """Decompress a gzip member; return its first bytes, and the offset behind it."""
    member = zlib.decompressobj(16 + zlib.MAX_WBITS)
    parts, size = [], 0
    try:
        while not member.eof:
            compressed = member.unconsumed_tail or file.read(_BLOCK)
            if not compressed:
                raise _DamagedError("the file ends within a record")
            part = member.decompress(compressed, 4 * _BLOCK)
            if size < most:
                parts.append(part)
            size += len(part)
    except zlib.error as error:
        raise _DamagedError(f"its compressed data is damaged ({error})") from None
    return b"".join(parts)[:most], _after_blank(file, file.tell() - len(member.unused_data))


def _page(fields: HTTPHeaderDict, content: bytes, most: int) -> WarcRecord:
    """Return the page of a record, or why it has none; without its place in the file."""
    url = fields.get("WARC-Target-URI", "").strip("<> ")
    kind = fields.get("WARC-Type", "").lower()
    if kind not in ("response", "resource", "conversion"):
        return WarcRecord(0, 0, not_page="other_type")
    if not url.lower().startswith(("http:", "https:")):
        return WarcRecord(0, 0, not_page="no_http_url")
    link = None
    if kind == "response":
        status = _STATUS.match(content)
        if status is None:
            return WarcRecord(0, 0, not_page="no_http_head")
        if status[1] != b"200":
            return WarcRecord(0, 0, not_page="status")
        head, content = _split(content)
        fields = _fields(head)
        link = fields.get("Link")
        content = _decoded(fields, content, most)
    if len(content) > most:
        return WarcRecord(0, 0, not_page="too_large")
    return WarcRecord(0, 0, url, fields.get("Content-Type"), content, link)


def _decoded(fields: HTTPHeaderDict, body: bytes, most: int) -> bytes:
    """Undo the encodings of a body; more than `most` bytes are not made."""
    if "chunked" in fields.get("Transfer-Encoding", "").lower():
        body = _unchunked(body)
    encoding = fields.get("Content-Encoding")
    if encoding is None:
        return body
    encoded = {"Content-Encoding": encoding}
    response = HTTPResponse(BytesIO(body), encoded, preload_content=False)
    decoded = bytearray()
    try:
        for part in response.stream(_BLOCK, decode_content=True):
            decoded += part
            if len(decoded) > most:
                break
    except HTTPError:
        pass
    return bytes(decoded) or body


def _unchunked(body: bytes) -> bytes:
    parts, size, at = [], _CHUNK_SIZE.match(body), 0
    if size is None:  # many archives keep the header, and a body without chunks
        return body
    while size is not None and (length := int(size[1], 16)):
        at = size.end() + length
        parts.append(body[size.end() : at])
        size = _CHUNK_SIZE.match(body, at)
    return b"".join(parts)


def _split(content: bytes) -> tuple[bytes, bytes]:
    """Split the lines of a head from what follows the blank line."""
    head, *rest = _BLANK_LINE.split(content, maxsplit=1)
    return head, b"".join(rest)


def _fields(head: bytes) -> HTTPHeaderDict:
    lines = _FOLDED.sub(" ", head.decode("utf-8", "replace")).split("\n")[1:]
    fields = (line.partition(":") for line in lines)
    return HTTPHeaderDict((name.strip(), value.strip()) for name, colon, value in fields if colon)


def _after_blank(file: BinaryIO, at: int) -> int:
    """Return the offset of the next byte that is not blank, or of the end of the file."""
    file.seek(at)
    while block := file.read(_BLOCK):
        if rest := block.lstrip(_BLANK):
            return file.tell() - len(rest)
    return file.tell()


def _next_start(file: BinaryIO, at: int) -> int | None:
    """Return the offset of what looks like the start of a record; None: there is none."""
    file.seek(at)
    window = b""
    while block := file.read(_BLOCK):
        window = window[-_LONGEST_START:] + block
        if found := _RECORD_START.search(window):
            return file.tell() - len(window) + found.start()
    return None
