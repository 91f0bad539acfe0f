"""Names of inputs -> the files that are read: on this machine, elsewhere, or within a ZIP file.

    a path                      a file, or all files in a folder or of a pattern
    s3://..., https://...       a file on any file system of fsspec, or all files of a pattern; a
                                name that ends in "/" is a folder
    x.wacz                      the WARC files in its folder archive
    zip://member::name          a file in a ZIP file of that name

The name of a file is a string that can be given again. Files are opened by one function, and are
read at any offset. If a WACZ file is cut off, the list of its members is lost: it is read as a WARC
file between whose records is garbage.

Members of a ZIP file are usually stored. In one that is compressed, a step back reads it again from
the beginning.
"""

import io
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from errno import EIO
from pathlib import Path
from typing import Any, BinaryIO, Literal
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from dedup_filter.errors import ConfigError, DedupError, needs_extra
from dedup_filter.scan.streams import COMPRESSIONS

Format = Literal["lines", "list", "parquet", "warc"]

PIPE = "-"
"""The name of standard input, which has JSON."""
_JSON = (".jsonl", ".jl", ".ndjson", ".json")
_ENDINGS: dict[str, Format] = {
    ".parquet": "parquet",
    **dict.fromkeys((".warc", ".warc.gz", ".wet", ".wet.gz", ".wacz"), "warc"),
    **dict.fromkeys((name + packed for name in _JSON for packed in COMPRESSIONS), "lines"),
}
_BUFFER = 2**20
"""Bytes of a file that are read at once; most steps back are within them."""
_STEP = 2**12
"""Bytes that are decompressed at once: where a member is damaged, fewer are lost."""
_IN_ZIP = "zip://"
_ZIP_HEADER = 30
"""Bytes before the name of a member and its extra field; the last four are their lengths."""
_VERSIONS = "ETag mtime LastModified Last-Modified last_modified updated created".split()
"""What file systems say about the version of a file."""


def format_of(name: str) -> Format | None:
    """Return the format of a file by the end of its name; None: not known."""
    file = _file_name(name)
    return next((kind for end, kind in _ENDINGS.items() if file.endswith(end)), None)


def is_url(name: str) -> bool:
    """Return whether a file is opened by more than its path."""
    return "://" in name


def _file_name(name: str) -> str:
    """Return what ends like the name of the file itself, in small letters."""
    if is_url(name):
        name = next(part for part in name.split("::") if "://" in part)
        name = name.partition("?")[0] if name.startswith("http") else name
    return name.lower()


def local_path(name: str) -> Path | None:
    """Return the file of this machine in which an input is; None: it is elsewhere."""
    while name.startswith(_IN_ZIP):
        name = name.partition("::")[2]
    return None if is_url(name) or name == PIPE else Path(name)


def open_input(name: str) -> BinaryIO:
    """Open a file to read.

    Raises:
        DedupError: a package is missing.
        OSError: the file cannot be read; also by all methods of the file.
    """
    if is_url(name):
        return io.BufferedReader(_opened(name), _BUFFER)
    return Path(name).open("rb", _BUFFER)


def version_of(name: str) -> list[Any]:
    """Return name, size in bytes, and what changes when the file is written anew.

    Raises:
        DedupError: a package is missing.
        OSError: the file cannot be read.
    """
    if not is_url(name):
        found = Path(name).stat()
        return [name, found.st_size, found.st_mtime_ns]
    if name.startswith(_IN_ZIP):
        with open_input(name) as file:
            return [name, file.seek(0, os.SEEK_END), *version_of(name.partition("::")[2])[1:]]
    with _naming(name):
        system, path = _system(name)
        about = system.info(path)
        return [name, about["size"] or 0, *(str(about[key]) for key in _VERSIONS if key in about)]


def input_files(
    names: Sequence[str], written: Sequence[Path] = (), say: Callable[[str], None] = lambda _: None
) -> list[str]:
    """Expand names to the names of files, in order.

    Files that the scan itself writes (`written`, or in such a folder) are left out, and `say` gets
    a message about each output. If such a file is named itself, it stays and is refused later.

    Raises:
        ConfigError: there is no such file, none in a folder, or no other.
    """
    own, files = {path.resolve() for path in written}, []
    for name in names:
        for found in _found(name.removeprefix("file://")):
            path = local_path(found)
            path = None if path is None or str(path) == str(Path(name)) else path.resolve()
            if path is None or own.isdisjoint((path, *path.parents)):
                files += _members(found, say)
            elif path in own:
                say(f"{found} is not read: this scan writes it")
    if not files:
        raise ConfigError(f"no file in {', '.join(names)} but what this scan writes")
    return files


def _found(name: str) -> list[str]:
    path = Path(name).expanduser()
    if is_url(name):
        found = _found_elsewhere(name)
    elif path.is_dir():
        found = sorted(str(each) for each in path.rglob("*") if format_of(each.name))
        if not found:
            raise ConfigError(f"no file in {name} has a name that ends in {', '.join(_ENDINGS)}")
    elif name == PIPE or path.exists():
        found = [str(path)]
    else:
        found = sorted(map(str, Path(path.anchor).glob(str(path.relative_to(path.anchor)))))
    if not found:
        raise ConfigError(f"there is no file {name}")
    return found


def _found_elsewhere(name: str) -> list[str]:
    is_folder = name.endswith("/")
    if name.startswith(_IN_ZIP) or not (is_folder or "*" in name):
        return [name]
    with _naming(name):
        system, path = _system(f"{name}**" if is_folder else name)
        paths = system.glob(path, detail=True)
        # A file system has names of its own, mostly without the protocol and what is before it.
        own = path.removesuffix("/**")
        before, is_end = name.removesuffix("/").removesuffix(own), name.rstrip("/").endswith(own)
        found = [
            f"{before}{each}" if is_end else system.unstrip_protocol(each)
            for each, about in sorted(paths.items())
            if about["type"] == "file"
        ]
    return [each for each in found if not is_folder or format_of(each)]


def _members(name: str, say: Callable[[str], None]) -> list[str]:
    """Return the names of the WARC files in a WACZ file; of another file, its own name."""
    if name == PIPE:
        return [name]
    found = [name]
    try:
        with open_input(name) as file:
            if _file_name(name).endswith(".wacz"):
                inside = sorted(ZipFile(file).namelist())
                found = [
                    f"{_IN_ZIP}{each}::{name}"
                    for each in inside
                    if each.startswith("archive/") and format_of(each) == "warc"
                ]
        for each in found:
            open_input(each).close()
    except BadZipFile:
        say(f"{name} is no whole ZIP file: records are looked for in its bytes")
    except OSError as error:
        raise ConfigError(f"{name} cannot be read: {error.strerror}") from None
    if not found:
        raise ConfigError(f"{name} has no WARC file in its folder archive")
    return found


def _opened(name: str) -> "_Opened":
    with _naming(name), ExitStack() as owned:
        if not name.startswith(_IN_ZIP):
            system, path = _system(name)
            size = system.info(path)["size"]
            if size is None:  # before a connection is opened, which would stay open
                raise OSError(EIO, "its server does not say how long it is: download it first")
            file = owned.enter_context(system.open(path, "rb"))
            return _Opened(name, file, owned.pop_all(), size)
        member, _, place = name.removeprefix(_IN_ZIP).partition("::")
        outer = owned.enter_context(open_input(place))
        archive = ZipFile(outer)
        about = archive.getinfo(member)
        if about.compress_type != ZIP_STORED or about.flag_bits & 1:  # compressed, or encrypted
            inner = owned.enter_context(archive.open(about))
            return _Opened(name, inner, owned.pop_all(), about.file_size, most=_STEP)
        outer.seek(about.header_offset)
        header = outer.read(_ZIP_HEADER)
        lengths = int.from_bytes(header[-4:-2], "little") + int.from_bytes(header[-2:], "little")
        start = about.header_offset + _ZIP_HEADER + lengths
        return _Opened(name, outer, owned.pop_all(), about.file_size, start=start)


class _Opened(io.RawIOBase):
    """A file of another library, or a range of it; all its errors are errors of the system."""

    def __init__(
        self,
        name: str,
        file: Any,
        owned: ExitStack,
        size: int,
        *,
        start: int = 0,
        most: int = _BUFFER,
    ) -> None:
        self._name, self._file, self._owned = name, file, owned
        self._size, self._start, self._most, self._at = size, start, most, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        most = min(len(buffer), max(self._size - self._at, 0), self._most)
        with _naming(self._name):
            try:
                self._file.seek(self._start + self._at)
                content = self._file.read(most)
            except (EOFError, BadZipFile, zlib.error):  # the file ends where its damage begins
                return 0
        buffer[: len(content)] = content
        self._at += len(content)
        return len(content)

    def close(self) -> None:
        super().close()
        self._owned.close()


def _system(name: str) -> tuple[Any, str]:
    with needs_extra("remote", name):
        from fsspec.core import url_to_fs
    system, path = url_to_fs(name)
    return system, str(path)


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Turn the errors of a file system, which may be of any kind, into errors of the system."""
    try:
        yield
    except DedupError:
        raise
    except ImportError as error:
        raise DedupError(f"{name} needs a package that is not installed: {error}") from None
    except Exception as error:
        first: BaseException = error
        while first.__cause__ is not None:
            first = first.__cause__
        reason = getattr(first, "strerror", None) or str(first) or type(first).__name__
        if isinstance(first, FileNotFoundError):  # its message is mostly the name alone
            reason = "there is no such file"
        raise OSError(getattr(error, "errno", None) or EIO, reason, name) from error
