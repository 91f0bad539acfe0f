"""The options of single pages: by their requests, else by rules, else by the settings."""

import json
import logging

import pytest
from scrapy.http import JsonResponse
from scrapy.settings import Settings

from dedup_filter import ConfigError, FilterConfig
from dedup_filter.scrapy_plugin.page_rules import PageRules
from dedup_filter.scrapy_plugin.settings import PluginSettings

RULES = [
    {"match": "shop.example/p/*", "scope": "Host", "min_similarity": "0.9"},
    {"match": "shop.example", "action": "TAG", "max_missing": 2},
    {"match": "*/login", "judge": False},
]


@pytest.mark.parametrize(
    ("url", "meta", "expected"),
    [
        ("http://b.example/", None, {}),
        ("http://shop.example/p/1", None, {"scope": "host", "min_similarity": 0.9}),
        ("http://shop.example/q", None, {"action": "tag", "max_missing": 2}),
        ("http://shop.example/q", {"action": "Drop"}, {"max_missing": 2}),
        ("http://shop.example/p/1", {"min_similarity": None}, {"scope": "host"}),
        ("http://b.example/", {"scope": "host", "max_missing": 0}, {"scope": "host"}),
        ("http://b.example/login", None, {"judge": False}),
        ("http://b.example/login", True, {}),
        ("http://b.example/login", {"judge": "true"}, {}),
        ("http://b.example/", False, {"judge": False}),
        (
            "http://shop.example/q",
            {"judge": 0},
            {"action": "tag", "max_missing": 2, "judge": False},
        ),
    ],
)
def test_the_request_beats_the_first_rule_that_fits_and_a_rule_the_settings(url, meta, expected):
    rules = PageRules(FilterConfig(min_similarity=None), "drop", RULES)
    found = rules.treatment(url, meta)
    usual = {"scope": "all", "min_similarity": None, "max_missing": 0, "action": "drop"}
    config = {name: getattr(found.config, name) for name in usual if name != "action"}
    expected = usual | {"judge": True, "fault": None} | expected
    assert (
        config | {each: getattr(found, each) for each in ("action", "judge", "fault")} == expected
    )


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        (5, "DEDUP_RULES must be a list of rules, each a dict, not 5"),
        ('[{"match": "a.b"', "DEDUP_RULES is broken JSON: Expecting ',' delimiter at its end"),
        ([RULES[0], "a"], "DEDUP_RULES: rule 2: it must be a dict with \"match\", not 'a'"),
        ([{"scope": "host"}], 'rule 1: it must be a dict with "match", not '),
        (
            [{"match": "https://a/", "scope": "host"}],
            "rule 1: match must be a host, .* 'https://a/'",
        ),
        (
            [{"match": "a.b"}],
            "rule 1: it has no key besides match: there are judge, action, scope,",
        ),
        ([{"match": "a.b", "scop": "host"}], "rule 1: unknown key scop: did you mean scope?"),
        ([{"match": "a.b", "ignore": ".x"}], "rule 1: unknown key ignore: there are judge, "),
        ([{"match": "a.b", "scope": "page"}], 'rule 1: scope must be one of "all", "host", not'),
        ([*RULES, {"match": "a.b", "action": 5}], 'rule 4: action must be "drop" or "tag", not 5'),
        ([{"match": "a.b", "judge": "no"}], "rule 1: judge must be True or False, not 'no'"),
        ([{"match": "a.b", "min_similarity": 7}], "rule 1: min_similarity must be from 0 to 1, or"),
        ([{"match": "a.b", "max_missing": [1]}], "rule 1: max_missing must be a whole number .*1"),
    ],
)
def test_a_wrong_rule_is_refused_with_its_number_and_its_key(rules, sentence):
    with pytest.raises(ConfigError, match=sentence.replace("?", r"\?")):
        PluginSettings.read(Settings({"DEDUP_RULES": rules}))


def test_rules_are_read_from_a_command_line():
    assert PluginSettings.read(Settings({"DEDUP_RULES": json.dumps(RULES)})).rules == (*RULES,)


def test_the_action_and_the_scope_of_a_page(make_crawl, respond, page):
    crawl = make_crawl(DEDUP_ACTION="tag", DEDUP_RULES=[{"match": "a/x", "action": "drop"}])
    found = []
    for url, meta in [
        ("http://a/1", None),
        ("http://a/2", None),
        ("http://a/x", None),
        ("http://a/x", {"action": "tag"}),
        ("http://b/1", {"action": "drop", "scope": "host"}),
        ("http://b/2", {"action": "drop"}),
    ]:
        item, response = {}, respond(url, page(1), meta={"dedup": meta})
        crawl.expect(response, item, ends=True)
        sent = crawl.send(item, response)
        found.append((sent.end(), sent.is_dropped))
    assert [*map(tuple, found)] == [
        ("new", False),
        ("exact", False),
        ("exact", True),
        ("exact", False),
        ("new", False),
        ("exact", True),
    ]


def test_items_of_a_feed_follow_the_rules_for_their_own_urls(make_crawl, respond, page):
    rules = [{"match": "a/out/*", "judge": False}, {"match": "a/own", "scope": "host"}]
    crawl = make_crawl(DEDUP_RULES=rules)
    response = respond("http://feed/", "[]", JsonResponse)
    urls = "http://b/1", "http://a/own", "http://a/2", "http://a/out/1"
    items = [{"url": url, "html": page(1)} for url in urls]
    crawl.expect(response, *items)
    assert [crawl.send(item, response).end() for item in items] == ["new", "new", "exact", None]
    assert (crawl.stats["dedup/pages"], crawl.stats["dedup/opted_out"]) == (3, 1)


def test_a_wrong_value_in_a_request_keeps_its_items_and_is_logged(
    make_crawl, respond, page, caplog
):
    crawl = make_crawl()
    with caplog.at_level(logging.ERROR, "dedup_filter"):
        for number, meta in enumerate(({"scope": "page"}, "host", {"sope": "host"})):
            items = {"number": 1}, {"number": 2}
            response = respond(f"http://a/{number}", page(1), meta={"dedup": meta})
            crawl.expect(response, *items)
            assert [crawl.put_through(item, response).reason for item in items] == ["error"] * 2
    first, second = (record.getMessage().partition("ConfigError: ") for record in caplog.records)
    assert first[0] == "A page could not be judged; its items are kept: "
    assert first[2] == (
        """meta["dedup"] of http://a/0: scope must be one of "all", "host", not 'page'"""
    )
    assert second[0].startswith("2 faults so far; the last: ")
    assert second[2].endswith("""it must be False, or a dict like {"action": "tag"}, not 'host'""")
    assert crawl.stats["dedup/errors"] == crawl.stats["dedup/unjudged/error"] == 3
