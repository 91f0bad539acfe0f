"""An index of an older format, made by the schema of that time, and opened now."""

import sqlite3
from pathlib import Path

import pytest
from store_pages import (
    SCHEME,
    folder_store,
    index_of,
    measured,
    near,
    removed_by,
    with_digest,
)
from store_pages import new_page as page

from dedup_filter.errors import StoreError
from dedup_filter.store.file_format import FORMAT
from dedup_filter.store.page_reader import PageReader
from dedup_filter.store.records import Change, digest_head

SCHEMA_1 = Path(__file__).with_name("format_1.sql").read_text("utf-8")
TABLES = (
    *("meta", "crawls", "hosts", "pages", "texts", "host_frames", "frame_lessons"),
    "early_pages",
)


@pytest.fixture
def folder(tmp_path):
    """An index of format 1: 20 pages kept, one of them too short, and 10 dropped."""
    folder = tmp_path / "index"
    with folder_store(folder) as store:
        for number in range(1, 30, 3):
            store.insert(page(number, text="text"))
            fingerprint = None if number == 1 else -1
            store.insert(page(number + 1, measured=measured(number + 1, fingerprint=fingerprint)))
            store.insert(page(number + 2, near(number)))
        store.frames.learn("www.example.com", 1, b"lesson")
        application = store._transactions.row("PRAGMA application_id")[0]
    path = folder / "pages.sqlite3"
    path.rename(tmp_path / "newer")
    old = sqlite3.connect(path)
    old.executescript(SCHEMA_1)
    old.execute("ATTACH ? AS newer", (str(tmp_path / "newer"),))
    for table in TABLES:
        old.execute(f"INSERT INTO {table} SELECT * FROM newer.{table}")
    old.execute(f"PRAGMA application_id = {application}")
    old.execute("PRAGMA user_version = 1")
    old.commit()
    old.close()
    return folder


def schema_of(folder):
    connection = sqlite3.connect(folder / "pages.sqlite3")
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type != 'table'")
    columns = connection.execute("SELECT name FROM pragma_table_info('superseded')")
    statements = {name: " ".join((sql or "").split()) for name, sql in rows}
    found = statements, list(columns), connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return found


def test_is_brought_to_this_format_and_keeps_what_it_has(folder, tmp_path, caplog):
    with PageReader.open_to_read(folder) as reader:
        before = list(reader.records())
        assert len(reader) == 20
        reader.check()
    with folder_store(folder) as store:
        assert f"has format 1, and is brought to format {FORMAT}" in caplog.text
        assert list(store.records()) == before
        assert (len(store), store.count(is_kept=False)) == (20, 10)
        assert len(index_of(store)) == 20 + 19
        assert store.scheme == SCHEME
        store.check()
        store.delete([4])
        store.replace(7, measured(99))
        assert store.insert(page(31)) == 31
        assert with_digest(store, measured(99).digest) == [7]
        assert len(store) == 20
        store.check()
    with folder_store(tmp_path / "new"):
        pass
    assert schema_of(folder) == schema_of(tmp_path / "new")


def change(folder, sql):
    connection = sqlite3.connect(folder / "pages.sqlite3")
    connection.executescript(sql)
    connection.close()


def test_tables_of_that_time_cannot_catch_up(folder):
    change(folder, "DELETE FROM pages WHERE id = 4")
    with folder_store(folder) as store:
        assert store.superseded.since(0, 30) is None
        revision = store.superseded.revision
        assert store.superseded.since(revision, 30) == Change()
        store.delete([7])
        assert removed_by(store.superseded.since(revision, 30)) == {
            (7, measured(7).fingerprint, 1),
            ("digest", 7, digest_head(measured(7).digest), 1),
        }


def test_one_that_cannot_be_upgraded_is_left_as_it_was(folder):
    change(folder, "ALTER TABLE superseded ADD COLUMN digest")
    before = schema_of(folder)
    with pytest.raises(StoreError, match="duplicate column"):
        folder_store(folder)
    assert schema_of(folder) == before
    with PageReader.open_to_read(folder) as reader:
        assert len(list(reader.records())) == 30
