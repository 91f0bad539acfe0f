"""The memory of a scan does not grow with its input, but for the index."""

import json
import re
import sys
from pathlib import Path

import pytest
from command_line import run_process
from index_feed import article

MEASURED = """
import sys
from dedup_filter.cli import main
try:
    main()
finally:
    print(open("/proc/self/status").read(), file=sys.stderr)
"""
DIFFERENT = 60
CARRIED = 40_000
"""Bytes of each line that are carried along: they make it long, and are not judged."""


def most_memory(folder, count):
    """Return the most bytes that the process of a scan of so many lines has held."""
    feed, kept, dropped = (folder / f"{count}-{name}.jsonl" for name in ("feed", "kept", "dropped"))
    with feed.open("w") as lines:
        for number in range(count):
            url = f"https://www.example.com/{number}"
            page = {"url": url, "text": article(number % DIFFERENT), "raw": "x" * CARRIED}
            lines.write(json.dumps(page) + "\n")
    arguments = ("scan", feed, "-o", kept, "--duplicates", dropped, "--workers", 0)
    command = [sys.executable, "-c", MEASURED]
    code, _, status = run_process(*map(str, arguments), command=command)
    assert code == 0
    for path, expected in ((kept, DIFFERENT), (dropped, count - DIFFERENT)):
        with path.open() as lines:
            assert sum(1 for _ in lines) == expected
    return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) * 1024


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells it")
def test_lines_are_not_held_in_memory(tmp_path):
    few, many = most_memory(tmp_path, 100), most_memory(tmp_path, 1_000)
    assert many - few < 900 * CARRIED / 4
