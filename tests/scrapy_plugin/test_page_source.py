from dataclasses import dataclass, make_dataclass

import attrs
import pydantic
import pytest
import scrapy

from dedup_filter.scrapy_plugin.page_source import (
    HTML_NAMES,
    TEXT_NAMES,
    URL_NAMES,
    FieldNames,
    PageText,
    item_page,
    item_url,
    looks_like_markup,
)

GUESS = FieldNames()


class ScrapyItem(scrapy.Item):
    page_url = scrapy.Field()
    source = scrapy.Field()
    summary = scrapy.Field()


@dataclass
class DataclassItem:
    page_url: object = None
    source: object = None
    summary: object = None


@attrs.define
class AttrsItem:
    page_url: object = None
    source: object = None
    summary: object = None


class PydanticItem(pydantic.BaseModel):
    page_url: object = None
    source: object = None
    summary: object = None


@pytest.mark.parametrize("kind", [dict, ScrapyItem, DataclassItem, AttrsItem, PydanticItem])
def test_named_fields_are_read_from_every_kind_of_item(kind):
    item = kind(page_url="http://a/", source="<p>Hello", summary=None)

    page = item_page(item, FieldNames(html="source"))

    assert page.html == "<p>Hello"
    assert page.text is None
    assert item_url(item, FieldNames(url="page_url")) == "http://a/"
    assert item_page(item, FieldNames(html="summary")) == "no_field"
    assert item_page(item, FieldNames(html="missing")) == "no_field"


@pytest.mark.parametrize("item", [5, "text", None, object()])
def test_object_that_is_no_item_has_no_field(item):
    assert item_page(item, GUESS) == "no_field"
    assert item_url(item, GUESS) is None


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("<p>a", "<p>a"),
        (b"\xff<p>", b"\xff<p>"),
        (["<p>a", "<p>b"], "<p>a\n<p>b"),
        (("<p>a",), "<p>a"),
        ([], ""),
        ("", ""),
        ("\ud800", "\ud800"),
    ],
)
def test_named_html_field_may_be_text_bytes_or_list_of_texts(value, content):
    assert item_page({"source": value}, FieldNames(html="source")).html == content


@pytest.mark.parametrize("value", [5, 1.5, True, {"body": "<p>"}, ["<p>", 5], [b"<p>"], object()])
def test_named_html_field_of_another_type_is_a_wrong_type(value):
    assert item_page({"source": value}, FieldNames(html="source")) == "wrong_type"


def test_named_text_fields_are_joined_and_missing_ones_left_out():
    names = FieldNames(text=("title", "teaser", "paragraphs"))

    page = item_page({"paragraphs": ["One.", "Two."], "title": "Title", "teaser": None}, names)

    assert page.text == "Title\nOne.\nTwo."
    assert not page.is_guess


@pytest.mark.parametrize("value", [5, b"bytes", {"a": "b"}, ["a", 5]])
def test_one_named_text_field_of_another_type_is_a_wrong_type(value):
    names = FieldNames(text=("title", "body"))

    assert item_page({"title": "Title", "body": value}, names) == "wrong_type"


def test_named_text_is_read_where_the_named_html_is_missing():
    names = FieldNames(html="source", text=("body",))

    assert item_page({"body": "Hello"}, names).text == "Hello"
    assert item_page({"body": "Hello", "source": "<p>"}, names).html == "<p>"
    assert item_page({"body": "Hello", "source": 5}, names) == "wrong_type"


def test_nothing_is_guessed_where_a_name_is_given():
    item = {"html": "<p>Hello", "text": "Hello"}

    assert item_page(item, FieldNames(html="source")) == "no_field"
    assert item_page(item, FieldNames(text=("summary",))) == "no_field"


@pytest.mark.parametrize("name", HTML_NAMES)
def test_html_is_found_by_its_usual_names(name):
    page = item_page({"title": "x", "text": "short", name: "<p>Hello"}, GUESS)

    assert page.html == "<p>Hello"
    assert page.is_guess, "it may be a piece of a page"


@pytest.mark.parametrize("name", TEXT_NAMES)
def test_text_is_found_by_its_usual_names(name):
    assert item_page({"title": "x", name: "Hello"}, GUESS).text == "Hello"
    assert item_page({"title": "x", name: "Hello"}, GUESS).is_guess


@pytest.mark.parametrize("name", ["body", "content", "text"])
def test_field_for_text_is_html_if_it_begins_with_a_tag(name):
    page = item_page({name: "\n <div class='a'>Hello"}, GUESS)

    assert page.html == "\n <div class='a'>Hello"
    assert page.is_guess


def test_field_of_no_use_is_passed_over_for_the_next():
    item = {"html": None, "content": {"rendered": "x"}, "body_text": "", "text": 5, "body": "Hi"}

    assert item_page(item, GUESS).text == "Hi"


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({}, "no_field"),
        ({"title": "Hello"}, "no_field"),
        ({"text": None, "html": None}, "no_field"),
        ({"text": 5}, "wrong_type"),
        ({"content": {"rendered": "x"}}, "wrong_type"),
        ({"text": ""}, "no_text"),
        ({"html": ""}, "no_text"),
    ],
)
def test_item_without_a_usable_field_tells_why(item, reason):
    assert item_page(item, GUESS) == reason


@pytest.mark.parametrize("name", URL_NAMES)
def test_url_is_found_by_its_usual_names(name):
    assert item_url({name: " http://a/ "}, GUESS) == "http://a/"


@pytest.mark.parametrize("value", [None, "", "  ", 5, b"http://a/", {"href": "x"}, ["a", 5]])
def test_url_that_is_no_text_is_none(value):
    assert item_url({"url": value}, GUESS) is None


def test_url_from_an_item_loader_is_a_list_of_one():
    assert item_url({"url": ["http://a/"]}, GUESS) == "http://a/"


def test_size_is_in_bytes_and_digest_tells_pages_apart():
    html, other = (item_page({"html": text}, GUESS) for text in ("<p>猫", "<p>犬"))

    assert (html.size, other.size) == (6, 6)
    assert len(html.digest) == 16
    assert html.digest != other.digest
    assert html.digest == item_page({"html": "<p>猫"}, GUESS).digest
    assert isinstance(item_page({"text": "\ud800"}, GUESS), PageText)


@pytest.mark.parametrize("text", ["<p>", " \r\n<!DOCTYPE html>", "\ufeff<?xml ?>", "</p>", "<a/>"])
def test_text_that_begins_with_a_tag_looks_like_markup(text):
    assert looks_like_markup(text)


@pytest.mark.parametrize("text", ["", "<", "< p>", "<3 cats", "a <p>", "<-", " " * 2000 + "<p>"])
def test_other_text_does_not(text):
    assert not looks_like_markup(text)


def test_item_that_lacks_a_value_for_its_field_has_no_field():
    item = make_dataclass("Late", [("html", object)])("<p>")
    del item.html

    assert item_page(item, GUESS) == "no_field"
