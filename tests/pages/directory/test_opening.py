"""What is at the path of an index when it is opened, and what becomes of it."""

import os
import subprocess
import sys

import pytest
from index_feed import contents, tamper
from store_pages import NOON, SCHEME, folder_store, page

from dedup_filter.errors import ConfigError, StoreBusy, StoreCorrupt, StoreError, StoreTooNew
from dedup_filter.pages.directory.index_directory import UnusableTables
from dedup_filter.pages.directory.page_index import PageIndex
from dedup_filter.pages.directory.page_reader import FORMAT, PageReader, Snapshot


@pytest.fixture
def folder(tmp_path):
    """An index with one page."""
    with folder_store(tmp_path / "index") as store:
        store.insert(page(1))
    return tmp_path / "index"


class TestAnIndex:
    def test_is_whole_on_disk_when_it_is_synced_whoever_reads(self, tmp_path):
        """A commit that waits for the log to be on disk; a checkpoint would wait for the reader."""
        with folder_store(tmp_path) as store:
            store.flush()
            with Snapshot.open_to_read(tmp_path):
                store.insert(page(1))
                executed = []
                store.connection.set_trace_callback(executed.append)
                store.sync()
            begun = executed.index("PRAGMA synchronous = FULL")
            assert "COMMIT" in executed[begun : executed.index("PRAGMA synchronous = NORMAL")]
            assert not any("checkpoint" in sql for sql in executed)
            (tmp_path / "copy").mkdir()
            for path in tmp_path.glob("pages.sqlite3*"):
                (tmp_path / "copy" / path.name).write_bytes(path.read_bytes())
        with PageReader.open_to_read(tmp_path / "copy") as copied:
            assert len(copied) == 1
            copied.check()

    def test_is_found_by_a_path_with_strange_letters(self, tmp_path):
        folder = tmp_path / "索引 50% #1?"
        with folder_store(folder) as store:
            store.insert(page(1))
            store.flush()
            with PageReader.open_to_read(folder) as reader:
                assert len(reader) == 1


class TestIsRefused:
    def test_a_folder_of_other_files_and_left_as_it_was(self, tmp_path):
        (tmp_path / "thesis.txt").write_text("years of work")
        before = contents(tmp_path)
        for attempt in (folder_store, PageReader.open_to_read):
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
        ("sql", "kind", "message"),
        [
            (f"PRAGMA user_version = {FORMAT + 1}", StoreTooNew, f"has format {FORMAT + 1}"),
            ("PRAGMA user_version = 2", ConfigError, f"has format 2, .* reads format {FORMAT}"),
            ("PRAGMA application_id = 7", ConfigError, "another program: choose another folder"),
        ],
    )
    def test_another_format_or_program_and_left_as_it_was(self, folder, sql, kind, message):
        tamper(folder, sql)
        before = (folder / "pages.sqlite3").read_bytes()
        for attempt in (folder_store, PageReader.open_to_read):
            with pytest.raises(kind, match=message):
                attempt(folder)
        assert (folder / "pages.sqlite3").read_bytes() == before
        assert not (folder / "owner.json").exists()

    @pytest.mark.parametrize("content", [b"no database at all" * 99, b"SQLite format 3\0" * 99])
    def test_a_file_that_is_no_database(self, tmp_path, content):
        (tmp_path / "pages.sqlite3").write_bytes(content)
        for attempt in (folder_store, PageReader.open_to_read):
            with pytest.raises(StoreCorrupt, match="no SQLite database any more"):
                attempt(tmp_path)
        assert (tmp_path / "pages.sqlite3").read_bytes() == content

    @pytest.mark.parametrize(
        "damage",
        [
            "DELETE FROM meta WHERE key = 'scheme'",
            "UPDATE meta SET value = '{' WHERE key = 'scheme'",
        ],
    )
    def test_one_whose_scheme_is_gone_or_damaged(self, folder, damage):
        tamper(folder, damage)
        with pytest.raises(StoreCorrupt, match="does not say how its fingerprints were made"):
            folder_store(folder)


def test_tables_that_are_older_than_what_was_noted_cannot_be_used(folder):
    with folder_store(folder) as store:
        store.insert(page(2))
        PageIndex.opened(store, 3)
        store.delete([2])
        store.start_crawl(NOON)
        store.delete([store.insert(page(9)), 1])
        assert PageIndex.loaded(store).faults(store) == []
        store.trim(1)
        with pytest.raises(UnusableTables, match="more has changed since than was noted"):
            PageIndex.loaded(store)


def test_a_wrong_count_is_found(folder):
    tamper(folder, "UPDATE counts SET pages = 7 WHERE is_kept")
    with folder_store(folder) as store, pytest.raises(AssertionError, match="count is wrong"):
        store.check()


class TestAReader:
    def test_sees_what_is_flushed_while_another_writes(self, folder):
        with folder_store(folder) as store, PageReader.open_to_read(folder) as reader:
            assert len(reader) == 1
            store.insert(page(2))
            assert len(reader) == 1
            store.flush()
            assert len(reader) == 2
            assert reader.scheme == SCHEME
            assert [crawl.number for crawl in reader.crawls()] == [1, 2]
            reader.check()
        reader.close()

    def test_cannot_write(self, folder):
        with (
            PageReader.open_to_read(folder) as reader,
            pytest.raises(StoreError, match="cannot be written to"),
        ):
            reader.rows("INSERT INTO hosts (name) VALUES ('new')")

    @pytest.mark.parametrize("kind", ["PageReader", "Snapshot"])
    def test_does_not_need_the_right_to_write(self, folder, as_nobody, kind):
        assert as_nobody(f"print(len({kind}.open_to_read(folder)))", folder) == "1"


@pytest.fixture
def as_nobody(tmp_path):
    """Run a line of Python as a user who may read everything here and write nothing."""
    if os.name == "nt":
        pytest.skip("rights are another matter on Windows")

    def run(line, folder):
        for path in (folder, *folder.parents):
            if path.owner() == tmp_path.owner() and path != path.parent and "pytest" in str(path):
                path.chmod(0o555)
        program = (
            "import os, sys, pathlib, filelock, encodings.idna\n"
            "from dedup_filter.pages.directory.page_reader import PageReader, Snapshot\n"
            "from dedup_filter.pages.directory.page_store import PageStore\n"
            "from dedup_filter.pages.directory.records import Scheme\n"
            "folder, scheme = pathlib.Path(sys.argv[1]), Scheme.from_json(sys.argv[2])\n"
            "if os.getuid() == 0: os.setgid(65534), os.setuid(65534)\n"
            f"try: {line}\n"
            "except Exception as error: print(type(error).__name__, error)\n"
        )
        told = subprocess.run(
            [sys.executable, "-c", program, str(folder), SCHEME.to_json()],
            capture_output=True,
            text=True,
            check=True,
        )
        return told.stdout.strip()

    yield run
    for path in tmp_path.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    tmp_path.chmod(0o755)


@pytest.mark.parametrize(
    ("below", "told"),
    [("", "give this user the right to write"), ("below/it", "cannot be made")],
)
def test_a_folder_without_the_right_to_write_is_told(folder, as_nobody, below, told):
    error = as_nobody(f"PageStore.open(folder / {below!r}, scheme)", folder)
    assert error.startswith("StoreError")
    assert told in error
