"""Who does what the documentation says sees what it shows."""

import json
import logging
import re

import pytest
from news_site import news_site
from passages import Collector
from shown_commands import DOCS, ROOT, Reader, blocks, require_printed

from dedup_filter import NearDuplicateFilter
from dedup_filter.errors import StoreAway
from dedup_filter.scrapy_plugin import stats as stats_module
from dedup_filter.scrapy_plugin.stats import CrawlStats

QUICK_START = (DOCS / "quick-start.md").read_text("utf-8")
ADD_ON, SPIDER = blocks(QUICK_START, "python")
STATISTICS = (DOCS / "statistics.md").read_text("utf-8")
TUNING = (DOCS / "tuning.md").read_text("utf-8")
_SITE_SPIDER = f"""\
import sys

sys.path.insert(0, {str(ROOT)!r})
from crawler.spiders.site import SiteSpider


class Site(SiteSpider):
    pass
"""
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


def test_tuning_guide_is_followed_as_it_stands(beginner, feed_of):
    before, _, after = TUNING.partition("\n## A worked example\n")
    beginner.follow(before + after.partition("\n## ")[2])

    assert feed_of("found.jsonl") == DROPPED


def test_commands_of_the_worked_example_work_on_two_editions_of_a_manual(
    project, crawl_server, make_site, article
):
    """What it shows is of a manual that tests do not have."""
    chapters = {
        f"/{edition}/library/{name}.html": f"<title>{name}</title><h1>{name}</h1><p>{text}"
        for number, name in enumerate(("ftplib", "copy", "email", "sched"))
        for edition, text in (
            ("3.13", article(number, words=300)),
            ("3.11", article(number, words=300) + " In this edition one more sentence is there."),
        )
    }
    for edition in ("3.13", "3.11"):
        links = "".join(f'<a href="{path}">{path}</a>' for path in chapters if edition in path)
        chapters[f"/{edition}/"] = f"<title>Contents</title><h1>Contents</h1>{links}"
    manuals = make_site(chapters)
    reader = Reader(project, crawl_server, manuals, "http://127.0.0.1:8000")
    reader.write(ADD_ON)
    project.module("spiders/site", _SITE_SPIDER)
    url = manuals.url + "/{}/library/copy.html"
    label = {"a": url.format("3.13"), "b": url.format("3.11"), "same": True}
    (project.folder / "labels.jsonl").write_text(json.dumps(label))

    reader.follow(TUNING.partition("\n## A worked example\n")[2].partition("\n## ")[0])

    assert reader.printed.startswith("manuals: 10 pages")


def test_each_message_of_a_trouble_is_brought_about_here():
    assert TROUBLES.keys() == {
        "Too many are dropped",
        "Too few are dropped",
        "Many are unjudged",
        "The index is in use",
        "SchemeMismatch",
        "It is slow",
        "Redis is away",
    }


@pytest.mark.parametrize(
    ("trouble", "settings"),
    [
        ("Too many are dropped", [""]),
        ("Many are unjudged", [" -s DEDUP_TEXT_FIELDS=body"]),
    ],
)
def test_troubles_of_a_crawl_are_told_as_they_are_shown(beginner, trouble, settings):
    beginner.type("".join(f"$ scrapy crawl news{each}\n" for each in settings))

    require_printed(TROUBLES[trouble], beginner.printed)


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
    counter = '<p>By Anna <span class="views">Read {} times</span></p>'
    copies = [f"<h1>Ice</h1>{counter.format(1_000 + 7 * n)}<p>{article(4)}</p>" for n in range(13)]
    links = "".join(f'<a href="/copy/{number}">/{number}</a>' for number in range(13))
    shop.add("/", f"<title>Shop</title><main>{links}</main>")
    for number, copy in enumerate(copies):
        shop.add(f"/copy/{number}", f"<title>Ice</title><main>{copy}</main>")
    visitor.type("$ scrapy crawl news\n")
    hint = visitor.printed.replace(f"of {shop.url.removeprefix('http://')}", "of news.example")
    hint = re.sub(r"Read \d+ times", "Read 1037 times", hint)

    require_printed(TROUBLES["Too few are dropped"], kept + hint)
    require_printed(blocks(STATISTICS, "text")[-1], hint)


def test_troubles_of_an_index_are_told_as_they_are_shown(beginner, project):
    with NearDuplicateFilter.open(project.folder / "news_index") as pages:
        pages.see("", text="some words " * 20)
        beginner.type("$ scrapy crawl news -s DEDUP_INDEX=news_index\n", exit_code=1)
        require_printed(TROUBLES["The index is in use"], beginner.printed)

    crawl = "$ scrapy crawl news -s DEDUP_INDEX=news_index -s"
    beginner.type(f"{crawl} DEDUP_FEATURES=words\n", exit_code=1)
    require_printed(TROUBLES["SchemeMismatch"], beginner.printed)

    beginner.type(f"{crawl} DEDUP_MAX_DISTANCE=3\n")
    require_printed(TROUBLES["It is slow"], beginner.printed)


def test_outages_are_told_as_they_are_shown(beginner, start_redis, caplog, monkeypatch):
    beginner.type("$ scrapy crawl news -s DEDUP_INDEX=redis://127.0.0.1:1/0\n", exit_code=1)
    server = start_redis(settings={"maxmemory": "64mb", "maxmemory-policy": "allkeys-lru"})
    with caplog.at_level(logging.WARNING):
        NearDuplicateFilter.open(server.url).close()
    seconds = iter([0.0, *[11.0] * 7, 12.0, 12.0])
    monkeypatch.setattr(stats_module, "monotonic", lambda: next(seconds))
    stats = CrawlStats(Collector())
    for _ in range(8):
        stats.fault(StoreAway("the shared index is gone"))
    stats.answered()

    told = [f"{record.levelname}: {record.getMessage()}" for record in caplog.records]
    require_printed(TROUBLES["Redis is away"], "\n".join([beginner.printed, *told]))
