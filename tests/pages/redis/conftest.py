"""Filters on a shared index, several in one process, with pages whose measures are chosen."""

from contextlib import ExitStack, suppress

import pytest
from shared_crawlers import K, Like, profile_of

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
            url = server if isinstance(server, str) else server.url
            pages = NearDuplicateFilter.open(url, **{"max_distance": K, **options})
            opened.callback(close, pages)
            return pages

        yield open_pages


@pytest.fixture
def like():
    """Make pages: those of one number are near-duplicates of each other, and of no other."""

    def make(number, edits=0, site="a"):
        fingerprint = number * 0x9E37_79B9_7F4A_7C15 % 2**64 ^ edits
        digest = number << 64 | fingerprint
        return Like(f"http://{site}.example/{number}/{edits}", digest, fingerprint, 7)

    return make


@pytest.fixture
def let_lapse():
    """Let the lease of a crawler be over."""

    def lapse(pages):
        process = pages._kept._process
        name = process.connection.key("processes")
        process.connection.call(lambda client: client.zadd(name, {process.name: 1}))

    return lapse


@pytest.fixture
def see():
    return lambda pages, like: pages.see(like.url, text=like.text)


@pytest.fixture
def claim():
    return lambda pages, like: pages.claim(like.url, text=like.text)
