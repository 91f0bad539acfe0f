"""A bookmark is written with the pages that it stands behind, or they are not."""

import pytest
from index_feed import item

from dedup_filter.errors import StoreError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.judge import BOOKMARK
from dedup_filter.store.sqlite_store import SqliteStore


def noted(pages):
    return pages.conductor.store.note(BOOKMARK)


def test_others_see_just_the_pages_before_the_bookmark(tmp_path):
    index, seen, marks = tmp_path / "index", 0, set()
    with NearDuplicateFilter.open(index) as pages:
        assert noted(pages) is None
        pages.conductor.bookmark = lambda: str(seen)
        for number in range(330):
            pages.see(**item(number % 60, url=f"http://a/{number}"))
            seen += 1
            with SqliteStore.open_to_read(index) as reader:
                assert reader.count() == int(reader.note(BOOKMARK) or 0)
                marks.add(reader.count())
    assert len(marks) > 2
    with NearDuplicateFilter.open(index) as pages:
        assert noted(pages) == "330"


def test_nothing_is_written_without_its_bookmark(tmp_path):
    def bookmark():
        raise StoreError("no bookmark")

    with NearDuplicateFilter.open(tmp_path / "index") as pages:
        pages.see(**item(1))
        pages.flush()
        pages.conductor.bookmark = bookmark
        pages.see(**item(2))
        with pytest.raises(StoreError, match="no bookmark"):
            pages.flush()
        pages.conductor.bookmark = str
        pages.flush()
        pages.conductor.bookmark = bookmark
        pages.see(**item(3))
        with pytest.raises(StoreError, match="no bookmark"):
            pages.close()
    with NearDuplicateFilter.open(tmp_path / "index") as pages:
        assert (noted(pages), len(pages)) == ("", 2)
