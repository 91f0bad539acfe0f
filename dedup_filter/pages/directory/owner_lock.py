"""One writer for each index: a lock that the system takes back when its holder dies.

The lock decides; the file beside it only names the holder in the message to the next one,
and one that was left behind by a killed process means nothing.
"""

import json
import os
import socket
import time
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from dedup_filter.errors import StoreBusy, StoreError
from dedup_filter.pages.directory.index_directory import IndexDirectory

__all__ = ["OwnerLock"]


class OwnerLock:
    """The right to write to an index, held from the making of this until `release`.

    Raises:
        StoreBusy: another process holds it, or another part of this one.
        StoreError: the folder cannot be written to.
    """

    def __init__(self, directory: IndexDirectory) -> None:
        self._directory = directory
        self._lock = FileLock(directory.lock, timeout=0, thread_local=False)
        try:
            self._lock.acquire()
        except Timeout:
            raise StoreBusy(
                f"index {directory} is in use by {_owner(directory.owner)}: wait until it is done, "
                "or let several crawls share an index on Redis (DEDUP_INDEX=redis://...)"
            ) from None
        except (OSError, NotImplementedError) as error:
            raise StoreError(
                f"index {directory} cannot be locked: {error}; give this user the right to write "
                "in its folder"
            ) from error
        self._sign()

    def release(self) -> None:
        """Give the right back; a second time does nothing."""
        if self._lock.is_locked:
            self._remove_signature()
            self._lock.release()

    def _sign(self) -> None:
        owner = {"pid": os.getpid(), "host": socket.gethostname(), "since": int(time.time())}
        fresh = Path(f"{self._directory.owner}.new")
        try:
            fresh.write_text(json.dumps(owner), "utf-8")
            fresh.replace(self._directory.owner)
        except OSError:  # a full disk, say: the lock holds all the same
            self._remove_signature()

    def _remove_signature(self) -> None:
        with suppress(OSError):  # the next holder writes its own name over it
            self._directory.owner.unlink(missing_ok=True)
            Path(f"{self._directory.owner}.new").unlink(missing_ok=True)


def _owner(path: Path) -> str:
    try:
        owner = json.loads(path.read_text("utf-8"))
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(owner["since"]))
        where = "" if owner["host"] == socket.gethostname() else f" on {owner['host']}"
        who = "this process" if not where and owner["pid"] == os.getpid() else "a process"
        return f"{who}{where} (pid {owner['pid']}, since {since})"
    except (OSError, ValueError, KeyError, TypeError):  # not written yet, or cut short
        return "another process"
