"""Options that a user sets where no rule knows the site: what each finds, and what it loses."""

import pytest
from made_text import prose

from dedup_filter import ConfigError, NearDuplicateFilter
from dedup_filter.errors import SchemeMismatch

PAGE = (
    "<html lang=en><title>Concert - Hall</title><h1>Concert in the church</h1>"
    "<p>{text}</p><p>{line}"
)


def dropped(line, **options):
    """How many of five later pages are dropped that differ from the first in a line."""
    with NearDuplicateFilter.open(**options) as pages:
        verdicts = [
            pages.see(
                f"https://hall.example/{number}",
                html=PAGE.format(text=prose(1, words=80), line=line(number)),
            )
            for number in range(6)
        ]
        pages.check()
    return sum(verdict.is_duplicate for verdict in verdicts)


@pytest.mark.parametrize(
    ("line", "by_default", "without_numbers"),
    [
        ("{} hours ago", 5, 5),
        ("updated {} min ago by Ann", 5, 5),
        ("发布于 {} 小时前", 5, 5),
        ("vor {} Stunden", 5, 5),
        ("1{}:00", 0, 5),
        ("Begins at 1{}:30", 0, 5),
        ("1{} March, 19:00", 0, 5),
        ("1,20{} views", 5, 5),
        ("Last updated: {} March, 19:00", 5, 5),
        ("Price: 1{}.90", 0, 5),
        ("Stock no. A{}", 0, 0),
        ("{} hours ago, in hall h{}", 0, 0),
    ],
)
def test_only_values_tell_pages_apart(line, by_default, without_numbers):
    def filled(number):
        return line.format(number + 2, number + 2)

    assert dropped(filled) == by_default
    assert dropped(filled, ignore_numbers=True) == without_numbers


def test_so_many_words_of_lines_may_be_missing():
    for most, expected in ((0, 0), (1, 0), (2, 5), (9, 5)):
        assert dropped(lambda n: f"hall h{n}", max_missing=most) == expected
    with pytest.raises(ConfigError, match="max_missing must be a whole number from 0"):
        NearDuplicateFilter.open(max_missing=-1)


def test_numbers_of_sentences_count_all_the_same():
    text = prose(2, words=60)
    with NearDuplicateFilter.open(ignore_numbers=True, min_similarity=1.0) as pages:
        verdicts = [
            pages.see(f"https://a.example/{n}", html=f"<p>In {n} {text}") for n in (1990, 2000)
        ]
    assert [verdict.outcome for verdict in verdicts] == ["new", "new"]


def test_rules_of_advertisements_make_other_fingerprints_and_other_indexes(tmp_path):
    calls = "Buy cheap flights today! Order luxury watches online! Save money now! " * 4
    text = f"<p>{prose(3)}</p><p>{calls}</p>"
    found = {}
    for ads in ("window", "shingle", "off"):
        with NearDuplicateFilter.open(tmp_path / ads, ads=ads) as pages:
            verdict = pages.see("https://a.example/", html=text)
            found[ads] = verdict.fingerprint, verdict.shingles_without_stopword
            assert pages.see("https://b.example/", html=text).is_duplicate
    assert len({fingerprint for fingerprint, _ in found.values()}) == 3
    assert found["off"][1] == 0
    with pytest.raises(SchemeMismatch, match=r"ads \(window there, off here\)"):
        NearDuplicateFilter.open(tmp_path / "window", ads="off")
    with pytest.raises(ConfigError, match='ads must be one of "window", "shingle", "off"'):
        NearDuplicateFilter.open(ads="none")


def test_other_levers_may_change_from_crawl_to_crawl(tmp_path):
    page = PAGE.format(text=prose(1), line="7 views")
    for options in ({}, {"ignore_numbers": True}, {"max_missing": 5}, {"ignore": ".views"}, {}):
        with NearDuplicateFilter.open(tmp_path / "index", **options) as pages:
            verdict = pages.see("https://a.example/", html=page)
            pages.check()
        assert verdict.outcome in ("new", "revisit")
