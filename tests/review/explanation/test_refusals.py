"""Each rule has words of its own, with its figures in them."""

import re
from typing import get_args

import pytest

from dedup_filter.model import Refusal, Rule
from dedup_filter.review.explanation.refusals import why


@pytest.mark.parametrize("rule", get_args(Rule))
def test_each_rule_is_told_with_its_figures(rule):
    in_words = rule in ("unread", "new_blocks", "blocks")
    found, wanted = (1_234.5, 6.25) if in_words else (0.512, 0.8)
    told = why(Refusal(rule, found, wanted, 7, 3))
    figures = re.findall(r"[\d.,]+ (?:%|words)", told)
    if rule == "headline":
        assert figures == []
    else:
        assert figures == (["1,234 words", "6.25 words"] if in_words else ["51.2 %", "80 %"])


def test_no_two_rules_are_told_alike():
    told = {why(Refusal(rule, 0.5, 0.5, 1, 1)) for rule in get_args(Rule)}
    assert len(told) == len(get_args(Rule))
