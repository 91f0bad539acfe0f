"""An index -> what is wrong with it, in sentences. Reads only; a crawl may be writing to it.

A fault is what should never be: a damaged file, parts that do not agree. Tables that are
missing, out of date or of another index are none, since they are made anew from the record when
it is opened; that is told as a note.

Cost: reads everything once and sorts the entries.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dedup_filter.errors import StoreCorrupt
from dedup_filter.page_index import host_masks
from dedup_filter.page_tables import from_tables
from dedup_filter.store.page_reader import PageReader
from dedup_filter.store.records import Change, IndexEntry
from dedup_filter.store.snapshot import Snapshot
from dedup_filter.store.table_files import SavedTables, TableFiles

__all__ = ["Findings", "check_index"]

_ATTEMPTS = 3
_NONE = "there are none"
_ANEW = "they are made anew from the record when the index is opened"

Array = npt.NDArray[Any]


@dataclass
class Findings:
    """What came of a check."""

    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    pages: int = 0
    """Recorded."""
    entries: int = 0
    """Of the tables, if they were compared."""


def check_index(reader: PageReader) -> Findings:
    """Verify the record of an index, and its tables against it.

    Raises:
        StoreError: it cannot be read.
    """
    findings = Findings()
    try:
        reader.check()
    except (StoreCorrupt, AssertionError) as fault:
        findings.faults.append(f"the record: {fault}")
        return findings  # tables have nothing to be compared with
    findings.pages = reader.count(is_kept=True) + reader.count(is_kept=False)
    for attempt in range(_ATTEMPTS):
        if _check_tables(reader, findings, is_last=attempt == _ATTEMPTS - 1):
            break
    return findings


def _check_tables(reader: PageReader, findings: Findings, *, is_last: bool) -> bool:
    """Compare tables and record; False: a writer may just have replaced the tables."""
    assert reader.directory is not None, "an index in memory has no tables"
    saved = TableFiles(reader.directory.tables).load()
    if isinstance(saved, str):
        if saved == _NONE:
            findings.notes.append(f"there are no tables: {_ANEW}")
        elif not is_last:
            return False
        else:
            findings.faults.append(f"the tables: {saved}; {_ANEW}")
        return True
    with Snapshot(reader) as snapshot:
        change = _change(snapshot, saved)
        if change is None and not is_last:
            return False
        if change is None:
            findings.notes.append(f"the tables are of no use for this record: {_ANEW}")
        else:
            findings.entries = len(saved.arrays["rows"])
            findings.faults += _differences(snapshot, saved, change)
    return True


def _change(snapshot: Snapshot, saved: SavedTables) -> Change | None:
    """Return what has changed since the tables were written; None: that is not known."""
    about = saved.about
    try:
        if about["index"] != snapshot.reader.identity:
            return None
        return snapshot.changed_since(about["revision"], about["last_page"])
    except (KeyError, TypeError):  # of a version that noted other things
        return None


def _differences(snapshot: Snapshot, saved: SavedTables, change: Change) -> list[str]:
    try:
        from_tables(saved.arrays, saved.about).check()
    except (AssertionError, ValueError, KeyError, TypeError) as fault:
        return [f"the tables: {fault}; {_ANEW}"]
    by_host = bool(saved.about["by_host"])
    here, there = _expected(snapshot, saved, by_host), _updated(saved, change, by_host)
    missing, strange = np.setdiff1d(here, there), np.setdiff1d(there, here)
    faults = []
    if len(missing):
        faults.append(f"the tables lack {len(missing):,} entries, that of {_page(missing)} first")
    if len(strange):
        faults.append(
            f"the tables have {len(strange):,} entries that the record does not have, that of "
            f"{_page(strange)} first"
        )
    return faults


def _expected(snapshot: Snapshot, saved: SavedTables, by_host: bool) -> Array:
    """Return the pairs that tables have to hold once they are brought up to date."""
    pages, fingerprints, hosts = snapshot.fingerprints()
    old = pages <= saved.about["last_page"]
    fingerprints = fingerprints ^ host_masks(hosts) if by_host else fingerprints
    return _pairs(pages[old], fingerprints[old])


def _updated(saved: SavedTables, change: Change, by_host: bool) -> Array:
    """Return the pairs of tables once they are brought up to date."""
    held = _pairs(saved.arrays["rows"], saved.arrays["run0"])
    held = np.setdiff1d(held, _entries(change.removed, by_host))
    return np.union1d(held, _entries(change.added, by_host))


def _entries(entries: tuple[IndexEntry, ...], by_host: bool) -> Array:
    columns = np.array([(e.page, e.host) for e in entries], np.int64).reshape(-1, 2)
    fingerprints = np.array([e.fingerprint for e in entries], np.uint64)
    if by_host:
        fingerprints ^= host_masks(columns[:, 1])
    return _pairs(columns[:, 0], fingerprints)


def _pairs(pages: Array, fingerprints: Array) -> Array:
    pairs = np.empty(len(pages), [("page", np.int64), ("fingerprint", np.uint64)])
    pairs["page"], pairs["fingerprint"] = pages, fingerprints
    return pairs


def _page(pairs: Array) -> str:
    return f"page {int(pairs['page'][0])}"
