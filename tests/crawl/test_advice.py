"""What the log says about a site whose pages are lost, or are made by scripts."""

import shlex

import pytest
from index_feed import stats


@pytest.fixture
def crawl(project):
    """Crawl a site; return the crawl, and the log's warnings about its host."""

    def run(site, **settings):
        project.spider(in_turn=True)
        done = project.crawl_well(*site.urls(), **settings)
        said = [line.partition("WARNING: ")[2] for line in done.lines("[dedup_filter] WARNING")]
        host = site.url.removeprefix("http://")
        return done, [line for line in said if host in line]

    return run


def test_a_template_that_loses_its_pages_is_named_and_the_reason_why_others_are_unjudged(
    crawl, site, article
):
    """Products whose texts scripts load, each beside the same long text about the shop."""
    about = f"<p>{article(1, words=300)}</p>"
    for number in range(24):
        site.add(f"/p/{number}", f"<title>Shop</title><h1>Product</h1><div id=app></div>{about}")
        site.add(f"/about/{number}", f"<h1>Part {number}</h1><p>{article(number, words=90)}</p>")
        if number % 3:
            script = f"<script>const page = {{text: '{article(number, words=300)}'}}</script>"
            site.add(f"/s/{number}", f"<title>Page {number}</title><div id=app></div>{script}")
    done, warnings = crawl(site, DEDUP_INDEX="pages", DEDUP_KEEP_TEXT=True)
    host = site.url.removeprefix("http://")
    [lost] = [line for line in warnings if "repeat another" in line]
    [unjudged] = [line for line in warnings if line != lost]
    assert lost.startswith(f"19 of the last 20 pages of {host}/p/* repeat another: ")
    assert "(by_script): have them rendered (scrapy-playwright)" in unjudged
    kinds = {name: count for name, count in done.stats.items() if name.startswith("dedup/warn")}
    assert kinds == {"dedup/warnings/mostly_dropped": 1, "dedup/warnings/unjudged": 1}
    command = shlex.split(lost.partition("; see: dedup-filter ")[2])
    assert command[:3] == ["compare", "--index", "pages"]
    assert command[3:] == [f"{site.url}/p/0", f"{site.url}/p/19"]


@pytest.mark.slow
def test_an_ordinary_site_gives_no_warning(crawl, project, site, paragraphs):
    """Of a menu, of articles and copies of some, of short pages and images, twice in one index.

    `index stats` has the counts of each log.
    """
    menu = "<ul>" + "".join(f"<li><a href='/{n}'>Part {n}</a></li>" for n in range(9)) + "</ul>"
    for number in range(36):
        site.add(f"/{number}", paragraphs(number // 5 if number % 5 == 1 else number, link=menu))
        if number % 6 == 0:
            site.add(f"/short/{number}", f"<p>Photograph {number}</p>")
            site.add(f"/image/{number}", bytes(range(256)), "image/png")
    for earlier in range(2):
        done, warnings = crawl(site, DEDUP_INDEX="pages")
        assert warnings == []
        assert not [name for name in done.stats if name.startswith("dedup/warnings")]
        assert done.stats["dedup/pages"] == 48
        assert done.stats.get("dedup/revisits", 0) >= 27 * earlier
        # The log counts the images, too, of which the index has no record.
        found = stats(project.folder / "pages")["crawls"][earlier]
        names = {name: name for name in ("new", "near", "exact", "unjudged")}
        names["revisit"] = "revisits"
        logged = {name: done.stats.get(f"dedup/{stat}", 0) for name, stat in names.items()}
        assert found["log"] == {name: count for name, count in logged.items() if count}
        assert found["log"]["unjudged"] == found["outcomes"].get("unjudged", 0) + 6
