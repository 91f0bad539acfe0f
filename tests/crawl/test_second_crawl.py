"""An index that outlives its crawl: pages come again, change, or go on where a job stopped."""

import re

import pytest
from command_line import lines

PARSE = """
    yield {"url": response.url}
    for link in response.css("a::attr(href)").getall():
        yield response.follow(link)
"""


@pytest.fixture
def crawl(project, site, paragraphs):
    """Crawl some of: a page, its twin, another page."""
    site.add("/a", paragraphs(1, words=300))
    site.add("/b", paragraphs(1, edits=1, words=300))
    site.add("/c", paragraphs(2))
    project.spider(parse=PARSE)

    def run(paths, **settings):
        done = project.crawl_well(*(f"{site.url}/{path}" for path in paths), **settings)
        return done.stats, [item["url"].removeprefix(f"{site.url}/") for item in done.items]

    return run


def test_second_crawl_keeps_the_pages_that_the_first_kept_unless_told_otherwise(
    crawl, site, paragraphs
):
    stats, kept = crawl("abc", DEDUP_INDEX="pages")
    assert kept == ["a", "c"]
    assert stats["dedup/new"] == stats["dedup/index_size"] == 2
    assert stats["dedup/near"] == 1

    stats, kept = crawl("abc", DEDUP_INDEX="pages")
    assert kept == ["a", "c"]
    assert stats["dedup/revisits"] == stats["dedup/index_size"] == 2
    assert stats["dedup/near"] == 1
    assert stats["dedup/new"] == 0

    for path, edits in (("a", 0), ("b", 1)):
        link = "<li><a href='/{}'>An item of four words</a>"  # a link alone would be a change
        links = link.format(f"new-of-{path}") + link.format(f"new-of-{path}#more")
        site.add(f"/{path}", paragraphs(1, edits, link=f"<ul>{links}</ul>", words=300))
        site.add(f"/new-of-{path}", paragraphs(f"new of {path}"))
    dropping = {"DEDUP_REVISIT": "drop", "DEDUP_FOLLOW_LINKS": False}

    stats, kept = crawl("abc", DEDUP_INDEX="pages", **dropping)
    assert kept == ["new-of-a"]  # links of a revisit are followed, those of a duplicate not
    assert stats["dedup/revisits"] == stats["item_dropped_reasons_count/Revisit"] == 2
    assert stats["item_dropped_reasons_count/NearDuplicate"] == 1
    assert stats["dedup/items_dropped"] == 3


def test_the_log_and_the_command_line_count_the_same_kept_pages(crawl, project):
    crawl("abc", DEDUP_INDEX="pages")
    stats, _ = crawl("ab", DEDUP_INDEX="pages")
    log = (project.folder / "items.log").read_text("utf-8")
    [kept] = re.findall(r"; index: ([\d,]+) pages kept, [\d.]+ kB of memory; ", log)
    [told] = lines("index", "stats", str(project.folder / "pages"), "--json")
    assert int(kept) == stats["dedup/index_size"] == told["kept"] == 2
    assert told["pages"] > told["kept"]


@pytest.mark.slow
def test_a_resumed_job_is_the_same_crawl_and_after_a_kill_another(crawl, project):
    crawl("a", JOBDIR="job")

    stats, kept = crawl("abac", JOBDIR="job")
    assert kept == ["c"]
    assert "dedup/revisits" not in stats
    assert stats["dedup/exact"] == 2
    assert (project.folder / "job" / "dedup_index" / "pages.sqlite3").exists()

    (project.folder / "job" / "dedup_filter.crawl").unlink()  # as a killed run leaves it
    stats, kept = crawl("abac", JOBDIR="job")
    assert kept == ["a", "c"]
    assert (stats["dedup/revisits"], stats["dedup/exact"], stats["dedup/near"]) == (2, 1, 1)
