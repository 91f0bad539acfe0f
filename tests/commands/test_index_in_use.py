"""`dedup-filter index ...` beside a crawl that is going on.

A folder is locked against other processes, so there the command is one.
"""

import os

import pytest
from command_line import lines, refused, run
from index_feed import article, item, records, stats

from dedup_filter import NearDuplicateFilter


def test_what_reads_works(place, tmp_path, run_elsewhere):
    """A page is flushed, one pending, and one dropped for that."""
    location, site = place.seeded(), "https://www.example.com"
    how = run if place.servers else run_elsewhere
    with NearDuplicateFilter.open(location) as pages:
        pages.see(f"{site}/done", text=article(40))
        pages.flush()
        pages.claim(f"{site}/pending", text=article(41))
        pages.commit(pages.claim(f"{site}/copy", text=article(41)))
        pages.flush()
        found = stats(location, run=how)
        # What repeats a pending page is in its process alone; a folder has no pending pages.
        assert found.get("pending") == (1 if place.servers else None)
        assert found.get("processes", 1) == 1
        assert how("index", "stats", location, "--check")[0] == 0
        path = tmp_path / "r.html"
        (report,) = lines("report", location, "-o", str(path), "--json", run=how)
        _, *exported = lines("index", "export", location, run=how)
        assert report["pages"] == sum("page" in line for line in exported)
        urls = {page.get("url") for page in exported}
        assert {f"{site}/{name}" for name in ("done", "pending", "copy")} & urls == {f"{site}/done"}
        pages.check()


@pytest.mark.parametrize("command", [["forget", "https://www.example.com/1"], ["import"]])
def test_what_writes_to_a_folder_is_refused_with_the_owners_name(
    index, export, command, run_elsewhere
):
    with NearDuplicateFilter.open(index):
        before = records(index)
        name, *others = command
        arguments = ["index", name, str(index), *others]
        assert f"pid {os.getpid()}" in refused(*arguments, text=export, run=run_elsewhere)
        assert records(index) == before


def test_an_export_is_not_imported_beside_crawlers_of_a_shared_index(servers):
    location = servers.seeded()
    with NearDuplicateFilter.open(location) as pages:
        assert run("index", "forget", location, item(1)["url"])[0] == 0
        assert stats(location)["kept"] == 19
        text = run("index", "export", location)[1]
        assert "crawlers are at work on it" in refused("index", "import", location, text=text)
        pages.check()
