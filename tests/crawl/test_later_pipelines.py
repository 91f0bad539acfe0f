"""A page counts as seen when an item of it went through all pipelines, not before."""

import pytest

TWO_ITEMS = """
    for number in (1, 2):
        yield {"url": response.url, "number": number}
"""
PIPELINES = """
    import asyncio
    from scrapy.exceptions import DropItem
    from scrapy.utils.defer import maybe_deferred_to_future

    async def pause():
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            from twisted.internet import reactor, task
            await maybe_deferred_to_future(task.deferLater(reactor, 0.5))
        else:
            await asyncio.sleep(0.5)

    class Dropping:
        def process_item(self, item, spider=None):
            if item["url"].endswith("/a"):
                raise DropItem("a rule of this project", log_level="INFO")
            return item

    class Failing:
        def process_item(self, item, spider=None):
            if item["url"].endswith("/a"):
                raise ValueError("a fault of this project")
            return item

    class Slow:
        async def process_item(self, item, spider=None):
            if item["url"].endswith("/a"):
                await pause()
            return item

    class SlowAndDropping(Slow, Dropping):
        async def process_item(self, item, spider=None):
            return Dropping.process_item(self, await Slow.process_item(self, item))

    class Remaking:
        def process_item(self, item, spider=None):
            return {**item, "remade": True}
"""


@pytest.fixture
def crawl(project, site, paragraphs):
    """Crawl a page, its twin and another page through pipelines that follow the filter's."""
    site.add("/a", paragraphs(1))
    site.add("/b", paragraphs(1, edits=1))
    site.add("/c", paragraphs(2))
    project.spider(parse=TWO_ITEMS, in_turn=True)  # while items are in the pipelines
    project.module("pipelines", PIPELINES)

    def run(*pipelines, paths="abc", **settings):
        order = {f'"tutorial.pipelines.{name}": {300 + at}' for at, name in enumerate(pipelines)}
        urls = [f"{site.url}/{path}" for path in paths]
        done = project.crawl(*urls, ITEM_PIPELINES="{" + ", ".join(order) + "}", **settings)
        assert done.exit_code == 0
        assert done.stats["dedup/errors"] == 0
        assert "Warning" not in done.log
        return done, sorted(item["url"][-1] + str(item["number"]) for item in done.items)

    return run


@pytest.mark.parametrize("pipeline", ["Dropping", "Failing"])
def test_twin_is_kept_when_the_items_of_the_first_come_to_nothing(crawl, pipeline):
    done, kept = crawl(pipeline)

    assert kept == ["b1", "b2", "c1", "c2"]
    assert done.stats["dedup/released"] == 1
    assert done.stats["dedup/index_size"] == 2


REACTORS = {
    "asyncio": {},
    "select": {"TWISTED_REACTOR": "twisted.internet.selectreactor.SelectReactor"},
}


@pytest.mark.parametrize("reactor", REACTORS)
def test_twin_waits_for_the_fate_of_the_first_and_is_dropped(crawl, reactor):
    done, kept = crawl("Slow", **REACTORS[reactor])

    assert kept == ["a1", "a2", "c1", "c2"]
    assert done.stats["dedup/near"] == 1


@pytest.mark.parametrize("reactor", REACTORS)
def test_twin_waits_for_the_fate_of_the_first_and_takes_its_place(crawl, reactor):
    done, kept = crawl("SlowAndDropping", **REACTORS[reactor])

    assert kept == ["b1", "b2", "c1", "c2"]
    assert done.stats["dedup/new"] == 3
    assert done.stats["dedup/pages"] == 3


def test_items_that_a_later_pipeline_makes_anew_commit_or_release_their_page(crawl):
    done, kept = crawl("Dropping", "Remaking")

    assert kept == ["b1", "b2", "c1", "c2"]
    assert done.stats["dedup/released"] == 1


def test_twin_waits_without_a_reactor(project, article):
    """Scrapy 2.15 and newer can do without Twisted's reactor; older ones ignore the setting."""
    project.spider(f"""
        import scrapy
        from urllib.parse import quote

        class QuotesSpider(scrapy.Spider):
            name = "quotes"

            async def start(self):
                for path, end in (("/a", "one"), ("/b", "two")):
                    page = "<html><body><p>{article(1)} " + end
                    url = "data:text/html;charset=utf-8," + quote(page)
                    yield scrapy.Request(url, cb_kwargs={{"path": path}}, dont_filter=True)

            def parse(self, response, path):
                yield {{"url": path}}
    """)
    project.module("pipelines", PIPELINES)

    done = project.crawl(
        TWISTED_REACTOR_ENABLED=False, ITEM_PIPELINES='{"tutorial.pipelines.SlowAndDropping": 300}'
    )

    assert [item["url"] for item in done.items] == ["/b"]
    assert done.stats["dedup/errors"] == 0
    assert "Warning" not in done.log
