"""`dedup-filter index ...` beside a crawl that is going on.

A folder is locked against other processes, so there the command is one.
"""

import os

import pytest
from command_line import lines, refused, run, run_process
from index_feed import ITEMS, article, item, records, stats, write_jsonl

from dedup_filter import NearDuplicateFilter


def test_what_reads_works(every_place):
    """A page is flushed, one pending, and one dropped for that."""
    location, site = every_place.seeded(), "https://www.example.com"
    how = run if every_place.servers else run_process
    with NearDuplicateFilter.open(location) as pages:
        pages.see(f"{site}/done", text=article(40))
        pages.flush()
        pages.claim(f"{site}/pending", text=article(41))
        pages.commit(pages.claim(f"{site}/copy", text=article(41)))
        pages.flush()
        found = stats(location, run=how)
        # On servers a page that repeats a pending page is pending, too; a folder has none.
        assert found.get("pending") == (2 if every_place.servers else None)
        assert found.get("processes", 1) == 1
        assert how("index", "stats", location, "--check")[0] == 0
        _, *exported = lines("index", "export", location, run=how)
        urls = {page.get("url") for page in exported}
        assert {f"{site}/{name}" for name in ("done", "pending", "copy")} & urls == {f"{site}/done"}
        pages.check()


@pytest.mark.parametrize(
    "command",
    [
        "forget DIR https://www.example.com/1",
        "import DIR FEED",
    ],
)
def test_what_writes_to_a_folder_is_refused_with_the_owners_name(index, tmp_path, command):
    paths = {"DIR": str(index), "FEED": write_jsonl(tmp_path / "feed.jsonl", ITEMS)}
    with NearDuplicateFilter.open(index):
        before = records(index)
        arguments = (paths.get(word, word) for word in command.split())
        assert f"pid {os.getpid()}" in refused("index", *arguments, run=run_process)
        assert records(index) == before


def test_what_writes_to_a_shared_index_works_but_for_an_import_of_an_export(servers, tmp_path):
    location = servers.seeded()
    feed = write_jsonl(tmp_path / "feed.jsonl", [item(50), item(50)])
    with NearDuplicateFilter.open(location) as pages:
        assert run("index", "import", location, feed)[0] == 0
        assert run("index", "forget", location, item(50)["url"], item(1)["url"])[0] == 0
        assert stats(location)["kept"] == 19
        text = run("index", "export", location)[1]
        assert "crawlers are at work on it" in refused("index", "import", location, text=text)
        pages.check()
