"""Filters on a shared index, several in one process, with pages whose measures are chosen."""

from contextlib import ExitStack, suppress

import pytest
from shared_crawlers import K, like, profile_of, see

from dedup_filter import NearDuplicateFilter
from dedup_filter.errors import StoreError


@pytest.fixture(params=["redis_server", "redis_cluster"])
def servers(request):
    """The suite's server, and its cluster."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def crawler(monkeypatch):
    """Open filters as processes do that share an index; they are closed with the test."""
    monkeypatch.setattr("dedup_filter.workers.measured.profile", profile_of)
    with ExitStack() as opened:

        def close(pages):
            with suppress(StoreError):
                pages.close()

        def open_pages(server, **options):
            pages = NearDuplicateFilter.open(server.url, **{"max_distance": K, **options})
            opened.callback(close, pages)
            return pages

        yield open_pages


@pytest.fixture
def crawlers(redis_server, crawler):
    """Two crawlers; one has seen a page."""
    one, other = crawler(redis_server), crawler(redis_server)
    see(one, like(9))
    return one, other


@pytest.fixture
def warnings(caplog):
    """What was warned of, and not yet asked for."""

    def said():
        found = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
        caplog.clear()
        return found

    return said
