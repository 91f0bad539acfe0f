"""A file name -> a connection to SQLite that is set up for one writer and many readers.

Write-ahead log: readers see the last flushed state while the writer writes, and a killed
writer leaves a whole file. A reader opens the file as it is and cannot change it.
"""

import sqlite3
from pathlib import Path

from dedup_filter.errors import StoreError
from dedup_filter.pages.directory.sqlite_errors import store_error

__all__ = ["connect_memory", "connect_reader", "connect_writer"]

_CACHE_KIB = 65_536
"""So much of the file is held in memory: the entries of a million pages in one SQL index take
some 40 MB, and digests and URLs arrive in no order."""
_LOG_PAGES = 8_192
"""The log is moved into the file when it has so many pages, 32 MB. A page of an SQL index that is
written many times in the meantime is moved once."""
_WAIT_SECONDS = 10
"""For a reader that is in the way for a moment."""


def connect_memory() -> sqlite3.Connection:
    """Make a database that is gone when it is closed."""
    return _connect("memory:", ":memory:")


def connect_writer(path: Path) -> sqlite3.Connection:
    """Open a file for writing; make it if there is none.

    Raises:
        StoreError: it cannot be opened, or is no database.
    """
    return _connect(
        str(path),
        path.absolute().as_uri(),
        "journal_mode = WAL",
        "synchronous = NORMAL",
        f"wal_autocheckpoint = {_LOG_PAGES}",
        f"journal_size_limit = {2 * _LOG_PAGES * 4096}",
    )


def connect_reader(path: Path) -> sqlite3.Connection:
    """Open a file for reading only, whether or not somebody writes to it.

    Raises:
        StoreError: it cannot be opened, or is no database.
    """
    uri = f"{path.absolute().as_uri()}?mode=ro"
    try:
        return _connect(str(path), uri, "schema_version")
    except StoreError:
        # In a folder that cannot be written to, SQLite cannot make the log's own index, which
        # it needs although there is no log. Without a log nobody can be writing.
        if Path(f"{path}-wal").exists():
            raise
    return _connect(str(path), f"{uri}&immutable=1", "schema_version")


def _connect(name: str, uri: str, *pragmas: str) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(
            uri, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False, uri=True
        )
        try:
            for pragma in (f"cache_size = -{_CACHE_KIB}", *pragmas):
                connection.execute(f"PRAGMA {pragma}").fetchall()
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise store_error(name, error) from error
    return connection
