"""A WARC file -> its records, one at a time; damaged records are reported and skipped.

The file may be plain, gzip by member or gzip as a whole; ARC files can be read, too. Only the
current record is in memory. After damage, reading continues at the next place that looks like the
start of a record, so a flipped bit costs one record and not the rest of the archive.

The only module that imports warcio. It knows nothing of Scrapy.

Format: ISO 28500 (WARC 1.1). Cost: about the cost of decompressing the file.
"""

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeadersParser, StatusAndHeadersParserException

from dedup_filter.warc.gzip_member import GZIP_MAGIC, DamagedArchive, GzipMember
from dedup_filter.warc.warc_record import ArchivedPage, Damage, Skipped, WarcRecord

__all__ = ["read_warc"]

_BLOCK = 64 * 1024
_DAMAGE = (ArchiveLoadFailed, DamagedArchive, StatusAndHeadersParserException, EOFError, ValueError)
_HTTP = ["HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/2.0", "HTTP/3"]

_RECORD_START = re.compile(
    # Magic, flags, time, extra flags and system of RFC 1952. The three bytes of the magic alone
    # occur by chance in every 16 MB of compressed data.
    rb"\x1f\x8b\x08[\x00-\x1f].{4}[\x00\x02\x04][\x00-\x0d\xff]" rb"|WARC/[01]\.\d\r?\n",
    re.DOTALL,
)
_LONGEST_START = 11
_PLAIN_STARTS = (b"WARC/", b"filedesc://")


def read_warc(path: Path, max_body_bytes: int, start: int = 0) -> Iterator[WarcRecord]:
    """Yield one value for each record of a file, from the record at offset `start` on.

    Raises:
        OSError: the file cannot be opened or read.
    """
    with path.open("rb") as file:
        at: int | None = start
        while at is not None:
            cursor = _Cursor(file, at)
            last: ArchivedPage | Skipped | None = None
            at = None
            try:
                for record in cursor.records():
                    if last is not None:
                        before, last = last, None
                        yield _ended(before, cursor.offset)
                    last = _read_record(record, max_body_bytes, cursor.offset)
            except _DAMAGE as error:
                at = _find_record(file, cursor.offset + 1)
                end = file.seek(0, 2) if at is None else at
                if last is not None:
                    # The damage may be behind this record's content, which was read.
                    is_last = getattr(last, "start", None) == cursor.offset
                    yield _ended(last, end if is_last else cursor.offset)
                yield Damage(cursor.offset, str(error) or type(error).__name__, end)
            else:
                if last is not None:
                    yield _ended(last, cursor.offset)


def _ended(record: ArchivedPage | Skipped, end: int) -> ArchivedPage | Skipped:
    return replace(record, end=end) if isinstance(record, ArchivedPage) else record


class _Cursor:
    """Walks through a file; `offset` is where the current record starts.

    Each gzip member gets its own iterator: after a damaged member, warcio's iterator would read
    the whole file and complain at every block.
    """

    def __init__(self, file: BinaryIO, offset: int) -> None:
        self.offset = offset
        self._file = file

    def records(self) -> Iterator[Any]:
        while True:
            self._file.seek(self.offset)
            start = self._file.read(_LONGEST_START)
            self._file.seek(self.offset)
            if not start.startswith(GZIP_MAGIC):
                break
            yield from self._member_records()
        # warcio would guess the format of anything else, and sometimes take noise for a record.
        if start and not start.startswith(_PLAIN_STARTS):
            raise DamagedArchive("neither a gzip member nor a record starts here")
        yield from self._plain_records()

    def _member_records(self) -> Iterator[Any]:
        member = GzipMember(self._file)
        yield from ArchiveIterator(io.BufferedReader(member), no_record_parse=True, arc2warc=True)
        self.offset = member.find_end()

    def _plain_records(self) -> Iterator[Any]:
        archive = ArchiveIterator(self._file, no_record_parse=True, arc2warc=True)
        for record in archive:
            yield record
            archive.read_to_end()
            self.offset = archive.offset


def _read_record(record: Any, max_body_bytes: int, start: int) -> ArchivedPage | Skipped:
    if record.length is None:
        raise DamagedArchive("a record without a length")
    page = _read_page(record, max_body_bytes, start)
    while record.raw_stream.read(_BLOCK):
        pass
    if record.raw_stream.limit:
        raise DamagedArchive("the file ends within a record")
    return page


def _read_page(record: Any, max_body_bytes: int, start: int) -> ArchivedPage | Skipped:
    url = record.rec_headers.get_header("WARC-Target-URI") or ""
    if record.rec_type != "response" or not url.startswith(("http:", "https:")):
        return Skipped("not_a_response")
    record.http_headers = StatusAndHeadersParser(_HTTP).parse(record.raw_stream)
    if record.http_headers.get_statuscode() != "200":
        return Skipped("status")
    body = record.content_stream().read(max_body_bytes + 1)
    if len(body) > max_body_bytes:
        return Skipped("too_large")
    headers = record.http_headers
    return ArchivedPage(
        url,
        headers.get_header("Content-Type"),
        body,
        start,
        date=record.rec_headers.get_header("WARC-Date"),
        link=headers.get_header("Link"),
    )


def _find_record(file: BinaryIO, offset: int) -> int | None:
    """Return the next offset at which something looks like the start of a record."""
    file.seek(offset)
    window = b""
    while block := file.read(_BLOCK):
        window = window[-_LONGEST_START:] + block
        if found := _RECORD_START.search(window):
            return file.tell() - len(window) + found.start()
    return None
