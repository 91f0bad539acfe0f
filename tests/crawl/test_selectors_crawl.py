"""Real crawls with DEDUP_IGNORE and DEDUP_CONTENT: given in each form, they find what changes."""

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


@pytest.fixture
def crawl(project, site, pages):
    """Crawl all pages; return the crawl, and the paths of the pages that it kept."""

    def run(of_spider="{}", **settings):
        project.spider(settings=of_spider, in_turn=True)
        done = project.crawl_well(*site.urls(*pages), **settings)
        return done, [url.removeprefix(site.url) for url in done.urls]

    return run


FIRST = [f"/{number}" for number in range(6)]
SELECTORS = [".quote", ".views", "#sponsor"]


@pytest.mark.parametrize(
    ("of_spider", "of_command"),
    [
        ({"DEDUP_IGNORE": {"127.0.0.1": SELECTORS, "*": ".other"}}, {}),
        ({}, {"DEDUP_CONTENT": "h1, h1 + p", "DEDUP_WORKERS": "1"}),
    ],
)
def test_what_changes_is_left_out(crawl, of_spider, of_command):
    done, kept = crawl(of_spider=of_spider, **of_command)
    assert kept == FIRST
    effect = "content" if "DEDUP_CONTENT" in of_spider | of_command else "ignored"
    assert done.stats[f"dedup/selectors/{effect}"] == 12


def test_selectors_that_miss_change_nothing_and_are_counted(crawl, pages):
    done, kept = crawl(DEDUP_CONTENT="main")
    assert kept == pages
    assert done.stats["dedup/selectors/no_content"] == 12
