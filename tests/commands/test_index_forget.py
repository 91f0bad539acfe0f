"""`dedup-filter index forget`."""

import pytest
from command_line import lines, run
from index_feed import ITEMS, article, tamper

from dedup_filter import NearDuplicateFilter
from dedup_filter.store.sqlite_store import SqliteStore


def forgotten(index, *urls):
    return [each["forgotten"] for each in lines("index", "forget", index, *urls, "--json")]


def test_however_the_url_is_spelt(every_place):
    index = every_place.seeded()
    with NearDuplicateFilter.open(index) as pages:
        pages.see("https://example.com/?b=2&a=1", text=article(40))
    before = run("index", "export", index)
    code, out, _ = run("index", "forget", index, "https://none/\x1b[31m")
    assert (code, out) == (1, "url           https://none/\\x1b[31m\nforgotten     0\n")
    assert run("index", "export", index) == before
    spellings = ["https://example.com/?a=1&b=2#x", "https://example.com/?b=2&a=1"]
    assert forgotten(index, *spellings, "https://none/") == [1, 1, 0]
    with NearDuplicateFilter.open(index) as pages:
        assert pages.see("https://example.com/?b=2&a=1", text=article(40)).outcome == "new"
        pages.check()
    assert run("index", "stats", index, "--check")[0] == 0


@pytest.mark.parametrize("count", [1, 20])
def test_pages_are_passed_over_once_however_many_urls_there_are(index, monkeypatch, count):
    passes = []
    for name in ("records", "at_urls"):
        read = getattr(SqliteStore, name)

        def counting(*arguments, name=name, read=read):
            passes.append(name)
            return read(*arguments)

        monkeypatch.setattr(SqliteStore, name, counting)
    assert forgotten(str(index), *(each["url"] for each in ITEMS[:count])) == [1] * count
    assert len(passes) == 1


def test_crawlers_of_a_shared_index_follow(servers):
    location = servers.seeded()
    with NearDuplicateFilter.open(location) as pages:
        claimed = pages.claim("https://example.com/pending", text=article(40))
        assert forgotten(location, ITEMS[0]["url"], "https://example.com/pending") == [1, 0]
        assert pages.see(ITEMS[0]["url"], text=article(0)).outcome == "new"
        pages.commit(claimed)
        assert len(pages) == 21
        pages.check()


def test_works_whatever_the_scheme(index):
    tamper(index, """UPDATE notes SET value = '{"text": "0"}' WHERE key = 'scheme'""")
    assert forgotten(str(index), ITEMS[0]["url"]) == [1]
