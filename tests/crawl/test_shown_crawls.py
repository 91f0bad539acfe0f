"""Who does what the documentation says sees what it shows."""

import json
import logging
import re

import pytest
from news_site import news_site
from passages import Collector
from shown_commands import DOCS, Reader, blocks, require_printed

from dedup_filter import NearDuplicateFilter
from dedup_filter.errors import StoreAway
from dedup_filter.scrapy_plugin import stats as stats_module
from dedup_filter.scrapy_plugin.stats import CrawlStats

QUICK_START = (DOCS / "quick-start.md").read_text("utf-8")
ADD_ON, SPIDER = blocks(QUICK_START, "python")
STATISTICS = (DOCS / "statistics.md").read_text("utf-8")
TUNING = (DOCS / "tuning.md").read_text("utf-8")
TROUBLES = {
    section.partition("\n")[0]: "".join(blocks(section, "text"))
    for section in (DOCS / "troubleshooting.md").read_text("utf-8").split("\n## ")
    if blocks(section, "text")
}
KEPT = ["/", "/gallery", "/news/1", "/news/2", "/news/3", "/news/4"]
DROPPED = ["/news/2?session=a1b2", "/print/1"]


@pytest.fixture
def site(make_site, article):
    return make_site(news_site(article))


@pytest.fixture
def reader(project, crawl_server, site):
    return Reader(project, crawl_server, site)


@pytest.fixture
def feed_of(project, site):
    """Return the paths of the pages in a feed, sorted: an item that waits is overtaken."""

    def feed_of(name):
        lines = (project.folder / name).read_text().splitlines()
        return sorted(json.loads(line)["url"].removeprefix(site.url) for line in lines)

    return feed_of


@pytest.fixture
def beginner(reader):
    """A reader who has come as far as the first crawl."""
    reader.write(ADD_ON)
    reader.write(SPIDER)
    return reader


def test_quick_start_prints_what_it_says_and_leaves_what_it_says(reader, feed_of):
    reader.follow(QUICK_START)

    assert feed_of("items.jsonl") == sorted(2 * KEPT)  # of a whole crawl, and of the stopped one
    assert feed_of("tagged.jsonl") == sorted(KEPT + DROPPED)
    assert feed_of("dropped.jsonl") == DROPPED
    assert feed_of("monday.jsonl") == feed_of("tuesday.jsonl") == KEPT
    assert feed_of("news-only.jsonl") == []


@pytest.mark.slow
def test_tuning_guide_is_followed_as_it_stands(beginner, feed_of):
    beginner.follow(TUNING)

    assert feed_of("found.jsonl") == DROPPED


def test_each_message_of_a_trouble_is_brought_about_here():
    assert TROUBLES.keys() == {
        "Too few are dropped",
        "The index is in use",
        "SchemeMismatch",
        "Redis is away",
    }


def test_why_a_page_is_kept_is_told_as_it_is_shown(project, crawl_server, make_site, article):
    """Two sizes of one pair of boots, 3 bits apart with this seed; then copies with a counter."""
    links = "".join(f'<a href="/{number}">/{number}</a>' for number in (1, 2))
    boots = f"<title>Boots</title><main><h1>Boots</h1><p>{article(3)}</p>"
    pages = {f"/{number}": f"{boots}<p>Size {38 + number}</p></main>" for number in (1, 2)}
    shop = make_site({"/": f"<title>Shop</title><main>{links}</main>", **pages})
    visitor = Reader(project, crawl_server, shop, "https://shop.example")
    visitor.write(ADD_ON)
    visitor.write(SPIDER.replace("news.example", "shop.example"))

    visitor.type("$ scrapy crawl news\n")
    kept = visitor.printed
    counter = '<p>By Anna <span class="sold">Sold {} times</span></p>'
    copies = [f"<h1>Ice</h1>{counter.format(1_000 + 7 * n)}<p>{article(4)}</p>" for n in range(13)]
    links = "".join(f'<a href="/copy/{number}">/{number}</a>' for number in range(13))
    shop.add("/", f"<title>Shop</title><main>{links}</main>")
    for number, copy in enumerate(copies):
        shop.add(f"/copy/{number}", f"<title>Ice</title><main>{copy}</main>")
    visitor.type("$ scrapy crawl news\n")
    hint = visitor.printed.replace(f"of {shop.url.removeprefix('http://')}", "of news.example")
    # Pages arrive in any order.
    two = "'Sold 1037 times' / 'Sold 1041 times'"
    hint = re.sub(r"'Sold \d+ times' / 'Sold \d+ times'", two, hint)

    require_printed(TROUBLES["Too few are dropped"], kept)
    require_printed(blocks(STATISTICS, "text")[-1], hint)


def test_troubles_of_an_index_are_told_as_they_are_shown(beginner, project):
    with NearDuplicateFilter.open(project.folder / "news_index") as pages:
        pages.see("", text="some words " * 20)
        beginner.type("$ scrapy crawl news -s DEDUP_INDEX=news_index\n", exit_code=1)
        require_printed(TROUBLES["The index is in use"], beginner.printed)

    words = "-s DEDUP_INDEX=news_index -s DEDUP_FEATURES=words"
    beginner.type(f"$ scrapy crawl news {words}\n", exit_code=1)
    require_printed(TROUBLES["SchemeMismatch"], beginner.printed)


def test_outages_are_told_as_they_are_shown(beginner, caplog, monkeypatch):
    beginner.type("$ scrapy crawl news -s DEDUP_INDEX=redis://127.0.0.1:1/0\n", exit_code=1)
    seconds = iter([0.0, *[11.0] * 7, 12.0, 12.0])
    monkeypatch.setattr(stats_module, "monotonic", lambda: next(seconds))
    stats = CrawlStats(Collector())
    with caplog.at_level(logging.WARNING):
        for _ in range(8):
            stats.fault(StoreAway("the shared index is gone"))
        stats.answered()

    told = [f"{record.levelname}: {record.getMessage()}" for record in caplog.records]
    require_printed(TROUBLES["Redis is away"], "\n".join([beginner.printed, *told]))
