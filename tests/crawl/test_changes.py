"""DEDUP_CHANGES in crawls."""

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
