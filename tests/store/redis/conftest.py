"""Filters on a shared index, several in one process, with pages whose measures are chosen."""

from collections import defaultdict
from contextlib import ExitStack, suppress

import pytest
from gate import CLUSTER_TOO
from shared_crawlers import K, like, profile_of, require_agreement, see

from dedup_filter.errors import StoreAway, StoreError
from dedup_filter.filter import NearDuplicateFilter


@pytest.fixture(params=CLUSTER_TOO)
def servers(request):
    """The suite's server, and its cluster."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def crawler(monkeypatch):
    """Open filters as processes do that share an index.

    In the end those of one index know the same pages, unless its server is away, and are closed.
    """
    monkeypatch.setattr("dedup_filter.judge.profile_of", profile_of)
    of_index = defaultdict(list)
    with ExitStack() as closed:

        def open_pages(server, **options):
            pages = NearDuplicateFilter.open(server.url, **{"max_distance": K, **options})
            of_index[server.url].append(pages)
            closed.enter_context(suppress(StoreError))
            closed.callback(pages.close)
            return pages

        yield open_pages
        for opened in of_index.values():
            with suppress(StoreAway):
                require_agreement(*(pages for pages in opened if not pages._is_closed))


@pytest.fixture
def crawlers(redis_server, crawler):
    """Two crawlers that have seen some pages."""
    one, other = crawler(redis_server), crawler(redis_server)
    for number in range(10, 20):
        see(one, like(number))
    see(other, like(20))
    return one, other


@pytest.fixture
def warnings(caplog):
    """What was warned of, and not yet asked for."""

    def said():
        found = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
        caplog.clear()
        return found

    return said
