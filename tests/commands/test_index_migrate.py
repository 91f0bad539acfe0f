"""`dedup-filter index migrate`."""

from pathlib import Path

import pytest
from command_line import lines, run
from index_feed import ITEMS, article, contents, records, tamper

from dedup_filter import NearDuplicateFilter


class TestMigrate:
    def test_makes_the_fingerprints_of_a_fresh_crawl(self, index, tmp_path):
        before = records(index)
        (found,) = lines("index", "migrate", str(index), "-o", "features=shingles", "--json")
        assert (found["pages"], found["left_behind"]) == (25, 0)
        with NearDuplicateFilter.open(tmp_path / "fresh", features="shingles") as pages:
            for each in ITEMS:
                pages.see(**each)
        after = records(index)
        fresh = records(tmp_path / "fresh")
        for old, new, wanted in zip(before, after, fresh, strict=True):
            assert (new.fingerprint, new.sketch, new.digest, new.words, new.language) == (
                wanted.fingerprint, wanted.sketch, wanted.digest, wanted.words, wanted.language
            )  # fmt: skip
            assert new.fingerprint != old.fingerprint
            assert (new.page, new.url, new.first_seen, new.judged) == (
                old.page, old.url, old.first_seen, old.judged
            )  # fmt: skip
        assert records(found["backup"]) == before
        for folder in (str(index), found["backup"]):
            assert run("index", "check", folder)[0] == 0
        with NearDuplicateFilter.open(index, features="shingles", keep_text=True) as pages:
            assert pages.see("https://example.org/", text=article(3, 2)).outcome == "near"

    def test_and_back_again(self, index, export):
        for features in ("words", "content"):
            assert run("index", "migrate", str(index), "-o", f"features={features}")[0] == 0
        assert run("index", "export", str(index))[1] == export.read_text()

    def test_has_nothing_to_do(self, index):
        before = contents(index)
        (found,) = lines("index", "migrate", str(index), "--json")
        assert (found["pages"], found["backup"]) == (25, None)
        assert contents(index) == before

    def test_leaves_pages_behind_whose_texts_were_not_kept_only_when_told_to(self, index):
        with NearDuplicateFilter.open(index) as pages:
            pages.see("https://example.org/", text=article(40))
        command = ["index", "migrate", str(index), "-o", "shingle_size=4"]
        assert "the texts of 1 of 26 pages" in self.refusal(index, *command)
        (found,) = lines(*command, "--drop-unkept", "--json")
        assert (found["pages"], found["left_behind"]) == (25, 1)
        assert len(records(index)) == 25
        assert len(records(found["backup"])) == 26

    @pytest.mark.parametrize("is_damaged", [False, True])
    def test_begins_anew_when_told_to(self, index, is_damaged):
        if is_damaged:
            (index / "pages.sqlite3").write_bytes(b"no database")
        before = contents(index)
        (found,) = lines("index", "migrate", str(index), "--fresh", "--json")
        assert (records(index), found["pages"]) == ([], 0)
        backup = Path(found["backup"])
        assert before.items() <= contents(backup).items()
        assert index.stat().st_mode == backup.stat().st_mode

    @staticmethod
    def refusal(index, *command):
        """What is said where nothing is done."""
        before = contents(index)
        code, out, err = run(*command)
        assert (code, out) == (2, "")
        assert contents(index) == before
        assert [path.name for path in index.parent.iterdir()] == ["index"]
        return err

    @pytest.mark.parametrize(
        ("options", "why"),
        [
            ("-o features=shingles -o title_weight=2", "titles"),
            ("-o feature=x", "did you mean"),
            ("-o x", "NAME=VALUE"),
            ("-o shingle_size=0", "0"),
            ("--fresh --drop-unkept", "--fresh leaves all pages behind"),
        ],
    )
    def test_wrong_options_are_refused(self, index, options, why):
        assert why in self.refusal(index, "index", "migrate", str(index), *options.split())

    def test_that_fails_half_way_leaves_it_as_it_was(self, index):
        tamper(index, "UPDATE texts SET text = x'00' WHERE page = 9")
        command = ["index", "migrate", str(index), "-o", "features=shingles"]
        assert "the text of page 9 is damaged" in self.refusal(index, *command)
