"""A site that holds its pages back: the log says so, once. An ordinary one: it says nothing."""

import pytest


@pytest.fixture
def warnings_of(project):
    """Crawl a site; return the log's warnings of its host, and the statistics."""

    def crawl(site, **settings):
        project.spider()
        done = project.crawl(*site.urls(), **settings)
        assert done.exit_code == 0, done.log
        assert done.stats["dedup/errors"] == 0
        host = site.url.removeprefix("http://")
        warnings = [line.partition("WARNING: ")[2] for line in done.lines("[dedup_filter] WARNING")]
        assert all(warning.startswith(f"{host}: ") for warning in warnings)
        return [warning.removeprefix(f"{host}: ") for warning in warnings], done.stats

    return crawl


def test_a_site_that_scripts_build_is_named(warnings_of, site, article):
    for number in range(60):
        script = f"<script>const page = {{text: '{article(number, words=300)}'}}</script>"
        shell = f"<title>Page {number}</title><div id=app></div>{script}"
        site.add(f"/{number}", f"<html><body>{shell}</body></html>")
    [warning], stats = warnings_of(site)
    assert warning.startswith(
        "45 of the last 50 pages have no text without their scripts, and are kept"
    )
    assert "scrapy-playwright" in warning
    assert stats["dedup/warnings/made_by_scripts"] == 1


def test_an_ordinary_site_gives_no_warning(warnings_of, site, paragraphs):
    """Of a menu, of articles and copies of some, of short pages and images, twice in one index."""
    menu = "<ul>" + "".join(f"<li><a href='/{n}'>Part {n}</a></li>" for n in range(9)) + "</ul>"
    for number in range(66):
        site.add(f"/{number}", paragraphs(number // 5 if number % 5 == 1 else number, link=menu))
        if number % 6 == 0:
            site.add(f"/short/{number}", f"<p>Photograph {number}</p>")
            site.add(f"/image/{number}", bytes(range(256)), "image/png")
    for crawl in range(2):
        warnings, stats = warnings_of(site, DEDUP_INDEX="pages")
        assert warnings == []
        assert not [name for name in stats if name.startswith("dedup/warnings")]
        assert stats["dedup/pages"] == 88
        assert stats.get("dedup/revisits", 0) >= 50 * crawl
