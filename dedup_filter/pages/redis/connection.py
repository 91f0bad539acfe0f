"""Location of a shared index -> calls to its servers, each with a time limit.

    redis://[user:password@]host[:port][/database][?name=NAME]       rediss:// with TLS
    redis+cluster://[user:password@]host:port[,host:port ...][?name=NAME]   rediss+cluster://

Several indexes can be on one server, each under a name of its own. All options but the name are the
client library's, which reads them. What is shown of an address has no user and no password in it.

After a call that reached no server, or one that takes no writes at present, further calls fail at
once for a while, longer each time: a crawl must not wait at every page for an unreachable server.
The first call after a rest tells whether it is back.

No call is sent twice by itself: one whose answer was lost may have been carried out. Only a script
that found its slot moving to another node, and did nothing, is sent again.
"""

import random
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from time import monotonic, sleep
from time import time as now
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import parse_qs, urlencode, urlsplit

from dedup_filter.errors import ConfigError, StoreAway
from dedup_filter.pages.redis.formats import Keys

__all__ = ["TIMEOUT", "Address", "Connection", "connected", "is_address"]

Result = TypeVar("Result")

TIMEOUT: Final = 2.0
"""Seconds that a call may take, and connecting as well."""
_PAUSE = 0.02
_SHORTEST_REST = 0.1
_LONGEST_REST = 5.0

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_DEFAULT_PORT = 6379
_WRONG = (
    "location must be redis://host:port/database or redis+cluster://host:port,host:port, with "
    "user:password@ before the host if there are any (their special characters written as %XX)"
)
_NOT_TO_CHOOSE = set(
    "cluster_error_retry_attempts db decode_responses encoding encoding_errors "
    "load_balancing_strategy read_from_replicas retry retry_on_error retry_on_timeout".split()
)
"""Options of the client library that would break what this promises."""
_FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
_FALSE = ("0", "f", "false", "n", "no")


def is_address(location: object) -> bool:
    """Tell whether a location is meant to be that of a shared index."""
    return isinstance(location, str) and bool(re.match(r"rediss?(\+cluster)?:", location))


class Address(NamedTuple):
    """Where a shared index is."""

    nodes: tuple[tuple[str, int], ...]
    """Host and port of the server, or of some nodes of the cluster."""
    name: str
    is_cluster: bool
    has_tls: bool
    database: int
    login: str
    """User and password as they stand in the location, with a "@"; "" for none."""
    options: dict[str, str]
    """Further options for the client library."""

    @classmethod
    def of(cls, location: str) -> "Address":
        """Read a location.

        Raises:
            ConfigError: it cannot be meant. The message shows no password.
        """
        try:
            parts = urlsplit(location)
            login, at, hosts = parts.netloc.rpartition("@")
            nodes = tuple(map(_node, hosts.split(",")))
        except ValueError:
            raise ConfigError(_WRONG) from None
        scheme, _, cluster = parts.scheme.partition("+")
        if not is_address(location) or parts.fragment or (len(nodes) > 1 and not cluster):
            raise ConfigError(_WRONG)
        options = {}
        for option, values in parse_qs(parts.query, keep_blank_values=True).items():
            if len(values) > 1:
                raise ConfigError(f"location: {option} is given twice after the question mark")
            options[option] = values[0]
        name = options.pop("name", "pages")
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"location: the name of an index has letters, digits, '_', '.' and '-', at most "
                f"64 of them, not {name!r}"
            )
        database = parts.path.strip("/") or "0"
        if not database.isdecimal() or (cluster and int(database)):
            # It is not shown: an unescaped "/" may have cut a password in two.
            raise ConfigError(
                "location: after the server comes the number of a database, redis://host:port/0; "
                "a cluster has only number 0"
            )
        has_tls = scheme == "rediss"
        return cls(nodes, name, bool(cluster), has_tls, int(database), login + at, options)

    def __str__(self) -> str:
        """Write it without user and password."""
        hosts = ",".join(map(_shown, self.nodes))
        place = f"+cluster://{hosts}" if self.is_cluster else f"://{hosts}/{self.database}"
        return f"{self.scheme}{place}?name={self.name}"

    def __repr__(self) -> str:
        """Write it without user and password, too: it ends in messages and tracebacks."""
        return f"<Address {self}>"

    @property
    def scheme(self) -> str:
        """What begins the address of one server."""
        return "rediss" if self.has_tls else "redis"


def _node(text: str) -> tuple[str, int]:
    node = urlsplit(f"//{text}")
    if not node.hostname or node.port == 0:
        raise ValueError
    return node.hostname, node.port or _DEFAULT_PORT


def _shown(node: tuple[str, int]) -> str:
    host, port = node
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


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
        if monotonic() < self._rests_until:
            raise StoreAway(self._why)
        try:
            with _faults_of(self.address):
                result = work(self._client)
        except StoreAway as fault:
            self._rest = min(max(2 * self._rest, _SHORTEST_REST), _LONGEST_REST)
            # Crawlers that lost it together are not to come back together.
            self._rests_until = monotonic() + self._rest * random.uniform(0.5, 1.0)
            self._why = str(fault)
            raise
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

    def first_chunk(self) -> int:
        """Return the number of the first chunk of the log that was not deleted."""
        meta = self.keys.named("meta")
        return int(self.call(lambda client: client.hget(meta, "first_chunk")) or 0)

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

    in_url, options = _options(address)
    options |= {"socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT}
    options["retry"] = Retry(NoBackoff(), 0)
    place = f"{address.login}{_shown(address.nodes[0])}/{address.database}"
    url = f"{address.scheme}://{place}?{urlencode(in_url)}"
    try:
        with _faults_of(address):
            if address.is_cluster:
                others = [redis.cluster.ClusterNode(*node) for node in address.nodes[1:]]
                cluster: Any = redis.RedisCluster.from_url(url, startup_nodes=others, **options)
                # Older versions of the library would send again what may have been carried out.
                cluster.cluster_error_retry_attempts = 0
                return cluster
            server = redis.Redis.from_url(url, **options)
            server.connection_pool.make_connection()  # refuses options that there are not
            return server
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"location: the client library refuses an option of it: {error}"
        ) from None


def _options(address: Address) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the options that the library reads from a URL, and those that it is given besides.

    Raises:
        ConfigError: one would break the index, or a file of TLS is not there.
    """
    given = dict(address.options)
    refused = sorted(given.keys() & _NOT_TO_CHOOSE)
    if refused:
        raise ConfigError(
            f"location: {refused[0]} cannot be chosen: with it an index would not be read as it is "
            "written, or a call could be sent twice"
        )
    # Versions of the library have other defaults, and some take the word False for true.
    checks = given.pop("ssl_check_hostname", "yes").lower() not in _FALSE
    if not address.has_tls:
        return given, {}
    for name in _FILES:
        if name in given and not Path(given[name]).is_file():
            raise ConfigError(f"location: {name} must be a file; there is none at {given[name]}")
    is_verified = given.get("ssl_cert_reqs", "required").lower() != "none"
    return given, {"ssl_check_hostname": checks and is_verified}


@contextmanager
def _faults_of(address: Address) -> Iterator[None]:
    """Raise errors of the client library as what they mean for an index."""
    import redis

    from dedup_filter.pages.redis.faults import meant

    try:
        yield
    except (redis.RedisError, redis.exceptions.RedisClusterException) as error:
        raise meant(error, address) from None


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
