from dataclasses import dataclass, make_dataclass

import attrs
import pydantic
import pytest
import scrapy

from dedup_filter.scrapy_plugin.page_source import item_page, item_url
from dedup_filter.text.page_fields import URL_NAMES, FieldNames, PageText, is_document

UNNAMED = FieldNames()
DOCUMENT = "<!doctype html><title>A page</title><p>Hello"


def page_of(item, names=UNNAMED):
    return item_page(item, names)


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

    page = page_of(item, FieldNames(html="source"))

    assert page.html == "<p>Hello"
    assert page.text is None
    assert item_url(item, FieldNames(url="page_url")) == "http://a/"
    assert page_of(item, FieldNames(html="summary")) == "no_field"
    assert page_of(item, FieldNames(html="missing")) == "no_field"


@pytest.mark.parametrize("item", [5, "text", None, object()])
def test_object_that_is_no_item_has_no_field(item):
    assert page_of(item) == "no_field"
    assert item_url(item, UNNAMED) is None


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
    assert page_of({"source": value}, FieldNames(html="source")).html == content


@pytest.mark.parametrize("value", [5, 1.5, True, {"body": "<p>"}, ["<p>", 5], [b"<p>"], object()])
def test_named_html_field_of_another_type_is_a_wrong_type(value):
    assert page_of({"source": value}, FieldNames(html="source")) == "wrong_type"


def test_named_text_fields_are_joined_and_missing_ones_left_out():
    names = FieldNames(text=("title", "teaser", "paragraphs"))

    page = page_of({"paragraphs": ["One.", "Two."], "title": "Title", "teaser": None}, names)

    assert page.text == "Title\nOne.\nTwo."


@pytest.mark.parametrize("value", [5, b"bytes", {"a": "b"}, ["a", 5]])
def test_one_named_text_field_of_another_type_is_a_wrong_type(value):
    names = FieldNames(text=("title", "body"))

    assert page_of({"title": "Title", "body": value}, names) == "wrong_type"


def test_named_text_is_read_where_the_named_html_is_missing():
    names = FieldNames(html="source", text=("body",))

    assert page_of({"body": "Hello"}, names).text == "Hello"
    assert page_of({"body": "Hello", "source": "<p>"}, names).html == "<p>"
    assert page_of({"body": "Hello", "source": 5}, names) == "wrong_type"


def test_no_other_field_counts_where_a_name_is_given():
    item = {"html": DOCUMENT, "text": "Hello"}

    assert page_of(item, FieldNames(html="source")) == "no_field"
    assert page_of(item, FieldNames(text=("summary",))) == "no_field"


@pytest.mark.parametrize("kind", [dict, ScrapyItem, DataclassItem, AttrsItem, PydanticItem])
@pytest.mark.parametrize("written", [DOCUMENT, DOCUMENT.encode(), DOCUMENT.encode("utf-16")])
def test_whole_document_is_the_page_in_whatever_field_it_is(kind, written):
    assert page_of(kind(page_url="http://a/", summary="A page", source=written)).html == written


def test_document_from_an_item_loader_is_a_list_of_one():
    assert page_of({"anything": [DOCUMENT]}).html == DOCUMENT


@pytest.mark.parametrize("name", ["html", "raw_html", "text", "body", "content", "article"])
@pytest.mark.parametrize(
    "value", ["Hello " * 500, "<p>" + "Hello " * 500, b"<div>Hello", 5, "", []]
)
def test_nothing_but_a_document_is_taken_for_the_page_whatever_its_field_is_called(name, value):
    assert page_of({"title": "A page", name: value}) == "no_field"


def test_of_two_documents_none_is_taken_for_the_page():
    item = {"raw": DOCUMENT, "clean": f"{DOCUMENT}, cleaned"}

    assert page_of(item) == "no_field"
    assert page_of(item, FieldNames(html="clean")).html == f"{DOCUMENT}, cleaned"
    assert page_of({"raw": DOCUMENT, "copy": DOCUMENT}).html == DOCUMENT


@pytest.mark.parametrize("item", [{}, {"page": None}, {"page": {"html": DOCUMENT}}])
def test_item_without_a_document_has_no_field(item):
    assert page_of(item) == "no_field"


@pytest.mark.parametrize("name", URL_NAMES)
def test_url_is_found_by_its_usual_names(name):
    assert item_url({name: " http://a/ "}, UNNAMED) == "http://a/"


@pytest.mark.parametrize("value", [None, "", "  ", 5, b"http://a/", {"href": "x"}, ["a", 5]])
def test_url_that_is_no_text_is_none(value):
    assert item_url({"url": value}, UNNAMED) is None


def test_url_from_an_item_loader_is_a_list_of_one():
    assert item_url({"url": ["http://a/"]}, UNNAMED) == "http://a/"


def test_size_is_in_bytes_and_digest_tells_pages_apart():
    names = FieldNames(html="html")
    html, other = (page_of({"html": text}, names) for text in ("<p>猫", "<p>犬"))

    assert (html.size, other.size) == (6, 6)
    assert len(html.digest) == 16
    assert html.digest != other.digest
    assert html.digest == page_of({"html": "<p>猫"}, names).digest
    assert isinstance(page_of({"html": "\ud800"}, names), PageText)


@pytest.mark.parametrize(
    "text",
    [
        "<html>",
        " \r\n<!DOCTYPE html>",
        "\ufeff<HTML lang=en>",
        "<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC 'x'>",
        "<!-- saved from > --> <!-- x -->\n<html>",
    ],
)
def test_document_is_known_by_how_it_begins(text):
    assert is_document(text)
    assert is_document(text.encode())
    assert is_document(text.encode("utf-16"))


@pytest.mark.parametrize(
    "content",
    [
        *("", "<", "<p>", "<htmlx>", "<!doctype svg>", "a <html>", "<!-- <html>", "<head>"),
        *(" " * 2000 + "<html>", "<!---->" * 500, b"<p>", b"\x89PNG<html>", 5, None, ["<html>"]),
    ],
)
def test_anything_else_is_none(content):
    assert not is_document(content)


def test_item_that_lacks_a_value_for_its_field_has_no_field():
    item = make_dataclass("Late", [("html", object)])("<p>")
    del item.html

    assert page_of(item) == "no_field"
    assert page_of(item, FieldNames(html="html")) == "no_field"
