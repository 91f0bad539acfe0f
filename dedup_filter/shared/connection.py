"""Calls to the servers of a shared index, each with a time limit, and rests while they are away.

After a call that found nobody, or a server that takes no writes at present, further calls fail at
once for a while, longer each time: a crawl must not stand still at every page because its index
is away. The first call after a rest tells whether it is back.

No call is sent twice by itself: one whose answer was lost may have been carried out.
"""

import random
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
"""How a server begins to say that it takes no such call at present."""
_SCRIPTS = (
    "append",
    "beat",
    "disown",
    "join",
    "leave",
    "news",
    "remove",
    "replace",
    "settle",
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
        except redis.RedisError as error:
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

        said = str(error).partition("\n")[0]
        where = f"the shared index {self.address}"
        if isinstance(
            error, redis.AuthenticationError | redis.exceptions.AuthorizationError
        ) or _is_login(said):
            # What the server said may repeat what it was given.
            return StoreError(f"{where}: the server refuses the user or the password")
        away = redis.ConnectionError | redis.TimeoutError | redis.exceptions.RedisClusterException
        if not isinstance(error, away) and not said.startswith(_NOT_NOW):
            is_there = isinstance(error, redis.ResponseError) and "WRONGTYPE" in said
            hint = "; other keys are there under its name" if is_there else ""
            return StoreError(f"{where}: the server refuses the call ({said}){hint}")
        self._rest = min(max(2 * self._rest, _SHORTEST_REST), _LONGEST_REST)
        # Crawlers that lost it together are not to come back together.
        self._rests_until = monotonic() + self._rest * random.uniform(0.5, 1.0)
        self._why = f"{where} cannot be reached, or takes no writes, at present: {said}"
        return StoreAway(self._why)


def _is_login(said: str) -> bool:
    return said.startswith(("WRONGPASS", "NOAUTH", "NOPERM", "invalid username-password", "AUTH "))


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
            return redis.RedisCluster(startup_nodes=nodes, **options)
        host, port = address.nodes[0]
        if address.has_tls:
            options["ssl"] = True
        return redis.Redis(host=host, port=port, db=address.database, **options)
    except redis.AuthenticationError:
        raise StoreError(
            f"the shared index {address}: the server refuses the user or the password"
        ) from None
    except redis.RedisError as error:
        said = str(error).partition("\n")[0]
        raise StoreAway(f"the shared index {address} cannot be reached: {said}") from None
    except TypeError as error:
        raise ConfigError(f"location: {error}") from None


def _further(address: Address) -> Mapping[str, Any]:
    """Read the further options as the client library reads them in URLs."""
    if not address.options:
        return {}
    from redis.connection import parse_url

    read = parse_url(f"redis://localhost?{address.client_options}")
    return {name: value for name, value in read.items() if name != "host"}


def _registered(client: Any) -> Mapping[str, Any]:
    folder = files("dedup_filter.shared") / "scripts"
    common = (folder / "common.lua").read_text("utf-8")
    return {
        name: client.register_script(common + (folder / f"{name}.lua").read_text("utf-8"))
        for name in _SCRIPTS
    }
