"""Settings are read from values and from texts, and refused in a sentence."""

import logging
from pathlib import Path

import pytest
from scrapy.settings import Settings

from dedup_filter import ConfigError
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.text.page_fields import FieldNames


def read(**settings):
    return PluginSettings.read(
        Settings({f"DEDUP_{name}": value for name, value in settings.items()})
    )


def test_nothing_set_gives_the_defaults():
    assert read() == PluginSettings()


@pytest.mark.parametrize(
    ("settings", "field", "value"),
    [
        ({"FOLLOW_LINKS": "False"}, "follow_links", False),
        ({"FOLLOW_LINKS": 0}, "follow_links", False),
        ({"LOG_LEVEL": "debug"}, "log_level", logging.DEBUG),
        ({"LOG_LEVEL": "30"}, "log_level", 30),
        ({"LOG_LEVEL": 10}, "log_level", 10),
        ({"LOG_LEVEL": None}, "log_level", logging.INFO),
        ({"FOLLOW_LINKS": None}, "follow_links", True),
        ({"HTML_FIELD": "source"}, "field_names", FieldNames(html="source")),
        ({"HTML_FIELD": "None"}, "field_names", FieldNames()),
        ({"TEXT_FIELDS": "title, body,"}, "field_names", FieldNames(text=("title", "body"))),
        ({"TEXT_FIELDS": ["title", "body"]}, "field_names", FieldNames(text=("title", "body"))),
        ({"TEXT_FIELDS": "None"}, "field_names", FieldNames()),
        ({"URL_FIELD": "link"}, "field_names", FieldNames(url="link")),
        (
            {"HTML_FIELD": "part", "TITLE_FIELD": "head"},
            "field_names",
            FieldNames(html="part", title="head"),
        ),
        ({"ACTION": "Tag"}, "action", "tag"),
        ({"TITLE_FIELD": "none", "DUPLICATES": "NONE"}, "field_names", FieldNames()),
        # Those of the filter get their type, too.
        ({"MAX_DISTANCE": "3"}, "options", {"max_distance": 3}),
        ({"MIN_SIMILARITY": "None"}, "options", {"min_similarity": None}),
        ({"MIN_SIMILARITY": "1"}, "options", {"min_similarity": 1.0}),
        ({"FEATURES": "Shingles"}, "options", {"features": "shingles"}),
        ({"IGNORE": '[".views"]'}, "options", {"ignore": [".views"]}),
        ({"CANONICAL": "True"}, "options", {"canonical": True}),
        ({"REPORT": "r.html", "INDEX": "pages"}, "report", "r.html"),
        ({"REPORT": "None"}, "report", None),
    ],
)
def test_settings_are_read(settings, field, value):
    assert getattr(read(**settings), field) == value


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"MAX_DISTANCE": 65}, "DEDUP_MAX_DISTANCE must be a whole number from 0 to 12, not 65"),
        ({"TITLE_FIELD": "head"}, "set DEDUP_TEXT_FIELDS or DEDUP_HTML_FIELD, too"),
        ({"FEATURES": "letters"}, "DEDUP_FEATURES must be .* not 'letters'"),
        ({"ACTION": "delete"}, 'DEDUP_ACTION must be "drop" or "tag", not \'delete\''),
        ({"ACTION": ["drop"]}, "DEDUP_ACTION must be"),
        ({"SOURCE": "page"}, 'DEDUP_SOURCE must be "auto" or "item" or "response"'),
        ({"ON_ERROR": "raise"}, 'DEDUP_ON_ERROR must be "keep" or "close"'),
        ({"LOG_LEVEL": "LOUD"}, "DEDUP_LOG_LEVEL must be a level .* not 'LOUD'"),
        ({"FOLLOW_LINKS": "perhaps"}, "DEDUP_FOLLOW_LINKS must be True or False, not 'perhaps'"),
        ({"HTML_FIELD": 5}, "DEDUP_HTML_FIELD must be the name of an item field, not 5"),
        ({"TEXT_FIELDS": 5}, "DEDUP_TEXT_FIELDS must be a list of item fields, not 5"),
        ({"TEXT_FIELDS": ["a", 5]}, "DEDUP_TEXT_FIELDS must be a list of item fields"),
        ({"TAG_FIELD": ""}, "DEDUP_TAG_FIELD must be a non-empty string, not ''"),
        ({"INDEX": 5}, "DEDUP_INDEX must be a non-empty string, not 5"),
        ({"INDEX": "ftp://x"}, "DEDUP_INDEX must be .* not 'ftp:"),
        ({"REPORT": 5}, "DEDUP_REPORT must be the path of a file, not 5"),
        ({"REPORT": "r.html"}, "DEDUP_REPORT needs an index that records dropped pages"),
        ({"REVISIT": "drop"}, "DEDUP_REVISIT needs an index that outlives the crawl"),
        ({"CHANGES": True}, "DEDUP_CHANGES needs an index that outlives the crawl"),
        (
            {"URL_RULES": "learn", "URL_RULES_FILE": "rules.json"},
            "DEDUP_URL_RULES needs an index that records dropped pages",
        ),
        ({"URL_RULES": "learn", "INDEX": "redis://a/0"}, "set DEDUP_URL_RULES_FILE to its path"),
        ({"CANONICAL": "yes"}, "DEDUP_CANONICAL must be True or False, not 'yes'"),
        (
            {"KEEP_TEXT": True, "INDEX": "redis://a/0"},
            "DEDUP_KEEP_TEXT is for an index in a directory",
        ),
        ({"IGNORE": "p::text"}, "DEDUP_IGNORE has no CSS selector in 'p::text': "),
        ({"CONTENT": "main >"}, "DEDUP_CONTENT has no CSS selector in 'main >': "),
        ({"IGNORE": '{"https://a/": "p"}'}, "DEDUP_IGNORE must have hosts such as example.com"),
        ({"IGNORE": '{"a.com": '}, "DEDUP_IGNORE is broken JSON: Expecting value at its end"),
        ({"TITLE_WEIGHT": "much"}, "DEDUP_TITLE_WEIGHT must be a whole number .* not 'much'"),
        (
            {"TITLE_WEIGHT": "5"},
            'DEDUP_TITLE_WEIGHT is for DEDUP_FEATURES="shingles"; with DEDUP_FEATURES="content" it',
        ),
        ({"MAX_DISTNCE": 5}, "unknown setting DEDUP_MAX_DISTNCE: did you mean DEDUP_MAX_DISTANCE?"),
        ({"ZZZZ": 5}, "unknown setting DEDUP_ZZZZ: there are DEDUP_ENABLED, "),
        ({"SOURCE": "item", "FOLLOW_LINKS": False}, "DEDUP_FOLLOW_LINKS=False needs the verdict"),
        ({"HTML_FIELD": "h", "FOLLOW_LINKS": False}, "DEDUP_FOLLOW_LINKS=False needs the verdict"),
        ({"TEXT_FIELDS": "t", "FOLLOW_LINKS": False}, "it cannot be combined with"),
    ],
)
def test_setting_that_cannot_be_meant_is_refused_in_a_sentence(settings, sentence):
    with pytest.raises(ConfigError, match=sentence.replace("?", r"\?")):
        read(**settings)


@pytest.mark.parametrize("name", ["dedup_action", "DEDUP_Ignore"])
def test_setting_in_small_letters_is_refused(name):
    with pytest.raises(ConfigError, match=f"{name}: did you mean {name.upper()}"):
        PluginSettings.read(Settings({name: "tag"}))
    PluginSettings.read(Settings({"dedup_of_mine": 1, "DEDUP_ENABLED": "True"}))


@pytest.mark.parametrize(
    ("settings", "index"),
    [
        ({}, "memory:"),
        ({"JOBDIR": ""}, "memory:"),
        ({"JOBDIR": "jobs/one"}, str(Path("jobs/one/dedup_index").absolute())),
        ({"JOBDIR": "/jobs/one"}, "/jobs/one/dedup_index"),
        ({"JOBDIR": "/jobs/one", "DEDUP_INDEX": "memory:"}, "memory:"),
        ({"JOBDIR": "/jobs/one", "DEDUP_INDEX": " /pages "}, "/pages"),
        ({"DEDUP_INDEX": Path("/pages")}, str(Path("/pages"))),
    ],
)
def test_index_is_where_it_is_set_else_in_the_folder_of_the_job(settings, index):
    assert PluginSettings.read(Settings(settings)).index == index


def test_password_of_a_server_is_not_shown():
    for location in ("rediss://u:pa55@host:1/0", "redis+cluster://:pa55@a:1,b:2"):
        settings = read(INDEX=location)
        assert settings.index == location
        assert "pa55" not in repr(settings)
    with pytest.raises(ConfigError, match=r"^DEDUP_INDEX must be redis:") as caught:
        read(INDEX="redis://:pa55@host:port/0")

    assert "pa55" not in str(caught.value)
