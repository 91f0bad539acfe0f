"""`dedup-filter index check` of a directory."""

import json
import shutil

import pytest
from command_line import lines, run
from index_feed import ITEMS, article, stats, tamper

from dedup_filter import NearDuplicateFilter


class TestCheck:
    def test_a_clean_index(self, index):
        (found,) = lines("index", "check", str(index), "--json")
        assert found["is_clean"]
        assert (found["pages"], found["entries"], found["faults"]) == (25, 20, [])

    def test_a_clean_index_on_servers(self, servers):
        (found,) = lines("index", "check", servers.seeded(), "--json")
        assert found["is_clean"]
        assert (found["pages"], found["entries"]) == (20, 20)
        assert (found["faults"], found["notes"]) == ([], [])

    def test_a_wrong_row(self, index):
        tamper(index, "UPDATE pages SET host = 99 WHERE id = 3")
        code, out, err = run("index", "check", str(index))
        assert (code, err) == (1, "")
        assert out == "fault: the record: a page has no host\n"

    def test_tables_that_hold_something_else_than_the_record(self, index):
        # As no trigger lets it happen: the log knows nothing of the change.
        tamper(
            index,
            """
            CREATE TEMP TABLE log AS SELECT * FROM sqlite_sequence;
            UPDATE pages SET fingerprint = 5 WHERE id = 3;
            DELETE FROM superseded;
            UPDATE sqlite_sequence SET seq = ifnull(
                (SELECT seq FROM log WHERE log.name = 'superseded'), 0
            ) WHERE name = 'superseded';
            """,
        )
        code, out, _ = run("index", "check", str(index), "--json")
        assert code == 1
        faults = json.loads(out)["faults"]
        assert len(faults) == 2
        assert all("page 3" in fault for fault in faults)

    def test_a_flipped_bit_in_a_table(self, index):
        (path,) = index.glob("tables/*/run0.bin")
        content = bytearray(path.read_bytes())
        content[17] ^= 4
        path.write_bytes(content)
        code, out, _ = run("index", "check", str(index))
        assert code == 1
        assert out.startswith("fault: the tables: ")

    def test_tables_that_are_missing_are_no_fault(self, index):
        shutil.rmtree(index / "tables")
        code, out, _ = run("index", "check", str(index))
        assert code == 0
        assert out.startswith("note: there are no tables")

    def test_tables_behind_the_record_are_no_fault(self, index):
        assert run("index", "forget", str(index), ITEMS[3]["url"])[0] == 0
        (found,) = lines("index", "check", str(index), "--json")
        assert found["is_clean"]
        assert (found["pages"], found["entries"]) == (24, 20)

    def test_tables_inside_hosts(self, tmp_path):
        with NearDuplicateFilter.open(tmp_path / "index", scope="host") as pages:
            for number in range(10):
                pages.see(f"https://{number % 3}.example.com/", text=article(number))
        (found,) = lines("index", "check", str(tmp_path / "index"), "--json")
        assert found["is_clean"]
        assert found["entries"] == 10
        assert stats(tmp_path / "index")["tables"]["scope"] == "host"

    @pytest.mark.parametrize("place", [0, 3000, 30_000])
    def test_a_record_that_is_overwritten(self, index, place):
        path = index / "pages.sqlite3"
        content = bytearray(path.read_bytes())
        content[place : place + 20_000] = b"x" * 20_000
        path.write_bytes(content)
        code, out, err = run("index", "check", str(index))
        assert code in (1, 2)
        assert len((out + err).splitlines()) == 1
        assert "Traceback" not in err
