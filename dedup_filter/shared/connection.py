"""Calls to the servers of a shared index, each with a time limit, and rests while they are away.

After a call that found nobody, or a server that takes no writes at present, further calls fail at
once for a while, longer each time: a crawl must not stand still at every page because its index
is away. The first call after a rest tells whether it is back.

No call is sent twice by itself: one whose answer was lost may have been carried out.
"""

import random
import re
from collections.abc import Callable, Mapping
from importlib.resources import files
from time import monotonic
from typing import Any, Final, TypeVar

from dedup_filter.errors import ConfigError, StoreAway, StoreError
from dedup_filter.shared.address import Address

__all__ = ["TIMEOUT", "Connection"]

Result = TypeVar("Result")

TIMEOUT: Final = 2.0
"""Seconds that a call may take, and connecting as well."""
_SHORTEST_REST = 0.1
_LONGEST_REST = 5.0

_NOT_TO_CHOOSE = frozenset(
    {
        "cluster_error_retry_attempts",
        "decode_responses",
        "encoding",
        "encoding_errors",
        "load_balancing_strategy",
        "read_from_replicas",
        "retry",
        "retry_on_error",
        "retry_on_timeout",
    }
)
"""Options of the client library that would break what this promises."""
_NOT_NOW = (
    "BUSY",
    "CLUSTERDOWN",
    "LOADING",
    "MASTERDOWN",
    "MISCONF",
    "NOREPLICAS",
    "OOM",
    "READONLY",
    "TRYAGAIN",
    "UNBLOCKED",
)
"""How a server begins to say that it takes no such call at present; of a script, after colons."""
_IS_LOGIN = re.compile(
    "WRONGPASS|NOAUTH|invalid username-password|Authentication required|AUTH .*called"
    "|unauthenticated"
)
_IS_NOT_NOW = re.compile(rf"(?:.*: )?-?(?:{'|'.join(_NOT_NOW)})\b")
_SCRIPTS = (
    "append",
    "beat",
    "disown",
    "join",
    "leave",
    "make",
    "news",
    "remove",
    "replace",
    "restore",
    "restore_crawl",
    "settle",
    "teach",
    "trim",
)


class Connection:
    """A client of the servers at an address. Several threads may call it.

    Raises:
        ConfigError: the client library is not installed, or refuses an option of the address.
        StoreAway: by all methods: nobody answers, or no writes are taken at present.
        StoreError: by all methods: the server refuses the call.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._client = _client(address)
        self._scripts = _registered(self._client)
        self._rest = 0.0
        self._rests_until = 0.0
        self._why = ""

    def call(self, work: Callable[[Any], Result]) -> Result:
        """Do some work with the client."""
        import redis

        if monotonic() < self._rests_until:
            raise StoreAway(self._why)
        try:
            result = work(self._client)
        except (redis.RedisError, redis.exceptions.RedisClusterException) as error:
            raise self._meant(error) from None
        self._rest = 0.0
        return result

    def run(self, script: str, *arguments: object) -> Any:
        """Run one of the scripts; the first of the arguments is the key that tells it the index."""
        run = self._scripts[script]
        return self.call(lambda _: run(keys=arguments[:1], args=arguments[1:]))

    def set_and_run(
        self, name: str, value: bytes, seconds: int | None, script: str, *arguments: object
    ) -> Any:
        """Set a key, which lasts so long, then run a script: one call where one server has both."""
        if self.address.is_cluster:
            self.call(lambda client: client.set(name, value, ex=seconds))
            return self.run(script, *arguments)
        import redis

        run = self._scripts[script]

        def both(client: Any) -> Any:
            with client.pipeline(transaction=False) as pipe:
                pipe.set(name, value, ex=seconds)
                pipe.evalsha(run.sha, 1, *arguments)
                is_set, answer = pipe.execute(raise_on_error=False)
            if isinstance(is_set, Exception):
                raise is_set
            if isinstance(answer, redis.exceptions.NoScriptError):
                return run(keys=arguments[:1], args=arguments[1:])
            if isinstance(answer, Exception):
                raise answer
            return answer

        return self.call(both)

    def close(self) -> None:
        """Let go of all connections."""
        self._client.close()

    def _meant(self, error: Exception) -> StoreError:
        """Say what an error of the client library means for the index."""
        import redis

        said = _said(error)
        where = f"the shared index {self.address}"
        if _is_login(error):
            return _refused_login(self.address)
        has_moved = isinstance(error, redis.exceptions.AskError) or said.startswith("MOVED ")
        if has_moved and not self.address.is_cluster:
            scheme = "rediss" if self.address.has_tls else "redis"
            return StoreError(
                f"{where}: the server is a node of a cluster: its location begins with "
                f"{scheme}+cluster://"
            )
        if not _is_away(error, said):
            is_there = isinstance(error, redis.ResponseError) and "WRONGTYPE" in said
            hint = "; other keys are there under its name" if is_there else ""
            return StoreError(f"{where}: the server refuses the call ({said}){hint}")
        self._rest = min(max(2 * self._rest, _SHORTEST_REST), _LONGEST_REST)
        # Crawlers that lost it together are not to come back together.
        self._rests_until = monotonic() + self._rest * random.uniform(0.5, 1.0)
        self._why = f"{where} cannot be reached, or takes no writes, at present: {said}"
        return StoreAway(self._why)


def _is_away(error: Exception, said: str) -> bool:
    """Tell whether an error says that the servers cannot be reached, or take no call at present.

    Some answers of servers the library makes errors of their own, without their first word.
    """
    import redis
    from redis import exceptions

    nobody = redis.ConnectionError | redis.TimeoutError | exceptions.RedisClusterException
    not_now = (
        exceptions.OutOfMemoryError
        | exceptions.ReadOnlyError
        | exceptions.ClusterDownError
        | exceptions.TryAgainError
    )
    return isinstance(error, nobody | not_now) or bool(_IS_NOT_NOW.match(said))


def _is_login(error: Exception) -> bool:
    import redis
    from redis import exceptions

    by_class = isinstance(error, redis.AuthenticationError | exceptions.AuthorizationError)
    return by_class or bool(_IS_LOGIN.search(_said(error)))


def _refused_login(address: Address) -> StoreError:
    # What the server said may repeat what it was given.
    return StoreError(f"the shared index {address}: the server refuses the user or the password")


def _said(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _client(address: Address) -> Any:
    try:
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ImportError:
        raise ConfigError(
            "location: an index on Redis needs a client library that is not installed: "
            'pip install "dedup-filter[redis]"'
        ) from None
    options: dict[str, Any] = {
        "username": address.user,
        "password": address.password,
        "socket_timeout": TIMEOUT,
        "socket_connect_timeout": TIMEOUT,
        "retry": Retry(NoBackoff(), 0),
        **_further(address),
    }
    try:
        if address.is_cluster:
            nodes = [redis.cluster.ClusterNode(host, port) for host, port in address.nodes]
            if address.has_tls:
                options["ssl"] = True
            client = redis.RedisCluster(startup_nodes=nodes, **options)
            # Older versions of the library would send a call again that may have been carried out.
            setattr(client, "cluster_error_retry_attempts", 0)  # noqa: B010 - newer ones lack it
            return client
        host, port = address.nodes[0]
        if address.has_tls:
            options["ssl"] = True
        return redis.Redis(host=host, port=port, db=address.database, **options)
    except (redis.RedisError, redis.exceptions.RedisClusterException) as error:
        if _is_login(error):
            raise _refused_login(address) from None
        where = f"the shared index {address}"
        raise StoreAway(f"{where} cannot be reached: {_said(error)}") from None
    except TypeError as error:
        raise ConfigError(
            f"location: the client library refuses an option of it: {error}"
        ) from None


def _further(address: Address) -> Mapping[str, Any]:
    """Read the further options as the client library reads them in URLs."""
    if not address.options:
        return {}
    from redis.connection import parse_url

    refused = sorted(_NOT_TO_CHOOSE.intersection(name for name, _ in address.options))
    if refused:
        raise ConfigError(
            f"location: {refused[0]} cannot be chosen: with it an index would not be read as it is "
            "written, or a call could be sent twice"
        )
    try:
        read = parse_url(f"redis://localhost?{address.client_options}")
    except ValueError as error:
        raise ConfigError(
            f"location: the client library refuses an option of it: {error}"
        ) from None
    return {name: value for name, value in read.items() if name != "host"}


def _registered(client: Any) -> Mapping[str, Any]:
    folder = files("dedup_filter.shared") / "scripts"
    common = (folder / "common.lua").read_text("utf-8")
    return {
        name: client.register_script(common + (folder / f"{name}.lua").read_text("utf-8"))
        for name in _SCRIPTS
    }
