"""A page counts as seen when an item of it went through all pipelines, not before."""

import json

import pytest

SPIDER = """
    import json
    from pathlib import Path
    from urllib.parse import quote

    import scrapy

    class QuotesSpider(scrapy.Spider):
        name = "quotes"

        async def start(self):
            for name, page in json.loads(Path("pages.json").read_text()).items():
                url = "data:text/html;charset=utf-8," + quote(page)
                yield scrapy.Request(url, cb_kwargs={"name": name}, dont_filter=True)

        def parse(self, response, name):
            for number in (1, 2):
                yield {"name": name, "number": number}
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

    class ByName:
        async def process_item(self, item, spider=None):
            fate = item["name"]
            if "slow" in fate:
                await pause()
            if "dropped" in fate:
                raise DropItem("a rule of this project", log_level="INFO")
            if "failed" in fate:
                raise ValueError("a fault of this project")
            return {**item, "made": "anew"} if "remade" in fate else item
"""
ORIGINALS = ("dropped", "failed", "slow", "slow and dropped", "remade", "slow and remade")
REACTORS = {
    "asyncio": {},
    "select": {"TWISTED_REACTOR": "twisted.internet.selectreactor.SelectReactor"},
    # Scrapy 2.15 and newer can do without Twisted's reactor; older ones ignore the setting.
    "none": {"TWISTED_REACTOR_ENABLED": False},
}


@pytest.mark.parametrize("reactor", REACTORS)
def test_twin_is_dropped_if_an_item_of_the_first_goes_through_else_takes_its_place(
    project, paragraphs, reactor
):
    pages = {}
    for name in ORIGINALS:
        pages |= {name: paragraphs(name), f"twin of the {len(pages)}th": paragraphs(name, edits=1)}
    (project.folder / "pages.json").write_text(json.dumps(pages))
    project.spider(SPIDER)
    project.module("pipelines", PIPELINES)

    done = project.crawl(ITEM_PIPELINES='{"tutorial.pipelines.ByName": 300}', **REACTORS[reactor])

    assert done.exit_code == 0
    assert "Warning" not in done.log
    kept = ("twin of the 0th", "twin of the 2th", "slow", "twin of the 6th")
    assert sorted((item["name"], item["number"]) for item in done.items) == sorted(
        (name, number) for name in (*kept, "remade", "slow and remade") for number in (1, 2)
    )
    stats = {name: done.stats[f"dedup/{name}"] for name in ("released", "new", "errors")}
    assert stats == {"released": 3, "new": 9, "errors": 0}
    # A second item that comes when the page was given up for its twin is judged anew.
    assert done.stats["dedup/near"] >= 3
    assert done.stats["dedup/index_size"] == 6
