"""Requests are held back by rules and by what a crawl has kept; a page of its own ends a rule."""

import pytest
from passages import Collector
from scrapy import Request
from scrapy.settings import Settings

from dedup_filter import Verdict
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.stats import CrawlStats
from dedup_filter.scrapy_plugin.url_rules import UrlRules
from dedup_filter.urls.mining import Evidence, Proven
from dedup_filter.urls.rule import Rule
from dedup_filter.urls.rules_file import write_rules

SITE = "https://a.example"
SID = Rule(SITE, "parameters", ("sid",))
SLASH = Rule(SITE, "ending", ("/", ""))


class Alike:
    """An index in which two pages are so similar."""

    def __init__(self, similarity):
        self.similarity = lambda one, other: similarity


class Crawl:
    def __init__(self, folder, rules=(SID, SLASH), audit=0.0, mode="apply"):
        file = folder / "rules.json"
        write_rules(file, [Proven(rule, Evidence(20)) for rule in rules])
        settings = {"URL_RULES": mode, "URL_RULES_FILE": file, "URL_AUDIT": audit}
        settings = {f"DEDUP_{name}": value for name, value in settings.items()}
        settings["DEDUP_INDEX"] = str(folder / "index")
        self.stats = Collector()
        self.rules = UrlRules(PluginSettings.read(Settings(settings)), CrawlStats(self.stats))

    def see(self, path, verdict, similarity=0.0):
        self.rules.add_verdict([f"{SITE}{path}"], verdict, Alike(similarity))

    def holds_back(self, path, **request):
        return self.rules.holds_back(Request(f"{SITE}{path}", **request))

    def count(self, name):
        return self.stats.get(f"dedup/rules/{name}", 0)


def new(page, canonical=None):
    return Verdict("new", page=page, canonical=canonical)


def repeat(page, original):
    return Verdict("near", f"{SITE}/", 1, 0.9, page=page, original_page=original)


@pytest.fixture
def crawl(tmp_path):
    return Crawl(tmp_path)


def test_the_first_saving_of_a_rule_is_an_audit_and_then_a_share(tmp_path):
    crawl = Crawl(tmp_path, audit=0.25)
    crawl.see("/1", new(1))
    held = [crawl.holds_back(f"/1?sid={n}") for n in range(1, 9)]
    assert held == [False, True, True, False, True, True, True, False]
    assert (crawl.count("requests_saved"), crawl.count("audited")) == (5, 3)


def test_a_rule_that_only_counts_holds_nothing_back(tmp_path):
    crawl = Crawl(tmp_path, mode="learn")
    crawl.see("/1", new(1))
    assert not any(crawl.holds_back(f"/1?sid={n}") for n in range(3))
    assert crawl.count("saveable") == 3


@pytest.mark.parametrize(
    ("path", "request_of"),
    [
        ("/1", {}),  # no rule changes it
        ("/2?sid=2", {}),  # no page of its form was seen
        ("/1?sid=1", {"dont_filter": True}),
        ("/1?sid=1", {"method": "POST"}),
        ("/1?sid=1", {"body": "x"}),
        ("/1?sid=1", {"meta": {"dedup": False}}),
        ("/1?sid=1", {"meta": {"dedup": {"action": "tag"}}}),
    ],
)
def test_other_requests_are_made(crawl, path, request_of):
    crawl.see("/1", new(1))
    assert not crawl.holds_back("/1?sid=0"), "the audit"
    assert crawl.holds_back("/1?sid=1")
    assert not crawl.holds_back(path, **request_of)


def test_only_content_that_this_crawl_has_kept_saves_requests(crawl):
    crawl.see("/1", repeat(8, original=1))  # an earlier crawl kept page 1
    assert not any(crawl.holds_back(f"/1?sid={n}") for n in range(3))
    crawl.see("/one", new(1))
    assert not crawl.holds_back("/1?sid=3"), "the audit"
    assert crawl.holds_back("/1?sid=4")


@pytest.mark.parametrize(
    "other",
    [new(2), Verdict("revisit", page=9, original_page=2), Verdict("unjudged", reason="binary")],
)
@pytest.mark.parametrize("paths", [("/1", "/1?sid=1"), ("/1?sid=1", "/1")])
def test_a_page_of_its_own_switches_off_the_rules_that_say_otherwise(crawl, paths, other):
    crawl.see("/other/", new(7))
    crawl.see(paths[0], new(1))
    crawl.see(paths[1], other)
    assert (crawl.count("contradicted"), crawl.count("active")) == (1, 1)
    assert not any(crawl.holds_back(f"/1?sid={n}") for n in range(3))
    crawl.see("/2", new(3))
    assert not crawl.holds_back("/2/"), "the audit"
    assert crawl.holds_back("/2/")


@pytest.mark.parametrize(
    "other",
    [
        new(1),  # the same page, judged again
        repeat(5, original=1),
        repeat(5, original=2),  # another page that is kept
        Verdict("unjudged", reason="error"),
        Verdict("unjudged", reason="pending"),
    ],
)
def test_a_page_that_is_kept_elsewhere_or_was_not_compared_contradicts_nothing(crawl, other):
    crawl.see("/1", new(1))
    crawl.see("/1?sid=1", other)
    crawl.see("/1", new(6))  # it has changed
    assert crawl.count("contradicted") == 0


@pytest.mark.parametrize("first", ["/1", "/1?sid=1"])
@pytest.mark.parametrize(
    ("canonical", "similarity", "is_same"),
    [
        (f"{SITE}/1", 0.95, True),
        (f"{SITE}/1", 0.8, False),
        (f"{SITE}/2", 0.95, False),
        (None, 0.95, False),
    ],
)
def test_a_page_like_the_one_that_it_names_is_the_same(
    crawl, first, canonical, similarity, is_same
):
    pages = {"/1": new(1), "/1?sid=1": new(2, canonical)}
    crawl.see(first, pages.pop(first))
    [(path, verdict)] = pages.items()
    crawl.see(path, verdict, similarity)
    assert crawl.count("contradicted") == 1 - is_same


def test_a_fault_makes_the_request(crawl):
    crawl.see("/1", Verdict("new", page=1, canonical=5))
    assert crawl.stats["dedup/errors"] == 1
    crawl.rules._rules = None
    assert not crawl.holds_back("/1?sid=1")
    assert crawl.stats["dedup/errors"] == 2
