"""A wrong setting stops the crawl at its start, with one sentence and exit code 1."""

import subprocess
import sys

import pytest

SPIDER = """
    import scrapy

    class QuotesSpider(scrapy.Spider):
        name = "quotes"
        start_urls = ["data:text/html,<p>hello"]
        custom_settings = {settings}

        def parse(self, response):
            yield {{"url": response.url}}
"""


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        (
            "DEDUP_MAX_DISTANCE",
            "65",
            "DEDUP_MAX_DISTANCE must be a whole number from 0 to 12, not 65",
        ),
        ("DEDUP_ACTION", "delete", 'DEDUP_ACTION must be "drop" or "tag", not \'delete\''),
        (
            "DEDUP_MAX_DISTNCE",
            "6",
            "unknown setting DEDUP_MAX_DISTNCE: did you mean DEDUP_MAX_DISTANCE?",
        ),
    ],
)
def test_wrong_setting_of_the_project_is_told_in_one_sentence(project, name, value, sentence):
    project.spider(SPIDER.format(settings={}))

    crawl = project.crawl(**{name: value})

    assert crawl.exit_code == 1
    assert crawl.log.strip() == f"dedup_filter: {sentence}"
    assert crawl.items == []


def test_wrong_setting_of_the_spider_stops_its_crawl(project):
    project.spider(SPIDER.format(settings={"DEDUP_ACTION": "delete"}))

    crawl = project.crawl()

    assert crawl.exit_code == 1
    assert crawl.log.rstrip().endswith('DEDUP_ACTION must be "drop" or "tag", not \'delete\'')
    assert crawl.stats == {}


def test_program_of_the_user_can_catch_a_wrong_setting(project):
    program = """
        from scrapy.crawler import CrawlerProcess
        from dedup_filter import ConfigError

        settings = {"ADDONS": {"dedup_filter.Addon": 500}, "DEDUP_MAX_DISTANCE": 65}
        try:
            CrawlerProcess(settings)
        except ConfigError as error:
            print("caught:", error)
        """
    project.module("program", program)

    done = subprocess.run(
        [sys.executable, project.folder / "tutorial" / "program.py"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0
    assert done.stdout.startswith("caught: DEDUP_MAX_DISTANCE must be")
