"""The Redis servers that other tests lean on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

A_TEST_WITH_SERVER = f"{__file__}::test_a_server_answers"


def test_a_server_answers(redis_server):
    assert redis_server.client().ping()


@pytest.mark.parametrize(
    ("ci", "code", "word"),
    [("", 0, "SKIPPED"), ("true", 1, "ERROR")],
)
@pytest.mark.slow
def test_suite_without_servers_skips_at_home_and_fails_in_ci(tmp_path, ci, code, word):
    options = ["-n0", "--assert=plain", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, A_TEST_WITH_SERVER]
    environment = os.environ | {"PATH": str(tmp_path), "CI": ci}
    folder = Path(__file__).parent.parent
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert len([line for line in done.stdout.splitlines() if line.startswith(word)]) == 1
    assert "redis-server is not on PATH" in done.stdout
