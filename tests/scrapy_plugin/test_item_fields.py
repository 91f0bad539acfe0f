"""A setting that names a wrong field is told once, with what was looked for and what is there."""

from dataclasses import dataclass, field

import pytest
from scrapy import Field, Item
from scrapy.http import JsonResponse

from dedup_filter.scrapy_plugin.item_page import ItemFields
from dedup_filter.text.page_fields import FieldNames, PageText

NO_PAGE = "{item} without page text ({reason}): looked for {looked}; its fields are {there}; it and"


class Book(Item):
    name, about = Field(), Field()


@dataclass
class Source:
    page: str
    never_set: str = field(init=False)


@pytest.mark.parametrize("source", [Source("http://a/"), {"page": "http://a/"}])
@pytest.mark.parametrize("kind", [dict, Book])
def test_fields_within_items_of_any_kind_are_read(kind, source):
    item = kind(name="a", about={"source": [], "from": source})
    fields = ItemFields(FieldNames(text=("about.from.page", "name"), url="about.from.page"))
    assert fields.page(item) == PageText(text="http://a/\na")
    assert fields.url(item) == "http://a/"


def test_a_field_that_was_never_set_is_none(caplog):
    fields = ItemFields(FieldNames(html="never_set"))
    assert fields.page(Source("a")) == "no_field"
    assert "its fields are 'page'" in caplog.text


@pytest.fixture
def warnings(make_crawl, caplog):
    """Judge items by settings; return the warnings, and what was said of each item."""

    def judge(settings, *items):
        crawl = make_crawl(**settings)
        verdicts = [crawl.put_through(item) for item in items]
        assert {record.levelname for record in caplog.records} <= {"WARNING"}
        return [record.getMessage() for record in caplog.records], [
            verdict.reason or verdict.outcome for verdict in verdicts
        ]

    return judge


@pytest.mark.parametrize(
    ("settings", "item", "reason", "looked", "there"),
    [
        (
            {"DEDUP_TEXT_FIELDS": "nosuch,n2"},
            {"url": "http://a/", "title": "a", 5: 6, "meta": {"page": "a"}},
            "no_field",
            "'nosuch', 'n2' (DEDUP_TEXT_FIELDS)",
            "'url', 'title', 5, 'meta.page'",
        ),
        (
            {"DEDUP_HTML_FIELD": "hmtl", "DEDUP_TEXT_FIELDS": "about"},
            Book(name="a"),
            "no_field",
            "'hmtl' (DEDUP_HTML_FIELD), 'about' (DEDUP_TEXT_FIELDS)",
            "'name'",
        ),
        ({"DEDUP_HTML_FIELD": "a"}, {"a": 5}, "wrong_type", "'a' (DEDUP_HTML_FIELD)", "'a'"),
        ({"DEDUP_HTML_FIELD": "a"}, {"\n": 5}, "no_field", "'a' (DEDUP_HTML_FIELD)", r"'\n'"),
        ({"DEDUP_HTML_FIELD": "a"}, {}, "no_field", "'a' (DEDUP_HTML_FIELD)", "none"),
        ({"DEDUP_HTML_FIELD": "a"}, object(), "no_field", "'a' (DEDUP_HTML_FIELD)", "none"),
    ],
)
def test_fields_without_a_page_are_named_once(warnings, settings, item, reason, looked, there):
    [warning], found = warnings(settings, item, item)
    item = type(item).__name__
    assert warning.startswith(NO_PAGE.format(item=item, reason=reason, looked=looked, there=there))
    assert found == [reason, reason]


@pytest.mark.parametrize("html", ["", " ", "<p>Hello", "<p>Hello".encode("utf-16-be"), "</p>"])
def test_html_and_nothing_give_no_warning(warnings, html):
    assert warnings({"DEDUP_HTML_FIELD": "html"}, {"html": html})[0] == []


def test_items_that_are_judged_by_their_response_need_no_fields(warnings):
    items = [{"title": "no page"}, {"html": "<html>"}]
    assert warnings({"DEDUP_SOURCE": "item"}, *items)[0] == []


def test_items_of_one_text_with_two_titles_are_two_pages(make_crawl, respond, article):
    titles = ["Anna Berg", "Jonas Falk", "Anna Berg"]
    items = [
        {"url": f"https://www.example.com/{n}", "head": {"line": title}, "text": article(1, n)}
        for n, title in enumerate(titles)
    ]
    settings = {"DEDUP_TEXT_FIELDS": "text", "DEDUP_TITLE_FIELD": "head.line"}
    crawl, response = make_crawl(**settings), respond("https://www.example.com/", "", JsonResponse)
    crawl.expect(response, *items)
    assert [crawl.put_through(item, response).outcome for item in items] == ["new", "new", "near"]
