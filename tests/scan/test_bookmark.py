"""A bookmark is written with the pages that it stands behind, or they are not."""

import pytest
from index_feed import item

from dedup_filter.crawl_filter import CrawlFilter
from dedup_filter.errors import ConfigError, StoreError
from dedup_filter.store.sqlite.page_reader import PageReader
from dedup_filter.store.sqlite.page_store import BOOKMARK


def test_others_see_just_the_pages_before_the_bookmark(tmp_path):
    index, seen, marks = tmp_path / "index", 0, set()
    with CrawlFilter.open(index) as pages:
        assert pages.bookmark is None
        pages.keep_bookmark(lambda: str(seen))
        for number in range(330):
            pages.see(**item(number % 60, url=f"http://a/{number}"))
            seen += 1
            with PageReader.open_to_read(index) as reader:
                assert reader.count() == int(reader.noted(BOOKMARK) or 0)
                marks.add(reader.count())
    assert len(marks) > 2
    with CrawlFilter.open(index) as pages:
        assert pages.bookmark == "330"


def test_nothing_is_written_without_its_bookmark(tmp_path):
    def bookmark():
        raise StoreError("no bookmark")

    with CrawlFilter.open(tmp_path / "index") as pages:
        pages.see(**item(1))
        pages.flush()
        pages.keep_bookmark(bookmark)
        pages.see(**item(2))
        with pytest.raises(StoreError, match="no bookmark"):
            pages.flush()
        pages.keep_bookmark(str)
        pages.flush()
        pages.keep_bookmark(bookmark)
        pages.see(**item(3))
        with pytest.raises(StoreError, match="no bookmark"):
            pages.close()
    with CrawlFilter.open(tmp_path / "index") as pages:
        assert (pages.bookmark, len(pages)) == ("", 2)


def test_an_index_in_memory_keeps_none():
    with CrawlFilter.open() as pages:
        with pytest.raises(ConfigError, match="in a directory"):
            pages.keep_bookmark(str)
        with pytest.raises(ConfigError, match="in a directory"):
            assert pages.bookmark
