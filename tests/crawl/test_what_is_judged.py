"""The page that came is judged: not what a spider leaves of it, nor what it calls its fields."""

SPIDER = """
    import scrapy

    class QuotesSpider(scrapy.Spider):
        name = "quotes"

        def __init__(self, urls=None, **kwargs):
            super().__init__(**kwargs)
            self.start_urls = urls.split(",")

        def parse(self, response):
            {parse}
"""
JOBS = """
            for job in response.css("div"):
                yield {"title": job.css("h2::text").get(), "body": job.css("p::text").get()}
"""
DROPPED_TREE = """
            response.css("article").drop()
            response.selector.root.find("body").clear()
            yield {"url": response.url}
"""
ITEM = """
            yield {"url": response.url}
"""


def crawl(project, site, parse, **settings):
    project.spider(SPIDER.replace("{parse}", parse))
    urls = ",".join(site.url + path for path in site.pages)
    return project.crawl("-a", f"urls={urls}", **settings)


def test_jobs_with_equal_bodies_share_the_verdict_on_their_list(project, site, article):
    for page in range(4):
        jobs = "".join(
            f"<div><h2>{article(100 + 5 * page + job, words=8)}</h2><p>{article(1)}</p></div>"
            for job in range(5)
        )
        site.add(f"/jobs/{page}", f"<html><body>{jobs}</body></html>")

    done = crawl(project, site, JOBS, DEDUP_ACTION="tag")

    assert len({item["title"] for item in done.items}) == 20
    for page in range(4):
        of_page = done.items[5 * page : 5 * page + 5]
        assert all(item["dedup"] == of_page[0]["dedup"] for item in of_page)
    assert done.stats["dedup/pages"] == 4


def test_page_whose_tree_the_spider_has_emptied_is_judged_as_it_came(project, site, article):
    for path, seed in {"/a": 1, "/b": 2, "/mirror": 1}.items():
        site.add(path, f"<html><body><nav>Home</nav><article>{article(seed)}</article></body>")

    done = crawl(project, site, DROPPED_TREE)

    assert [item["url"] for item in done.items] == [f"{site.url}/a", f"{site.url}/b"]
    assert f"{site.url}/mirror repeats {site.url}/a" in done.log


def test_plain_text_and_markdown_are_judged_and_feeds_are_not(project, site, article):
    site.add("/a.txt", article(1), "text/plain; charset=utf-8")
    site.add("/a.md", article(1), "text/markdown")
    site.add("/b.rst", article(2), "text/x-rst")
    for number in range(2):
        site.add(f"/feed{number}", f"<rss><item>{article(3)}</item></rss>", "text/xml")
        site.add(f"/api{number}", f'{{"text": "{article(4)}"}}', "text/plain")

    done = crawl(project, site, ITEM)

    kept = [item["url"].removeprefix(site.url) for item in done.items]
    assert sorted(kept) == ["/a.txt", "/api0", "/api1", "/b.rst", "/feed0", "/feed1"]
    assert done.stats["dedup/exact"] == 1
    assert done.stats["dedup/unjudged/not_html"] == 4
