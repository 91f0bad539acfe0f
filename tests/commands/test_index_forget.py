"""`dedup-filter index forget`."""

import pytest
from command_line import lines, run
from index_feed import ITEMS, article, tamper

from dedup_filter import NearDuplicateFilter
from dedup_filter.pages.directory.page_reader import PageReader


class TestForget:
    def test_however_the_url_is_spelt(self, every_place):
        index = every_place.seeded()
        with NearDuplicateFilter.open(index) as pages:
            pages.see("https://example.com/?b=2&a=1", text=article(40))
        (found,) = lines("index", "forget", index, "https://example.com/?a=1&b=2#x", "--json")
        assert found["forgotten"] == 1
        with NearDuplicateFilter.open(index) as pages:
            assert pages.see("https://example.com/?b=2&a=1", text=article(40)).outcome == "new"
            pages.check()

    def test_several_and_one_that_is_not_there(self, place):
        index = place.seeded()
        code, out, _ = run("index", "forget", index, ITEMS[0]["url"], "https://none/\x1b[31m")
        assert code == 0
        assert (
            out
            == f"{ITEMS[0]['url']}: 1 page forgotten\nhttps://none/\\x1b[31m: 0 pages forgotten\n"
        )
        assert run("index", "check", index)[0] == 0

    @pytest.mark.parametrize("count", [1, 20])
    def test_pages_are_passed_over_once_however_many_urls_there_are(
        self, index, monkeypatch, count
    ):
        passes = []
        for name in ("records", "at_url"):
            read = getattr(PageReader, name)

            def counting(*arguments, name=name, read=read):
                passes.append(name)
                return read(*arguments)

            monkeypatch.setattr(PageReader, name, counting)
        urls = [each["url"] for each in ITEMS[:count]]
        found = lines("index", "forget", str(index), *urls, "--json")
        assert found == [{"url": url, "forgotten": 1} for url in urls]
        assert len(passes) == 1

    def test_two_spellings_of_one_url(self, place):
        index = place.seeded()
        spellings = [ITEMS[0]["url"], f"{ITEMS[0]['url']}#top"]
        found = lines("index", "forget", index, *spellings, "--json")
        assert [each["forgotten"] for each in found] == [1, 1]

    def test_none_at_all_is_told_by_the_exit_code(self, every_place):
        index = every_place.seeded()
        before = run("index", "export", index)
        assert run("index", "forget", index, "https://none/")[0] == 1
        assert run("index", "export", index) == before

    def test_crawlers_of_a_shared_index_follow(self, servers):
        location = servers.seeded()
        with NearDuplicateFilter.open(location) as pages:
            claimed = pages.claim("https://example.com/pending", text=article(40))
            urls = [ITEMS[0]["url"], "https://example.com/pending"]
            found = lines("index", "forget", location, *urls, "--json")
            assert [each["forgotten"] for each in found] == [1, 0]
            assert pages.see(ITEMS[0]["url"], text=article(0)).outcome == "new"
            pages.commit(claimed)
            assert len(pages) == 21
            pages.check()

    def test_works_whatever_the_scheme(self, tmp_path):
        with NearDuplicateFilter.open(tmp_path / "index", features="shingles") as pages:
            pages.see(ITEMS[0]["url"], text=article(0))
        tamper(
            tmp_path / "index", """UPDATE meta SET value = '{"text": "0"}' WHERE key = 'scheme'"""
        )
        assert run("index", "forget", str(tmp_path / "index"), ITEMS[0]["url"])[0] == 0
