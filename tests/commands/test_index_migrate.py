"""`dedup-filter index migrate`."""

import subprocess
from pathlib import Path

import pytest
from command_line import COMMAND, lines, run
from index_feed import ITEMS, article, contents, records, tamper
from patience import wait_until

from dedup_filter import NearDuplicateFilter

MADE = ("fingerprint", "sketch", "digest", "words", "language")
TAKEN_OVER = ("page", "url", "first_seen", "outcome", "original", "distance", "similarity")


def parts(record, names):
    return [getattr(record, name) for name in names]


def migrated(index, *options):
    (found,) = lines("index", "migrate", str(index), *options, "--json")
    return found


def refusal(index, *options):
    """What is said where nothing is done."""
    before = contents(index)
    code, out, err = run("index", "migrate", str(index), *options)
    assert (code, out) == (2, "")
    assert contents(index) == before
    assert [path.name for path in index.parent.iterdir()] == ["index"]
    return err


def test_makes_the_fingerprints_of_a_fresh_crawl(index, tmp_path):
    before = records(index)
    found = migrated(index, "--set", "features=shingles")
    assert (found["pages"], found["left_behind"]) == (25, 0)
    with NearDuplicateFilter.open(tmp_path / "fresh", features="shingles") as pages:
        for each in ITEMS:
            pages.see(**each)
    fresh = records(tmp_path / "fresh")
    for old, new, wanted in zip(before, records(index), fresh, strict=True):
        assert parts(new, MADE) == parts(wanted, MADE)
        assert new.fingerprint != old.fingerprint
        assert parts(new, TAKEN_OVER) == parts(old, TAKEN_OVER)
    assert records(found["backup"]) == before
    for folder in (str(index), found["backup"]):
        assert run("index", "check", folder)[0] == 0
    with NearDuplicateFilter.open(index, features="shingles", keep_text=True) as pages:
        assert pages.see("https://example.org/", text=article(3, 2)).outcome == "near"


def test_and_back_again(index, export):
    for features in ("words", "content"):
        migrated(index, "--set", f"features={features}")
    assert run("index", "export", str(index))[1] == export


def test_has_nothing_to_do(index):
    before = contents(index)
    found = migrated(index)
    assert (found["pages"], found["backup"]) == (25, None)
    assert contents(index) == before


def test_leaves_pages_behind_whose_texts_were_not_kept_only_when_told_to(index):
    with NearDuplicateFilter.open(index) as pages:
        pages.see("https://example.org/", text=article(40))
    assert "the texts of 1 of 26 pages" in refusal(index, "--set", "shingle_size=4")
    found = migrated(index, "--set", "shingle_size=4", "--drop-unkept")
    assert (found["pages"], found["left_behind"]) == (25, 1)
    assert (len(records(index)), len(records(found["backup"]))) == (25, 26)


@pytest.mark.parametrize("is_damaged", [False, True])
def test_begins_anew_when_told_to(index, is_damaged):
    if is_damaged:
        (index / "pages.sqlite3").write_bytes(b"no database")
    before = contents(index)
    found = migrated(index, "--fresh")
    assert (records(index), found["pages"]) == ([], 0)
    backup = Path(found["backup"])
    assert before.items() <= contents(backup).items()
    assert index.stat().st_mode == backup.stat().st_mode


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--set features=shingles --set title_weight=2", "titles"),
        ("--set feature=x", "did you mean"),
        ("--set x", "NAME=VALUE"),
        ("--set shingle_size=0", "0"),
    ],
)
def test_wrong_options_are_refused(index, options, why):
    assert why in refusal(index, *options.split())


def test_that_fails_half_way_leaves_it_as_it_was(index):
    tamper(index, "UPDATE texts SET text = x'00' WHERE page = 9")
    assert "the text of page 9 is damaged" in refusal(index, "--set", "features=shingles")


def test_that_is_killed_leaves_an_index_that_is_clean(index, tmp_path):
    command = [*COMMAND, "index", "migrate", str(index), "--set", "features=shingles"]
    with subprocess.Popen(command) as process:
        wait_until(
            lambda: any(tmp_path.glob(".index.new-*")) or process.poll() is not None,
            "it has begun to write",
        )
        process.kill()
    assert run("index", "check", str(index))[0] == 0
    assert len(records(index)) == 25
