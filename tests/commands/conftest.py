"""Indexes for the commands: a directory, and the places where a test of all kinds finds one."""

import shutil

import pytest
from command_line import run
from gate import CLUSTER_TOO
from index_feed import ITEMS

from dedup_filter import NearDuplicateFilter


@pytest.fixture(scope="session")
def seeded(tmp_path_factory):
    """An index of 20 pages and 5 near-duplicates, with their texts."""
    index = tmp_path_factory.mktemp("seeded") / "index"
    with NearDuplicateFilter.open(index, crawl="import", keep_text=True) as pages:
        assert [pages.see(**each).outcome for each in ITEMS] == ["new"] * 20 + ["near"] * 5
    return index


@pytest.fixture
def index(seeded, tmp_path):
    """A copy of it that may be changed."""
    return shutil.copytree(seeded, tmp_path / "index")


@pytest.fixture
def export(index):
    """The lines of its export."""
    return run("index", "export", str(index))[1]


@pytest.fixture
def run_elsewhere(crawl_server, tmp_path):
    """Run the command in another process, as `run` does in this one."""

    def run_there(*arguments, text=""):
        return crawl_server.run("dedup-filter", *arguments, cwd=tmp_path, text=text)

    return run_there


class Place:
    """Where indexes are: in folders, or on the servers of a fixture."""

    def __init__(self, request):
        self._fixture = request.getfixturevalue
        self.servers = request.param

    def new(self, name):
        """Name an index that there is not yet."""
        if self.servers:
            return f"{self._fixture(self.servers).url}?name={name}"
        return str(self._fixture("tmp_path") / name)

    def seeded(self, name="index"):
        """Make an index of the feed."""
        location = self.new(name)
        if not self.servers:
            return str(shutil.copytree(self._fixture("seeded"), location))
        with NearDuplicateFilter.open(location, crawl="import") as pages:
            for each in ITEMS:
                pages.see(**each)
        return location

    def client(self):
        """Connect to the servers."""
        return self._fixture(self.servers).client()


@pytest.fixture(params=[None, "redis_server"], ids=["folder", "server"])
def place(request):
    """Where an index can be, for what is the same in each."""
    return Place(request)


@pytest.fixture(params=[None, "redis_server", "redis_cluster"], ids=["folder", "server", "cluster"])
def every_place(request):
    """The same, and a cluster, for what reads or writes keys of many slots."""
    return Place(request)


@pytest.fixture(params=CLUSTER_TOO)
def servers(request):
    """Where a shared index can be."""
    return Place(request)
