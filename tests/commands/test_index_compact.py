"""`dedup-filter index compact` of a directory."""

import shutil

from command_line import lines, run
from index_feed import records, stats

from dedup_filter import NearDuplicateFilter


def words_of(number):
    """A text that is like no other's."""
    return " ".join(f"word{number}x{place}" for place in range(100))


class TestCompact:
    def test_gives_back_the_room_of_what_was_forgotten(self, index):
        with NearDuplicateFilter.open(index) as pages:
            for number in range(600):
                pages.see(f"https://example.org/{number}", text=words_of(number))
        urls = [f"https://example.org/{number}" for number in range(600)]
        run("index", "forget", str(index), *urls)
        kept = records(index)
        (found,) = lines("index", "compact", str(index), "--json")
        assert found["after"]["record"] < found["before"]["record"] / 2
        assert found["after"]["tables"] < found["before"]["tables"]
        assert records(index) == kept
        (checked,) = lines("index", "check", str(index), "--json")
        assert (checked["is_clean"], checked["entries"]) == (True, 20)
        assert len(stats(index)["crawls"]) == 2

    def test_an_index_without_tables(self, index):
        shutil.rmtree(index / "tables")
        code, _, err = run("index", "compact", str(index))
        assert (code, err) == (0, "")
        with NearDuplicateFilter.open(index) as pages:
            pages.check()
