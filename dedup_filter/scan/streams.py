"""Bytes of files, read and written: plain, or compressed by gzip, bzip2, xz or Zstandard.

    file             -> its bytes, decompressed as its first bytes say
    file, its name   -> a file to write to, compressed as the ending of the name says

If a file is cut off or damaged, the whole lines before the damage are read, and `damage` describes
it. Compressed output has no time and no name, so equal lines give equal files. Python's own modules
do the work; for Zstandard Python before 3.14 needs backports.zstd.
"""

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from dedup_filter.errors import needs_extra

GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 2**18
_GZIP_LEVEL = 6


class Stream:
    """The bytes of an open file, which it closes.

    Raises:
        ConfigError: the package for Zstandard is needed, and not installed.
        OSError: by all methods, if the file cannot be read.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.damage: str | None = None
        """Why the bytes ended early; None: they did not, or were not read to their end yet."""
        start = file.read(max(map(len, _READERS)))
        file.seek(0)
        readers = (each for magic, each in _READERS.items() if start.startswith(magic))
        self._bytes: Any = next(readers, lambda plain: plain)(file)

    @property
    def passed(self) -> int:
        """Bytes of the file that were read."""
        return self._file.tell()

    def readline(self, most: int) -> bytes:
        """Return the next line, or its first bytes; b"" at the end, and where damage begins."""
        return self._until_damage(self._bytes.readline, most)

    def read_some(self) -> bytes:
        """Return the next bytes, as many as there are; b"" at the end, and where damage begins."""
        return self._until_damage(self._bytes.read1, _CHUNK)

    def _until_damage(self, read: Callable[[int], bytes], most: int) -> bytes:
        try:
            return read(most)
        except Exception as error:  # each module has errors of its own
            if isinstance(error, OSError) and error.errno is not None:  # not of the compression
                raise
            self.damage = str(error)
            return b""

    def seek(self, start: int) -> None:
        """Go to a decompressed byte. Cost: for a later byte of compressed data, to read it."""
        self._bytes.seek(start)

    def read(self, count: int) -> bytes:
        """Return the next bytes, which were read before."""
        return bytes(self._bytes.read(count))

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self._bytes.close()
        self._file.close()


def compressed_to(file: BinaryIO, name: str) -> BinaryIO:
    """Return a file that compresses to `file` as its name says; closing it leaves `file` open."""
    writer = _WRITERS.get(Path(name).suffix)
    return file if writer is None else writer(file)


def _gzip_writer(file: BinaryIO) -> BinaryIO:
    made: Any = gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0)
    return io.BufferedWriter(made, _CHUNK)


def _zstd(mode: str) -> Callable[[BinaryIO], Any]:
    def opened(file: BinaryIO) -> Any:
        with needs_extra("zstd", "Zstandard"):
            is_built_in = sys.version_info >= (3, 14)
            zstd = import_module("compression.zstd" if is_built_in else "backports.zstd")
        return zstd.ZstdFile(file, mode)

    return opened


_READERS: dict[bytes, Callable[[Any], Any]] = {
    GZIP_MAGIC: gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
    b"\x28\xb5\x2f\xfd": _zstd("rb"),
}
_WRITERS: dict[str, Callable[[BinaryIO], Any]] = {
    ".gz": _gzip_writer,
    ".bz2": partial(bz2.open, mode="wb"),
    ".xz": partial(lzma.open, mode="wb"),
    ".zst": _zstd("wb"),
}
COMPRESSIONS = ("", *_WRITERS)
"""Endings of names."""
