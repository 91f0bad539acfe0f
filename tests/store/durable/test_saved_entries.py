"""Saved entries are derived: whatever becomes of their file, verdicts are the same."""

import logging
import shutil
from pathlib import Path

import pytest
import xxhash
from store_pages import kill

from dedup_filter import NearDuplicateFilter
from dedup_filter.store.sqlite_store import SqliteStore


@pytest.fixture
def folder(tmp_path, article):
    """An index of 24 pages that was closed."""
    path = tmp_path / "index"
    with NearDuplicateFilter.open(path, crawl="news") as pages:
        for number in range(24):
            pages.see(f"http://a.example/{number}", text=article(number))
        pages.forget("http://a.example/5")
    return path


@pytest.fixture
def are_used(monkeypatch):
    """For each opening, whether the file was used."""
    used, load = [], SqliteStore.saved_arrays

    def noted(store):
        found = load(store)
        used.append(found is not None)
        return found

    monkeypatch.setattr(SqliteStore, "saved_arrays", noted)
    return used


def verdicts(folder, article, **options):
    """Verdicts on likes of all pages; afterwards the index is as it was."""
    found = []
    with NearDuplicateFilter.open(folder, crawl="news", **options) as pages:
        pages.check()
        for number in range(0, 28, 3):
            for edits in (0, 1):
                claimed = pages.claim("http://a.example/x", text=article(number, edits=edits))
                of_it = (claimed.original, claimed.distance, claimed.candidates)
                found.append((claimed.outcome, *of_it))
                pages.release(claimed)
        kill(pages.conductor.store)
        pages._is_closed = True
    return found


def saved(folder):
    """The checksum in the database, and the bytes of the file."""
    with SqliteStore.open_to_read(folder) as store:
        return store.note("entries"), (folder / "entries.bin").read_bytes()


def test_are_used_until_a_page_is_written_and_after_a_clean_close(folder, article, are_used):
    checksum, content = saved(folder)
    assert xxhash.xxh3_128_hexdigest(content) == checksum
    expected = verdicts(folder, article)
    assert {outcome for outcome, *_ in expected} == {"exact", "near", "new"}
    assert saved(folder) == (checksum, content)
    with NearDuplicateFilter.open(folder, crawl="news") as pages:
        pages.see("http://a.example/24", text=article(24))
        pages.flush()
        kill(pages.conductor.store)
        pages._is_closed = True
    assert saved(folder) == (None, content)
    assert verdicts(folder, article) != expected
    NearDuplicateFilter.open(folder).close()
    assert saved(folder)[1] != content
    assert are_used == [True, True, False, False]


def test_stay_as_they_are_if_nothing_was_changed(folder):
    before = saved(folder)
    with NearDuplicateFilter.open(folder) as pages:
        pages.release(pages.claim("http://a.example/y", text=""))
    assert saved(folder) == before


def test_pages_that_are_pending_at_the_close_are_not_in_them(folder, article, are_used):
    with NearDuplicateFilter.open(folder) as pages:
        pages.claim("http://a.example/pending", text=article(99))
    with NearDuplicateFilter.open(folder) as pages:
        assert pages.see("http://a.example/100", text=article(99)).outcome == "new"
        pages.check()
    assert are_used == [True, True]


def overwritten(path):
    path.write_bytes(b"x" * path.stat().st_size)


def torn(path):
    path.write_bytes(path.read_bytes()[:-1])


def with_one_other_bit(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def of_another_index(path):
    other = path.parent.parent / "other"
    NearDuplicateFilter.open(other).close()
    shutil.copy(other / "entries.bin", path)


def replaced_by_a_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "change",
    [Path.unlink, of_another_index, overwritten, torn, with_one_other_bit, replaced_by_a_folder],
)
def test_that_do_not_fit_are_made_anew_with_a_warning_of_damage(folder, article, caplog, change):
    copy = shutil.copytree(folder, folder.parent / "copy")
    change(folder / "entries.bin")
    assert verdicts(folder, article) == verdicts(copy, article)
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == (change is not Path.unlink)
    for line in lines:
        assert line.startswith(f"index {folder}: its entries are read from the record; nothing")
        assert ("Is a directory" if change is replaced_by_a_folder else "not as it was") in line


def test_an_older_copy_of_the_database_has_other_entries(folder, article):
    old = (folder / "pages.sqlite3").read_bytes()
    expected = verdicts(shutil.copytree(folder, folder.parent / "copy"), article)
    with NearDuplicateFilter.open(folder, crawl="news") as pages:
        for number in range(30):
            pages.see(f"http://c.example/{number}", text=article(100 + number))
    (folder / "pages.sqlite3").write_bytes(old)
    assert verdicts(folder, article) == expected


@pytest.mark.parametrize("options", [{"max_distance": 3}, {"scope": "host"}])
def test_serve_any_distance_and_scope(folder, article, are_used, caplog, options):
    with NearDuplicateFilter.open(folder, crawl="news", **options) as pages:
        assert pages.see("http://a.example/x", text=article(8)).original == "http://a.example/8"
    assert are_used == [True]
    assert not caplog.records


def test_that_cannot_be_written_cost_a_line_in_the_log(folder, article, caplog, monkeypatch):
    caplog.set_level(logging.INFO, "dedup_filter")

    def fail(*args):
        raise OSError(28, "No space left on device")

    with NearDuplicateFilter.open(folder, crawl="news") as pages:
        pages.see("http://a.example/more", text=article(100))
        monkeypatch.setattr(Path, "open", fail)
    monkeypatch.undo()
    assert "No space left" in caplog.text
    assert saved(folder)[0] is None
    with NearDuplicateFilter.open(folder) as pages:
        assert pages.see("http://a.example/x", text=article(100)).outcome == "exact"
