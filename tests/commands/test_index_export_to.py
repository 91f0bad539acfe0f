"""`dedup-filter index export --to`: the records of an index as a table."""

import base64
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from datetime import datetime, timezone

import duckdb
import pytest
from command_line import COMMAND, lines, refused, run
from index_feed import contents
from patience import PROCESSES
from postgres_servers import ESCAPED, PASSWORD

with suppress(ImportError):
    import resource

from dedup_filter.errors import DedupError
from dedup_filter.fingerprints.profile import DIGEST_BYTES
from dedup_filter.store.records import PageRecord
from dedup_filter.upkeep.databases import target_at

SECRET = "sesame"
TIMES = ("first_seen", "last_seen")


class Table:
    """Where an export goes, and what is there."""

    def __init__(self, kind, request):
        self.kind = kind
        self._folder = request.getfixturevalue("tmp_path")
        self.places = {
            "sqlite": f"sqlite:{self._folder}/t.db",
            "parquet": f"{self._folder}/t.parquet",
        }
        if kind == "postgresql":
            self._server = request.getfixturevalue("postgres")
            self.places[kind] = self._server.url(self._server.database("exported"))
        self.location = self.places[kind]

    def rows(self, sql="SELECT * FROM pages ORDER BY page"):
        """Ask it; return a dictionary for each row."""
        with closing(self._connect()) as connection:
            found = connection.execute(sql)
            names = [column[0] for column in found.description]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def is_there(self):
        if self.kind == "postgresql":
            return self.rows("SELECT to_regclass('pages') AS name")[0]["name"] is not None
        if self.kind == "sqlite":
            return bool(self.rows("SELECT 1 FROM sqlite_master"))
        return (self._folder / "t.parquet").exists()

    def _connect(self):
        if self.kind == "postgresql":
            return self._server.connect("exported")
        if self.kind == "sqlite":
            return sqlite3.connect(self._folder / "t.db")
        connection = duckdb.connect()
        # As moments they would need a library of time zones that may be missing.
        times = ", ".join(f"epoch({name})::bigint AS {name}" for name in TIMES)
        sql = f"CREATE VIEW pages AS SELECT * REPLACE ({times}) FROM '{self.location}'"
        connection.execute(sql)
        return connection


@pytest.fixture(params=["sqlite", "postgresql", "parquet"])
def table(request):
    return Table(request.param, request)


def record(page, **fields):
    given = {
        "url": f"https://example.com/{page}",
        "host": "example.com",
        "digest": bytes(range(DIGEST_BYTES)),
        "fingerprint": page,
        "sketch": b"",
        "words": 9,
        "language": None,
        "first_seen": 0,
        "last_seen": 1,
        "first_crawl": 1,
        "crawl": 2,
        "is_pending": False,
        "outcome": "new",
    }
    return PageRecord(page=page, **given | fields)


def told_by(line):
    """What the line of an export says of a page, as a table says it."""
    left_out = ("original", "sketch", "keys", "canonical_key", "text", "form")
    told = {name: line[name] for name in line if name not in left_out}
    digits = line["fingerprint"] and line["fingerprint"].removeprefix("0x").zfill(16)
    for place in range(4):
        told[f"b{place}"] = digits and int(digits[4 * place : 4 * place + 4], 16)
    bits = digits and int.from_bytes(bytes.fromhex(digits), "big", signed=True)
    return told | {"fingerprint": bits, "digest": base64.b64decode(line["digest"])}


def shown(row):
    """A row with its times as an export writes them."""
    for name in TIMES:
        if isinstance(row[name], datetime):
            row[name] = row[name].timestamp()
        if not isinstance(row[name], str):
            moment = datetime.fromtimestamp(row[name], timezone.utc)
            row[name] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    return row


def test_rows_have_what_the_lines_have(place, table):
    location = place.seeded()
    _, *written = lines("index", "export", location)
    (told,) = lines("index", "export", location, "--to", table.location, "--json")
    pages = [told_by(line) for line in written if "page" in line]
    assert (told["pages"], len(pages)) == (len(pages), 20 if place.servers else 25)
    assert [shown(row) for row in table.rows()] == pages


ODD = [
    record(
        1,
        fingerprint=None,
        title="\ud800 \0 \x1b[31m\u202e",
        url="x\\.\t\n\r\\N'\"; DROP TABLE pages",
    ),
    record(2, fingerprint=2**63, words=2**40, similarity=0.1 + 0.2, distance=64),
    record(3, fingerprint=2**64 - 1, last_seen=253_402_300_799, reason="\\N", h1="字" * 200),
    record(2**63 - 1, fingerprint=0, original=2**63 - 2, language="", host=""),
]


def test_odd_values_come_through(table):
    assert target_at(table.location).write(iter(ODD), is_forced=False) == len(ODD)
    first, *rest = found = [shown(row) for row in table.rows()]
    assert first["title"] == "\ufffd \ufffd \x1b[31m\u202e"
    for row, odd in zip(found, ODD, strict=True):
        assert (row["page"], row["url"], row["host"]) == (odd.page, odd.url, odd.host)
        assert (row["similarity"], row["distance"]) == (odd.similarity, odd.distance)
        assert (row["reason"], row["language"], row["h1"]) == (odd.reason, odd.language, odd.h1)
        assert (row["original_page"], row["words"]) == (odd.original, odd.words)
    assert first["first_seen"] == "1970-01-01T00:00:00Z"
    assert rest[1]["last_seen"] == "9999-12-31T23:59:59Z"
    assert [row["fingerprint"] for row in found] == [None, -(2**63), -1, 0]
    assert [row["b0"] for row in found] == [None, 32_768, 65_535, 0]


def test_an_index_without_pages_is_an_empty_table(table):
    assert target_at(table.location).write(iter(()), is_forced=False) == 0
    assert table.rows() == []


def test_what_is_there_is_replaced_only_by_force(table, index):
    target_at(table.location).write([record(7)], is_forced=False)
    err = refused("index", "export", str(index), "--to", table.location)
    assert "is not replaced without --force" in err
    assert [row["page"] for row in table.rows()] == [7]
    assert run("index", "export", str(index), "--to", table.location, "--force")[0] == 0
    assert [row["page"] for row in table.rows()] == [*range(1, 26)]


@pytest.mark.parametrize("name", ["another", 'a"; DROP TABLE pages; --', "Página 字", "select"])
def test_a_table_has_the_name_that_is_asked_for(index, tmp_path, postgres, name):
    quoted = name.replace('"', '""')
    file = tmp_path / "t.db"
    named = postgres.url(postgres.database("exported"))
    for location in (f"sqlite:{file}", named):
        target_at(location).write([record(7)], is_forced=False)
        assert run("index", "export", str(index), "--to", location, "--table", name)[0] == 0
    for connect in (lambda: sqlite3.connect(file), lambda: postgres.connect("exported")):
        with closing(connect()) as connection:
            for table, pages in (("pages", 1), (quoted, 25)):
                count = connection.execute(f'SELECT count(*) FROM "{table}"')
                assert count.fetchone() == (pages,)


def failing(moment, count=22_000):
    """Yield records, and do something in their midst: more are there than any buffer holds."""
    for page in range(1, count):
        if page == count - 1_000:
            moment()
        yield record(page)


def fail():
    raise DedupError("the index is damaged")


def kill():
    os.kill(os.getpid(), 9)


def replace(location, moment):
    target_at(location).write(failing(moment), is_forced=True)


@pytest.mark.parametrize(
    ("moment", "is_there"),
    [(fail, True), (kill, True), (kill, False)],
    ids=["error, table there", "kill, table there", "kill, no table"],
)
def test_what_fails_in_the_midst_leaves_what_was_there(table, moment, is_there):
    if is_there:
        target_at(table.location).write([record(7)], is_forced=False)
    if moment is kill:
        process = PROCESSES.Process(target=replace, args=(table.location, moment))
        process.start()
        process.join()
        assert process.exitcode == -9
    else:
        with pytest.raises(DedupError, match="damaged"):
            replace(table.location, moment)
    assert table.is_there() == is_there
    if is_there:
        assert [row["page"] for row in table.rows()] == [7]
    assert target_at(table.location).write([record(8)], is_forced=is_there) == 1
    assert [row["page"] for row in table.rows()] == [8]


def test_a_failure_leaves_no_file(tmp_path):
    for name in ("sqlite:t.db", "t.parquet"):
        location = name.replace("t.", f"{tmp_path}/t.")
        with pytest.raises(DedupError, match="damaged"):
            replace(location, fail)
    assert [*tmp_path.iterdir()] == []


def test_a_server_that_ends_in_the_midst_is_told(postgres):
    location = postgres.url(postgres.database("exported"))
    try:
        with pytest.raises(DedupError, match="PostgreSQL reports: "):
            replace(location, lambda: postgres.end(signal.SIGQUIT))
    finally:
        postgres.start()
    with postgres.connect("exported") as connection:
        assert connection.execute("SELECT to_regclass('pages')").fetchone() == (None,)


def test_two_that_make_the_same_file_do_no_harm_to_one_another(tmp_path, monkeypatch):
    monkeypatch.setattr("dedup_filter.upkeep.databases._SECONDS_LOCKED", 0.1)
    location = f"sqlite:{tmp_path}/t.db"

    def second():
        with pytest.raises(DedupError, match="locked"):
            target_at(location).write([record(8)], is_forced=True)

    assert target_at(location).write(failing(second, 2_000), is_forced=False) == 1_999
    with closing(sqlite3.connect(tmp_path / "t.db")) as connection:
        assert connection.execute("SELECT count(*) FROM pages").fetchone() == (1_999,)


def test_other_tables_stay(index, tmp_path):
    with closing(sqlite3.connect(tmp_path / "t.db")) as connection:
        connection.executescript("CREATE TABLE mine (a); INSERT INTO mine VALUES (1)")
        location = f"sqlite:{tmp_path}/t.db"
        assert run("index", "export", str(index), "--to", location)[0] == 0
        assert run("index", "export", str(index), "--to", location, "--force")[0] == 0
        assert connection.execute("SELECT * FROM mine").fetchall() == [(1,)]


def test_only_the_schema_of_new_tables_is_touched(index, postgres):
    location = postgres.url(postgres.database("exported"))
    target_at(location).write([record(7)], is_forced=False)
    with postgres.connect("exported") as connection:
        connection.execute("CREATE SCHEMA owner")
        assert run("index", "export", str(index), "--to", location, "--force")[0] == 0
        for schema, pages in (("public", 1), ("owner", 25)):
            count = connection.execute(f"SELECT count(*) FROM {schema}.pages")
            assert count.fetchone() == (pages,)


def test_the_database_of_an_index_is_never_written_to(index):
    before = contents(index)
    location = f"sqlite:{index}/pages.sqlite3"
    for options in ([], ["--force"], ["--table", "other"]):
        err = refused("index", "export", str(index), "--to", location, *options)
        assert "is the database of an index itself" in err
    assert contents(index) == before


REFUSED = {
    "mysql://me:sesame@host/db": "--to must be postgresql://",
    "postgresql//me:sesame@host/db": "--to must be postgresql://",
    "s3://bucket/pages.parquet": "--to must be postgresql://",
    "pages.csv": "--to must be postgresql://user@host/database, sqlite:FILE or FILE.parquet",
    "": "--to must be postgresql://",
    "sqlite:": "sqlite:FILE",
    "sqlite:///pages.db": "sqlite:FILE",
    "sqlite:none/pages.db": "its folder does not exist",
    "none/pages.parquet": "its folder does not exist",
    "sqlite:file": "file is not a database",
    "sqlite:folder": "it is a folder",
    "postgresql:me:sesame@host/db": "the address of a PostgreSQL database is",
    "postgresql://me:pa/sesame@host/db": "the address of a PostgreSQL database is",
    "postgresql://me:12/sesame@host/db": "the address of a PostgreSQL database is",
    "postgresql://me:12?sesame@host/db": "the address of a PostgreSQL database is",
    "postgresql://me:12?a=sesame@host/db": "the address of a PostgreSQL database is",
    "postgresql://me:pa#sesame@host/db": "the address of a PostgreSQL database is",
    "postgresql://me:pa@sesame@host/db": "the address of a PostgreSQL database is",
    "postgresql://me:sesame%zz@host/db": "the address of a PostgreSQL database is",
    "postgresql://me:sesame@127.0.0.1:1/db?password=sesame": "postgresql://127.0.0.1:1/db: ",
    "postgresql://me:sesame@host.invalid/db": "postgresql://host.invalid/db: PostgreSQL reports: ",
    "postgresql://me:sesame@127.0.0.1:1,[::1]:1/db": "postgresql://127.0.0.1:1,[::1]:1/db: ",
}


@pytest.mark.parametrize("location", REFUSED)
def test_a_target_that_cannot_be_used_is_refused_without_its_password(
    index, tmp_path, monkeypatch, location
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("no database" * 100)
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.iterdir())
    err = refused("index", "export", str(index), "--to", location)
    assert REFUSED[location] in err
    assert SECRET not in err
    assert sorted(tmp_path.iterdir()) == before


def test_a_server_that_refuses_is_told_without_the_password(index, postgres):
    wrong = postgres.url(password=SECRET)
    err = refused("index", "export", str(index), "--to", wrong)
    assert 'password authentication failed for user "owner"' in err
    assert SECRET not in err
    err = refused("index", "export", str(index), "--to", postgres.url("nowhere"))
    assert 'database "nowhere" does not exist' in err
    assert PASSWORD not in err
    assert ESCAPED not in err
    (told,) = lines("index", "export", str(index), "--to", postgres.url(), "--force", "--json")
    assert told["to"] == "postgresql:///postgres"


@pytest.mark.parametrize(
    ("module", "location", "extra"),
    [("psycopg", "postgresql://host/db", "postgresql"), ("pyarrow", "t.parquet", "parquet")],
)
def test_a_library_that_is_missing_is_named(index, tmp_path, monkeypatch, module, location, extra):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    err = refused("index", "export", str(index), "--to", location)
    assert f'pip install "dedup-filter[{extra}]"' in err


@pytest.mark.parametrize("name", ["", "x" * 64, "字" * 22, "a\nb", "\x1b[31m"])
def test_a_name_that_no_table_can_have_is_refused(index, name):
    err = refused("index", "export", str(index), "--to", "sqlite:t.db", "--table", name)
    assert "a name has 1 to 63 bytes" in err


def test_options_that_mean_nothing_are_refused(index):
    for options in (["--table", "t"], ["--force"]):
        code, _, err = run("index", "export", str(index), *options)
        assert (code, "go with --to" in err) == (2, True)
    err = refused("index", "export", str(index), "--to", "t.parquet", "--table", "t")
    assert "has no tables" in err


def write_on_a_full_disk(location):
    sys.dont_write_bytecode = True  # modules cut short would be left to all that import them later
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
    with pytest.raises((DedupError, OSError), match=r"disk is full|disk I/O|too large"):
        replace(location, kill)


@pytest.mark.parametrize("location", ["sqlite:t.db", "t.parquet"])
def test_a_disk_that_is_full_leaves_nothing(tmp_path, monkeypatch, location):
    pytest.importorskip("resource")
    monkeypatch.chdir(tmp_path)
    process = PROCESSES.Process(target=write_on_a_full_disk, args=(location,))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert [*tmp_path.iterdir()] == []


def write_in_little_memory(location):
    peaks = []

    def records():
        for page in range(1, 80_001):
            yield record(page)
            if page in (30_000, 80_000):
                peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

    target_at(location).write(records(), is_forced=False)
    early, late = peaks
    assert late - early < 20_000, peaks  # KiB; 50,000 records take four times as much


@pytest.mark.slow
def test_memory_does_not_grow_with_the_records(table):
    pytest.importorskip("resource")
    process = PROCESSES.Process(target=write_in_little_memory, args=(table.location,))
    process.start()
    process.join()
    assert process.exitcode == 0


def test_records_are_counted_on_a_terminal(index, tmp_path):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [*COMMAND, "index", "export", str(index), "--to", f"{tmp_path}/t.parquet"]
    terminal = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    subprocess.run(command, check=True, env=terminal, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "exporting" in shown
    assert "/25" in shown
