"""The places that an index can be in, each with what it promises.

A test that takes `place` states the contract of all of them; one that takes `kept_place`, of those
that outlive their process. A new kind of place joins by a class here.
"""

import pytest

from dedup_filter import NearDuplicateFilter


class InMemory:
    """Gone when it is closed."""

    def __init__(self, folder):
        self.location = "memory:"

    def open(self, **options):
        return NearDuplicateFilter.open(self.location, **options)


class InDirectory(InMemory):
    """There again when it is opened again."""

    def __init__(self, folder):
        self.location = folder / "index"

    def crash(self, pages):
        """Leave it as a killed process does: nothing more is written, and the lock is free."""
        store = pages._kept.store
        store._transactions.connection.close()
        store._lock.release()
        pages._is_closed = True


KEPT = [InDirectory]


@pytest.fixture(params=[InMemory, *KEPT], ids=lambda kind: kind.__name__)
def place(request, tmp_path):
    return request.param(tmp_path)


@pytest.fixture(params=KEPT, ids=lambda kind: kind.__name__)
def kept_place(request, tmp_path):
    return request.param(tmp_path)


@pytest.fixture
def pages(place):
    with place.open() as opened:
        yield opened
        opened.check()


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""

    class Clock:
        now = 1_800_000_000.0

        def pass_days(self, days):
            self.now += days * 86_400

    made = Clock()
    for module in ("location", "kept_pages"):
        monkeypatch.setattr(f"dedup_filter.{module}.now", lambda: made.now)
    return made
