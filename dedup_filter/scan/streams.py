"""Bytes of files, read and written: plain, or compressed by gzip or Zstandard.

    file -> its bytes, decompressed member by member (RFC 1952), or frame by frame (RFC 8878)
    file, its name -> a file to write to, compressed by the ending of the name (.gz, .zst)

The first bytes of a file decide how it is decompressed. If a file is cut off or damaged, the bytes
before the damage are read, and `damage` describes it. Compressed output is reproducible: it has no
time and no name.
"""

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from dedup_filter.errors import DedupError

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_AT_ONCE = 4096
"""Compressed bytes. They become at most 4 MB (gzip) or 128 MB (Zstandard)."""
_CHUNK = 2**18
_LEVEL = 6


class Stream(io.BufferedReader):
    """The decompressed bytes of a file; closing the stream closes the file.

    Raises:
        DedupError: zstandard is needed, and not installed.
        OSError: while reading, if the file cannot be read.
    """

    def __init__(self, file: io.BufferedReader, *, as_it_is: bool = False) -> None:
        start = b"" if as_it_is else file.peek(len(_ZSTD))
        self._file = file
        self._members: _Members | None = None
        if start.startswith(_GZIP):
            self._members = _Members(file, lambda: zlib.decompressobj(16 + zlib.MAX_WBITS))
        elif start.startswith(_ZSTD):
            self._members = _Members(file, zstandard().ZstdDecompressor().decompressobj)
        super().__init__(self._members or cast("Any", file))

    @classmethod
    def open(cls, path: Path, *, as_it_is: bool = False) -> "Stream":
        """Open a file, `as_it_is` without decompressing it.

        Raises:
            OSError: the file cannot be opened.
        """
        return cls(path.open("rb"), as_it_is=as_it_is)

    @property
    def damage(self) -> str | None:
        """Why the bytes ended early; None: they did not, or were not read to their end yet."""
        return None if self._members is None else self._members.damage

    @property
    def passed(self) -> int:
        """Bytes of the file that were read, 0 if that is not known."""
        return self._file.tell() if self._file.seekable() else 0

    def skip(self, count: int) -> None:
        """Skip `count` bytes."""
        if self._members is None and self.seekable():
            self.seek(count, io.SEEK_CUR)
        else:
            for _ in self.chunks(count):
                pass

    def chunks(self, count: float = float("inf")) -> Iterator[bytes]:
        """Yield `count` bytes in pieces, or fewer at the end."""
        while count > 0 and (chunk := self.read(int(min(count, _CHUNK)))):
            count -= len(chunk)
            yield chunk

    def close(self) -> None:
        """Close the file."""
        super().close()
        self._file.close()


class _Members(io.RawIOBase):
    """The bytes of members, or frames, one after the other, until one is damaged."""

    def __init__(self, file: BinaryIO, new: Callable[[], Any]) -> None:
        super().__init__()
        self.damage: str | None = None
        self._file = file
        self._new = new
        self._member: Any = None
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and self.damage is None:
            compressed = b"" if self._member is None else self._member.unused_data
            if self._member is not None and self._member.eof:
                self._member = None
                compressed = compressed.lstrip(b"\0")  # padding of tapes
            compressed = compressed or self._file.read(_AT_ONCE)
            if not compressed:
                if self._member is not None:
                    self.damage = "it ends within compressed data"
                break
            self._decompress(compressed)
        count = min(len(buffer), len(self._ready))
        buffer[:count], self._ready = self._ready[:count], self._ready[count:]
        return count

    def _decompress(self, compressed: bytes) -> None:
        self._member = self._member or self._new()
        try:
            self._ready = memoryview(self._member.decompress(compressed))
        except Exception as error:  # zlib.error, or ZstdError of an optional package
            self.damage = f"its compressed data is damaged ({error})"


class Spooled(io.RawIOBase):
    """Standard input, or another pipe, whose bytes are copied to a file as they are read.

    Bytes that the file already holds must come again.

    Raises:
        DedupError: while reading, if other bytes come.
    """

    def __init__(self, pipe: io.BufferedReader, spool: Path) -> None:
        super().__init__()
        spool.touch()
        self._pipe = pipe
        self._spool = spool.open("r+b", buffering=0)

    def readable(self) -> bool:
        """Return True: the pipe can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, and copy the bytes to the file."""
        came = self._pipe.read1(len(buffer))
        before = self._spool.read(len(came)) or b""
        if not came.startswith(before):
            raise DedupError(
                "standard input differs from the input of the interrupted scan: give --force to "
                "begin anew"
            )
        self._spool.write(came[len(before) :])
        buffer[: len(came)] = came
        return len(came)

    def close(self) -> None:
        """Close the file of the copy; the pipe stays open."""
        super().close()
        self._spool.close()


def compressed_to(file: BinaryIO, name: str) -> BinaryIO:
    """Return a file that compresses to `file` as its name says; closing it leaves `file` open."""
    if name.endswith(".gz"):
        made = gzip.GzipFile("", "wb", _LEVEL, file, mtime=0)
        return cast("BinaryIO", io.BufferedWriter(cast("Any", made), _CHUNK))
    if name.endswith(".zst"):
        return cast("BinaryIO", zstandard().ZstdCompressor().stream_writer(file, closefd=False))
    return file


def zstandard() -> Any:
    """Return the module. DedupError: it is not installed."""
    try:
        import zstandard as module
    except ModuleNotFoundError:
        raise DedupError("for .zst files install zstandard: 'dedup-filter[zstd]'") from None
    return module
