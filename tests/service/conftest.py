"""Servers of an index, each of which ends with its test."""

from pathlib import Path
from tempfile import mkdtemp

import pytest
from served_index import Server


@pytest.fixture
def serve(tmp_path, crawl_server):
    """Start servers; each of them ends with the test."""
    started = []

    def begin(*options, index=tmp_path / "index", **given):
        folder = Path(mkdtemp(dir=tmp_path))
        started.append(Server(crawl_server, folder, index, *options, **given))
        return started[-1]

    yield begin
    for each in started:
        each.process.kill()
        each.process.wait()
