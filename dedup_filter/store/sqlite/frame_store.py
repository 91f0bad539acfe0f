"""The frames of hosts, stored as bytes that only `frames` reads and writes.

    record        the frame of a host: its counted blocks
    provisional   a page that waits to be judged again: its form, and a note that changes

Changed records of hosts are written in the same transaction of SQLite that commits their counted
pages (`page_store`); until then they are in `changed`. A waiting page is written in the transaction
that counts it. When bounds delete pages, a host's record is deleted if the last page was counted in
it before the oldest remaining page was seen (`PageStore.trim_frames`).

A host is read when it is needed, in 0.03 ms plus 0.1 ms for each 1,000 blocks.
"""

import sys
from collections.abc import Iterator
from typing import NamedTuple

from dedup_filter.store.sqlite.page_reader import PageReader
from dedup_filter.store.sqlite.page_store import PageStore

_BATCHES = 100
"""A hundredth of the waiting pages is discarded at once, because counting them takes 0.1 ms."""


class ProvisionalForm(NamedTuple):
    """A page that waits to be judged again."""

    page: int
    form: bytes
    """The packed page; it is large, so it is b"" until `FrameStore.form` reads it."""
    note: bytes


class HostFrames(NamedTuple):
    """The stored frame of a host."""

    host: str
    record: bytes
    provisional: list[ProvisionalForm]
    """Waiting pages, the earliest first."""


def frames_of(reader: PageReader, host: str, changed: bytes | None = None) -> HostFrames | None:
    """Return the frame of a host, without forms; None if the host has none. Cost: 20 us.

    `changed`: the host's record, if the record is not written yet.
    """
    number = reader.known_host(host)
    sql = "SELECT record FROM host_frames WHERE host = ?"
    record = changed or reader.value(sql, (number,))
    if record is None:
        return None
    waiting = reader.rows(
        "SELECT page, note FROM provisional_pages WHERE host = ? ORDER BY page", (number,)
    )
    return HostFrames(host, record, [ProvisionalForm(page, b"", note) for page, note in waiting])


def all_frames(reader: PageReader) -> Iterator[HostFrames]:
    """Yield the frame of each host, with the forms of its waiting pages."""
    sql = """SELECT CAST(name AS TEXT) FROM hosts
        WHERE id IN (SELECT host FROM host_frames) ORDER BY name"""
    for (host,) in reader.rows(sql):
        known = frames_of(reader, host)
        assert known is not None
        sql = "SELECT form FROM provisional_pages WHERE page = ?"
        forms = (reader.value(sql, (each.page,)) for each in known.provisional)
        waiting = zip(known.provisional, forms, strict=True)
        yield known._replace(provisional=[each._replace(form=form) for each, form in waiting])


class FrameStore:
    """Records of hosts, and waiting pages; reads include data not written or flushed yet."""

    def __init__(self, store: PageStore) -> None:
        self._store = store
        self.changed = store.changed_frames
        """Changed hosts by name, until they are written."""
        self.gone = store.hosts_gone
        """Hosts whose records were deleted; the owner reads and clears this list."""
        self._waiting = sys.maxsize
        """Upper bound of the number of waiting pages; if it is too high, they are counted."""

    def of(self, host: str) -> HostFrames | None:
        """Return the frame of a host, as `frames_of` does."""
        changed = self.changed.get(host)
        return frames_of(self._store, host, changed and changed.packed())

    def restore(self, known: HostFrames) -> None:
        """Restore the frame of a host. Requires: the host has none here."""
        with self._store.transaction():
            self._store.write_frame(known.host, known.record)
            for page in known.provisional:
                self.wait(known.host, page)

    def wait(self, host: str, page: ProvisionalForm) -> None:
        """Store a page that is to be judged again; it is deleted with its record."""
        with self._store.transaction():
            self._store.write(
                "REPLACE INTO provisional_pages (host, page, note, form) VALUES (?, ?, ?, ?)",
                (self._store.host(host), page.page, page.note, page.form),
            )
        self._waiting += 1

    def bound_waiting(self, most: int) -> list[int]:
        """Discard the earliest pages if more than `most` wait; return their numbers."""
        if self._waiting <= most:
            return []
        # The bound still includes waiting pages that were deleted with their records.
        self._waiting = self._store.value("SELECT count(*) FROM provisional_pages")
        if self._waiting <= most:
            return []
        sql = "SELECT page FROM provisional_pages ORDER BY page LIMIT ?"
        gone = self._store.rows(sql, (self._waiting - most + most // _BATCHES,))
        with self._store.transaction():
            for page in gone:
                self.discard(*page)
        self._waiting -= len(gone)
        return [page for (page,) in gone]

    def note(self, page: int, note: bytes) -> None:
        """Change the note of a waiting page."""
        self._store.write("UPDATE provisional_pages SET note = ? WHERE page = ?", (note, page))

    def discard(self, page: int) -> None:
        """Delete a waiting page that need not be judged again."""
        self._store.write("DELETE FROM provisional_pages WHERE page = ?", (page,))

    def form(self, page: int) -> bytes | None:
        """Return the form of a waiting page, None if it no longer waits."""
        sql = "SELECT form FROM provisional_pages WHERE page = ?"
        form: bytes | None = self._store.value(sql, (page,))
        return form
