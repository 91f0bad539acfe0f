"""Indexes for the commands: a directory, and the places where a test of all kinds finds one."""

import shutil

import pytest
from command_line import lines, run
from index_feed import ITEMS, write_jsonl

from dedup_filter import NearDuplicateFilter


@pytest.fixture(scope="session")
def seeded(tmp_path_factory):
    """An index that was seeded with a feed: 20 pages and 5 near-duplicates, texts kept."""
    folder = tmp_path_factory.mktemp("seeded")
    feed = write_jsonl(folder / "feed.jsonl", ITEMS)
    index = folder / "index"
    (found,) = lines("index", "import", str(index), feed, "-o", "keep_text=true", "--json")
    assert found["outcomes"] == {"near": 5, "new": 20}
    return index


@pytest.fixture
def index(seeded, tmp_path):
    """A copy of it that may be changed."""
    return shutil.copytree(seeded, tmp_path / "index")


@pytest.fixture
def export(index, tmp_path):
    path = tmp_path / "export.jsonl"
    assert run("index", "export", str(index), "--output", str(path))[0] == 0
    return path


class InDirectory:
    """Folders."""

    def __init__(self, request):
        self._request = request

    def new(self, name):
        """Name an index that there is not yet."""
        return str(self._request.getfixturevalue("tmp_path") / name)

    def seeded(self, name="index"):
        """Make an index of the feed."""
        seeded = self._request.getfixturevalue("seeded")
        return str(shutil.copytree(seeded, self.new(name)))


class OnServer(InDirectory):
    """Names on a server."""

    servers = "redis_server"

    def new(self, name):
        return f"{self._request.getfixturevalue(self.servers).url}?name={name}"

    def seeded(self, name="index"):
        location = self.new(name)
        with NearDuplicateFilter.open(location, crawl="import") as pages:
            for each in ITEMS:
                pages.see(**each)
        return location


class OnCluster(OnServer):
    """Names on a cluster."""

    servers = "redis_cluster"


@pytest.fixture(params=[InDirectory, OnServer], ids=lambda kind: kind.__name__)
def place(request):
    """Where an index can be, for what is the same in each."""
    return request.param(request)


@pytest.fixture(params=[InDirectory, OnServer, OnCluster], ids=lambda kind: kind.__name__)
def every_place(request):
    """The same, and a cluster, for what reads or writes keys of many slots."""
    return request.param(request)


@pytest.fixture(params=[OnServer, OnCluster], ids=lambda kind: kind.__name__)
def servers(request):
    """Where a shared index can be."""
    return request.param(request)
