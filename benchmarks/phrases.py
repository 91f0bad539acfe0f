"""Time the table of keys by which pages that share phrases are found: sorted arrays, and SQLite.

    python benchmarks/phrases.py [--pages COUNT ...] [--json]

Each page has 8 random keys. "arrays" is `PhraseTable`; "SQLite" a table whose primary key is key
and page, in a file with a write-ahead log, committed every 64 pages as the record of pages is. Of
so many pages the last 10,000 are added one by one; then look-ups of 8 keys find one page or none.
Bytes are those of the table alone: 34 more a page are in its record, and on disk 34 in the SQL
index from which the arrays are made anew.
"""

import argparse
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from stopwatch import figure, milliseconds

from dedup_filter.fingerprints.sketch import KEY, KEYS
from dedup_filter.store.phrase_table import MOST_OF_KEY, PhraseTable

ONE_BY_ONE, LOOK_UPS, GROUP = 10_000, 2_000, 64
SCHEMA = "CREATE TABLE phrases (key, page, PRIMARY KEY (key, page)) WITHOUT ROWID"
INSERT = "INSERT OR IGNORE INTO phrases VALUES (?, ?)"
FIND = "SELECT page FROM phrases WHERE key = ? LIMIT ?"

Keys = npt.NDArray[np.uint32]
Page = tuple[int, Keys]


def sorted_entries(keys: Keys) -> npt.NDArray[np.uint64]:
    """Make the entries of pages that are numbered from 1."""
    pages = np.repeat(np.arange(1, len(keys) + 1, dtype=np.uint64), KEYS)
    entries: npt.NDArray[np.uint64] = keys.ravel().astype(np.uint64) << np.uint64(32) | pages
    entries.sort()
    return entries


class Sqlite:
    """The table in a file."""

    def __init__(self, folder: str, entries: npt.NDArray[np.uint64]) -> None:
        self.path = Path(folder) / "phrases.sqlite3"
        self._run = sqlite3.connect(self.path, isolation_level=None).execute
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "cache_size = -65536"):
            self._run(f"PRAGMA {pragma}")
        self._run(SCHEMA)
        self._run("BEGIN")
        for entry in entries.tolist():
            self._run(INSERT, (entry >> 32, entry & 2**32 - 1))
        self._run("COMMIT")
        self._added = 0

    def add(self, page: Page) -> None:
        """Add a page; with every 64th the group is committed."""
        if self._added % GROUP == 0:
            self._run("BEGIN")
        for key in page[1].tolist():
            self._run(INSERT, (key, page[0]))
        self._added += 1
        if self._added % GROUP == 0:
            self._run("COMMIT")

    def find(self, keys: Keys) -> list[object]:
        """Look all keys up."""
        most = MOST_OF_KEY + 1
        return [row for key in keys.tolist() for row in self._run(FIND, (key, most)).fetchall()]

    @property
    def nbytes(self) -> int:
        """Size of the file when all is in it."""
        if self._added % GROUP:
            self._run("COMMIT")
        self._run("PRAGMA wal_checkpoint(TRUNCATE)")
        return self.path.stat().st_size


def report(
    case: str,
    add: Callable[[Page], object],
    find: Callable[[Keys], object],
    pages: Iterable[Page],
    asked: Iterable[Keys],
    *,
    as_json: bool,
) -> None:
    """Print what it takes to add pages, and to look others up."""
    figure(case, "added, a page", 1e3 * milliseconds(add, pages, 1), "us", as_json=as_json)
    figure(case, "looked up, 8 keys", 1e3 * milliseconds(find, asked), "us", as_json=as_json)


def measure_arrays(
    count: int,
    entries: npt.NDArray[np.uint64],
    new: Sequence[Page],
    asked: Sequence[Keys],
    *,
    as_json: bool,
) -> None:
    """Print the figures of sorted arrays."""
    table, case = PhraseTable(entries), f"arrays, {count:,} pages"

    def add(page: Page) -> None:
        table.add(page[1].astype(KEY).tobytes(), page[0])

    def find(keys: Keys) -> object:
        return table.sharing([keys.astype(KEY).tobytes()])

    report(case, add, find, new, asked, as_json=as_json)
    merge = 1e-3 * milliseconds(lambda _: table.sealed(), [0], 1)
    figure(case, "a merge of all", merge, "s", as_json=as_json)
    size = table.nbytes / (count + ONE_BY_ONE)
    figure(case, "memory, and on disk", size, "bytes a page", as_json=as_json)


def measure_sqlite(
    count: int,
    entries: npt.NDArray[np.uint64],
    new: Sequence[Page],
    asked: Sequence[Keys],
    *,
    as_json: bool,
) -> None:
    """Print the figures of a table in a file."""
    with tempfile.TemporaryDirectory() as folder:
        table, case = Sqlite(folder, entries), f"SQLite, {count:,} pages"
        report(case, table.add, table.find, new, asked, as_json=as_json)
        size = table.nbytes / (count + ONE_BY_ONE)
        figure(case, "on disk", size, "bytes a page", as_json=as_json)


def main() -> None:
    """Fill both, and time them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--only", choices=["arrays", "SQLite"])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for count in options.pages:
        chance = np.random.default_rng(count)
        keys = chance.integers(1, 2**32, (count + ONE_BY_ONE, KEYS), np.uint32)
        entries = sorted_entries(keys[:count])
        new = [(count + 1 + number, some) for number, some in enumerate(keys[count:])]
        others = chance.integers(1, 2**32, (LOOK_UPS // 2, KEYS), np.uint32)
        asked = [*others, *keys[: LOOK_UPS // 2]]
        for name, measure in (("arrays", measure_arrays), ("SQLite", measure_sqlite)):
            if options.only in (None, name):
                measure(count, entries, new, asked, as_json=options.json)


if __name__ == "__main__":
    main()
