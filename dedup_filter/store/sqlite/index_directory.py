"""The folder of an index: its files, the lock of its writer, and the files of its tables.

    pages.sqlite3 (-wal, -shm)   the records of all pages
    tables/7/manifest.json       first line: checksum of the rest; then the list of arrays
    tables/7/rows.bin            the bytes of one array, little-endian
    lock, owner.json             the writing process

A folder that has other files and no pages.sqlite3 belongs to the user: it is left untouched.

Only one process writes to an index at a time. When the process dies, the system frees the lock.
Only the lock decides; owner.json names the holder in the message to the next process, and an
owner.json that a killed process left behind has no effect.

Tables are named arrays and a note. Each save makes a new generation, a folder with the next number.
Its manifest is written last, by renaming; then older generations are deleted. Only the newest
generation with a manifest counts: the changes since an older generation may have been trimmed.
Length and checksum ensure that arrays are loaded as they were saved, also after a power failure.
Otherwise `UnusableTables` gives the reason for the log: tables can be made anew from the records.

Cost: loading reads all bytes once, half a gigabyte in 0.02 s if the system has cached them; after
that the system decides whether they stay in memory.
"""

import json
import os
import shutil
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash
from filelock import FileLock, Timeout

from dedup_filter.errors import ConfigError, StoreBusy, StoreError

_PAGES = "pages.sqlite3"
_OURS = {
    *(f"{_PAGES}{ending}" for ending in ("", "-wal", "-shm", "-journal")),
    *("tables", "lock", "owner.json"),
}
TABLES_FORMAT = 3
_MANIFEST = "manifest.json"

Array = npt.NDArray[Any]


class IndexDirectory:
    """The paths of an index; "~" stands for the home folder of the user.

    The file system is not read until a method is called.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        self.pages = self.path / _PAGES
        self.log = self.path / f"{_PAGES}-wal"
        self.tables = TableFiles(self.path / "tables")

    def __str__(self) -> str:
        return str(self.path)

    def page_bytes(self) -> int:
        """Return the size of the database in bytes."""
        return sum(path.stat().st_size for path in (self.pages, self.log) if path.exists())

    def require_index(self) -> None:
        """Refuse a path without an index.

        Raises:
            ConfigError: there is no index.
            StoreError: the folder cannot be read.
        """
        try:
            if self.pages.is_file():
                return
            # A job has its index in a subfolder.
            inside = next((pages.parent for pages in sorted(self.path.glob(f"*/{_PAGES}"))), None)
        except OSError as error:
            raise StoreError(f"the folder {self} cannot be read: {error.strerror}") from error
        where = f"there is one in {inside}" if inside else "the path may be wrong"
        raise ConfigError(f"there is no index at {self}: {where}")

    def prepare(self) -> None:
        """Make the folder if there is none; refuse a folder with files of the user.

        Raises:
            ConfigError: a file is there, or a folder with other files in it and no index.
            StoreError: the folder cannot be made or read.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            names = sorted(entry.name for entry in self.path.iterdir())
        except (FileExistsError, NotADirectoryError):
            raise ConfigError(
                f"an index is a folder, and {self} is or lies below a file: choose another path"
            ) from None
        except OSError as error:
            raise StoreError(
                f"the folder {self} cannot be made or read: {error.strerror}"
            ) from error
        others = [name for name in names if name not in _OURS]
        if others and _PAGES not in names:
            raise ConfigError(
                f"{self} is not an index: it holds {others[0]!r}"
                f"{' and other files' if len(others) > 1 else ''}; choose a new or empty folder"
            )


class OwnerLock:
    """The right to write to an index, held from construction until `release`.

    Raises:
        StoreBusy: another process holds the right, or another part of this process.
        StoreError: the folder cannot be written to.
    """

    def __init__(self, directory: IndexDirectory) -> None:
        self._owner = directory.path / "owner.json"
        self._lock = FileLock(directory.path / "lock", timeout=0, thread_local=False)
        try:
            self._lock.acquire()
        except Timeout:
            raise StoreBusy(
                f"index {directory} is in use by {_described(self._owner)}: wait until it is done, "
                "or let several crawlers share an index on Redis (DEDUP_INDEX=redis://...)"
            ) from None
        except (OSError, NotImplementedError) as error:
            raise StoreError(
                f"index {directory} cannot be locked: {error}; give this user the right to write "
                "in its folder"
            ) from error
        owner = {"pid": os.getpid(), "host": socket.gethostname(), "since": int(time.time())}
        with suppress(OSError):  # for example a full disk: the lock holds without the file
            self._owner.write_text(json.dumps(owner), "utf-8")

    def release(self) -> None:
        """Release the lock; a second call does nothing."""
        if self._lock.is_locked:
            with suppress(OSError):  # the next holder overwrites the file
                self._owner.unlink(missing_ok=True)
            self._lock.release()


def _described(path: Path) -> str:
    try:
        owner = json.loads(path.read_text("utf-8"))
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(owner["since"]))
        where = "" if owner["host"] == socket.gethostname() else f" on {owner['host']}"
        who = "this process" if not where and owner["pid"] == os.getpid() else "a process"
        return f"{who}{where} (pid {owner['pid']}, since {since})"
    except (OSError, ValueError, KeyError, TypeError):  # not written yet, or cut short
        return "another process"


class UnusableTables(Exception):  # noqa: N818 - no fault: the tables are made anew
    """The reason why tables cannot be used, as a message for the log."""

    def __init__(self, reason: str, *, is_usual: bool = False) -> None:
        super().__init__(reason)
        self.is_usual = is_usual
        """Whether the reason is no sign of damage: a crawl was killed before it wrote the tables,
        or has other options than the crawl before."""


class TableFiles:
    """The generations of table files in a folder; `save` makes the folder if there is none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, arrays: Mapping[str, Array], about: Mapping[str, Any]) -> None:
        """Write a new generation and remove the older ones.

        The names of arrays become names of files; `about` is plain JSON.

        Raises:
            StoreError: the files cannot be written; the older generation is still there.
        """
        older = self._generations()
        generation = self._folder / str(max(older, default=0) + 1)
        try:
            generation.mkdir(parents=True)
            described = {name: _write(generation, name, array) for name, array in arrays.items()}
            manifest = {"format": TABLES_FORMAT, "arrays": described, "about": about}
            body = json.dumps(manifest, sort_keys=True).encode()
            fresh = generation / f"{_MANIFEST}.new"
            fresh.write_bytes(_checksum(body).encode() + b"\n" + body)
            fresh.replace(generation / _MANIFEST)
        except OSError as error:
            shutil.rmtree(generation, ignore_errors=True)
            raise StoreError(
                f"the tables in {self._folder} cannot be written: {error.strerror or error}; "
                "look at the room and the rights there (without them opening takes longer)"
            ) from error
        for folder in older.values():
            # On Windows mapped files cannot be deleted before the process that maps them ends.
            shutil.rmtree(folder, ignore_errors=True)

    def load(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """Return the newest generation: read-only arrays, and the note.

        Raises:
            UnusableTables: there is no generation, or its files differ from what was saved.
        """
        there = self._generations()
        finished = [number for number in there if (there[number] / _MANIFEST).exists()]
        if not finished:
            raise UnusableTables("there are none", is_usual=True)
        generation = there[max(finished)]
        try:
            manifest = _manifest(generation / _MANIFEST)
            arrays = {
                name: _read(generation / f"{name}.bin", **described)
                for name, described in manifest["arrays"].items()
            }
            return arrays, manifest["about"]
        except (OSError, ValueError) as error:
            raise UnusableTables(str(error)) from error
        except (KeyError, TypeError, AttributeError) as error:  # JSON, but not written by `save`
            reason = f"their manifest is not what it should be ({error!r})"
            raise UnusableTables(reason) from error

    @property
    def nbytes(self) -> int:
        """Size on disk in bytes."""
        return sum(path.stat().st_size for path in self._folder.glob("*/*"))

    def _generations(self) -> dict[int, Path]:
        with suppress(OSError):
            there = (each for each in self._folder.iterdir() if each.name.isdecimal())
            return {int(each.name): each for each in there}
        return {}


def _write(generation: Path, name: str, array: Array) -> dict[str, Any]:
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    content = little.reshape(-1).view(np.uint8).data
    (generation / f"{name}.bin").write_bytes(content)
    return {"dtype": little.dtype.str, "shape": array.shape, "checksum": _checksum(content)}


def _manifest(path: Path) -> Any:
    checksum, _, body = path.read_bytes().partition(b"\n")
    if checksum != _checksum(body).encode():
        raise ValueError(f"{path} is not as it was written")
    manifest = json.loads(body)
    if manifest["format"] != TABLES_FORMAT:
        raise ValueError(f"they have format {manifest['format']}, not {TABLES_FORMAT}")
    return manifest


def _read(path: Path, dtype: str, shape: list[int], checksum: str) -> Array:
    if path.stat().st_size != prod(shape) * np.dtype(dtype).itemsize:
        raise ValueError(f"{path} has another length than when it was written")
    if not path.stat().st_size:  # an empty file cannot be mapped
        return np.empty(shape, dtype)
    mapped = np.memmap(path, np.uint8, "r")
    if _checksum(mapped.data) != checksum:
        raise ValueError(f"{path} is not as it was written")
    return mapped.view(dtype).reshape(shape)


def _checksum(content: bytes | memoryview) -> str:
    return xxhash.xxh3_64_hexdigest(content)
