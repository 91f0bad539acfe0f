"""One member of a gzip file, read as a stream.

A WARC file is a sequence of gzip members, usually one for each record. Reading members one by one
keeps damage local: a broken member raises `DamagedArchive`, and reading can continue at the next
member (RFC 1952, section 2.2).
"""

import io
import zlib
from typing import BinaryIO

__all__ = ["GZIP_MAGIC", "DamagedArchive", "GzipMember"]

GZIP_MAGIC = b"\x1f\x8b\x08"

_BLOCK = 64 * 1024
_GZIP_WINDOW = 16 + zlib.MAX_WBITS


class DamagedArchive(Exception):  # noqa: N818 - names a state, like StopIteration
    """The bytes violate their format."""


class GzipMember(io.RawIOBase):
    """The decompressed bytes of the member that starts at the file's position.

    Raises:
        DamagedArchive: while reading, if the member is damaged or cut off.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self._gzip = zlib.decompressobj(_GZIP_WINDOW)
        self._pending = b""

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read into a buffer; no more is decompressed than fits into it."""
        while not self._gzip.eof:
            compressed = self._pending or self._file.read(_BLOCK)
            if not compressed:
                raise DamagedArchive("the file ends within a record")
            data = self._decompress(compressed, len(buffer))
            if data:
                buffer[: len(data)] = data
                return len(data)
        return 0

    def find_end(self) -> int:
        """Read the rest and return the offset of the next member in the file."""
        rest = memoryview(bytearray(_BLOCK))
        while self.readinto(rest):
            pass
        return self._file.tell() - len(self._gzip.unused_data)

    def _decompress(self, compressed: bytes, most: int) -> bytes:
        try:
            data = self._gzip.decompress(compressed, most)
        except zlib.error as error:
            raise DamagedArchive(str(error)) from error
        self._pending = self._gzip.unconsumed_tail
        return data
