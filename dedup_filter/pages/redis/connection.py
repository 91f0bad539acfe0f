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
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from time import monotonic
from time import time as now
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import parse_qs, urlencode, urlsplit

from dedup_filter.errors import ConfigError, StoreAway
from dedup_filter.pages.redis.formats import Keys

__all__ = ["TIMEOUT", "Address", "Connection", "connected", "is_address"]

Result = TypeVar("Result")

TIMEOUT: Final = 2.0
"""Seconds that a call may take, and connecting as well."""
_SHORTEST_REST = 0.1
_LONGEST_REST = 5.0

_LOCATION = re.compile(
    r"(?P<scheme>rediss?(?P<cluster>\+cluster)?)://(?P<login>[^/?#]*@)?(?P<hosts>[^/?#@]+)"
    r"(/(?P<database>[0-9]*))?/?(\?(?P<query>[^#]*))?"
)
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_DEFAULT_PORT = 6379
_WRONG = (
    "location must be redis://host:port/database or redis+cluster://host:port,host:port, with "
    "user:password@ before the host if there are any (their special characters written as %XX); "
    "the database is a number, of a cluster 0"
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

    shown: str
    """Without user and password."""
    url: str
    """What the client library connects to, with both: the server, or the first of the nodes."""
    is_cluster: bool
    others: tuple[tuple[str, int], ...]
    """Host and port of more nodes of a cluster."""
    name: str
    options: dict[str, Any]
    """Those that the URL does not tell the library."""

    @classmethod
    def of(cls, location: str) -> "Address":
        """Read a location.

        Raises:
            ConfigError: it cannot be meant, or an option of it. The message shows no password.
        """
        found = _LOCATION.fullmatch(location)
        nodes = _nodes(found["hosts"]) if found else ()
        # No part of what is wrong is shown: an unescaped "/" may have cut a password in two.
        if not found or not nodes:
            raise ConfigError(_WRONG)
        database = int(found["database"] or 0)
        if database if found["cluster"] else len(nodes) > 1:
            raise ConfigError(_WRONG)
        scheme = found["scheme"].partition("+")[0]
        given, options = _options(found["query"] or "", has_tls=scheme == "rediss")
        name = given.pop("name", "pages")
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"location: the name of an index has letters, digits, '_', '.' and '-', at most "
                f"64 of them, not {name!r}"
            )
        shown = [f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in nodes]
        place = ",".join(shown) if found["cluster"] else f"{shown[0]}/{database}"
        url = f"{scheme}://{found['login'] or ''}{shown[0]}/{database}?{urlencode(given)}"
        shown_url = f"{found['scheme']}://{place}?name={name}"
        return cls(shown_url, url, bool(found["cluster"]), nodes[1:], name, options)

    def __repr__(self) -> str:
        """Write it without user and password: it ends in messages and tracebacks."""
        return self.shown


def _nodes(hosts: str) -> tuple[tuple[str, int], ...]:
    """Read hosts and their ports; none if one cannot be meant."""
    with suppress(ValueError):
        parts = [urlsplit(f"//{host}") for host in hosts.split(",")]
        if all(part.hostname and part.port != 0 for part in parts):
            return tuple((part.hostname or "", part.port or _DEFAULT_PORT) for part in parts)
    return ()


def _options(query: str, *, has_tls: bool) -> tuple[dict[str, str], dict[str, Any]]:
    """Read the options of a location; return those that stay in it, and those of the client.

    Raises:
        ConfigError: one would break the index, or a file of TLS is not there.
    """
    given = {}
    for option, values in parse_qs(query, keep_blank_values=True).items():
        if len(values) > 1:
            raise ConfigError(f"location: {option} is given twice after the question mark")
        if option in _NOT_TO_CHOOSE:
            raise ConfigError(
                f"location: {option} cannot be chosen: with it an index would not be read as it is "
                "written, or a call could be sent twice"
            )
        if option in _FILES and not Path(values[0]).is_file():
            raise ConfigError(f"location: {option} must be a file; there is none at {values[0]}")
        given[option] = values[0]
    # Versions of the library have other defaults, and some take the word False for true.
    checks = given.pop("ssl_check_hostname", "yes").lower() not in _FALSE
    is_verified = given.get("ssl_cert_reqs", "required").lower() != "none"
    return given, {"ssl_check_hostname": checks and is_verified} if has_tls else {}


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
        from dedup_filter.pages.redis.faults import told_apart

        if monotonic() < self._rests_until:
            raise StoreAway(self._why)
        try:
            with told_apart(self.address):
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
        from dedup_filter.pages.redis.faults import when_moved

        keys = [self.keys.named("length") if key is None else key]
        given = function, random.getrandbits(8), int(now()), *arguments
        return self.call(lambda _: when_moved(lambda: self._script(keys=keys, args=given), TIMEOUT))

    def ask(self, command: str, key: str, *arguments: object) -> Any:
        """Return the answer to one command that asks of a key."""
        return self.call(lambda client: client.execute_command(command, key, *arguments))

    def ask_all(self, commands: Iterable[tuple[object, ...]]) -> list[Any]:
        """Return the answers to several commands, in one call for each node."""

        def ask(client: Any) -> list[Any]:
            with client.pipeline(transaction=False) as pipe:
                for command in commands:
                    pipe.execute_command(*command)
                return list(pipe.execute())

        return self.call(ask)

    def counts(self, name: str) -> dict[str, int]:
        """Return all of a hash of numbers in the slot of the log."""
        found = self.ask("HGETALL", self.keys.named(name)).items()
        return {field.decode("utf-8", "surrogatepass"): int(count) for field, count in found}

    def first_chunk(self) -> int:
        """Return the number of the first chunk of the log that was not deleted."""
        return int(self.ask("HGET", self.keys.named("meta"), "first_chunk") or 0)

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

    from dedup_filter.pages.redis.faults import told_apart

    options = {
        "socket_timeout": TIMEOUT,
        "socket_connect_timeout": TIMEOUT,
        "retry": Retry(NoBackoff(), 0),
        **address.options,
    }
    nodes = [redis.cluster.ClusterNode(*node) for node in address.others]
    try:
        with told_apart(address):
            if not address.is_cluster:
                server = redis.Redis.from_url(address.url, **options)
                server.connection_pool.make_connection()  # refuses options that there are not
                return server
            cluster: Any = redis.RedisCluster.from_url(address.url, startup_nodes=nodes, **options)
            # Older versions of the library would send again what may have been carried out.
            cluster.cluster_error_retry_attempts = 0
            return cluster
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"location: the client library refuses an option of it: {error}"
        ) from None
