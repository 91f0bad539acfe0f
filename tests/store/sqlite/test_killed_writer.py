"""A writer that is killed at any moment loses nothing of a batch that was written."""

import os
from pathlib import Path

import pytest
from gate import slow
from killed_writer import write_and_be_killed
from store_pages import HOST, batch, folder_store, measures, page

from dedup_filter.store.protocol import LAST_PAGE
from dedup_filter.store.sqlite_store import SqliteStore

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


def require_whole(store):
    """Pages, hosts and notes are of the same moment."""
    store.check()
    records = {record.page: record for record in store.records()}
    even = max((each for each in records if each % 2 == 0), default=0)
    host = store.host(HOST)
    assert (host.pages if host else 0) == even == int(store.note(LAST_PAGE) or 0)
    assert all(each.page in records for each in store.waiting(HOST))
    return records


@pytest.mark.parametrize("times", [3, slow(12)])
def test_an_index_that_is_opened_again_holds_all_that_was_written(tmp_path, times):
    folder = tmp_path / "index"
    told = Path(f"{folder}.told")
    for seed in range(times):
        write_and_be_killed(folder, seed)
        numbers = [int(line) for line in told.read_text().split()] if told.exists() else []
        with SqliteStore.open_to_read(folder) as reader:
            before = require_whole(reader)
        with folder_store(folder) as store:
            records = require_whole(store)
            assert records == before
            for number in numbers:
                assert records[number].digest == measures(number)["digest"]
                assert store.content(records[number]).text == "text"
    assert numbers


def test_a_new_file_that_was_not_finished_is_made_again(tmp_path):
    folder = tmp_path / "index"
    folder.mkdir()
    for name in ("pages.sqlite3", "lock", "owner.json"):
        (folder / name).touch()
    with folder_store(folder) as store:
        store.write(batch(page(1)))
        assert store.count() == 1
        store.check()
