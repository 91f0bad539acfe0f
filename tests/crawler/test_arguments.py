"""Spider arguments: what is read from them, and what is refused."""

import re

import pytest

from crawler.arguments import ArgumentError, urls_of, whole_number_of
from crawler.spiders.site import SiteSpider
from crawler.spiders.warc import WarcSpider


def test_addresses_are_separated_by_commas_or_space() -> None:
    assert urls_of("http://a/ , https://b/c\thttp://d", "") == [
        "http://a/",
        "https://b/c",
        "http://d",
    ]


@pytest.mark.parametrize(
    "url",
    ["a.org", "ftp://a/", "http://", "http:///x", "http://[1/", "http://a:b/", "javascript:0"],
)
def test_an_odd_address_is_named(url) -> None:
    with pytest.raises(ArgumentError, match="is not an address") as caught:
        urls_of(f"http://a/ {url}", "")
    assert repr(url) in str(caught.value)


@pytest.mark.parametrize(("text", "number"), [(None, None), ("1", 1), ("007", 7), (500, 500)])
def test_a_whole_number(text, number) -> None:
    assert whole_number_of(text, "max_pages") == number


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "", "ten", "٣", "1e3", "9" * 30, True])
def test_no_whole_number_is_refused(text) -> None:
    with pytest.raises(ArgumentError, match="max_pages must be a whole number from 1 up"):
        whole_number_of(text, "max_pages")


NO_URL = "no address given: scrapy crawl site -a url=https://example.com/docs/"
NO_FILE = "no file given: scrapy crawl warc -a path='crawl-*.warc.gz'"


@pytest.mark.parametrize(
    ("spider", "arguments", "sentence"),
    [
        *((SiteSpider, arguments, NO_URL) for arguments in ({}, {"url": ""}, {"url": " , "})),
        (SiteSpider, {"url": "example.com"}, "'example.com' is not an address that starts with"),
        (SiteSpider, {"url": "http://a.org/", "max_pages": "many"}, "max_pages must be a whole"),
        (WarcSpider, {}, NO_FILE),
        (WarcSpider, {"path": "nowhere/*.warc"}, "no file matches 'nowhere/*.warc'"),
    ],
)
def test_a_spider_refuses_what_it_cannot_crawl(spider, arguments, sentence) -> None:
    with pytest.raises(ArgumentError, match=re.escape(sentence)):
        spider(**arguments)


def test_what_is_refused_ends_the_program_with_one_sentence(crawl) -> None:
    done = crawl("site")
    assert done.exit_code != 0
    assert NO_URL in done.log.strip().splitlines()[-1]
