"""Time look-ups by the statements of docs/sql.md, and the export before them; beside our index.

    python benchmarks/sql.py [--json] [--pages 1000000] [--postgresql]

Random fingerprints go into SQLite, a Parquet file that DuckDB reads with one thread, and with
--postgresql (on PATH, or where Debian has it) a server that is started for it. Half of the queries
are k bits from a stored one. All that is asked is in memory, once asked before. Times are of the
clock, as a server is another process: the least of three rounds for each query, in the mean; on a
busy machine they are too long. A million pages take some minutes.
"""

import argparse
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import psycopg
from stopwatch import figure

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from postgres_servers import PostgresServer
from shown_commands import DOCS, blocks

from dedup_filter import HammingIndex, add_hamming_distance
from dedup_filter.fingerprints.profile import DIGEST_BYTES
from dedup_filter.store.records import PageRecord
from dedup_filter.store.sqlite.page_reader import signed
from dedup_filter.upkeep.databases import target_at

ROUNDS = 3
QUERIES = 20
SCANS = 4
SQL = blocks((DOCS / "sql.md").read_text("utf-8"), "sql")
(SCAN,) = (each for each in SQL if each.startswith("SELECT"))
BLOCKS, PAIRS, BY_MASKS = (each for each in SQL if each.startswith("WITH"))
MASKS, MORE_MASKS = (each for each in SQL if "INSERT INTO masks" in each)
STATEMENTS = {
    "scan, k = 3": (3, SCAN),
    "blocks, k = 3": (3, BLOCKS),
    "masks, k = 7": (7, BY_MASKS.replace(" masks ", " few ").replace("<= 11", "<= 7")),
    "masks, k = 11": (11, BY_MASKS),
}
Ask = Callable[[str, int], int]
"""Statement, fingerprint -> how many rows it finds."""


def records(stored: list[int]) -> Iterator[PageRecord]:
    """Yield a record for each fingerprint."""
    for page, bits in enumerate(stored, 1):
        yield PageRecord(
            page=page,
            url=f"https://www.paper-{page % 1_000}.example.com/news/{page:012}.html",
            host=f"www.paper-{page % 1_000}.example.com",
            digest=page.to_bytes(DIGEST_BYTES, "big"),
            fingerprint=bits,
            sketch=b"",
            words=500,
            language="en",
            first_seen=1_700_000_000 + page // 50,
            last_seen=1_700_000_000 + page // 50,
            first_crawl=1,
            crawl=1,
            is_pending=False,
            outcome="new",
            h1="A headline of twenty-five",
        )


def queries(stored: list[int], k: int) -> list[int]:
    """Return fingerprints, every other one k bits from a stored one."""
    chance = random.Random(k)
    asked = [chance.getrandbits(64) for _ in range(QUERIES)]
    for place in range(0, QUERIES, 2):
        asked[place] = chance.choice(stored)
        for bit in chance.sample(range(64), k):
            asked[place] ^= 1 << bit
    return asked


def milliseconds(ask: Callable[[int], int], asked: list[int]) -> float:
    """Return the time of one look-up; every other one must find something."""
    times, found = [], []
    for bits in asked:
        rounds = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            count = ask(bits)
            rounds.append(time.perf_counter() - started)
        times.append(min(rounds))
        found.append(count)
    assert all(found[::2]), "planted neighbours were not found"
    return statistics.mean(times) * 1000


def found_within(index: HammingIndex, k: int, bits: int) -> int:
    """Count what our index finds."""
    return len(index.within(bits, k))


def prepare(run: Callable[[str], Any]) -> None:
    """Make what the statements need."""
    for sql in (MASKS, MASKS.replace("masks", "few"), MORE_MASKS):
        run(sql)


def sqlite(location: str, opened: ExitStack) -> Ask:
    """Open the table in SQLite."""
    connection = sqlite3.connect(location.removeprefix("sqlite:"))
    opened.callback(connection.close)
    add_hamming_distance(connection)
    prepare(connection.executescript)
    return lambda sql, bits: len(connection.execute(sql, {"1": bits}).fetchall())


def duck(location: str, opened: ExitStack) -> Ask:
    """Open the Parquet file, copied into a table of DuckDB."""
    connection = opened.enter_context(duckdb.connect(config={"threads": 1}))
    (macro,) = (each for each in SQL if "CREATE MACRO" in each)
    macro = macro.replace("CREATE VIEW pages AS", "CREATE TABLE pages AS")
    connection.execute(macro.replace("pages.parquet", location))
    prepare(connection.execute)
    return lambda sql, bits: len(connection.execute(sql, [bits]).fetchall())


def postgres(location: str, opened: ExitStack) -> Ask:
    """Open the table in PostgreSQL."""
    connection = opened.enter_context(psycopg.connect(location, autocommit=True))
    (function,) = (each for each in SQL if each.startswith("-- PostgreSQL"))
    connection.execute(function)
    prepare(connection.execute)
    connection.execute("VACUUM ANALYZE pages")
    connection.execute("SET max_parallel_workers_per_gather = 0")
    cursor = psycopg.RawCursor(connection)
    return lambda sql, bits: len(cursor.execute(sql, [bits]).fetchall())


def main() -> None:
    """Run all that is asked for."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--json", action="store_true")
    options.add_argument("--pages", type=lambda text: int(float(text)), default=1_000_000)
    options.add_argument("--postgresql", action="store_true")
    given = options.parse_args()

    def tell(case: str, metric: str, value: float, unit: str) -> None:
        figure(case, metric, value, unit, as_json=given.json)

    chance = random.Random(1)
    stored = [chance.getrandbits(64) for _ in range(given.pages)]
    index = HammingIndex(11, expected=given.pages)
    index.add_many(stored, range(1, len(stored) + 1))
    for k in (3, 7, 11):
        look_up = milliseconds(partial(found_within, index, k), queries(stored, k))
        tell("HammingIndex, k <= 11", f"k = {k}", look_up, "ms")
    with ExitStack() as opened:
        folder = opened.enter_context(tempfile.TemporaryDirectory())
        targets = {"SQLite": (f"sqlite:{folder}/t.db", sqlite)}
        targets["DuckDB"] = (f"{folder}/t.parquet", duck)
        if given.postgresql:
            server = opened.enter_context(PostgresServer())
            targets["PostgreSQL"] = (server.url(), postgres)
        for name, (location, opening) in targets.items():
            started = time.perf_counter()
            target_at(location).write(records(stored), is_forced=False)
            each = (time.perf_counter() - started) / len(stored)
            tell(name, "export", each * 1e6, "us a page")
            ask = opening(location, opened)
            for way, (k, sql) in STATEMENTS.items():
                asked = [signed(bits) for bits in queries(stored, k)]
                ask(sql, asked[0])
                few = asked[:SCANS] if sql == SCAN else asked
                tell(name, way, milliseconds(partial(ask, sql), few), "ms")


if __name__ == "__main__":
    main()
