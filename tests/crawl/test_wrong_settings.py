"""A wrong setting stops the crawl at its start, with one sentence and exit code 1."""

SPIDER = """
    import scrapy

    class QuotesSpider(scrapy.Spider):
        name = "quotes"
        start_urls = ["data:text/html,<p>hello"]
        custom_settings = {settings}

        def parse(self, response):
            yield {{"url": response.url}}
"""


def test_wrong_setting_of_the_project_is_told_in_one_sentence(project):
    project.spider(SPIDER.format(settings={}))

    crawl = project.crawl(DEDUP_MAX_DISTNCE="6")

    sentence = "unknown setting DEDUP_MAX_DISTNCE: did you mean DEDUP_MAX_DISTANCE?"
    assert crawl.exit_code == 1
    assert crawl.log.strip() == f"dedup_filter: {sentence}"
    assert crawl.items == []


def test_wrong_setting_of_the_spider_stops_its_crawl(project):
    project.spider(SPIDER.format(settings={"DEDUP_ACTION": "delete"}))

    crawl = project.crawl()

    assert crawl.exit_code == 1
    assert crawl.log.rstrip().endswith('DEDUP_ACTION must be "drop" or "tag", not \'delete\'')
    assert crawl.stats == {}
