"""Servers of an index, each of which ends with its test."""

import pytest
from served_index import Server


@pytest.fixture
def serve(tmp_path):
    """Start servers; each of them ends with the test."""
    started = []

    def begin(*options, index=tmp_path / "index", **given):
        started.append(Server(index, *options, **given))
        return started[-1]

    yield begin
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
        each.process.communicate()
