"""A writer that is killed at any moment costs nothing that it was told is on disk."""

import os
from pathlib import Path

import pytest
from killed_writer import write_and_be_killed
from store_pages import NOON, folder_store, measures, page

from dedup_filter.store.sqlite.frame_store import all_frames
from dedup_filter.store.sqlite.page_reader import PageReader

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


@pytest.mark.parametrize("times", [10, pytest.param(50, marks=pytest.mark.slow)])
def test_that_is_opened_again_holds_all_that_was_told_and_nothing_pending(tmp_path, times):
    folder = tmp_path / "index"
    told = Path(f"{folder}.told")
    for seed in range(times):
        write_and_be_killed(folder, seed)
        numbers = [int(line) for line in told.read_text().split()] if told.exists() else []
        with folder_store(folder) as store:
            store.check()
            records = {record.page: record for record in store.records()}
            assert not any(record.is_pending for record in records.values())
            for number in numbers:
                assert records[number].digest == measures(number)["digest"]
            assert store.last_page >= max(numbers, default=0)
            for known in all_frames(store):
                assert all(waits.page in records for waits in known.provisional)
                # Pages and frames are of the same moment.
                assert int(known.record) == max(each for each in records if each % 2 == 0)
    assert numbers


def test_that_was_in_the_middle_is_shown_to_readers_as_of_its_last_flush(tmp_path):
    for seed in range(100, 105):
        write_and_be_killed(tmp_path / "index", seed)
        with PageReader.open_to_read(tmp_path / "index") as reader:
            reader.check()
            assert len(list(reader.records())) == len(reader) + reader.count(is_kept=False)


def test_whose_new_file_was_not_finished_is_made_anew(tmp_path):
    folder = tmp_path / "index"
    folder.mkdir()
    for name in ("pages.sqlite3", "lock", "owner.json"):
        (folder / name).touch()
    with folder_store(folder) as store:
        assert store.insert(page(1)) == 1
        assert store.crawls()[0].started == NOON
        store.check()
