"""The statements that docs/sql.md shows find what a scan finds, each in the databases it is for.

The table is that of an export, of an index that was filled with random fingerprints and neighbours
of them at all distances.
"""

import json
import random
import re
import sqlite3
from contextlib import closing
from itertools import combinations

import duckdb
import psycopg
import pytest
from command_line import lines, run
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import distance
from shown_commands import DOCS, blocks
from strategies import damage, fingerprints

from dedup_filter import HammingIndex, NearDuplicateFilter, near_pairs

PAGE = (DOCS / "sql.md").read_text("utf-8")
EDGES = [0, 1, 2**63 - 1, 2**63, 2**64 - 1]


def shown(heading):
    """Return the blocks of SQL below a heading."""
    return blocks(PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0], "sql")


def signed(fingerprint):
    return int.from_bytes(fingerprint.to_bytes(8, "big"), "big", signed=True)


SCAN, BLOCKS, ONES, BY_ONES = shown("Near one fingerprint")
(PAIRS,) = shown("All near pairs")
MASKS, MORE_MASKS, BY_MASKS = shown("More than 3 bits")


def stored_fingerprints():
    chance = random.Random(16)
    stored = [*EDGES, *(chance.getrandbits(64) for _ in range(300))]
    for number in range(390):
        bits = sum(1 << bit for bit in chance.sample(range(64), number % 13))
        stored.append(chance.choice(stored) ^ bits)
    one_in_each_block = 1 << 60 | 1 << 40 | 1 << 20 | 1
    return [*stored, stored[9] ^ one_in_each_block]


STORED = dict(enumerate(stored_fingerprints(), 1))

INDEX = HammingIndex(12)
for page, bits in STORED.items():
    INDEX.add(bits, page)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with an index: the page of each stored fingerprint, and one that has none."""
    folder = tmp_path_factory.mktemp("sql")
    with NearDuplicateFilter.open(folder / "made") as pages:
        pages.see(
            "https://example.com/", text="A sentence of the words of which there are many. " * 9
        )
    head, page = lines("index", "export", str(folder / "made"))
    values = [hex(bits) for bits in STORED.values()] + [None]
    given = [
        page | {"page": number, "url": f"https://example.com/{number}", "fingerprint": bits}
        for number, bits in enumerate(values, 1)
    ]
    text = "".join(json.dumps(line) + "\n" for line in (head, *given))
    code, _, err = run("index", "import", str(folder / "index"), text=text)
    assert (code, err) == (0, "")
    return folder


def export(folder, target):
    (told,) = lines("index", "export", str(folder / "index"), "--to", target, "--json")
    assert told["pages"] == len(STORED) + 1


class Sqlite:
    def __init__(self, folder):
        export(folder, f"sqlite:{folder / 'crawl.db'}")
        (code,) = blocks(PAGE, "python")
        names = {"signed": signed(STORED[9])}
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            exec(code, names)
        assert {page for (page,) in names["near"]} == {page for page, _ in near(STORED[9], 3)}
        self._connection = names["connection"]
        self.script = self._connection.executescript
        self.close = self._connection.close

    def rows(self, sql, *asked):
        named = {str(place): value for place, value in enumerate(asked, 1)}
        return self._connection.execute(sql, named).fetchall()

    def plan(self, sql, *asked):
        return "".join(row[3] for row in self.rows(f"EXPLAIN QUERY PLAN {sql}", *asked))


class Postgres:
    def __init__(self, folder, server):
        self._connection = server.connect(server.database("sql_page"))
        export(folder, server.url("sql_page"))
        self._connection.execute(defined("PostgreSQL"))
        self.script = self._connection.execute
        self.close = self._connection.close

    def rows(self, sql, *asked):
        return psycopg.RawCursor(self._connection).execute(sql, asked).fetchall()

    def plan(self, sql, *asked):
        with self._connection.transaction():
            self.script("SET LOCAL enable_seqscan = off")  # a thousand rows are read at once
            return "".join(line for (line,) in self.rows(f"EXPLAIN {sql}", *asked))


class DuckDB:
    def __init__(self, folder):
        export(folder, str(folder / "pages.parquet"))
        self._connection = duckdb.connect()
        self.script(defined("DuckDB").replace("pages.parquet", str(folder / "pages.parquet")))
        self.close = self._connection.close

    def script(self, sql):
        self._connection.execute(sql)

    def rows(self, sql, *asked):
        return self._connection.execute(sql, asked).fetchall()


def defined(database):
    """Return what the page defines in a database before all else."""
    (sql,) = [block for block in shown("The distance") if block.startswith(f"-- {database}")]
    return sql


@pytest.fixture(scope="module", params=["sqlite", "postgresql", "duckdb"])
def database(request, folder):
    if request.param == "postgresql":
        opened = Postgres(folder, request.getfixturevalue("postgres"))
    else:
        opened = {"sqlite": Sqlite, "duckdb": DuckDB}[request.param](folder)
    opened.script(MASKS)
    opened.script(MORE_MASKS)
    opened.script(MASKS.replace("masks", "few_masks"))
    with closing(opened):
        yield opened


def near(asked, k):
    """Return page and bits of all that are stored within k bits, by a scan."""
    found = [(page, distance(asked, bits)) for page, bits in STORED.items()]
    return sorted((each for each in found if each[1] <= k), key=lambda each: each[::-1])


asked = st.one_of(
    fingerprints,
    st.builds(
        lambda bits, flipped: bits ^ flipped,
        st.sampled_from([*STORED.values()]),
        st.integers(0, 12).flatmap(damage),
    ),
)
some = settings(max_examples=20)
LOOK_UPS = {
    "scan": (SCAN, 3),
    "scan, 12 bits": (SCAN.replace("<= 3", "<= 12"), 12),
    "blocks": (BLOCKS, 3),
    "masks": (BY_MASKS, 11),
    "masks, 7 bits": (BY_MASKS.replace(" masks ", " few_masks ").replace("<= 11", "<= 7"), 7),
}


def hardest(k):
    """Yield what is k bits from a stored one (3, 7, 11), found by one of the blocks alone."""
    chance = random.Random(k)
    for found_by in range(4):
        for stored in chance.sample([*STORED.values()], 3):
            flipped = 0
            for block in range(4):
                for bit in chance.sample(range(16), k // 4 + (block != found_by)):
                    flipped |= 1 << 16 * block + bit
            yield stored ^ flipped


def require_right(database, way, asked):
    sql, k = LOOK_UPS[way]
    found = [(page, bits) for page, url, bits in database.rows(sql, signed(asked))]
    assert found == near(asked, k)
    assert sorted(found) == sorted((row, bits) for row, _, bits in INDEX.within(asked, k))
    return len(found)


@pytest.mark.parametrize("way", LOOK_UPS)
@some
@given(asked)
def test_a_look_up_finds_what_a_scan_and_the_library_find(database, way, asked):
    require_right(database, way, asked)


@pytest.mark.parametrize("way", LOOK_UPS)
def test_a_look_up_finds_what_each_block_alone_finds(database, way):
    _, k = LOOK_UPS[way]
    found = [require_right(database, way, asked) for asked in hardest(k)]
    assert all(found) or k == 12


def test_rows_have_their_urls(database):
    assert (10, "https://example.com/10", 0) in database.rows(BLOCKS, signed(STORED[10]))


@pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)
@pytest.mark.parametrize("sql", [BLOCKS, BY_MASKS], ids=["blocks", "masks"])
def test_blocks_are_looked_up_in_their_indexes_alone(database, sql):
    plan = database.plan(sql, signed(STORED[1]))
    of_one_block = r"(?:COVERING INDEX|Index Only Scan using) pages_(b\d)"
    assert sorted(re.findall(of_one_block, plan)) == ["b0", "b1", "b2", "b3"]


def test_blocks_alone_miss_what_is_four_bits_away(database):
    asked = STORED[10]
    found = database.rows(BLOCKS.replace("bits <= 3", "bits <= 4"), signed(asked))
    missed = {*near(asked, 4)} - {(page, bits) for page, _, bits in found}
    assert missed == {(len(STORED), 4)}


def test_pairs_are_all_that_there_are(database):
    pairs = [
        (one, other, bits)
        for (one, a), (other, b) in combinations(STORED.items(), 2)
        if (bits := distance(a, b)) <= 3
    ]
    assert len(pairs) > 100
    assert database.rows(PAIRS) == pairs
    of_library = {frozenset(pair) for pair in near_pairs(STORED.values(), 3)}
    found = {frozenset((STORED[one], STORED[other])) for one, other, _ in pairs}
    assert {pair for pair in found if len(pair) == 2} == of_library


def test_sqlite_needs_no_function(folder):
    export(folder, f"sqlite:{folder / 'plain.db'}")
    with closing(sqlite3.connect(folder / "plain.db")) as connection:
        connection.executescript(ONES)
        for asked in [*STORED.values()][::9]:
            found = connection.execute(BY_ONES, {"1": signed(asked)})
            assert [(page, bits) for page, _, bits in found] == near(asked, 3)


def test_duckdb_writes_what_mysql_reads(folder):
    export(folder, str(folder / "loaded.parquet"))
    (sql,) = [each for each in shown("MySQL and ClickHouse") if each.startswith("-- DuckDB")]
    for name in ("pages.parquet", "pages.csv"):
        sql = sql.replace(name, str(folder / name.replace("pages.p", "loaded.p")))
    with closing(duckdb.connect()) as connection:
        connection.execute(sql)
    written = (folder / "pages.csv").read_text().splitlines()
    assert len(written) == len(STORED)
    assert "2,https://example.com/2,1,0,0,0,1" in written


def test_each_statement_is_run_or_said_to_be_of_another_database():
    of_others = [sql for sql in blocks(PAGE, "sql") if re.match("-- (MySQL|ClickHouse)", sql)]
    run_above = [SCAN, BLOCKS, ONES, BY_ONES, PAIRS, MASKS, MORE_MASKS, BY_MASKS]
    run_above += [defined("PostgreSQL"), defined("DuckDB")]
    assert len(blocks(PAGE, "sql")) == len(of_others) + len(run_above) + 1  # the one for MySQL
