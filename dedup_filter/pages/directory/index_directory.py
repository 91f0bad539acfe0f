"""The folder of an index: which files are in it, and whether one may be put there.

    pages.sqlite3 (-wal, -shm)   the records of all pages
    tables/                      derived from it, may be deleted
    lock, owner.json             who writes to it

A folder with anything else in it and no pages is somebody's own: it is left untouched.

Only one process writes to an index at a time. The system takes its lock back when it dies. The
lock decides; owner.json only names its holder in the message to the next one, and one that a
killed process left behind means nothing.
"""

import json
import os
import socket
import time
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from dedup_filter.errors import ConfigError, StoreBusy, StoreError

__all__ = ["IndexDirectory", "OwnerLock"]

_PAGES = "pages.sqlite3"
_OURS = {
    *(f"{_PAGES}{ending}" for ending in ("", "-wal", "-shm", "-journal")),
    *("tables", "lock", "owner.json", "owner.json.new"),  # the last one as earlier versions left it
}


class IndexDirectory:
    """The paths of an index; nothing is looked at until a method is called."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.pages = path / _PAGES
        self.tables = path / "tables"
        self.lock = path / "lock"
        self.owner = path / "owner.json"

    @classmethod
    def at(cls, path: str | Path) -> "IndexDirectory":
        """Name the paths; "~" stands for the folder of the user."""
        return cls(Path(path).expanduser())

    def __str__(self) -> str:
        return str(self.path)

    def page_bytes(self) -> int:
        """Return the size of the database in bytes."""
        paths = (self.pages, Path(f"{self.pages}-wal"))
        return sum(path.stat().st_size for path in paths if path.exists())

    def require_index(self) -> None:
        """Refuse a path where no index is.

        Raises:
            ConfigError: there is none.
            StoreError: the folder cannot be read.
        """
        try:
            if self.pages.is_file():
                return
            # As a job has it, in a folder of its own.
            inside = next((pages.parent for pages in sorted(self.path.glob(f"*/{_PAGES}"))), None)
        except OSError as error:
            raise StoreError(f"the folder {self} cannot be read: {error.strerror}") from error
        where = f"there is one in {inside}" if inside else "look at the path"
        raise ConfigError(f"there is no index at {self}: {where}")

    def prepare(self) -> None:
        """Make the folder if there is none; refuse one that is somebody's own.

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
    """The right to write to an index, held from the making of this until `release`.

    Raises:
        StoreBusy: another process holds it, or another part of this one.
        StoreError: the folder cannot be written to.
    """

    def __init__(self, directory: IndexDirectory) -> None:
        self._owner = directory.owner
        self._lock = FileLock(directory.lock, timeout=0, thread_local=False)
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
        with suppress(OSError):  # a full disk, say: the lock holds all the same
            self._owner.write_text(json.dumps(owner), "utf-8")

    def release(self) -> None:
        """Give the right back; a second time does nothing."""
        if self._lock.is_locked:
            with suppress(OSError):  # the next holder writes its own name over it
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
