"""What SQLite reports -> one sentence for the user of an index.

SQLite's own messages are compared, not its codes: Python 3.10 does not hand those on.
"""

import sqlite3

from dedup_filter.errors import StoreBusy, StoreCorrupt, StoreError

__all__ = ["store_error"]

_SAYINGS: tuple[tuple[str, type[StoreError], str], ...] = (
    (
        "disk is full",
        StoreError,
        "the disk is full: make room and go on; all that was recorded is still there",
    ),
    (
        "disk i/o error",
        StoreError,
        "the disk does not write or read: look at its health, its quota and its mount, and go on",
    ),
    (
        "readonly database",
        StoreError,
        "it cannot be written to: give this user the right to write in its folder",
    ),
    (
        "unable to open",
        StoreError,
        "it cannot be opened: give this user the right to read and write in its folder",
    ),
    (
        "closed database",
        StoreError,
        "it is closed: open it again",
    ),
    (
        "is locked",
        StoreBusy,
        "another program holds it locked: close what has it open in another program",
    ),
    (
        "malformed",
        StoreCorrupt,
        "it is damaged: put back a copy, or move it away and start a new one",
    ),
    (
        "not a database",
        StoreCorrupt,
        "it is no SQLite database any more: put back a copy, or move it away and start a new one",
    ),
)


def store_error(name: str, error: sqlite3.Error) -> StoreError:
    """Make a `StoreError` of what SQLite reports about a file of this name."""
    report = str(error).lower()
    for saying, kind, sentence in _SAYINGS:
        if saying in report:
            return kind(f"index {name}: {sentence}")
    return StoreError(f"index {name}: SQLite reports {str(error)!r}")
