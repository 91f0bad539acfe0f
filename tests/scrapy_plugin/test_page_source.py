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
    is_long,
    item_page,
    item_url,
    looks_like_markup,
)

GUESS = FieldNames()


def page_of(item, names=GUESS):
    return item_page(item, names, lambda page: is_long(page, lambda text: text.count(" ") >= 59))


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
    assert page_of({"source": value}, FieldNames(html="source")).html == content


@pytest.mark.parametrize("value", [5, 1.5, True, {"body": "<p>"}, ["<p>", 5], [b"<p>"], object()])
def test_named_html_field_of_another_type_is_a_wrong_type(value):
    assert page_of({"source": value}, FieldNames(html="source")) == "wrong_type"


def test_named_text_fields_are_joined_and_missing_ones_left_out():
    names = FieldNames(text=("title", "teaser", "paragraphs"))

    page = page_of({"paragraphs": ["One.", "Two."], "title": "Title", "teaser": None}, names)

    assert page.text == "Title\nOne.\nTwo."
    assert not page.is_piece


@pytest.mark.parametrize("value", [5, b"bytes", {"a": "b"}, ["a", 5]])
def test_one_named_text_field_of_another_type_is_a_wrong_type(value):
    names = FieldNames(text=("title", "body"))

    assert page_of({"title": "Title", "body": value}, names) == "wrong_type"


def test_named_text_is_read_where_the_named_html_is_missing():
    names = FieldNames(html="source", text=("body",))

    assert page_of({"body": "Hello"}, names).text == "Hello"
    assert page_of({"body": "Hello", "source": "<p>"}, names).html == "<p>"
    assert page_of({"body": "Hello", "source": 5}, names) == "wrong_type"


def test_nothing_is_guessed_where_a_name_is_given():
    item = {"html": "<p>Hello", "text": "Hello"}

    assert page_of(item, FieldNames(html="source")) == "no_field"
    assert page_of(item, FieldNames(text=("summary",))) == "no_field"


@pytest.mark.parametrize("name", HTML_NAMES)
def test_html_is_found_by_its_usual_names(name):
    page = page_of({"title": "x", "text": "short", name: "<p>Hello"})

    assert page.html == "<p>Hello"
    assert page.is_piece


@pytest.mark.parametrize("name", TEXT_NAMES)
def test_text_is_found_by_its_usual_names(name):
    assert page_of({"title": "x", name: "Hello"}).text == "Hello"
    assert page_of({"title": "x", name: "Hello"}).is_piece


@pytest.mark.parametrize("name", ["body", "content", "text"])
def test_field_for_text_is_html_if_it_begins_with_a_tag(name):
    page = page_of({name: "\n <div class='a'>Hello"})

    assert page.html == "\n <div class='a'>Hello"
    assert page.is_piece


WORDS = " ".join(f"word{number}" for number in range(60))
CARD = (
    '<div class="quote card shadow-sm p-3 mb-5 bg-body rounded" itemscope itemtype="http://s.org/Q">'
    '<span class="text" itemprop="text">So few words.</span>'
    f"<style>{WORDS}</style><script>{WORDS}</script><!-- {WORDS} --><img alt='{WORDS}'></div>"
)


@pytest.mark.parametrize("markup", [CARD, CARD.encode(), CARD.encode("utf-16"), [CARD, CARD]])
def test_markup_around_few_words_does_not_make_them_a_page(markup):
    assert page_of({"html": markup}).is_piece


@pytest.mark.parametrize("markup", [f"{CARD}<p>{WORDS}", f"{CARD * 99}<p>{WORDS}".encode()])
def test_piece_of_html_with_many_words_is_a_page(markup):
    assert not page_of({"html": markup}).is_piece


@pytest.mark.parametrize(
    "start", ["<html><body>", " <!DOCTYPE html>", "\ufeff<?xml version='1.0'?>\n<HTML>"]
)
@pytest.mark.parametrize("written", [str, str.encode])
def test_whole_document_with_few_words_is_a_short_page(start, written):
    assert not page_of({"html": written(f"{start}<p>So few words.")}).is_piece


def test_first_field_that_is_long_enough_is_the_page():
    teaser, story = "A short teaser.", f"{WORDS} and more"

    assert page_of({"text": teaser, "body": story, "content": WORDS}).text == WORDS
    assert page_of({"html": CARD, "text": teaser, "body": story}).text == story
    assert page_of({"html": "<html><p>Loading ...", "body": story}).text == story


def test_first_field_with_a_text_is_the_piece_if_all_are_short():
    page = page_of({"html": "", "text": "A short teaser.", "body": "Another."})

    assert (page.text, page.is_piece) == ("A short teaser.", True)


def test_field_of_no_use_is_passed_over_for_the_next():
    item = {"html": None, "content": {"rendered": "x"}, "body_text": "", "text": 5, "body": "Hi"}

    assert page_of(item).text == "Hi"


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
    assert page_of(item) == reason


@pytest.mark.parametrize("name", URL_NAMES)
def test_url_is_found_by_its_usual_names(name):
    assert item_url({name: " http://a/ "}, GUESS) == "http://a/"


@pytest.mark.parametrize("value", [None, "", "  ", 5, b"http://a/", {"href": "x"}, ["a", 5]])
def test_url_that_is_no_text_is_none(value):
    assert item_url({"url": value}, GUESS) is None


def test_url_from_an_item_loader_is_a_list_of_one():
    assert item_url({"url": ["http://a/"]}, GUESS) == "http://a/"


def test_size_is_in_bytes_and_digest_tells_pages_apart():
    html, other = (page_of({"html": text}) for text in ("<p>猫", "<p>犬"))

    assert (html.size, other.size) == (6, 6)
    assert len(html.digest) == 16
    assert html.digest != other.digest
    assert html.digest == page_of({"html": "<p>猫"}).digest
    assert isinstance(page_of({"text": "\ud800"}), PageText)


@pytest.mark.parametrize("text", ["<p>", " \r\n<!DOCTYPE html>", "\ufeff<?xml ?>", "</p>", "<a/>"])
def test_text_that_begins_with_a_tag_looks_like_markup(text):
    assert looks_like_markup(text)


@pytest.mark.parametrize("text", ["", "<", "< p>", "<3 cats", "a <p>", "<-", " " * 2000 + "<p>"])
def test_other_text_does_not(text):
    assert not looks_like_markup(text)


def test_item_that_lacks_a_value_for_its_field_has_no_field():
    item = make_dataclass("Late", [("html", object)])("<p>")
    del item.html

    assert page_of(item) == "no_field"
