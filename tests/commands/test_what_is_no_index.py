"""`dedup-filter index ...` where there is no index, or none that can be read."""

import os
import re

import pytest
from command_line import run
from index_feed import contents, tamper

COMMANDS = [
    ["stats"],
    ["check"],
    ["export"],
    ["forget", "https://example.com/"],
    ["compact"],
    ["migrate", "-o", "features=words"],
    ["migrate", "--fresh"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
class TestWhatIsNoIndex:
    def refused(self, command, path, code=2):
        ended, out, err = run("index", command[0], str(path), *command[1:])
        assert "Traceback" not in err
        assert len((err or out).splitlines()) == 1
        assert not re.search(r"[\x00-\x09\x0b-\x1f]", err + out)
        assert ended == code
        return err or out

    def test_a_folder_of_something_else(self, tmp_path, command):
        (tmp_path / "letter.txt").write_text("Dear all")
        assert "there is no index at" in self.refused(command, tmp_path)
        assert contents(tmp_path) == {"letter.txt": b"Dear all"}

    def test_the_folder_of_a_job(self, index, command):
        assert f"there is one in {index}" in self.refused(command, index.parent)

    def test_nothing_at_all(self, tmp_path, command):
        assert "\\x1b[31m" in self.refused(command, tmp_path / "\x1b[31mnone")
        assert list(tmp_path.iterdir()) == []

    def test_a_newer_format(self, index, command):
        if "--fresh" in command:
            pytest.skip("it is moved away, whatever it is")
        tamper(index, "PRAGMA user_version = 99")
        assert "format 99" in self.refused(command, index)

    def test_no_database(self, index, command):
        if "--fresh" in command:
            pytest.skip("it is moved away, whatever it is")
        (index / "pages.sqlite3").write_bytes(b"x" * 9000)
        faults = 1 if command == ["check"] else 2
        assert "SQLite database" in self.refused(command, index, faults)


def test_an_index_elsewhere_is_no_folder():
    code, _, err = run("index", "stats", "memory:")
    assert code == 2
    assert "is not a folder" in err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_folder_without_the_right_to_write_can_be_read(index):
    index.chmod(0o555)
    try:
        assert run("index", "check", str(index))[0] == 0
        assert run("index", "forget", str(index), "https://none/")[0] == 2
    finally:
        index.chmod(0o755)
