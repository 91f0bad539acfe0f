"""DEDUP_CHANGES in crawls."""

import json

import pytest


@pytest.fixture
def crawl(project, site):
    project.spider()

    def run(paths, **settings):
        return project.crawl_well(*(f"{site.url}/{path}" for path in paths), **settings)

    return run


def test_a_later_crawl_says_how_much_of_each_page_is_new(crawl, site, paragraphs):
    settings = {"DEDUP_INDEX": "pages", "DEDUP_CHANGES": True, "DEDUP_ACTION": "tag"}
    for name in "abc":
        site.add(f"/{name}", paragraphs(name, words=300))
    first = crawl("abc", **settings)
    assert [item["dedup"]["change"] for item in first.items] == [None] * 3
    assert "dedup/revisits/changed" not in first.stats

    site.add("/b", paragraphs("b", words=300) + paragraphs("more", words=20))
    site.add("/c", paragraphs("another", words=300))
    site.add("/d", paragraphs("d", words=300))
    second = crawl("abcd", **settings)
    found = [(item["dedup"]["outcome"], item["dedup"]["change"]) for item in second.items]
    assert [outcome for outcome, _ in found] == ["revisit", "revisit", "new", "new"]
    same, little, all_new, unknown = (change for _, change in found)
    assert (same, unknown) == (0.0, None)
    assert 0 < little < 0.2
    assert all_new > 0.75
    assert second.stats["dedup/revisits/changed"] == 2
    assert second.stats["dedup/revisits"] == 2


def test_log_file_and_tag_say_what_has_changed_and_what_is_lost(crawl, project, site, paragraphs):
    changing, copied = paragraphs("a", words=300), paragraphs("b", words=300)
    site.add("/a", f"{changing}<p>Price: EUR 25.90")
    site.add("/b", f"{copied}<p>Size: L")
    settings = {"DEDUP_INDEX": "pages", "DEDUP_CHANGES": True, "DEDUP_KEEP_TEXT": True}
    crawl("ab", **settings)
    site.add("/a", f"{changing}<p>Price: EUR 26.90")
    site.add("/c", f"{copied}<p>Size: XL<p>Colour: black<p>Price: EUR 30")
    settings |= {"DEDUP_MAX_MISSING": 10, "DEDUP_DUPLICATES": "told.jsonl"}
    done = crawl("abc", DEDUP_ACTION="tag", **settings)

    [changed], [found] = done.lines("Changed ("), done.lines("Found (near")
    assert f'; came "Price: EUR 26.90"; went "Price: EUR 25.90"): {site.url}/a' in changed
    named = '% similar; without "Size: XL", "Colour: black", "Price: EUR 30"'
    assert f"{named}): {site.url}/c repeats {site.url}/b" in found
    tags = {item["url"]: item["dedup"] for item in done.items}
    assert tags[f"{site.url}/a"]["came"] == ["Price: EUR 26.90"]
    assert tags[f"{site.url}/c"]["lost"] == ["Size: XL", "Colour: black", "Price: EUR 30"]
    told = map(json.loads, (project.folder / "told.jsonl").read_text().splitlines())
    assert {line.pop("url"): line for line in told} == {
        url: tag for url, tag in tags.items() if not url.endswith("/b")
    }
