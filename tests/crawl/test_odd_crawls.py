"""Odd answers and wrong settings: what a crawl makes of them."""

import pytest

from dedup_filter.text.reading import MAX_PAGE_LENGTH

SIMPLIFIED = (
    "春天来了,山上的雪慢慢化了,河里的水又开始流动。村里的人早早起来,去田里种菜和玉米。"
    "孩子们在学校的院子里踢球,老师在教室里准备今天的课。中午的时候太阳很暖和,"
    "老人坐在门口喝茶,谈论去年的收成和今年的天气。晚上大家一起吃饭,然后看星星。"
    "这样的生活虽然简单,但是每个人都觉得很满足,也不想搬到很远的城市里去。"
)
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 20
GBK_TWINS = {"/gbk", "/gbk-as-utf-8"}


def test_pages_that_cannot_be_judged_are_kept_and_counted(project, site, article):
    gbk = f"<html><body><p>{SIMPLIFIED}".encode("gbk")
    site.add("/empty", b"")
    site.add("/png-as-html", PNG)
    site.add("/image", PNG, "image/png")
    site.add("/json", '{"text": "hello"}', "application/json")
    site.add("/large", b"<html>" + b"<p>large page</p>" * (MAX_PAGE_LENGTH // 16))
    site.add("/gbk", gbk, "text/html; charset=gbk")
    site.add("/gbk-as-utf-8", gbk)
    site.add("/no-type", f"<html><body><p>{article(3)}", None)
    site.add("/text", article(4), "text/plain")
    project.spider()

    crawl = project.crawl(*site.urls())

    assert crawl.exit_code == 0
    kept = {item["url"].removeprefix(site.url) for item in crawl.items}
    assert kept | GBK_TWINS == set(site.pages)
    assert len(kept & GBK_TWINS) == 1, "the page with the wrong charset is read and recognised"
    stats = crawl.stats
    assert stats["dedup/errors"] == 0
    assert stats["dedup/pages"] == len(site.pages)
    assert stats["dedup/unjudged/not_html"] == 2
    assert stats["dedup/unjudged/too_large"] == 1
    assert stats["dedup/unjudged/binary"] == 1
    assert stats["dedup/unjudged/no_text"] == 1
    assert not crawl.lines("ERROR")


@pytest.mark.parametrize(
    ("of_command", "of_spider", "sentence"),
    [
        (
            {"DEDUP_MAX_DISTNCE": "6"},
            {},
            "dedup_filter: unknown setting DEDUP_MAX_DISTNCE: did you mean DEDUP_MAX_DISTANCE?",
        ),
        ({}, {"DEDUP_ACTION": "delete"}, 'DEDUP_ACTION must be "drop" or "tag", not \'delete\''),
    ],
)
def test_wrong_setting_stops_the_crawl_at_its_start(project, site, of_command, of_spider, sentence):
    project.spider(settings=of_spider)

    crawl = project.crawl(site.url, **of_command)

    assert crawl.exit_code == 1
    assert crawl.log.rstrip().endswith(sentence)
    assert len(crawl.log.splitlines()) == 1 or not of_command
    assert (site.asked, crawl.items, crawl.stats) == ([], [], {})
