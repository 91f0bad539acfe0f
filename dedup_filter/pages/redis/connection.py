"""Calls to the servers of a shared index, each with a time limit, and rests while there are none.

After a call that reached no server, or one that takes no writes at present, further calls fail at
once for a while, longer each time: a crawl must not wait at every page for an unreachable server.
The first call after a rest tells whether it is back.

No call is sent twice by itself: one whose answer was lost may have been carried out. Only a script
that found its slot moving to another node, and did nothing, is sent again.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from time import monotonic, sleep
from time import time as now
from typing import Any, Final, TypeVar

from dedup_filter.errors import ConfigError, StoreAway
from dedup_filter.pages.redis.address import Address
from dedup_filter.pages.redis.formats import Keys

__all__ = ["TIMEOUT", "Connection", "connected"]

Result = TypeVar("Result")

TIMEOUT: Final = 2.0
"""Seconds that a call may take, and connecting as well."""
_PAUSE = 0.02
_SHORTEST_REST = 0.1
_LONGEST_REST = 5.0

_NOT_TO_CHOOSE = (
    "cluster_error_retry_attempts",
    "db",
    "decode_responses",
    "encoding",
    "encoding_errors",
    "load_balancing_strategy",
    "read_from_replicas",
    "retry",
    "retry_on_error",
    "retry_on_timeout",
)
"""Options of the client library that would break what this promises."""
_FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
_FALSE = ("0", "f", "false", "n", "no")


class Connection:
    """A client of the servers at an address, and the index there. Several threads may call it.

    Raises:
        ConfigError: the client library is not installed, or refuses an option of the address.
        StoreAway: by all methods: no server answers, or no writes are taken at present.
        StoreError: by all methods: the server refuses the call or the login, or TLS fails.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self.keys = Keys(address.name)
        self._rest = 0.0
        self._rests_until = 0.0
        self._why = ""
        self._client = _client_of(address)
        text = (files("dedup_filter.pages.redis") / "scripts" / "index.lua").read_text("utf-8")
        self._script = self._client.register_script(text)

    def __str__(self) -> str:
        return f"the shared index {self.address}"

    def call(self, work: Callable[[Any], Result]) -> Result:
        """Do some work with the client."""
        import redis

        from dedup_filter.pages.redis.faults import meant

        if monotonic() < self._rests_until:
            raise StoreAway(self._why)
        try:
            result = work(self._client)
        except (redis.RedisError, redis.exceptions.RedisClusterException) as error:
            fault = meant(error, self.address)
            if isinstance(fault, StoreAway):
                self._begin_rest(str(fault))
            raise fault from None
        self._rest = 0.0
        return result

    def run(self, function: str, *arguments: object, key: str | None = None) -> Any:
        """Run one function of `index.lua` on the index, or on the one key that it touches."""
        keys = [self.keys.named("length") if key is None else key]
        given = function, random.getrandbits(8), int(now()), *arguments
        return self.call(lambda _: _when_moved(lambda: self._script(keys=keys, args=given)))

    def hash(self, name: str) -> dict[bytes, bytes]:
        """Return all of a hash in the slot of the log."""
        key = self.keys.named(name)
        return dict(self.call(lambda client: client.hgetall(key)))

    def ask_each(self, command: str, names: Iterable[str]) -> list[Any]:
        """Ask the same of several keys, in one call for each node; return the answers."""

        def ask(client: Any) -> list[Any]:
            with client.pipeline(transaction=False) as pipe:
                for name in names:
                    pipe.execute_command(command, name)
                return list(pipe.execute())

        return self.call(ask)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _begin_rest(self, why: str) -> None:
        self._rest = min(max(2 * self._rest, _SHORTEST_REST), _LONGEST_REST)
        # Crawlers that lost it together are not to come back together.
        self._rests_until = monotonic() + self._rest * random.uniform(0.5, 1.0)
        self._why = why


@contextmanager
def connected(location: str) -> Iterator[Connection]:
    """Connect to the index at a location; hang up if what is done within fails.

    Raises:
        ConfigError: as `Address.of` and `Connection` do.
    """
    connection = Connection(Address.of(location))
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


def _client_of(address: Address) -> Any:
    """Make a client; one of a cluster connects at once."""
    try:
        import redis
    except ImportError:
        raise ConfigError(
            "location: an index on Redis needs a client library that is not installed: "
            'pip install "dedup-filter[redis]"'
        ) from None
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    from dedup_filter.pages.redis.faults import meant

    options = {
        "socket_timeout": TIMEOUT,
        "socket_connect_timeout": TIMEOUT,
        "retry": Retry(NoBackoff(), 0),
        **_checked_options(address),
    }
    try:
        if address.is_cluster:
            others = [redis.cluster.ClusterNode(*node) for node in address.nodes[1:]]
            cluster: Any = redis.RedisCluster.from_url(
                address.client_url, startup_nodes=others, **options
            )
            # Older versions of the library would send a call again that may have been carried out.
            cluster.cluster_error_retry_attempts = 0
            return cluster
        server = redis.Redis.from_url(address.client_url, **options)
        server.connection_pool.make_connection()  # refuses options that there are not
    except (redis.RedisError, redis.exceptions.RedisClusterException) as error:
        raise meant(error, address) from None
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"location: the client library refuses an option of it: {error}"
        ) from None
    return server


def _checked_options(address: Address) -> dict[str, bool]:
    """Refuse options that break an index; return those that the URL does not tell the library.

    Raises:
        ConfigError: an option cannot be chosen, or a file of TLS is not there.
    """
    given = dict(address.options)
    refused = sorted(given.keys() & set(_NOT_TO_CHOOSE))
    if refused:
        raise ConfigError(
            f"location: {refused[0]} cannot be chosen: with it an index would not be read as it is "
            "written, or a call could be sent twice"
        )
    if not address.has_tls:
        return {}
    for name in _FILES:
        if name in given and not Path(given[name]).is_file():
            raise ConfigError(f"location: {name} must be a file; there is none at {given[name]}")
    # Versions of the library have other defaults, and some take the word False for true.
    checks = given.get("ssl_check_hostname", "yes").lower() not in _FALSE
    is_verified = given.get("ssl_cert_reqs", "required").lower() != "none"
    return {"ssl_check_hostname": checks and is_verified}


def _when_moved(run: Callable[[], Result]) -> Result:
    """Run a script; wait for a while if its slot is moving to another node."""
    import redis

    from dedup_filter.pages.redis.faults import is_moving

    latest = monotonic() + TIMEOUT
    while True:
        try:
            return run()
        except redis.ResponseError as error:  # nothing was done
            if not is_moving(error) or monotonic() > latest:
                raise
        sleep(_PAUSE)
