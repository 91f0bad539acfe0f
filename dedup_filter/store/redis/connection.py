"""Location of a shared index -> calls to its servers, with a time limit; errors -> StoreError.

    redis://[user:password@]host[:port][/database][?name=NAME]              rediss:// with TLS
    redis+cluster://[user:password@]host:port[,host:port ...][?name=NAME]   rediss+cluster://

Several indexes can be on one server, each under a name of its own. `pages=1e9` is the size for
which an index is made; with `tables=3` it finds all pages within 3 bits. All other options belong
to the client library. Messages and logs show an address without its user and password.

If a call reaches no server, or the server takes no writes at present, further calls fail at once
for a while, longer each time: a crawl must not wait at every page for an unreachable server.

Calls are never retried: a call whose answer was lost may have been carried out. The only exceptions
are commands that a node refused: their slot has moved, or the node has not got their script yet.
"""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from dedup_filter.errors import ConfigError, StoreAway, StoreError, needs_extra

Result = TypeVar("Result")
Command = tuple[Any, ...]
"""The name of a command, and its arguments."""

TIMEOUT: Final = 2.0
"""Time limit in seconds for a call, and for connecting."""
_SHORTEST_REST, _LONGEST_REST = 0.1, 5.0
_PAUSE = 0.02
_PLACES_OF_KEYS = {"EVALSHA": 3, "MEMORY": 2}
_KEYS = 1_000
_MOST_PAGES = 10**12
_SCRIPTS = "cut join restore_crawl swap".split()

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
"""Options of the client library that would break the guarantees of this module."""
_FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")

# The library turns some error replies into classes of its own and strips their first word. Its
# versions differ in this, so both the class and the message are checked.
_AWAY = set(
    "ClusterDownError ConnectionError OSError OutOfMemoryError ReadOnlyError RedisClusterException "
    "TimeoutError TryAgainError".split()
)
_RACE = re.compile(
    "I/O operation on closed file|dictionary changed size during iteration"
    "|'NoneType' object has no attribute '(?:readline|read|recv|sendall|settimeout)'"
)
"""Errors of redis-py 5 if two threads find at once that a node has failed: one closes what the
other one uses."""
_ERRORS_OF_RACE = AttributeError, RuntimeError, ValueError
_NOT_NOW = re.compile(
    r"(?:.*: )?-?(?:BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|NOREPLICAS|OOM|READONLY|TRYAGAIN"
    r"|UNBLOCKED)\b"
)
"""Start of a server's error if it takes no such call at present; in a script, after a colon."""
_LOGIN = re.compile(
    "WRONGPASS|NOAUTH|invalid username-password|Authentication required|AUTH .*called"
    "|unauthenticated"
)
_MOVING = re.compile("non local key in a cluster node|during rehashing of the slot")
_OUT_OF_MEMORY = re.compile(r"\bOOM\b|used memory > 'maxmemory'")
_TLS = re.compile(r"\[SSL[^\]]*\]|\bSSL\b|_ssl\.c|certificate")
_AROUND_TLS = re.compile(r".*\[SSL[^\]]*\] | \(_ssl\.c.*")
"""The text that OpenSSL writes around the reason."""


def is_address(location: object) -> bool:
    """Return whether a location has the scheme of a shared index."""
    return isinstance(location, str) and bool(re.match(r"rediss?(\+cluster)?:", location))


class Address(NamedTuple):
    """Where a shared index is."""

    shown: str
    """Without user and password."""
    url: str
    """URL for the client library, with user and password: the server, or the first node."""
    is_cluster: bool
    others: tuple[tuple[str, int], ...]
    """Host and port of each further node of a cluster."""
    name: str
    expected: int = 10_000_000
    """Pages for which an index is made that is not there yet."""
    has_tables: bool = False
    """Whether such an index finds all pages within 3 bits."""

    @classmethod
    def of(cls, location: str) -> "Address":
        """Read a location.

        Raises:
            ConfigError: the location or an option is invalid. The message shows no password.
        """
        found = _LOCATION.fullmatch(location)
        nodes = _nodes(found["hosts"]) if found else ()
        # The message quotes no part of the location: an unescaped "/" may have cut a password.
        if not found or not nodes:
            raise ConfigError(_WRONG)
        is_cluster, database = bool(found["cluster"]), int(found["database"] or 0)
        if database if is_cluster else len(nodes) > 1:
            raise ConfigError(_WRONG)
        scheme = found["scheme"].partition("+")[0]
        given = dict(parse_qsl(found["query"] or "", keep_blank_values=True))
        _check_options(given)
        name = given.pop("name", "pages")
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"location: the name of an index has letters, digits, '_', '.' and '-', at most "
                f"64 of them, not {name!r}"
            )
        try:
            expected = int(float(given.pop("pages", cls._field_defaults["expected"])))
        except (ValueError, OverflowError):
            expected = 0
        if not 1 <= expected <= _MOST_PAGES:
            raise ConfigError(
                "location: pages is how many pages an index is made for, 1 to 1e12, like pages=1e9"
            )
        tables = given.pop("tables", "0")
        if tables not in ("0", "3"):
            raise ConfigError("location: tables is 3, for tables of all pages within 3 bits, or 0")
        if scheme == "rediss":  # the default differs between versions of the library
            is_verified = given.get("ssl_cert_reqs") != "none"
            given.setdefault("ssl_check_hostname", str(is_verified))
        shown = [f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in nodes]
        place = ",".join(shown) if is_cluster else f"{shown[0]}/{database}"
        url = f"{scheme}://{found['login'] or ''}{shown[0]}/{database}?{urlencode(given)}"
        shown_url = f"{found['scheme']}://{place}?name={name}"
        rest = nodes[1:], name, expected, tables == "3"
        return cls(shown_url, url, is_cluster, *rest)

    def __repr__(self) -> str:
        """Return the address without user and password, as messages and tracebacks show it."""
        return self.shown


def _nodes(hosts: str) -> tuple[tuple[str, int], ...]:
    with suppress(ValueError):
        parts = [urlsplit(f"//{host}") for host in hosts.split(",")]
        if all(part.hostname and part.port != 0 for part in parts):
            return tuple((part.hostname or "", part.port or _DEFAULT_PORT) for part in parts)
    return ()


def _check_options(given: dict[str, str]) -> None:
    for option, value in given.items():
        if option in _NOT_TO_CHOOSE:
            raise ConfigError(
                f"location: {option} cannot be chosen: with it an index would not be read as it is "
                "written, or a call could be sent twice"
            )
        if option in _FILES and not Path(value).is_file():
            raise ConfigError(f"location: {option} must be a file; there is none at {value}")


def key_of(command: Command) -> str:
    """Return the key of a command."""
    return str(command[_PLACES_OF_KEYS.get(command[0], 1)])


class Connection:
    """A client of one index on the servers at an address. Several threads may call it.

    Raises:
        ConfigError: the client library is not installed, or refuses an option of the address.
        StoreAway: by all methods: no server answers, or the server takes no writes at present.
        StoreError: by all methods: the server refuses the call or the login, or TLS fails.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._rest = 0.0
        self._rests_until = 0.0
        self._why = ""
        self._are_nodes_known = True
        self._client: Any = None
        with needs_extra("redis", "location: an index on Redis"):
            try:
                self._client = self.call(lambda _: _client_of(address))
            except (TypeError, ValueError) as error:
                raise ConfigError(
                    f"location: the client library refuses an option of it: {error}"
                ) from None
        scripts = files("dedup_filter.store.redis") / "scripts"
        self._scripts: Mapping[str, Any] = {
            name: self._client.register_script((scripts / f"{name}.lua").read_text("utf-8"))
            for name in _SCRIPTS
        }

    def __str__(self) -> str:
        return f"the shared index {self.address}"

    def key(self, name: str) -> str:
        """Return the name of a key of metadata: all of these are in one slot of a cluster."""
        return f"dedup:{{{self.address.name}}}:{name}"

    def part(self, kind: str, number: int) -> str:
        """Return the name of a record, a bucket or a list, in a slot of its own."""
        return f"dedup:{self.address.name}:{kind}:{number:x}"

    def call(self, work: Callable[[Any], Result]) -> Result:
        """Call a function with the client; return its result."""
        from redis.exceptions import RedisClusterException, RedisError

        if monotonic() < self._rests_until:
            raise StoreAway(self._why)
        try:
            result = work(self._client)
        except (RedisError, RedisClusterException, OSError, *_ERRORS_OF_RACE) as error:
            if isinstance(error, _ERRORS_OF_RACE) and not _RACE.match(str(error)):
                raise
            fault = _meant(error, self.address)
            if isinstance(fault, StoreAway):
                self._rest = min(max(2 * self._rest, _SHORTEST_REST), _LONGEST_REST)
                # Jitter: crawlers that lost the server together must not all retry at once.
                self._rests_until = monotonic() + self._rest * random.uniform(0.5, 1.0)
                self._why = str(fault)
                self._are_nodes_known = False
            raise fault from None
        self._rest = 0.0
        return result

    def ask(self, command: str, key: str, *arguments: object) -> Any:
        """Return the answer to one command on a key."""
        return self.call(lambda client: client.execute_command(command, key, *arguments))

    def script(self, name: str, key: str, *arguments: object) -> Command:
        """Return the command that runs a script on a key."""
        return "EVALSHA", self._scripts[name].sha, 1, key, *arguments

    def run(self, name: str, *arguments: object) -> Any:
        """Run a script on the metadata."""
        given = self.key("meta"), *arguments

        def run_when_moved(_: Any) -> Any:
            latest = monotonic() + TIMEOUT
            while True:
                try:
                    return self._scripts[name](keys=given[:1], args=given[1:])
                except Exception as error:
                    # A script that found its slot moving to another node has done nothing.
                    if not _MOVING.search(str(error)) or monotonic() > latest:
                        raise
                sleep(_PAUSE)

        return self.call(run_when_moved)

    def ask_all(self, commands: Sequence[Command]) -> list[Any]:
        """Return the answers to commands in their order, in one round trip to each node.

        Each command is on one key. If one fails, others may have been carried out.
        """
        return self.call(lambda client: self._answers(client, commands)) if commands else []

    def _answers(self, client: Any, commands: Sequence[Command]) -> list[Any]:
        """Return the answers; commands of a node that has no script, or whose slot moved, go again.

        The pipelines of the client library take twice the time, and on clusters they repeat calls
        whose answer was lost.
        """
        from redis.exceptions import AskError, NoScriptError, ResponseError

        places = defaultdict[Any, list[int]](list)
        for place, command in enumerate(commands):
            places[self._pool(client, key_of(command))].append(place)
        answers = _sent_and_read(commands, places)
        for place, answer in enumerate(answers):
            if isinstance(answer, NoScriptError):
                _, sha, *rest = commands[place]
                text = next(each.script for each in self._scripts.values() if each.sha == sha)
                answers[place] = client.execute_command("EVAL", text, *rest)
            elif isinstance(answer, AskError):  # MOVED, too
                answers[place] = client.execute_command(*commands[place])
            elif isinstance(answer, ResponseError):
                raise answer
        return answers

    def _pool(self, client: Any, key: str) -> Any:
        """Return the connections to the node of a key."""
        if not self.address.is_cluster:
            return client.connection_pool
        if not self._are_nodes_known:  # a node may have failed, and another one have its slots
            client.nodes_manager.initialize()
            self._are_nodes_known = True
        node = client.nodes_manager.get_node_from_slot(client.keyslot(key))
        return client.get_redis_connection(node).connection_pool

    def numbers(self, kind: str) -> list[int]:
        """Return the numbers of all records, buckets or lists, ascending.

        Cost: scans all keys of the servers, also keys of other programs, 1,000 at a time.
        """
        prefix = self.part(kind, 0)[:-1]
        name = re.compile(re.escape(prefix.encode()) + b"([0-9a-f]{1,16})")

        def scanned(client: Any) -> set[int]:
            keys = client.scan_iter(f"{prefix}*", count=_KEYS)
            return {int(found[1], 16) for key in keys if (found := name.fullmatch(key))}

        return sorted(self.call(scanned))

    def counts(self, name: str) -> dict[str, int]:
        """Return all fields of a hash of integers in the slot of metadata."""
        found = self.ask("HGETALL", self.key(name)).items()
        return {field.decode("utf-8", "surrogatepass"): int(count) for field, count in found}

    def close(self) -> None:
        """Close all connections."""
        self._client.close()


@contextmanager
def closed_if_it_fails(opened: Any) -> Iterator[None]:
    """Close a connection or an index if the block raises."""
    try:
        yield
    except BaseException:
        opened.close()
        raise


def _packed(commands: Sequence[Command]) -> bytes:
    """Return commands in the servers' protocol; the client library takes three times the time."""
    found = list[bytes]()
    for command in commands:
        values = [each if isinstance(each, bytes) else str(each).encode() for each in command]
        found.append(b"*%d\r\n" % len(values))
        found += [b"$%d\r\n%b\r\n" % (len(each), each) for each in values]
    return b"".join(found)


def _sent_and_read(commands: Sequence[Command], places: Mapping[Any, Sequence[int]]) -> list[Any]:
    """Return the answers to commands; `places`: connections to a node -> places of its commands."""
    from redis.exceptions import ResponseError

    links = dict[Any, Any]()
    answers: list[Any] = [None] * len(commands)
    try:
        for pool, of_node in places.items():
            link = links[pool] = pool.get_connection()
            link.send_packed_command([_packed([commands[each] for each in of_node])])
        for pool, of_node in places.items():
            for place in of_node:
                try:
                    answers[place] = links[pool].read_response()
                except ResponseError as error:  # noqa: PERF203 - of one command of many
                    answers[place] = error
    except BaseException:
        for link in links.values():
            link.disconnect()
        raise
    finally:
        for pool, link in links.items():
            pool.release(link)
    return answers


def _client_of(address: Address) -> Any:
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    options = {
        "socket_timeout": TIMEOUT,
        "socket_connect_timeout": TIMEOUT,
        "retry": Retry(NoBackoff(), 0),
    }
    if not address.is_cluster:
        server = redis.Redis.from_url(address.url, **options)
        server.connection_pool.make_connection()  # raises on unknown options
        return server
    nodes = [redis.cluster.ClusterNode(*node) for node in address.others]
    cluster: Any = redis.RedisCluster.from_url(address.url, startup_nodes=nodes, **options)
    # Older versions of the library would retry calls that may have been carried out.
    cluster.cluster_error_retry_attempts = 0
    return cluster


def _meant(error: Exception, address: Address) -> StoreError:
    message = str(error).partition("\n")[0]
    kinds = {kind.__name__ for kind in type(error).__mro__}
    where = f"the shared index {address}"
    if kinds & {"AuthenticationError", "AuthorizationError"} or _LOGIN.search(message):
        # The server's message may quote the user or the password.
        return StoreError(f"{where}: the server refuses the user or the password")
    if _TLS.search(message):
        return StoreError(
            f"{where}: no connection by TLS with the server: {_AROUND_TLS.sub('', message)}; what "
            "each side asks of the other is set by ssl_ca_certs, ssl_check_hostname, ssl_certfile "
            "and ssl_keyfile in the location, and rediss:// is for ports that speak TLS"
        )
    if ("AskError" in kinds or message.startswith("MOVED ")) and not address.is_cluster:
        return StoreError(
            f"{where}: the server is a node of a cluster: its location begins with "
            f"{address.shown.partition(':')[0]}+cluster://"
        )
    is_away = kinds & _AWAY or _NOT_NOW.match(message) or isinstance(error, _ERRORS_OF_RACE)
    if is_away or _MOVING.search(message):
        if _MOVING.search(message):
            message = "a slot of the cluster is moving to another node"
        elif _OUT_OF_MEMORY.search(message):
            message = (
                "the server has no memory left: raise its maxmemory, and set max_pages or "
                "expire_days if the index is to grow no further"
            )
        return StoreAway(f"{where} cannot be reached, or takes no writes, at present: {message}")
    hint = "; other keys are there under its name" if "WRONGTYPE" in message else ""
    return StoreError(f"{where}: the server refuses the call ({message}){hint}")
