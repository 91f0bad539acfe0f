"""What the log says about a site: which element differs at each fetch, which pages are lost."""

import re
import shlex

import pytest
from lxml import html

COUNTERS = {
    "#clock": '<p>Printed at <b id="clock">10:{:02}</b> by <i>The Paper</i></p>',
    ".sold": '<p>By Anna, <span class="author sold">Sold {} times</span></p>',
}


@pytest.fixture
def crawl(project):
    """Crawl a site; return the crawl, and the log's hints or warnings about its host."""

    def run(site, level="WARNING", **settings):
        project.spider(in_turn=True)
        done = project.crawl_well(*site.urls(), **settings)
        said = [line.partition(f"{level}: ")[2] for line in done.lines(f"[dedup_filter] {level}")]
        host = site.url.removeprefix("http://")
        return done, [line for line in said if host in line]

    return run


@pytest.fixture
def page(article):
    def make(number, *lines):
        title = f"Report {article(100 + number, words=4)}"
        menu = '<nav><a href="/">The Paper</a> <a href="/sports">Sports</a></nav>'
        text = f"<h1>{title}</h1><p>{article(number)}</p>{''.join(lines)}"
        return f"<html><title>{title}</title><body>{menu}<main>{text}</main></body></html>"

    return make


@pytest.mark.parametrize("names", [[".sold"], [".sold", "#clock"]])
def test_the_element_that_keeps_copies_is_named_once(crawl, make_site, page, names):
    site, ignoring = make_site(), make_site()
    for number in range(24):
        lines = [
            COUNTERS[name].replace("{:02}", "{}").replace("{}", f"{number + 10}") for name in names
        ]
        markup = page(number // 6, *lines)
        site.add(f"/{number}", markup)
        tree = html.fromstring(markup)
        for name in names:
            [element] = tree.cssselect(name)
            element.drop_tree()
        ignoring.add(f"/{number}", html.tostring(tree))
    done, said = crawl(site, "INFO")
    assert len(done.items) == 24
    assert done.stats["dedup/kept/lines"] == 20
    [hint] = [line for line in said if "differ only in" in line]
    host = site.url.removeprefix("http://")
    assert hint.startswith(f"20 near pages of {host} differ only in <")
    selector = re.search(r'DEDUP_IGNORE = "(.*)" would drop them$', hint)[1]
    assert selector == {".sold": ".author.sold"}.get(", ".join(names), selector)
    done, said = crawl(ignoring, "INFO")
    assert len(done.items) == 4
    assert not [line for line in said if "differ only in" in line]
    assert done.stats["dedup/near"] + done.stats["dedup/exact"] == 20


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


def test_an_ordinary_site_gives_no_warning(crawl, site, paragraphs):
    """Of a menu, of articles and copies of some, of short pages and images, twice in one index."""
    menu = "<ul>" + "".join(f"<li><a href='/{n}'>Part {n}</a></li>" for n in range(9)) + "</ul>"
    for number in range(66):
        site.add(f"/{number}", paragraphs(number // 5 if number % 5 == 1 else number, link=menu))
        if number % 6 == 0:
            site.add(f"/short/{number}", f"<p>Photograph {number}</p>")
            site.add(f"/image/{number}", bytes(range(256)), "image/png")
    for earlier in range(2):
        done, warnings = crawl(site, DEDUP_INDEX="pages")
        assert warnings == []
        assert not [name for name in done.stats if name.startswith("dedup/warnings")]
        assert done.stats["dedup/pages"] == 88
        assert done.stats.get("dedup/revisits", 0) >= 50 * earlier
