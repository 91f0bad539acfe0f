"""`dedup-filter index export --to FILE.parquet`, and the view with the same columns."""

import os
import sqlite3
import sys
from contextlib import closing, suppress

import duckdb
import pytest
from command_line import lines, refused, run
from gate import slow
from patience import PROCESSES

from dedup_filter.errors import DedupError
from dedup_filter.fingerprints.profile import DIGEST_BYTES
from dedup_filter.store.records import PageRecord
from dedup_filter.upkeep.parquet import COLUMNS, write_parquet

with suppress(ImportError):
    import resource


def rows(path):
    """Return a dictionary for each row; times are Unix seconds."""
    with closing(duckdb.connect()) as connection:
        # As moments they would need a library of time zones that may be missing.
        times = ", ".join(
            f"epoch({name})::bigint AS {name}" for name in ("first_seen", "last_seen")
        )
        found = connection.execute(f"SELECT * REPLACE ({times}) FROM '{path}' ORDER BY page")
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def record(page, **fields):
    given = {
        "url": f"https://example.com/{page}",
        "url_key": page,
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


def write(records, path):
    return write_parquet(((each, None) for each in records), str(path))


def test_rows_have_what_the_view_and_the_lines_have(index, tmp_path):
    path = tmp_path / "t.parquet"
    (found,) = lines("index", "export", str(index), "--to", str(path), "--json")
    with closing(sqlite3.connect(index / "pages.sqlite3")) as connection:
        times = "unixepoch(first_seen) AS first_seen, unixepoch(last_seen) AS last_seen"
        some = ", ".join(name for name in COLUMNS if name not in ("first_seen", "last_seen"))
        connection.row_factory = sqlite3.Row
        of_view = connection.execute(f"SELECT {some}, {times} FROM judged_pages").fetchall()
        names = [column[1] for column in connection.execute("PRAGMA table_info(judged_pages)")]
    assert names == [*COLUMNS] == [*rows(path)[0]]
    assert rows(path) == [dict(row) for row in of_view]
    _, *pages = lines("index", "export", str(index))
    for name in ("page", "url", "outcome", "original", "original_page", "distance", "similarity"):
        assert [row[name] for row in rows(path)] == [page[name] for page in pages]
    assert found["pages"] == len(pages) == 25


def test_of_servers(servers, tmp_path):
    location, path = servers.seeded(), str(tmp_path / "t.parquet")
    assert run("index", "export", location, "--to", path)[0] == 0
    _, *pages = lines("index", "export", location)
    assert [row["url"] for row in rows(path)] == [page["url"] for page in pages]


ODD = [
    record(1, fingerprint=None, title="\ud800 \0 \x1b[31m\u202e", url="x\\.\t\n\r\\N'\"; DROP"),
    record(2, fingerprint=2**63, words=2**40, similarity=0.1 + 0.2, distance=64),
    record(3, fingerprint=2**64 - 1, last_seen=253_402_300_799, reason="\\N", h1="字" * 200),
    record(2**63 - 1, fingerprint=0, original=2**63 - 2, language="", host=""),
]


def test_odd_values_come_through(tmp_path):
    assert write(ODD, tmp_path / "t.parquet") == len(ODD)
    found = rows(tmp_path / "t.parquet")
    assert found[0]["title"] == "\ufffd \0 \x1b[31m\u202e"
    same = "page url host similarity distance reason language h1 words first_seen last_seen".split()
    for row, odd in zip(found, ODD, strict=True):
        assert [row[name] for name in same] == [getattr(odd, name) for name in same]
        assert row["original_page"] == odd.original
    assert [row["fingerprint"] for row in found] == [None, -(2**63), -1, 0]
    assert write([], tmp_path / "none.parquet") == 0
    assert rows(tmp_path / "none.parquet") == []


def test_what_is_there_is_replaced_only_by_force(index, tmp_path):
    path = tmp_path / "t.parquet"
    write([record(7)], path)
    err = refused("index", "export", str(index), "--to", str(path))
    assert "is not replaced without --force" in err
    assert [row["page"] for row in rows(path)] == [7]
    assert run("index", "export", str(index), "--to", str(path), "--force")[0] == 0
    assert len(rows(path)) == 25


def failing(moment):
    """Yield records, and do something in their midst: more are there than any buffer holds."""
    for page in range(1, 22_000):
        if page == 21_000:
            moment()
        yield record(page)


def write_failing(moment, path):
    write(failing(moment), path)


def fail():
    raise DedupError("the index is damaged")


def kill():
    os.kill(os.getpid(), 9)


@pytest.mark.parametrize(("moment", "is_there"), [(fail, False), slow(kill, True)])
def test_what_fails_in_the_midst_leaves_what_was_there(tmp_path, moment, is_there):
    path = tmp_path / "t.parquet"
    if is_there:
        write([record(7)], path)
    if moment is kill:
        process = PROCESSES.Process(target=write_failing, args=(moment, path))
        process.start()
        process.join()
        assert process.exitcode == -9
    else:
        with pytest.raises(DedupError, match="damaged"):
            write_failing(moment, path)
        assert [entry.name for entry in tmp_path.iterdir()] == ["t.parquet"] * is_there
    assert path.exists() == is_there
    assert write([record(8)], path) == 1


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("postgresql://me:sesame@host/db", "--to must be FILE.parquet, not 'postgresql'"),
        ("s3://me:sesame@bucket/pages.parquet", "--to must be FILE.parquet, not 's3'"),
        ("pages.csv", "--to must be FILE.parquet, not 'pages.csv'"),
        ("", "--to must be FILE.parquet, not ''"),
        ("none/pages.parquet", "its folder does not exist"),
        ("folder.parquet", "it is a folder"),
    ],
)
def test_a_target_that_cannot_be_used_is_refused(index, tmp_path, monkeypatch, target, why):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.parquet").mkdir()
    before = sorted(tmp_path.iterdir())
    err = refused("index", "export", str(index), "--to", target)
    assert why in err
    assert "sesame" not in err
    assert sorted(tmp_path.iterdir()) == before


def test_a_library_that_is_missing_is_named(index, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    err = refused("index", "export", str(index), "--to", "t.parquet")
    assert "with its extra 'parquet'" in err
    code, _, err = run("index", "export", str(index), "--force")
    assert (code, "goes with --to" in err) == (2, True)


def write_on_a_full_disk(path):
    sys.dont_write_bytecode = True  # modules cut short would be left to all that import them later
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
    with pytest.raises(OSError, match="too large"):
        write(map(record, range(1, 22_000)), path)


@pytest.mark.slow
def test_a_disk_that_is_full_leaves_nothing(tmp_path):
    pytest.importorskip("resource")
    process = PROCESSES.Process(target=write_on_a_full_disk, args=(tmp_path / "t.parquet",))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert [*tmp_path.iterdir()] == []


def write_in_little_memory(path):
    peaks = []

    def records():
        for page in range(1, 80_001):
            yield record(page)
            if page in (30_000, 80_000):
                peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

    write(records(), path)
    early, late = peaks
    assert late - early < 20_000, peaks  # KiB; 50,000 records take four times as much


@pytest.mark.slow
def test_memory_does_not_grow_with_the_records(tmp_path):
    pytest.importorskip("resource")
    process = PROCESSES.Process(target=write_in_little_memory, args=(tmp_path / "t.parquet",))
    process.start()
    process.join()
    assert process.exitcode == 0
