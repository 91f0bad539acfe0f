"""What is at the path of an index when it is opened, and what becomes of it."""

import os
import sqlite3
from contextlib import closing

import pytest
from index_feed import contents, tamper
from patience import PROCESSES
from store_pages import batch, folder_store, page

from dedup_filter.errors import ConfigError, StoreBusy, StoreCorrupt, StoreError, StoreTooNew
from dedup_filter.store import sqlite_store
from dedup_filter.store.sqlite_store import FORMAT, SqliteStore


@pytest.fixture
def folder(tmp_path):
    """An index with one page, at a path with strange letters."""
    with folder_store(tmp_path / "索引 50% #1?") as store:
        store.write(batch(page(1)))
    return store.folder.path


class TestIsRefused:
    def test_a_folder_of_other_files_and_left_as_it_was(self, tmp_path):
        (tmp_path / "thesis.txt").write_text("years of work")
        before = contents(tmp_path)
        for attempt in (folder_store, SqliteStore.open_to_read):
            with pytest.raises(ConfigError, match=r"not an index|no index"):
                attempt(tmp_path)
        assert contents(tmp_path) == before

    def test_a_second_writer_and_told_who_the_first_is(self, folder):
        with folder_store(folder):
            with pytest.raises(StoreBusy, match=f"this process.*{os.getpid()}.*Redis"):
                folder_store(folder)
            for content in ("", "{}", "[]", '{"pid": 1}', "\0"):
                (folder / "owner.json").write_text(content)
                with pytest.raises(StoreBusy, match="in use by another process"):
                    folder_store(folder)
        assert not (folder / "owner.json").exists()
        folder_store(folder).close()

    def test_a_path_of_a_file_or_below_one(self, tmp_path):
        (tmp_path / "file").write_text("text")
        for path in (tmp_path / "file", tmp_path / "file" / "index"):
            with pytest.raises(ConfigError, match="below a file"):
                folder_store(path)

    @pytest.mark.parametrize(
        ("change", "kind", "message"),
        [
            (f"PRAGMA user_version = {FORMAT + 1}", StoreTooNew, f"has format {FORMAT + 1}"),
            ("PRAGMA user_version = 9", ConfigError, "has format 9, .*dedup-filter index export"),
            ("PRAGMA application_id = 7", ConfigError, "another program: choose another folder"),
            (b"no database at all" * 99, StoreCorrupt, "no SQLite database any more"),
            (b"SQLite format 3\0" * 99, StoreCorrupt, "no SQLite database any more"),
        ],
        ids=["newer", "older", "another program", "no database", "no whole database"],
    )
    def test_what_cannot_be_read_and_left_as_it_was(self, folder, change, kind, message):
        if isinstance(change, bytes):
            (folder / "pages.sqlite3").write_bytes(change)
        else:
            tamper(folder, change)
        before = (folder / "pages.sqlite3").read_bytes()
        for attempt in (folder_store, SqliteStore.open_to_read):
            with pytest.raises(kind, match=message):
                attempt(folder)
        assert (folder / "pages.sqlite3").read_bytes() == before
        assert not (folder / "owner.json").exists()

    def test_a_database_of_another_program_and_left_as_it_was(self, tmp_path):
        """Even its journal mode, which is a byte of its file."""
        with closing(sqlite3.connect(tmp_path / "pages.sqlite3")) as other:
            other.execute("CREATE TABLE poems (line)")
        before = contents(tmp_path)
        for attempt in (folder_store, SqliteStore.open_to_read):
            with pytest.raises(ConfigError, match="a database of another program"):
                attempt(tmp_path)
        assert {"lock": b""} | contents(tmp_path) == {"lock": b""} | before

    @pytest.mark.parametrize("is_reader", [False, True])
    def test_one_that_another_program_has_locked(self, folder, monkeypatch, is_reader):
        monkeypatch.setattr(sqlite_store, "_WAIT_SECONDS", 0.1)
        with closing(sqlite3.connect(folder / "pages.sqlite3", isolation_level=None)) as other:
            other.execute("PRAGMA locking_mode = EXCLUSIVE")
            other.execute("BEGIN EXCLUSIVE")
            attempt = SqliteStore.open_to_read if is_reader else folder_store
            with pytest.raises(StoreBusy, match="another program holds it locked"):
                attempt(folder)
        with folder_store(folder) as store:
            assert store.count() == 1

    @pytest.mark.parametrize(
        "damage",
        [
            "DELETE FROM notes WHERE key = 'scheme'",
            "UPDATE notes SET value = '{' WHERE key = 'scheme'",
        ],
    )
    def test_one_whose_scheme_is_gone_or_damaged(self, folder, damage):
        tamper(folder, damage)
        with pytest.raises(StoreCorrupt, match="does not say how its fingerprints were made"):
            folder_store(folder)


def test_a_reader_does_not_need_the_right_to_write(folder, nobody):
    assert nobody.apply(count, [folder]) == 1


def become_nobody():
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)


def count(folder):
    with SqliteStore.open_to_read(folder) as reader:
        return reader.count()


@pytest.fixture
def nobody(folder):
    """A process of a user who may read everything here and write nothing."""
    if os.name == "nt":
        pytest.skip("rights are another matter on Windows")
    for path in folder.parents:
        if "pytest" in str(path):
            path.chmod(0o755)
    folder.chmod(0o555)
    with PROCESSES.Pool(1, become_nobody) as pool:
        yield pool
    folder.chmod(0o755)


@pytest.mark.parametrize(
    ("below", "told"), [("", "give this user the right to write"), ("below/it", "cannot be made")]
)
def test_a_folder_without_the_right_to_write_is_told(folder, nobody, below, told):
    with pytest.raises(StoreError, match=told) as refused:
        nobody.apply(folder_store, [folder / below])
    assert type(refused.value) is StoreError
