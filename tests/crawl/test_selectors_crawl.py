"""Real crawls with DEDUP_IGNORE and DEDUP_CONTENT: given in each form, they find what changes."""

import json

import pytest

PAGE = """<html><head><title>Harbour</title></head><body><h1>Harbour</h1>
<p>{text}</p><div class="quote">{quote}</div><p><span class="views">{views} views</span></p>
<div id="sponsor">{sponsor}</div></body></html>"""


@pytest.fixture
def pages(site, article):
    """Serve each article twice: its quote, sponsor and counter are others the second time."""
    for number in range(12):
        again = number % 2
        page = PAGE.format(
            text=article(number // 2, words=90),
            quote=article(f"quote {number}", words=35),
            views=1000 + 37 * number,
            sponsor=article(f"sponsor {number}", words=35),
        )
        site.add(f"/{number // 2}{'?sid=1' * again}", page)
    return list(site.pages)


def kept(crawl, site):
    assert crawl.exit_code == 0, crawl.log
    return [url.removeprefix(site.url) for url in crawl.urls]


SELECTORS = [".quote", ".views", "#sponsor"]


@pytest.mark.parametrize(
    ("of_spider", "of_command"),
    [
        ({"DEDUP_IGNORE": SELECTORS}, {}),
        ({"DEDUP_IGNORE": {"127.0.0.1": SELECTORS, "*": ".other"}}, {}),
        ({}, {"DEDUP_IGNORE": ",".join(SELECTORS), "DEDUP_WORKERS": "1"}),
        ({}, {"DEDUP_IGNORE": json.dumps({"127.0.0.1": SELECTORS}), "DEDUP_INDEX": "index"}),
        ({}, {"DEDUP_CONTENT": "h1, h1 + p", "DEDUP_WORKERS": "1"}),
    ],
)
def test_what_changes_is_left_out(project, site, pages, of_spider, of_command):
    project.spider(in_turn=True, settings=of_spider)
    crawl = project.crawl(*site.urls(*pages), **of_command)
    assert kept(crawl, site) == [f"/{number}" for number in range(6)]
    effect = "content" if "DEDUP_CONTENT" in of_spider | of_command else "ignored"
    assert crawl.stats[f"dedup/selectors/{effect}"] == 12


def test_without_selectors_all_are_kept_and_nothing_is_counted(project, site, pages):
    project.spider(in_turn=True, settings={"DEDUP_IGNORE": {"other.example": "p"}})
    crawl = project.crawl(*site.urls(*pages))
    assert len(kept(crawl, site)) == 12
    assert not [name for name in crawl.stats if "selectors" in name]


def test_selectors_that_miss_or_take_all_change_nothing_and_are_counted(project, site, pages):
    project.spider(in_turn=True)
    by_default = kept(project.crawl(*site.urls(*pages)), site)
    for name, value, effect in (
        ("DEDUP_CONTENT", "main", "no_content"),
        ("DEDUP_IGNORE", "*", "nothing_left"),
    ):
        crawl = project.crawl(*site.urls(*pages), **{name: value})
        assert kept(crawl, site) == by_default
        assert crawl.stats[f"dedup/selectors/{effect}"] == 12


def test_the_tree_of_the_spider_is_as_it_came(project, site, pages):
    parse = """
        texts = response.css(".quote::text, .views::text, #sponsor::text").getall()
        yield {"url": response.url, "texts": len(texts)}
        response.selector.root.clear()
    """
    project.spider(in_turn=True, parse=parse)
    crawl = project.crawl(*site.urls(*pages), DEDUP_IGNORE=",".join(SELECTORS))
    assert kept(crawl, site) == [f"/{number}" for number in range(6)]
    assert {item["texts"] for item in crawl.items} == {3}


def test_they_may_differ_from_crawl_to_crawl_of_one_index(project, site, pages):
    project.spider(in_turn=True)
    project.crawl(*site.urls(*pages[::2]), DEDUP_INDEX="index")
    settings = {"DEDUP_INDEX": "index", "DEDUP_IGNORE": ".views"}
    crawl = project.crawl(*site.urls(*pages), **settings)
    assert crawl.exit_code == 0, crawl.log
    assert crawl.stats["dedup/pages"] == 12
    again = project.crawl(*site.urls(*pages[::2]), DEDUP_REVISIT="drop", **settings)
    assert (again.stats["dedup/revisits"], again.urls) == (6, [])
