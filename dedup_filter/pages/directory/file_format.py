"""The file itself: is it an index, of which format and scheme; and making a new one.

A file says of itself that it is an index by SQLite's application id, and of which format by
its user version. All of a new file is written in one transaction, so that one whose making
was interrupted is empty, and made again.
"""

import sqlite3
from importlib.resources import files
from secrets import token_hex

from dedup_filter.errors import ConfigError, StoreCorrupt, StoreTooNew
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.sqlite_errors import store_error
from dedup_filter.pages.directory.transactions import Transactions

__all__ = ["FORMAT", "create", "is_empty", "read_scheme", "require_format"]

FORMAT = 3
_APPLICATION = 0x44454455  # "DEDU"


def is_empty(transactions: Transactions) -> bool:
    """Tell whether a database has nothing in it."""
    return not transactions.rows("SELECT 1 FROM sqlite_master LIMIT 1")


def create(transactions: Transactions, scheme: Scheme) -> None:
    """Write the schema and the scheme into an empty database."""
    schema = files("dedup_filter.pages.directory").joinpath("schema.sql").read_text("utf-8")
    connection = transactions.connection
    try:
        connection.executescript(f"BEGIN IMMEDIATE;\n{schema}")
        connection.execute("INSERT INTO meta VALUES ('scheme', ?)", (scheme.to_json(),))
        connection.execute("INSERT INTO meta VALUES ('trimmed', '0')")
        connection.execute("INSERT INTO meta VALUES ('identity', ?)", (token_hex(8),))
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise store_error(transactions.name, error) from error


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
    """Return how the fingerprints of an index were made."""
    row = transactions.row("SELECT value FROM meta WHERE key = 'scheme'")
    try:
        return Scheme.from_json(row[0])
    except (TypeError, ValueError):  # there is none, or it is no JSON object
        raise StoreCorrupt(
            f"index {transactions.name} does not say how its fingerprints were made: put back a "
            "copy, or move it away and start a new one"
        ) from None
