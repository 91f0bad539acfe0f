"""What the log says about a site that scripts build, and about an ordinary one."""

import pytest


@pytest.fixture
def crawl(project):
    """Crawl a site; return the crawl, and the log's warnings, all of which are about its host."""

    def run(site):
        project.spider(in_turn=True)
        done = project.crawl_well(*site.urls())
        said = [line.partition("WARNING: ")[2] for line in done.lines("[dedup_filter] WARNING")]
        host = site.url.removeprefix("http://")
        assert all(line.startswith(f"{host}: ") for line in said)
        return done, said

    return run


def test_a_site_that_scripts_build_is_named(crawl, site, article):
    for number in range(60):
        script = f"<script>const page = {{text: '{article(number, words=300)}'}}</script>"
        shell = f"<title>Page {number}</title><div id=app></div>{script}"
        site.add(f"/{number}", f"<html><body>{shell}</body></html>")
    done, [warning] = crawl(site)
    assert "45 of the last 50 pages have no text without their scripts, and are kept" in warning
    assert "scrapy-playwright" in warning
    assert done.stats["dedup/warnings/made_by_scripts"] == 1


def test_an_ordinary_site_gives_no_warning(crawl, site, paragraphs):
    """Of a menu, of articles and copies of some, of short pages and images."""
    menu = "<ul>" + "".join(f"<li><a href='/{n}'>Part {n}</a></li>" for n in range(9)) + "</ul>"
    for number in range(66):
        site.add(f"/{number}", paragraphs(number // 5 if number % 5 == 1 else number, link=menu))
        if number % 6 == 0:
            site.add(f"/short/{number}", f"<p>Photograph {number}</p>")
            site.add(f"/image/{number}", bytes(range(256)), "image/png")
    done, warnings = crawl(site)
    assert warnings == []
    assert not [name for name in done.stats if name.startswith("dedup/warnings")]
    assert done.stats["dedup/pages"] == 88
