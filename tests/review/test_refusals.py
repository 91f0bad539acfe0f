"""Sentences of refusals are fit for a terminal; selectors of lines match, by `cssselect`, these."""

import ast
import re
from html import escape
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import html as lxml_html
from made_text import prose

from dedup_filter.model import MissingLine, Refusal, Rule
from dedup_filter.review.refusals import ignorable, why
from dedup_filter.text.page_fields import PageText

URL = "http://a.example/1"


@pytest.mark.parametrize("rule", get_args(Rule))
def test_each_rule_has_its_figures_page_and_text(rule):
    told = why(Refusal(rule, 1_234.5, 6.25, "Size 40", 7, 3, URL))
    assert told.endswith(': "Size 40"')
    assert f" missing in {URL}" in told
    figures = "1,235 words" in told, ", 6 allowed" in told
    assert figures == ((False, False) if rule == "headline" else (True, True))


def test_no_two_rules_have_one_sentence():
    told = {why(Refusal(rule, 2, 1, "", 7, 3, URL)) for rule in get_args(Rule)}
    assert len(told) == len(get_args(Rule))


def test_a_sentence_has_no_quote_if_no_text_is_known_and_says_if_there_is_no_url():
    assert (
        why(Refusal("words", 2, 1, "", 7, 3)) == "2 words missing in a page without URL, 1 allowed"
    )


def test_text_and_url_of_a_page_are_escaped_and_cut():
    hostile = "\x1b[31mred\u202e\n" * 1_000
    for rule in get_args(Rule):
        told = why(Refusal(rule, 2, 1, hostile, 7, 3, hostile))
        assert told.isprintable()
        assert len(told) < 3_000


LINE = "Sold 1037 times"
BYLINE = "By Anna Sold 1037 times"


def page(*parts):
    return f"<html><title>{LINE}</title><body><h1>Ice</h1><p>{prose(1)}</p>{''.join(parts)}</body>"


def found(markup, *lines):
    lines = [each if isinstance(each, MissingLine) else MissingLine(each) for each in lines]
    return ignorable(PageText(html=markup), lines)


def selector(markup, *lines):
    ignored = found(markup, *lines)
    return ignored and ignored.selector


@pytest.mark.parametrize(
    ("markup", "wanted"),
    [
        (f'<p><span class="sold">{LINE}</span></p>', ".sold"),
        (f'<p class="sold"><b>{LINE}</b></p>', ".sold"),
        ('<p class="sold"><b>Sold</b> <i>1037</i>\n times</p>', ".sold"),
        (f'<p class="sold a b c">{LINE}</p>', ".sold.a.b"),
        (f'<p id="sold" class="a">{LINE}</p>', "#sold"),
        (f'<p id="sold-4711" class="a">{LINE}</p>', ".a"),
        (f'<p class="x7 sc-bdVaJa viewCount">{LINE}</p>', ".viewCount"),
        (f'<section class="stats"><div>{LINE}</div><div>b</div></section>', ".stats > div"),
        (f'<section id="stats"><p>a</p><div><i>{LINE}</i></div></section>', "#stats i"),
        (f'<section class="stats"><ul><li>{LINE}</ul>a</section>', ".stats li"),
        (f'<table class="s"><tr><td>Reads<td>{LINE}</table>', ".s td"),
        (f'<p class="a">{LINE}</p><p class="b">{LINE}</p>', ".a, .b"),
        (f'<p class="a">{LINE}</p>' * 3, ".a"),
        (f'<p class="a\xa0b a">{LINE}</p>', ".a"),
        # Nothing names it,
        (f"<p>{LINE}</p>", None),
        (f'<p class="7">{LINE}</p>', None),
        (f'<p class="a:b">{LINE}</p>', None),
        # or what names it names too much,
        (f'<div class="a">{LINE}<p>{prose(2)}</p></div>', None),
        (f'<p class="a">{LINE}</p>' + '<p class="a">b</p>' * 10, None),
        (f'<p class="a">{LINE}</p><p class="a">{prose(2)}</p>', None),
        # or it stands in a place that nothing names, too; or in none.
        (f'<p class="a">{LINE}</p><p>{LINE}</p>', None),
        (f"<script>{LINE}</script>", None),
        ("<p>Sold 1037 time</p>", None),
    ],
)
def test_the_selector_of_a_line(markup, wanted):
    assert selector(page(markup), LINE) == wanted


@pytest.mark.parametrize(
    ("markup", "words", "wanted"),
    [
        ('By Anna <span class="sold">Sold 1037 times</span>', (3, 4), ".sold"),
        ('By Anna <span class="sold">Sold 1037 times</span>', (1, 4), ".by"),
        ('By Anna <span class="sold">Sold 1037 times</span>', None, ".by"),
        ('By <i class="who">Anna</i> <span class="sold">Sold 1037 times</span>', (1, 2), ".who"),
        ('By <i class="who">Anna</i> Sold <b>1037</b> times', (3, 4), ".by > b"),
        # What nothing names is left out with the line that it is in.
        ("By Anna Sold <b7>1037</b7> <!-- --> times", (3, 4), ".by > b7"),
        ("By Anna Sold <b-x>1037</b-x> times", (3, 4), ".by"),
    ],
)
def test_of_a_line_the_smallest_element_with_what_is_missing(markup, words, wanted):
    assert selector(page(f'<p class="by">{markup}</p>'), MissingLine(BYLINE, words)) == wanted


def test_lines_in_several_elements():
    markup = page(f'<p class="sold">{LINE}</p><p class="clock">It is 10:31</p>')
    ignored = found(markup, LINE, "It is 10:31")
    assert ignored.hint("B") == (
        """only in <p class="sold"> ('Sold 1037 times') and <p class="clock"> ('It is 10:31'): """
        "unless that text matters, as a price or a size does, "
        'DEDUP_IGNORE = ".sold, .clock" would drop B'
    )
    assert found(markup, LINE, "It is 10:32") is None
    parts = [f'<p class="{name}">{name}</p>' for name in "wxyz"]
    assert found(page(*parts), *"wxy").selector == ".w, .x, .y"
    assert found(page(*parts), *"wxyz") is None


@pytest.mark.parametrize("html", [None, b"", b"%PDF-1.7", " ", "<!-- -->", b"\0", "a" * 2**25])
def test_what_is_no_page(html):
    assert ignorable(PageText(html=html), [MissingLine(LINE)]) is None
    assert ignorable(PageText(html=page(LINE)), []) is None


NAMES = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["\x1b[31m", "a\x9b", 'a"', "a'", "a\\", "a\\62 ", "a>b", "a,b", "*", "--a", "-", "_", "é"]
    ),
    st.from_regex(r"[\w -]{1,20}"),
)


@given(NAMES, NAMES, NAMES, st.sampled_from(["p", "x-y", "a:b", 'q"r', "T"]))
@example("", "views", '\x1b[31m\', DEDUP_IGNORE = "body"', "p")
def test_names_and_texts_of_any_kind_harm_neither_terminal_nor_settings(id_, class_, text, tag):
    line = f"{text}\x1b\x9b Sold 1037"
    start = f'<{tag} id="{escape(id_)}" class="{escape(class_)}">'
    markup = page(f'<div class="around">{start}{escape(line)}</{tag}></div>')
    line = " ".join(line.replace("\0", "").split())
    ignored = found(markup.encode("utf-8", "replace"), line)
    if ignored is None:
        return
    told = ignored.hint("them")
    assert told.isprintable()
    setting = re.search(r"DEDUP_IGNORE = (\"[^\"]*\") would drop them$", told)[1]
    assert ast.literal_eval(setting) == ignored.selector
    assert re.fullmatch(r"[#.A-Za-z_> ,0-9-]+", ignored.selector)
    matched = lxml_html.fromstring(markup.replace("\0", "")).cssselect(ignored.selector)
    assert any("Sold 1037" in each.text_content() for each in matched)


def test_searches_in_large_pages_are_bounded():
    """A line of one letter in 20,000 elements, names that match too much; 1,000 deep."""
    many = "<b>x</b>" * 20_000
    assert selector(page(many), "x") is None
    many_names = "".join(f"<{'i' * n}><b class='a'>x</b></{'i' * n}>" for n in range(1, 11))
    around = "".join(f'<div class="{name}">' for name in "pqrstuvw")
    assert selector(page(around, many_names, '<b class="a">y</b>' * 10), "x") is None
    assert selector(page(f'<p class="a">{LINE}</p>', "<i></i>" * 2**18), LINE) is None
    deep = page("<div>" * 1_000, f'<p class="sold">{LINE}</p>')
    assert selector(deep, LINE) == ".sold"
