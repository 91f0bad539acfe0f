"""`scrapy crawl warc`: an archive through the pipelines, and what the stats say of it."""

import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE
from warc_samples import page, record, response, write

ROOT = Path(__file__).parents[2]
CHINESE = (
    "<html><title>茶</title><body><p>" + "綠茶和紅茶都來自同一種茶樹。" * 3 + "</p></body></html>"
)


def test_pages_become_items_and_all_else_is_counted(crawl, tmp_path) -> None:
    write(
        tmp_path / "b.warc.gz",
        record("http://a/", "request", b"GET / HTTP/1.1\r\n\r\n"),
        response("http://a/1", page(1)),
        response("http://a/logo", b"\x89PNG\r\n\x1a\n" + bytes(90), "image/png"),
        response("http://a/2", page(2), status="404 Not Found"),
        response("http://a/big5", CHINESE.encode("big5"), "text/html; charset=big5"),
        response("http://a/odd", page(3), "text/html; charset=no-such"),
        response("http://a/bare", page(4), None),
        b"garbage" * 50,
        response("http://a/twin", page(1)),
    )
    cut = response("http://a/cut", page(6))
    write(tmp_path / "a.warc.gz", response("http://a/first", page(5)), cut[: len(cut) // 2])
    (tmp_path / "0.warc.gz").mkdir()  # cannot be read
    done = crawl("warc", path=f"{tmp_path}/a.warc.gz,{tmp_path}/[0b].*")
    assert done.exit_code == 0
    assert done.urls == [f"http://a/{name}" for name in ("first", "1", "big5", "odd", "bare")]
    assert done.items[2]["html"] == CHINESE
    assert done.items[2]["title"] == "茶"
    assert done.items[3]["title"] == "Page 3"
    assert "http://a/twin repeats http://a/1" in done.log
    assert done.stats["warc/records"] == 11
    assert done.stats["warc/pages"] == 6
    assert done.stats["warc/bad_records"] == 2
    assert done.stats["warc/unreadable_files"] == 1
    assert done.stats["warc/skipped/not_html"] == 1
    assert done.stats["warc/skipped/status"] == 1
    assert done.stats["warc/skipped/other_type"] == 1
    assert "downloader/request_count" not in done.stats
    assert "Traceback" not in done.log


SLOW_PIPELINE = """
import asyncio, sys
from scrapy.crawler import CrawlerProcess
from crawler.spiders.warc import WarcSpider

under_way = most = 0

class SlowPipeline:
    async def process_item(self, item, spider=None):
        global under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.02)
        under_way -= 1
        return item

process = CrawlerProcess({
    "ITEM_PIPELINES": {SlowPipeline: 1}, "CONCURRENT_ITEMS": 5, "LOG_LEVEL": "ERROR",
})
crawler = process.create_crawler(WarcSpider)
process.crawl(crawler, path=sys.argv[1])
process.start()
print(most, crawler.stats.get_value("item_scraped_count"))
"""


@pytest.mark.slow
def test_a_slow_pipeline_holds_up_the_reading(tmp_path) -> None:
    path = write(tmp_path / "a.warc.gz", *(response(f"http://a/{n}", page(n)) for n in range(100)))
    command = [sys.executable, "-c", SLOW_PIPELINE, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=PATIENCE, check=True)
    assert done.stdout.split() == [b"5", b"100"]
