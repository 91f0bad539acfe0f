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
        code, out, _ = run("index", "migrate", str(index))
        assert (code, out) == (0, "nothing to do: its fingerprints are made in this way\n")
        assert contents(index) == before

    @pytest.fixture
    def half_kept(self, index):
        with NearDuplicateFilter.open(index) as pages:
            pages.see("https://example.org/", text=article(40))
        return index

    def test_is_refused_where_texts_were_not_kept(self, half_kept):
        before = contents(half_kept)
        code, out, err = run("index", "migrate", str(half_kept), "-o", "shingle_size=4")
        assert (code, out) == (2, "")
        assert "the texts of 1 of 26 pages" in err
        assert "--drop-unkept" in err
        assert len(err.splitlines()) == 1
        assert contents(half_kept) == before
        assert [path.name for path in half_kept.parent.iterdir()] == ["index"]

    def test_leaves_pages_behind_when_told_to(self, half_kept):
        (found,) = lines(
            "index", "migrate", str(half_kept), "-o", "shingle_size=4", "--drop-unkept", "--json"
        )
        assert (found["pages"], found["left_behind"]) == (25, 1)
        assert len(records(half_kept)) == 25
        assert len(records(found["backup"])) == 26

    def test_begins_anew_when_told_to(self, index):
        before = records(index)
        (found,) = lines("index", "migrate", str(index), "--fresh", "--json")
        assert records(index) == []
        assert records(found["backup"]) == before
        assert index.stat().st_mode == Path(found["backup"]).stat().st_mode

    def test_begins_anew_beside_an_index_that_is_damaged(self, index):
        (index / "pages.sqlite3").write_bytes(b"no database")
        (found,) = lines("index", "migrate", str(index), "--fresh", "--json")
        assert records(index) == []
        assert b"no database" in contents(Path(found["backup"])).values()

    def test_needs_the_titles_if_they_are_to_count(self, index):
        options = ["-o", "features=shingles", "-o", "title_weight=2"]
        code, _, err = run("index", "migrate", str(index), *options)
        assert code == 2
        assert "titles" in err
        assert len(records(index)) == 25

    def test_that_fails_half_way_leaves_it_as_it_was(self, index):
        tamper(index, "UPDATE texts SET text = x'00' WHERE page = 9")
        before = contents(index)
        code, _, err = run("index", "migrate", str(index), "-o", "features=shingles")
        assert code == 2
        assert "the text of page 9 is damaged" in err
        assert len(err.splitlines()) == 1
        assert contents(index) == before
        assert [path.name for path in index.parent.iterdir()] == ["index"]

    def test_wrong_options_are_named(self, index):
        for option, why in (
            ("feature=x", "did you mean"),
            ("x", "NAME=VALUE"),
            ("shingle_size=0", "0"),
        ):
            code, _, err = run("index", "migrate", str(index), "-o", option)
            assert code == 2
            assert why in err
