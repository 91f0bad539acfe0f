"""A rules file means the same to this package and to the add-on whose format it has."""

import json

import pytest
from duplicate_url_discarder.url_canonicalizer import UrlCanonicalizer
from dust_sites import DUST, MATTERS, SITE, pages

from dedup_filter.errors import ConfigError
from dedup_filter.urls import discarder  # noqa: F401 - it adds a processor
from dedup_filter.urls.mining import mine
from dedup_filter.urls.rule import Rules, form_of
from dedup_filter.urls.rules_file import read_rules, write_rules


@pytest.fixture(scope="module")
def proven():
    return mine(pages(DUST, MATTERS, many=40)).proven


def test_rules_are_read_as_they_were_written(proven, tmp_path):
    path = tmp_path / "rules.json"
    write_rules(path, proven)
    again = read_rules(path)
    assert [each.rule for each in again] == [each.rule for each in proven]
    assert [each.evidence.support for each in again] == [each.evidence.support for each in proven]
    with pytest.raises(ConfigError, match="exists and is not replaced"):
        write_rules(path, proven)
    write_rules(path, [], force=True)
    assert read_rules(path) == []


@pytest.mark.parametrize("kind", [*DUST, *MATTERS])
def test_the_add_on_makes_equal_what_the_rules_do(proven, tmp_path, kind):
    """Also for pages that were never seen, and for hosts of which nothing is known."""
    path = tmp_path / "rules.json"
    write_rules(path, proven)
    add_on = UrlCanonicalizer([path])
    ours = Rules([each.rule for each in proven])
    urls = [make(n) for n in range(20) for make in ((DUST | MATTERS)[kind], DUST["session"])]
    urls += [url.replace("//a.", "//www2.a.") for url in urls] + [f"{SITE}/", "not a URL"]
    for url in urls:
        assert form_of(add_on.process_url(url)) == ours.form_of(url)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "holds no rules"),
        ("{}", "not a list"),
        ("[1]", "rule 0 is not as dedup-filter writes it"),
        ('[{"args": [], "evidence": {}}]', r"args \(origin, kind, "),
        ("[" * 100_000, "holds no rules"),
        ("\xff", "holds no rules"),
    ],
)
def test_a_file_with_errors_is_refused_in_one_sentence(tmp_path, content, said):
    path = tmp_path / "rules.json"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(ConfigError, match=said) as refused:
        read_rules(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "args",
    [
        [SITE, "parameter", "sid"],
        [SITE, ["value"], "sid"],
        [SITE, "value"],
        [SITE, "parameters", 1],
        [None, "parameters", "sid"],
        [SITE],
        7,
        "sid",
        ["nonsense", "parameters", "sid"],
        [f"{SITE}/", "parameters", "sid"],
    ],
)
def test_a_rule_that_was_changed_by_hand_is_refused(tmp_path, proven, args):
    path = tmp_path / "rules.json"
    write_rules(path, proven)
    values = json.loads(path.read_text())
    values[3]["args"] = args
    path.write_text(json.dumps(values))
    with pytest.raises(ConfigError, match=r"rule 3 (is not as|has no) "):
        read_rules(path)


def test_evidence_is_not_below_0(tmp_path, proven):
    path = tmp_path / "rules.json"
    write_rules(path, proven)
    values = json.loads(path.read_text())
    values[2]["evidence"]["support"] = -5
    path.write_text(json.dumps(values))
    with pytest.raises(ConfigError, match="rule 2 has evidence below 0"):
        read_rules(path)


def test_what_is_no_file_is_not_read():
    with pytest.raises(ConfigError, match="it is not a file"):
        read_rules("/dev/zero")
