"""The SQLite database: opened, made, told from other files, and verified.

Write-ahead log: readers see the last commit while the writer writes, and a killed writer leaves a
whole file. A reader opens the file as it is and cannot change it.

SQLite's application id says that a file is an index, its user version says of which format. A new
file is written in one transaction: one whose making was interrupted is empty, and is made again.
"""

import sqlite3
from importlib.resources import files
from pathlib import Path
from secrets import token_hex

from dedup_filter.errors import ConfigError, StoreCorrupt, StoreError, StoreTooNew
from dedup_filter.fingerprints import MOST_SKETCH_BYTES
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.transactions import Transactions, store_error

__all__ = [
    "FORMAT",
    "check_pages",
    "connect_memory",
    "connect_reader",
    "connect_writer",
    "create_if_empty",
    "read_scheme",
    "require_format",
]

FORMAT = 3
_APPLICATION = 0x44454455  # "DEDU"
_CACHE_KIB = 65_536
"""So much of the file is held in memory: the entries of a million pages in one SQL index take
some 40 MB, and digests and URLs arrive in no order."""
_LOG_PAGES = 8_192
"""The log is moved into the file when it has so many pages, 32 MB. A page of an SQL index that is
written many times in the meantime is moved once."""
_WAIT_SECONDS = 10
"""How long to wait for another program that has the file locked for a moment."""

_NEVER = {
    "a page has no host": "SELECT 1 FROM pages WHERE host NOT IN (SELECT id FROM hosts)",
    "a page has no crawl": """
        SELECT 1 FROM pages
        WHERE crawl NOT IN (SELECT id FROM crawls) OR first_crawl NOT IN (SELECT id FROM crawls)""",
    "a page is kept as a duplicate, or dropped as none": """
        SELECT 1 FROM pages WHERE is_kept = (outcome IN ('near', 'exact'))""",
    "a page was seen last before first": "SELECT 1 FROM pages WHERE last_seen < first_seen",
    "a duplicate has no original": """
        SELECT 1 FROM pages WHERE outcome IN ('near', 'exact') AND original IS NULL""",
    "a page is its own original": "SELECT 1 FROM pages WHERE original = id",
    "an original was no page": "SELECT 1 FROM pages WHERE original > id",
    "a sketch or digest has another length": f"""
        SELECT 1 FROM pages WHERE length(digest) != 16
        OR length(sketch) NOT BETWEEN 2 AND {MOST_SKETCH_BYTES} OR length(sketch) % 2""",  # noqa: S608
    "a text has no page": "SELECT 1 FROM texts WHERE page NOT IN (SELECT id FROM pages)",
    "an early page is no page": """
        SELECT 1 FROM early_pages WHERE page NOT IN (SELECT id FROM pages)""",
    "a lesson in a state waits for no page": """
        SELECT 1 FROM frame_lessons WHERE is_in_state
        AND page NOT IN (SELECT id FROM pages WHERE is_pending)""",
    "a count is wrong": """
        SELECT 1 FROM counts
        WHERE pages != (SELECT count(*) FROM pages WHERE pages.is_kept = counts.is_kept)""",
}
"""What is wrong -> a query that finds no row in a record that is right."""


def connect_memory() -> sqlite3.Connection:
    """Make a database that is gone when it is closed."""
    return _connect("memory:", ":memory:")


def connect_writer(path: Path) -> sqlite3.Connection:
    """Open a file for writing; make it if there is none."""
    return _connect(
        str(path),
        path.absolute().as_uri(),
        "journal_mode = WAL",
        "synchronous = NORMAL",
        f"wal_autocheckpoint = {_LOG_PAGES}",
        f"journal_size_limit = {2 * _LOG_PAGES * 4096}",
    )


def connect_reader(path: Path) -> sqlite3.Connection:
    """Open a file for reading only, whether or not somebody writes to it."""
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
    """Raise StoreError if it cannot be opened, or is no database."""
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


def create_if_empty(transactions: Transactions, scheme: Scheme) -> None:
    """Write the schema and the scheme into a database that has nothing in it."""
    if transactions.rows("SELECT 1 FROM sqlite_master LIMIT 1"):
        return
    schema = files("dedup_filter.pages.directory").joinpath("schema.sql").read_text("utf-8")
    noted = {"scheme": scheme.to_json(), "trimmed": "0", "identity": token_hex(8)}
    with transactions.guarded() as connection:
        connection.executescript(f"BEGIN IMMEDIATE;\n{schema}")
        connection.executemany("INSERT INTO meta VALUES (?, ?)", noted.items())
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("COMMIT")


def require_format(transactions: Transactions) -> None:
    """Refuse a database that is no index, or one of another format.

    Raises:
        ConfigError: it belongs to another program, or an older version of this package wrote it.
        StoreTooNew: a newer version of this package wrote it.
    """
    if transactions.row("PRAGMA application_id")[0] != _APPLICATION:
        raise ConfigError(
            f"{transactions.name} holds a database of another program: choose another folder"
        )
    found = transactions.row("PRAGMA user_version")[0]
    if found > FORMAT:
        raise StoreTooNew(
            f"index {transactions.name} has format {found}, and this version of dedup-filter "
            f"knows formats up to {FORMAT}: install a newer one"
        )
    if found < FORMAT:
        raise ConfigError(
            f"index {transactions.name} has format {found}, of a version of dedup-filter before "
            f"its first release, and this one reads format {FORMAT}: choose another folder"
        )


def read_scheme(transactions: Transactions) -> Scheme:
    """Return how the fingerprints of an index were made.

    Raises:
        StoreCorrupt: it does not say.
    """
    row = transactions.row("SELECT value FROM meta WHERE key = 'scheme'")
    try:
        return Scheme.from_json(row[0])
    except (TypeError, ValueError):  # there is none, or it is no JSON object
        raise StoreCorrupt(
            f"index {transactions.name} does not say how its fingerprints were made: put back a "
            "copy, or move it away and start a new one"
        ) from None


def check_pages(transactions: Transactions) -> None:
    """Verify what SQLite can tell, and what the schema promises beyond that. Reads everything.

    Raises:
        StoreCorrupt: the file is damaged.
        AssertionError: its parts do not agree.
    """
    report = transactions.row("PRAGMA integrity_check(1)")[0]
    if report != "ok":
        raise StoreCorrupt(
            f"index {transactions.name}: it is damaged ({report}): put back a copy, or move it "
            "away and start a new one"
        )
    for fault, sql in _NEVER.items():
        assert not transactions.rows(f"{sql} LIMIT 1"), fault
