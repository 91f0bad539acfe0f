"""The command as a user has it: a process, its exit code and what it prints."""

import json
import subprocess
import sys

COMMAND = [sys.executable, "-m", "dedup_filter"]


def run(*arguments, text="", **options):
    """Run the command with a text on standard input."""
    finished = subprocess.run(
        [*COMMAND, *arguments], check=False, input=text.encode(), capture_output=True, **options
    )
    return finished.returncode, finished.stdout.decode(), finished.stderr.decode()


def lines(*arguments, text=""):
    code, out, err = run(*arguments, text=text)
    assert (code, err) == (0, "")
    return [json.loads(line) for line in out.splitlines()]
