"""An address -> a client of the servers there, and the scripts that it can run.

Time limits are set, and nothing is sent twice by the library itself. Options of the address go to
the library, which refuses those that it does not know; those that would break an index are refused
here.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

from dedup_filter.errors import ConfigError, StoreAway, StoreError
from dedup_filter.pages.redis.address import Address
from dedup_filter.pages.redis.answers import is_login, said_by
from dedup_filter.pages.redis.tls import tls_fault, tls_options

__all__ = ["TIMEOUT", "client_of", "refused_login", "scripts_of"]

TIMEOUT: Final = 2.0
"""Seconds that a call may take, and connecting as well."""

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
_SCRIPTS = (
    "append",
    "beat",
    "disown",
    "join",
    "leave",
    "make",
    "news",
    "put",
    "put_back",
    "remove",
    "replace",
    "restore",
    "restore_crawl",
    "settle",
    "teach",
    "trim",
)


def client_of(address: Address) -> Any:
    """Make a client; one of a cluster connects at once.

    Raises:
        ConfigError: the library is not installed, or refuses an option of the address.
        StoreAway: nobody answers.
        StoreError: the servers refuse the login, or TLS fails.
    """
    try:
        import redis
    except ImportError:
        raise ConfigError(
            "location: an index on Redis needs a client library that is not installed: "
            'pip install "dedup-filter[redis]"'
        ) from None
    options = _options(address)
    try:
        return _cluster(address, options) if address.is_cluster else _server(address, options)
    except (redis.RedisError, redis.exceptions.RedisClusterException) as error:
        if is_login(error):
            raise refused_login(address) from None
        where = f"the shared index {address}"
        if fault := tls_fault(said_by(error)):
            raise StoreError(f"{where}: {fault}") from None
        raise StoreAway(f"{where} cannot be reached: {said_by(error)}") from None
    except TypeError as error:
        raise ConfigError(
            f"location: the client library refuses an option of it: {error}"
        ) from None


def _cluster(address: Address, options: dict[str, Any]) -> Any:
    import redis

    nodes = [redis.cluster.ClusterNode(host, port) for host, port in address.nodes]
    client = redis.RedisCluster(startup_nodes=nodes, **options)
    # Older versions of the library would send a call again that may have been carried out.
    setattr(client, "cluster_error_retry_attempts", 0)  # noqa: B010 - newer ones lack it
    return client


def _server(address: Address, options: dict[str, Any]) -> Any:
    import redis

    host, port = address.nodes[0]
    return redis.Redis(host=host, port=port, db=address.database, **options)


def refused_login(address: Address) -> StoreError:
    """Say that the user or the password is refused."""
    # What the server said may repeat what it was given.
    return StoreError(f"the shared index {address}: the server refuses the user or the password")


def _options(address: Address) -> dict[str, Any]:
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    options: dict[str, Any] = {
        "username": address.user,
        "password": address.password,
        "socket_timeout": TIMEOUT,
        "socket_connect_timeout": TIMEOUT,
        "retry": Retry(NoBackoff(), 0),
        **_further(address),
    }
    return options | (tls_options(options) if address.has_tls else {})


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


def scripts_of(client: Any) -> Mapping[str, Any]:
    """Return what runs each of the scripts, by its name."""
    folder = files("dedup_filter.pages.redis") / "scripts"
    common = (folder / "common.lua").read_text("utf-8")
    return {
        name: client.register_script(common + (folder / f"{name}.lua").read_text("utf-8"))
        for name in _SCRIPTS
    }
