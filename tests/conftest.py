"""Settings and articles that all tests share."""

import gc
import os
import signal
import sys
from contextlib import ExitStack, closing

import pytest
from crawl_server import CrawlServer
from gate import IS_GATE, program
from hypothesis import HealthCheck, settings
from made_text import prose
from redis_nodes import RedisNodes
from redis_servers import RedisServer
from web_site import served

from dedup_filter.filter import NearDuplicateFilter

# The same tree gives the same result: examples are not drawn by chance, and time decides nothing.
settings.register_profile(
    "quick",
    deadline=None,
    derandomize=True,
    max_examples=25,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("gate", settings.get_profile("quick"), max_examples=100)
settings.register_profile(
    "soak", settings.get_profile("quick"), derandomize=False, max_examples=1_000
)
settings.load_profile("gate" if IS_GATE else "quick")


def pytest_configure(config):
    """Where nothing is to be compiled into the tree, have what is compiled in pytest's cache.

    All processes of the tests find it there, of this run and of later ones: most of what it takes
    to import them is to compile them.
    """
    if sys.dont_write_bytecode and sys.pycache_prefix is None and getattr(config, "cache", None):
        sys.dont_write_bytecode = False
        sys.pycache_prefix = str(config.cache.mkdir("bytecode"))
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection_finish():
    """Do not look for garbage in what stays: modules and thousands of tests."""
    gc.freeze()


@pytest.fixture
def article():
    """Make articles: English sentences, different for each seed, alike for a few `edits`."""
    return prose


@pytest.fixture
def pages():
    """A filter in memory, which is whole in the end."""
    with NearDuplicateFilter.open() as opened:
        yield opened
        opened.check()


@pytest.fixture(scope="session", autouse=True)
def _interruptible_children():
    """Let children be interrupted: a job in the background ignores SIGINT, and they would, too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def crawl_server():
    with closing(CrawlServer({"no_proxy": "*", "PYTHONWARNINGS": "default"})) as server:
        yield server


@pytest.fixture
def make_site():
    """Serve sites on loopback that end with the test; takes what `served` takes."""
    with ExitStack() as sites:
        yield lambda *pages: sites.enter_context(served(*pages))


@pytest.fixture(scope="session")
def _redis_program():
    for name in ("redis-server", "redis-cli"):
        program(name, package="redis-server")


@pytest.fixture(scope="session")
def _one_redis_server(_redis_program):
    with RedisServer() as server:
        yield server


@pytest.fixture(scope="session")
def _one_redis_cluster(_redis_program):
    with RedisNodes() as cluster:
        yield cluster


@pytest.fixture
def redis_server(_one_redis_server):
    """The suite's server, empty. Tests that kill it or set it up use `start_redis`."""
    _one_redis_server.flush()
    return _one_redis_server


@pytest.fixture
def redis_cluster(_one_redis_cluster):
    """The suite's cluster of three masters, empty. To kill nodes: `start_redis_cluster`."""
    _one_redis_cluster.flush()
    return _one_redis_cluster


@pytest.fixture
def start_redis(_redis_program):
    """Start servers that end with the test; takes what `RedisServer` takes."""
    with ExitStack() as servers:
        yield lambda **options: servers.enter_context(RedisServer(**options))


@pytest.fixture
def start_redis_cluster(_redis_program):
    """Start clusters that end with the test; takes what `RedisNodes` takes."""
    with ExitStack() as clusters:
        yield lambda **options: clusters.enter_context(RedisNodes(**options))
