"""The folder of an index: its files, and the lock of its writer.

    pages.sqlite3 (-wal, -shm)   the records of all pages
    entries.bin                  see `entry_file`
    lock, owner.json             the writing process

A folder that has other files and no pages.sqlite3 belongs to the user: it is left untouched.

Only one process writes to an index at a time. When the process dies, the system frees the lock.
Only the lock decides; owner.json names the holder in the message to the next process, and an
owner.json that a killed process left behind has no effect.
"""

import json
import os
import socket
import time
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from dedup_filter.errors import ConfigError, StoreBusy, StoreError
from dedup_filter.store.entry_file import EntryFile

_PAGES = "pages.sqlite3"
_OURS = {
    *(f"{_PAGES}{ending}" for ending in ("", "-wal", "-shm", "-journal")),
    *("entries.bin", "entries.new", "lock", "owner.json"),
}


class IndexFolder:
    """The paths of an index; "~" stands for the home folder of the user.

    The file system is not read until a method is called.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        self.pages = self.path / _PAGES
        self.log = self.path / f"{_PAGES}-wal"
        self.entries = EntryFile(self.path / "entries.bin")

    def __str__(self) -> str:
        return str(self.path)

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

    def __init__(self, directory: IndexFolder) -> None:
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
