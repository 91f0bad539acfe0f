"""The add-on refuses what cannot be meant, and opens one index for a crawl."""

import asyncio
import sys
from unittest.mock import Mock

import pytest
from passages import Collector
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager

from dedup_filter import ConfigError
from dedup_filter.errors import StoreError
from dedup_filter.scrapy_plugin import Addon, SettingsError
from dedup_filter.scrapy_plugin.pipeline import NearDuplicateMiddleware, NearDuplicatePipeline

PIPELINE = "dedup_filter.scrapy_plugin.pipeline.NearDuplicatePipeline"


@pytest.fixture(params=[True, False], ids=["command", "program"])
def is_command(request, monkeypatch):
    """Whether this is the `scrapy` command, or a program of the user."""
    monkeypatch.setitem(sys.modules, "scrapy.cmdline", sys)
    if not request.param:
        monkeypatch.delitem(sys.modules, "scrapy.cmdline")
    return request.param


def test_pipeline_runs_before_all_others_and_the_middleware_next_to_the_engine():
    settings = Settings({"ITEM_PIPELINES": {"scrapy.pipelines.images.ImagesPipeline": 1}})

    Addon().update_settings(settings)

    pipelines = settings.getdict("ITEM_PIPELINES")
    assert min(pipelines, key=pipelines.get) is NearDuplicatePipeline
    middlewares = {**settings["SPIDER_MIDDLEWARES_BASE"], **settings["SPIDER_MIDDLEWARES"]}
    assert min(middlewares, key=middlewares.get) is NearDuplicateMiddleware


def test_place_that_the_project_gave_the_pipeline_stays():
    for order in (900, None):
        settings = Settings({"ITEM_PIPELINES": {PIPELINE: order}})
        Addon().update_settings(settings)
        assert settings.getdict("ITEM_PIPELINES") == {PIPELINE: order}


def test_disabled_filter_changes_no_setting_and_reads_none():
    settings = Settings({"DEDUP_ENABLED": False, "DEDUP_ACTION": "nonsense"})
    before = settings.copy_to_dict()

    Addon.update_pre_crawler_settings(settings)
    Addon().update_settings(settings)

    assert settings.copy_to_dict() == before


@pytest.mark.parametrize("name", ["DEDUP_ENABLED", "DEDUP_ACTION"])
def test_wrong_setting_is_refused_both_times(name, is_command):
    """The second time it ends the `scrapy` command, but no program of the user."""
    settings = Settings({name: "perhaps"})

    with pytest.raises(ConfigError, match=name) as second:
        Addon().update_settings(settings)
    with pytest.raises(SettingsError, match=name) as first:
        Addon.update_pre_crawler_settings(settings)

    assert isinstance(second.value, SystemExit) is is_command
    assert first.value.code == f"dedup_filter: {first.value}"


class Crawler:
    spider = engine = None

    def __init__(self, addon, **settings):
        self.addon = addon
        self.stats = Collector()
        self.signals = SignalManager()
        self.settings = Settings(settings)

    def get_addon(self, cls):
        return self.addon if isinstance(self.addon, cls) else None


def test_component_without_the_addon_names_the_line_that_is_missing():
    for component in (NearDuplicatePipeline, NearDuplicateMiddleware):
        with pytest.raises(ConfigError, match="ADDONS"):
            component.from_crawler(Crawler(None))


@pytest.mark.parametrize("method", ["close_spider", "close_spider_async"])
def test_spider_is_closed_once_at_the_first_fault_if_so_wished(method):
    """By the method that this version of Scrapy has."""
    crawler = Crawler(Addon(), DEDUP_ON_ERROR="close")
    crawler.engine = Mock(spec=[method])
    pipeline = NearDuplicatePipeline.from_crawler(crawler)
    pipeline.pages.conductor.claim = Mock(side_effect=StoreError("no room"))

    async def crawl():
        for _ in range(2):
            await pipeline.process_item({"html": "<html>"})
        await pipeline.index.close(pipeline.visits.end_all)

    asyncio.run(crawl())

    getattr(crawler.engine, method).assert_called_once()
    assert crawler.stats["dedup/unjudged/error"] == crawler.stats["dedup/pages"] == 2


def test_a_name_of_a_crawl_that_cannot_be_read_is_an_error(tmp_path):
    path = tmp_path / "dedup_filter.crawl"
    path.write_bytes(b"\xff\xfe")

    with pytest.raises(StoreError, match=str(path)):
        Addon.of(Crawler(Addon(), JOBDIR=str(tmp_path)))


def test_index_that_cannot_be_opened_is_told_of_by_the_setting(tmp_path, is_command):
    """It ends the `scrapy` command, but no program of the user."""
    (tmp_path / "notes.txt").write_text("mine")

    with pytest.raises(ConfigError, match=r"^DEDUP_INDEX: .*notes\.txt") as caught:
        Addon.of(Crawler(Addon(), DEDUP_INDEX=str(tmp_path)))

    assert isinstance(caught.value, SystemExit) is is_command
