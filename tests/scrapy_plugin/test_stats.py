"""Verdicts become statistics, all documented, and one line."""

import pytest
from passages import Collector, SharedPages

from dedup_filter import Verdict
from dedup_filter.model import Refusal
from dedup_filter.scrapy_plugin.stats import CrawlStats, figures_of

NO_TEXT = "no_field"
REFUSAL = Refusal("lines", 2, 0, "Size 40", 1, 3)
VERDICTS = [
    Verdict("new", None, None, None, None, "en", 2, 100, 10, refused=REFUSAL),
    Verdict("near", "http://a/", 3, 0.9, "canonical", language="zh", candidates=1, shingles=50),
    Verdict("near", "http://a/", 15, 0.9, "shared_phrases", candidates=1),
    Verdict("exact", "http://a/", 0, 1.0),
    Verdict("revisit", "http://a/"),
    Verdict("unjudged", reason="too_short"),
]


@pytest.fixture
def stats():
    return Collector()


@pytest.fixture
def filled(stats):
    counted = CrawlStats(stats)
    for verdict in VERDICTS:
        counted.page("", verdict, NO_TEXT)
    counted.add("bytes_dropped", 2_500_000)
    counted.add("items_dropped", 2)
    counted.add("seconds", 0.0123456)
    counted.close({"index_size": 1, "index_bytes": 700, "capped": 2})
    return counted


def test_verdicts_become_numbers(filled, stats):
    assert stats == {
        "dedup/pages": 6,
        "dedup/new": 1,
        "dedup/near": 2,
        "dedup/exact": 1,
        "dedup/revisits": 1,
        "dedup/unjudged": 1,
        "dedup/unjudged/too_short": 1,
        "dedup/canonical": 1,
        "dedup/shared_phrases": 1,
        "dedup/distance/3": 1,
        "dedup/distance/15": 1,
        "dedup/distance/0": 1,
        "dedup/candidates": 4,
        "dedup/kept/lines": 1,
        "dedup/language/en": 1,
        "dedup/language/zh": 1,
        "dedup/shingles": 150,
        "dedup/shingles_without_stopword": 10,
        "dedup/items_dropped": 2,
        "dedup/bytes_dropped": 2_500_000,
        "dedup/capped": 2,
        "dedup/index_size": 1,
        "dedup/index_bytes": 700,
        "dedup/seconds": 0.012,
        "dedup/errors": 0,
    }


def test_page_cannot_invent_stats_by_its_language(stats):
    for language in ("english", "x", "EN", "e n", "", "../..", "en\n"):
        CrawlStats(stats).page("", Verdict("new", language=language), NO_TEXT)

    assert not [name for name in stats if "language" in name]


def test_a_warning_about_a_host_is_logged_and_counted(stats, caplog):
    counted = CrawlStats(stats)
    for number in range(60):
        verdict = Verdict("near", "http://a/1%", 1, 0.9, original_page=7)
        counted.page(f"http://a/{number}", verdict, NO_TEXT)
    [record] = caplog.records
    assert (record.name, record.levelname) == ("dedup_filter", "WARNING")
    assert record.getMessage().startswith(
        "20 of the last 20 pages of a/* repeat another: http://a/1%"
    )
    assert stats["dedup/warnings/mostly_dropped"] == 1


def test_summary_explains_all_pages_if_some_met_a_fault(filled):
    for verdict in [Verdict("revisit", "http://a/"), *2 * [Verdict("unjudged", reason="error")]]:
        filled.page("", verdict, NO_TEXT)
    filled.add("errors", 3)

    whole = filled.summary({"index_size": 1, "index_bytes": 700_000})
    assert whole == (
        "9 pages: 1 new, 2 near, 1 exact, 2 revisits, 3 unjudged (2 after a fault); "
        "items dropped: 2 (2.5 MB of pages); index: 1 page kept, 700 kB of memory; 1.3 ms a page; "
        "3 faults"
    )
    assert filled.summary({}) == whole.replace("index: 1 page kept, 700 kB of memory; ", "")


def test_figures_of_all_crawlers_are_stats_and_end_the_summary(filled, stats):
    figures = figures_of(SharedPages())

    filled.close(figures)

    counts = {"pages": 7, "new": 4, "near": 2, "exact": 1, "revisits": 0, "unjudged": 0}
    assert {f"dedup/all/{name}": count for name, count in counts.items()}.items() <= stats.items()
    assert filled.summary(figures).endswith(
        " ms a page; all crawlers since the index was made, "
        "7 pages: 4 new, 2 near, 1 exact, 0 unjudged"
    )
