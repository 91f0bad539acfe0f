"""An index -> what is wrong with it, in sentences. Reads only; a crawl may be writing to it.

A fault is what should never be: a damaged file, parts that do not agree. Tables that are
missing, out of date or of another index are none, since they are made anew from the record when
it is opened; that is told as a note.

Cost: reads everything once and sorts the entries.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.errors import StoreCorrupt
from dedup_filter.pages.directory.index_entries import Change
from dedup_filter.pages.directory.page_reader import PageReader
from dedup_filter.pages.directory.snapshot import Snapshot
from dedup_filter.pages.directory.table_files import (
    DIGESTS,
    NO_TABLES,
    SavedTables,
    TableFiles,
    from_tables,
)
from dedup_filter.pages.page_index import host_masks
from dedup_filter.wording import counted

__all__ = ["Findings", "check_index"]

_ATTEMPTS = 3
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
        if saved == NO_TABLES:
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


class _Kind(NamedTuple):
    """Fingerprints, or digests: what the record has of them, and what has changed since."""

    name: str
    prefix: str
    """What the names of their arrays begin with."""
    recorded: tuple[Array, Array, Array]
    """Pages, values and hosts, side by side."""
    removed: Sequence[tuple[int, int, int]]
    """Page, value and host."""
    added: Sequence[tuple[int, int, int]]


def _differences(snapshot: Snapshot, saved: SavedTables, change: Change) -> list[str]:
    about, arrays = saved.about, saved.arrays
    try:
        from_tables(arrays, about).check()
        from_tables(arrays, about["digests"], DIGESTS).check()
    except (AssertionError, ValueError, KeyError, TypeError) as fault:
        return [f"the tables: {fault}; {_ANEW}"]
    fingerprints = _Kind("entries", "", snapshot.fingerprints(), change.removed, change.added)
    digests = _Kind(
        "digests", DIGESTS, snapshot.digests(), change.removed_digests, change.added_digests
    )
    return _differences_of(fingerprints, saved) + _differences_of(digests, saved)


def _differences_of(kind: _Kind, saved: SavedTables) -> list[str]:
    here, there = _expected(kind, saved), _updated(kind, saved)
    missing, strange = np.setdiff1d(here, there), np.setdiff1d(there, here)
    faults = []
    if len(missing):
        faults.append(f"the tables lack {kind.name} of {_pages(missing)}")
    if len(strange):
        faults.append(
            f"the tables have {kind.name} that the record does not have, of {_pages(strange)}"
        )
    return faults


def _expected(kind: _Kind, saved: SavedTables) -> Array:
    """Return the pairs that tables have to hold once they are brought up to date."""
    pages, values, hosts = kind.recorded
    old = pages <= saved.about["last_page"]
    return _pairs(pages[old], _stored(values, hosts, saved)[old])


def _updated(kind: _Kind, saved: SavedTables) -> Array:
    """Return the pairs of tables once they are brought up to date."""
    held = _pairs(saved.arrays[f"{kind.prefix}rows"], saved.arrays[f"{kind.prefix}run0"])
    held = np.setdiff1d(held, _entries(kind.removed, saved))
    return np.union1d(held, _entries(kind.added, saved))


def _entries(entries: Sequence[tuple[int, int, int]], saved: SavedTables) -> Array:
    pages = np.array([page for page, _, _ in entries], np.int64)
    values = np.array([value for _, value, _ in entries], np.uint64)
    hosts = np.array([host for _, _, host in entries], np.int64)
    return _pairs(pages, _stored(values, hosts, saved))


def _stored(values: Array, hosts: Array, saved: SavedTables) -> Array:
    return values ^ host_masks(hosts) if saved.about["by_host"] else values


def _pairs(pages: Array, values: Array) -> Array:
    pairs = np.empty(len(pages), [("page", np.int64), ("value", np.uint64)])
    pairs["page"], pairs["value"] = pages, values
    return pairs


def _pages(pairs: Array) -> str:
    return f"{counted(len(pairs), 'page')}, page {int(pairs['page'][0])} first"
