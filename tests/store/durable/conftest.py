"""The places that an index can be in, each with what it promises.

A test that takes `place` states the contract of all of them; one that takes `kept_place`, of those
that outlive their process; `directory` and `local_place` are for what is not promised of servers,
`memory` for rules that are the same wherever pages are. Where a contract is shown in memory, a
directory is slow, and where it is shown on a server, a cluster.
A new kind of place joins by a class here.
"""

import sys

import pytest
from gate import slow
from shared_crawlers import let_lapse
from store_pages import kill

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.upkeep import index_at


class InMemory:
    """Gone when it is closed."""

    def __init__(self, request):
        self.location = "memory:"

    def open(self, **options):
        return NearDuplicateFilter.open(self.location, **options)

    def recorded(self):
        """Read what is recorded."""
        return index_at(str(self.location)).recorded()


class InDirectory(InMemory):
    """There again when it is opened again."""

    writes_in_batches = True

    def __init__(self, request):
        self.location = request.getfixturevalue("tmp_path") / "index"

    def crash(self, pages):
        """Leave it as a killed process does: nothing more is written, and the lock is free."""
        kill(pages.conductor.store)
        pages._is_closed = True


class InRedis(InMemory):
    """On a server, for several processes at once."""

    writes_in_batches = False
    servers = "redis_server"

    def __init__(self, request):
        self.location = request.getfixturevalue(self.servers).url

    def crash(self, pages):
        """Leave it as a killed process does whose lease is over by now."""
        let_lapse(pages)
        pages.conductor._process.close()
        pages._is_closed = True


class InCluster(InRedis):
    """On several servers."""

    servers = "redis_cluster"


def each_of(*kinds):
    """Make a fixture that is each of these places."""

    @pytest.fixture(params=kinds, ids=lambda kind: kind.__name__)
    def place(request):
        return request.param(request)

    return place


DIRECTORY_TOO, CLUSTER_TOO = (slow(kind) for kind in (InDirectory, InCluster))
every_place = each_of(InMemory, InDirectory, InRedis, InCluster)
place = each_of(InMemory, DIRECTORY_TOO, InRedis, CLUSTER_TOO)
memory = each_of(InMemory)
kept_place = each_of(InDirectory, InRedis, CLUSTER_TOO)
local_place = each_of(InMemory, DIRECTORY_TOO)
directory = each_of(InDirectory)


@pytest.fixture(autouse=True)
def _whole(monkeypatch):
    """Require of every filter that is closed in these tests that it is whole then."""
    close = NearDuplicateFilter.close

    def checked_close(pages):
        if not pages._is_closed:
            pages.check()
        close(pages)

    monkeypatch.setattr(NearDuplicateFilter, "close", checked_close)


@pytest.fixture
def pages(place):
    with place.open() as opened:
        yield opened


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""

    class Clock:
        now = 1_800_000_000.0

        def pass_days(self, days):
            self.now += days * 86_400

    made = Clock()
    for name, module in list(sys.modules.items()):
        if name.startswith("dedup_filter.") and hasattr(module, "now"):
            monkeypatch.setattr(module, "now", lambda: made.now)
    return made
