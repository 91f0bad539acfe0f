"""A site on which a line differs at each fetch: the log says once which element, and it is true."""

import re

import pytest
from lxml import html

COUNTERS = {
    "#clock": '<p>Printed at <b id="clock">10:{:02}</b> by <i>The Paper</i></p>',
    ".sold": '<p>By Anna, <span class="author sold">Sold {} times</span></p>',
}


@pytest.fixture
def crawl(project):
    """Crawl a site; return its kept pages' number, the log's hints and the statistics."""
    project.spider(in_turn=True)

    def run(site, **settings):
        done = project.crawl(*site.urls(), **settings)
        assert done.exit_code == 0, done.log
        assert done.stats["dedup/errors"] == 0
        hints = [line.partition("INFO: ")[2] for line in done.lines("differ only in")]
        return len(done.items), hints, done

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
    kept, hints, done = crawl(site)
    assert kept == 24
    assert done.stats["dedup/kept/lines"] == 20
    [hint] = hints
    host = site.url.removeprefix("http://")
    assert hint.startswith(f"20 near pages of {host} differ only in <")
    selector = re.search(r'DEDUP_IGNORE = "(.*)" would drop them$', hint)[1]
    assert selector == {".sold": ".author.sold"}.get(", ".join(names), selector)
    kept, hints, done = crawl(ignoring)
    assert (kept, hints) == (4, [])
    assert done.stats["dedup/near"] + done.stats["dedup/exact"] == 20
