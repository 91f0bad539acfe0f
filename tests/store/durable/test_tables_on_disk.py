"""Tables on disk are derived: whatever becomes of them, verdicts are the same."""

import logging
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from store_pages import kill

from dedup_filter import NearDuplicateFilter
from dedup_filter.store.sqlite import page_index
from dedup_filter.store.sqlite.index_directory import TableFiles


@pytest.fixture
def folder(tmp_path, article):
    """An index of two crawls, with tables of 60 pages and a record of 90."""
    path = tmp_path / "index"
    with NearDuplicateFilter.open(path, crawl="news") as pages:
        for number in range(60):
            pages.see(f"http://a.example/{number}", text=article(number))
    pages = NearDuplicateFilter.open(path, crawl="news")
    for number in range(60, 90):
        pages.see(f"http://a.example/{number}", text=article(number))
    pages.forget("http://a.example/5")
    pages.flush()
    kill(pages._kept.store)
    return path


@pytest.fixture(autouse=True)
def _info_too(caplog):
    caplog.set_level(logging.INFO, "dedup_filter")


def verdicts(folder, article):
    """Verdicts on likes of all pages; afterwards the index is as it was."""
    found = []
    with NearDuplicateFilter.open(folder, crawl="news") as pages:
        pages.check()
        for number in range(0, 95, 3):
            for edits in (0, 1):
                claimed = pages.claim("http://b.example/", text=article(number, edits=edits))
                of_it = (claimed.original, claimed.distance, claimed.candidates)
                found.append((claimed.outcome, *of_it))
                pages.release(claimed)
    return found


def log_of(caplog):
    """What is said of tables, each after its level."""
    said = [f"{record.levelname}: {record.getMessage()}" for record in caplog.records]
    return [line for line in said if "tables" in line]


def test_that_are_older_are_brought_up_to_date(folder, article, caplog):
    expected = verdicts(folder, article)
    assert log_of(caplog) == [], "the old ones were used"
    written = sorted((folder / "tables").rglob("*"))
    with NearDuplicateFilter.open(folder, crawl="news"):
        pass
    assert sorted((folder / "tables").rglob("*")) == written, "not for a few pages of many"
    shutil.rmtree(folder / "tables")
    assert verdicts(folder, article) == expected


def without_digests(folder):
    """Make the tables those of a version that knew none."""
    files = TableFiles(folder / "tables")
    arrays, about = files.load()
    arrays = {n: np.array(a) for n, a in arrays.items() if not n.startswith("digest_")}
    files.save(arrays, {name: note for name, note in about.items() if name != "digests"})


def of_another_index(folder):
    other = folder.parent / "other"
    with NearDuplicateFilter.open(other) as pages:
        for number in range(60):
            pages.see(
                f"http://a.example/{number}", text=" ".join(f"w{number}x{n}" for n in range(60))
            )
    shutil.rmtree(folder / "tables")
    shutil.copytree(other / "tables", folder / "tables")


def newer_than_the_record(folder):
    """As after a power failure, or when an older copy of the record was put back."""
    old = (folder / "pages.sqlite3").read_bytes()
    with NearDuplicateFilter.open(folder, crawl="news") as pages:
        for number in range(30):
            pages.see(f"http://c.example/{number}", text=f"line {number}")
    (folder / "pages.sqlite3").write_bytes(old)


@pytest.mark.parametrize(
    ("change", "level", "reason"),
    [
        (lambda folder: shutil.rmtree(folder / "tables"), "INFO", "; nothing is lost: there are"),
        (of_another_index, "INFO", "another index"),
        (without_digests, "WARNING", "they are not what the record says ('digests')"),
        (newer_than_the_record, "WARNING", "newer than the record"),
    ],
)
def test_that_do_not_fit_are_told_of_once(folder, article, caplog, change, level, reason):
    expected = verdicts(folder, article)
    assert {outcome for outcome, *_ in expected} == {"exact", "near", "new"}
    change(folder)
    caplog.clear()
    for _ in range(2):
        assert verdicts(folder, article) == expected
    (line,) = log_of(caplog)
    assert line.startswith(f"{level}: index {folder}: its tables are made anew from the record")
    assert reason in line


@pytest.mark.parametrize("options", [{"max_distance": 3}, {"scope": "host"}])
def test_for_other_options_are_made_anew(folder, article, caplog, options):
    with NearDuplicateFilter.open(folder, crawl="news", **options) as pages:
        assert pages.see("http://a.example/x", text=article(8)).original == "http://a.example/8"
    assert re.match("INFO: .*another distance or scope", log_of(caplog)[0])


def test_are_written_when_the_index_has_grown_by_half(tmp_path, article, monkeypatch):
    monkeypatch.setattr(page_index, "_LEAST_GROWTH", 10)
    with NearDuplicateFilter.open(tmp_path) as pages:
        saved = []
        for number in range(60):
            pages.see(f"http://a.example/{number}", text=article(number))
            saved.append(sorted(path.name for path in (tmp_path / "tables").glob("*")))
    generations = [names for names in dict.fromkeys(map(tuple, saved)) if names]
    assert generations == [("1",), ("2",), ("3",)]


def test_that_cannot_be_written_cost_a_line_in_the_log(folder, article, caplog, monkeypatch):
    def fail(*args):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk, NearDuplicateFilter.open(folder, crawl="news"):
        disk.setattr(Path, "write_bytes", fail)
        caplog.clear()
    assert "No space left" in log_of(caplog)[0]
    assert [path.name for path in (folder / "tables").iterdir()] == ["1"]
    assert ("exact", "http://a.example/60", 0) in {each[:3] for each in verdicts(folder, article)}


def test_in_memory_the_log_of_changes_does_not_grow(article, monkeypatch):
    monkeypatch.setattr(page_index, "_LEAST_GROWTH", 20)
    with NearDuplicateFilter.open(max_pages=3) as pages:
        for number in range(100):
            pages.see(f"http://a.example/{number}", text=article(number % 50))
        rows = pages._kept.store.rows("SELECT count(*) FROM superseded")
        assert rows[0][0] <= 20
