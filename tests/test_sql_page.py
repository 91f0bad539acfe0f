"""The statements that docs/sql.md shows find what a scan finds, each in the databases it is for.

The index was filled with random fingerprints, and neighbours of them at all distances.
"""

import csv
import json
import random
import re
import sqlite3
from contextlib import closing
from importlib import import_module
from itertools import combinations
from pathlib import Path

import duckdb
import pytest
from command_line import run
from oracles import distance
from shown_commands import DOCS, blocks, commands

from dedup_filter import NearDuplicateFilter

PAGE = (DOCS / "sql.md").read_text("utf-8")
EDGES = [0, 1, 2**63 - 1, 2**63, 2**64 - 1]
IN_BOTH, *STATEMENTS = (sql for sql in blocks(PAGE, "sql") if not sql.startswith("-- PostgreSQL"))
VIEW, NEAR, PAIRS, LINES, COPY = STATEMENTS


def signed(fingerprint):
    return int.from_bytes(fingerprint.to_bytes(8, "big"), "big", signed=True)


def stored_fingerprints():
    chance = random.Random(16)
    stored = [*EDGES, *(chance.getrandbits(64) for _ in range(300))]
    for number in range(390):
        bits = sum(1 << bit for bit in chance.sample(range(64), number % 13))
        stored.append(chance.choice(stored) ^ bits)
    one_in_each_block = 1 << 60 | 1 << 40 | 1 << 20 | 1
    return [*stored, stored[9] ^ one_in_each_block]


STORED = dict(enumerate(stored_fingerprints(), 1))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with an index, and its exports: a page for each fingerprint, one without, a copy."""
    folder = tmp_path_factory.mktemp("sql")
    with NearDuplicateFilter.open(folder / "made") as pages:
        pages.see(
            "https://example.com/", text="A sentence of the words of which there are many. " * 9
        )
    head, page = map(json.loads, run("index", "export", str(folder / "made"))[1].splitlines())
    values = [hex(bits) for bits in STORED.values()] + [None]
    given = [
        page | {"page": number, "url": f"https://example.com/{number}", "fingerprint": bits}
        for number, bits in enumerate(values, 1)
    ]
    copy = {"page": len(given) + 1, "outcome": "exact", "original_page": 7, "fingerprint": None}
    text = "".join(json.dumps(line) + "\n" for line in (head, *given, given[6] | copy))
    assert run("index", "import", str(folder / "news_index"), text=text)[0] == 0
    return folder


@pytest.fixture
def _there(folder, monkeypatch):
    monkeypatch.chdir(folder)


@pytest.fixture
def connection(_there):
    """DuckDB, with the files that the commands of the page export."""
    exports = [command for command in commands(PAGE) if command[0] == "dedup-filter"]
    (_, *to_parquet), (_, *to_lines, _, file) = exports
    assert run(*to_parquet, "--force")[0] == 0
    Path(file).write_text(run(*to_lines)[1])
    with closing(duckdb.connect()) as connection:
        connection.execute(VIEW)
        yield connection


def near(asked, k=3):
    """Return page and bits of all that are stored within k bits, by a scan."""
    found = [(page, distance(asked, bits)) for page, bits in STORED.items()]
    return sorted((each for each in found if each[1] <= k), key=lambda each: each[::-1])


def queries():
    chance = random.Random(3)
    some = chance.sample([*STORED.values()], 20)
    flipped = [bits ^ sum(1 << bit for bit in chance.sample(range(64), 3)) for bits in some]
    return [*EDGES, *some, *flipped]


@pytest.mark.usefixtures("_there")
def test_python_finds_near_pages_in_the_index_itself():
    (code,) = blocks(PAGE, "python")
    for asked in queries()[::9]:
        names = {"signed": signed(asked)}
        exec(code, names)
        with closing(names["connection"]) as connection:
            expected = [(f"https://example.com/{page}", bits) for page, bits in near(asked)]
            assert sorted(names["near"]) == sorted(expected)
            frame = import_module("pandas").read_sql("SELECT * FROM judged_pages", connection)
            assert len(frame) == len(STORED) + 2
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                connection.execute("DELETE FROM pages")


def test_the_repeats_are_the_same_in_both(connection):
    (shown,) = (command for command in commands(PAGE) if command[0] == "sqlite3")
    with closing(sqlite3.connect(shown[1])) as index:
        rows = index.execute(shown[2]).fetchall()
        assert (len(rows), rows[-1]) == (len(STORED) + 2, (rows[6][0], "exact", rows[6][0]))
        of_index = index.execute(IN_BOTH).fetchall()
    assert connection.execute(IN_BOTH).fetchall() == of_index == [("https://example.com/7", 1)]


def test_duckdb_finds_near_pages(connection):
    connection.execute(LINES)
    of_lines = "SELECT page FROM lines WHERE bit_count(xor(fingerprint, $1::UBIGINT)) <= 3"
    assert "`bit_count(xor(fingerprint, $1::UBIGINT))`" in PAGE
    for asked in queries():
        found = connection.execute(NEAR, [signed(asked)]).fetchall()
        assert [(page, bits) for page, _, bits in found] == near(asked)
        pages = connection.execute(of_lines, [asked]).fetchall()
        assert sorted(page for (page,) in pages) == sorted(page for page, _ in near(asked))


def test_duckdb_finds_all_pairs(connection):
    pairs = [
        (one, other, bits)
        for (one, a), (other, b) in combinations(STORED.items(), 2)
        if (bits := distance(a, b)) <= 3
    ]
    assert len(pairs) > 100
    assert connection.execute(PAIRS).fetchall() == pairs


def test_duckdb_writes_what_psql_reads(connection):
    connection.execute(COPY)
    head, *rows = csv.reader(Path("pages.csv").read_text().splitlines())
    (sql,) = (each for each in blocks(PAGE, "sql") if each.startswith("-- PostgreSQL"))
    assert ", ".join(head) == ", ".join(re.findall(r"[(,] ?(\w+) (?:bigint|text)", sql))
    assert len(rows) == len(STORED) + 2
    assert rows[3] == ["4", "https://example.com/4", "new", "", str(-(2**63))]
