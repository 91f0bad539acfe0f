import logging

import pytest
from scrapy.exceptions import DropItem

from dedup_filter import NearDuplicate, Verdict
from dedup_filter.scrapy_plugin.near_duplicate import Revisit, describe, printable


def test_exception_tells_all_of_the_verdict():
    verdict = Verdict("near", "http://a/1", distance=3, similarity=0.92)

    dropped = NearDuplicate("http://b/1", verdict)

    assert isinstance(dropped, DropItem)
    assert dropped.verdict is verdict
    assert (dropped.original, dropped.distance, dropped.similarity) == ("http://a/1", 3, 0.92)
    assert str(dropped) == "(near, 3 bits, 92 % similar): http://b/1 repeats http://a/1"


def test_level_of_scrapys_own_line_is_never_enabled():
    logger = logging.getLogger("test_drop_exception")
    logger.setLevel(logging.NOTSET + 1)

    level = getattr(logging, NearDuplicate("http://b/", Verdict("exact", "http://a/")).log_level)

    assert not logger.isEnabledFor(level)


@pytest.mark.parametrize(
    ("verdict", "start"),
    [
        (Verdict("exact", "http://a/", distance=0, similarity=1.0), "(exact): http://b/"),
        (Verdict("near", "http://a/", distance=1, similarity=0.705), "(near, 1 bit, 70 % similar)"),
        (Verdict("near", "http://a/", distance=0), "(near, 0 bits)"),
        (Verdict("near"), "(near): http://b/ repeats (a page without URL)"),
        (
            Verdict("revisit", "http://b/", distance=2, similarity=0.98),
            "(revisit, 2 bits, 98 % similar): http://b/ was kept in an earlier crawl",
        ),
    ],
)
def test_line_says_how_closely_the_page_repeats(verdict, start):
    assert describe("http://b/", verdict).startswith(start)


def test_revisit_is_a_kind_of_its_own_in_the_stats_of_scrapy():
    dropped = Revisit("http://a/", Verdict("revisit", "http://a/"))

    assert isinstance(dropped, NearDuplicate)
    assert str(dropped) == "(revisit): http://a/ was kept in an earlier crawl"


@pytest.mark.parametrize(
    "character", ["\n", "\r", "\x1b", "\0", "\x7f", "\x85", "\u2028", "\u202e", "\ud800"]
)
def test_character_that_would_move_the_cursor_is_escaped(character):
    shown = printable(f"http://a/{character}x")

    assert shown.isprintable()
    assert shown.endswith("x")


def test_letters_of_all_scripts_stay():
    assert printable("http://例え/ä?q=я b") == "http://例え/ä?q=я b"


def test_endless_url_is_cut():
    assert len(printable("http://a/" + "x" * 10**6)) < 600
