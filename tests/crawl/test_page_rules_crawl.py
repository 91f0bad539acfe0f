"""A real crawl whose pages have options of their own, by DEDUP_RULES and by their requests."""

import json

SPIDER = """
    import scrapy

    METAS = {"drop": {"action": "drop"}, "out": False, "wrong": {"scop": "host"}}

    class QuotesSpider(scrapy.Spider):
        name = "quotes"

        async def start(self):
            for url in self.urls.split(","):
                meta = METAS.get(url.rpartition("/")[2])
                yield scrapy.Request(url, meta={"dedup": meta})

        def parse(self, response):
            yield {"url": response.url}
"""
RULES = [{"match": "127.0.0.1/p/*", "action": "tag"}, {"match": "*/login", "judge": False}]


def test_pages_have_options_of_their_own(project, site, paragraphs):
    paths = ["/1", "/2", "/p/1", "/p/drop", "/p/out", "/login", "/wrong"]
    for path in paths:
        site.add(path, paragraphs(1))
    project.spider(SPIDER)
    done = project.crawl(*site.urls(*paths), DEDUP_RULES=json.dumps(RULES))

    said = {item["url"].removeprefix(site.url): item.get("dedup") for item in done.items}
    assert {*said} == {"/1", "/p/1", "/p/out", "/login", "/wrong"}
    assert said["/p/1"]["outcome"] == "exact"
    assert "unknown key scop: did you mean scope?" in done.log
    counts = {name: done.stats[f"dedup/{name}"] for name in ("exact", "opted_out", "errors")}
    assert counts == {"exact": 3, "opted_out": 2, "errors": 1}

    refused = project.crawl(*site.urls("/1"), DEDUP_RULES='[{"match": "a.b", "scop": 1}]')
    assert refused.exit_code == 1
    assert "DEDUP_RULES: rule 1: unknown key scop: did you mean scope?" in refused.log
