"""`dedup-filter index ...` beside a crawl that is going on.

A folder is locked against other processes, so there the command is one.
"""

import os

import pytest
from command_line import lines, run, run_process
from index_feed import ITEMS, article, item, records, stats, write_jsonl

from dedup_filter import NearDuplicateFilter


class TestBesideCrawlsOnServers:
    @pytest.fixture
    def location(self, servers):
        """An index with a crawl on it that has a page pending."""
        location = servers.seeded()
        with NearDuplicateFilter.open(location) as pages:
            pages.see("https://www.example.com/done", text=article(40))
            pages.claim("https://www.example.com/pending", text=article(41))
            yield location
            pages.check()

    def test_what_reads_works(self, location):
        found = stats(location)
        assert (found["kept"], found["pending"], found["processes"]) == (22, 1, 1)
        assert run("index", "check", location)[:2] == (0, "clean: 22 pages, 22 entries\n")

    def test_an_export_leaves_out_what_is_pending(self, location):
        _, *pages = lines("index", "export", location)
        urls = {page["url"] for page in pages}
        assert "https://www.example.com/done" in urls
        assert "https://www.example.com/pending" not in urls

    def test_what_writes_works(self, location, tmp_path):
        feed = write_jsonl(tmp_path / "feed.jsonl", [item(50), item(50)])
        for command in (["import", location, feed], ["compact", location]):
            assert run("index", *command)[0] == 0
        assert run("index", "forget", location, item(50)["url"], item(1)["url"])[0] == 0
        assert stats(location)["kept"] == 21

    def test_an_export_is_not_put_back(self, location):
        text = run("index", "export", location)[1]
        code, out, err = run("index", "import", location, text=text)
        assert (code, out) == (2, "")
        assert "crawlers are at work on it" in err
        assert len(err.splitlines()) == 1


class TestBesideACrawl:
    @pytest.fixture
    def crawl(self, index):
        """A crawl with a page committed and flushed, one pending, and one dropped for that."""
        pages = NearDuplicateFilter.open(index)
        pages.see("https://www.example.com/done", text=article(40))
        pages.flush()
        pages.claim("https://www.example.com/pending", text=article(41))
        pages.commit(pages.claim("https://www.example.com/copy", text=article(41)))
        pages.flush()
        yield pages
        pages.close()

    @pytest.mark.usefixtures("crawl")
    def test_what_reads_works(self, index):
        found = stats(index, run=run_process)
        assert (found["pages"], found["pending"]) == (28, 1)
        assert run_process("index", "check", str(index))[0] == 0

    @pytest.mark.usefixtures("crawl")
    def test_an_export_leaves_out_what_is_pending(self, index):
        _, *pages = lines("index", "export", str(index), run=run_process)
        urls = {page.get("url") for page in pages}
        assert "https://www.example.com/done" in urls
        assert not {"https://www.example.com/pending", "https://www.example.com/copy"} & urls

    @pytest.mark.parametrize(
        "command",
        [
            ["forget", "DIR", "https://www.example.com/1"],
            ["compact", "DIR"],
            ["migrate", "DIR", "-o", "features=shingles"],
            ["migrate", "DIR", "--fresh"],
            ["import", "DIR", "FEED"],
        ],
        ids=" ".join,
    )
    @pytest.mark.usefixtures("crawl")
    def test_what_writes_is_refused_with_the_owners_name(self, index, tmp_path, command):
        feed = write_jsonl(tmp_path / "feed.jsonl", ITEMS)
        before = records(index)
        paths = {"DIR": str(index), "FEED": feed}
        code, out, err = run_process("index", *(paths.get(word, word) for word in command))
        assert (code, out) == (2, "")
        assert f"pid {os.getpid()}" in err
        assert len(err.splitlines()) == 1
        assert records(index) == before
        assert not list(tmp_path.glob("*backup*"))
