"""A refusal is one sentence, with its figures, and fit for a terminal."""

from typing import get_args

import pytest

from dedup_filter.model import Refusal, Rule
from dedup_filter.review.refusals import why

URL = "http://a.example/1"


@pytest.mark.parametrize("rule", get_args(Rule))
def test_each_rule_has_its_figures_page_and_text(rule):
    told = why(Refusal(rule, 1_234.5, 6.25, "Size 40", 7, 3, URL))
    assert told.endswith(': "Size 40"')
    assert f" missing in {URL}" in told
    figures = "1,234 words" in told, "6.25 allowed" in told
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
