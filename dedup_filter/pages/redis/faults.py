"""An error of the client library -> what it means for an index, and what to do about it.

    wrong login      the user or the password
    TLS              what the library says of it, and by which options it is mended
    away             nobody answers, or no call is taken at present: it may be back soon
    moving           a slot is on its way from one node of a cluster to another

The library makes some answers of servers errors of their own, without their first word, and its
versions differ: so both classes and words are looked at.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import TypeVar

import redis
from redis import exceptions

from dedup_filter.errors import StoreAway, StoreError
from dedup_filter.pages.redis.connection import Address

__all__ = ["told_apart", "when_moved"]

Result = TypeVar("Result")

_PAUSE = 0.02

_AWAY = (
    redis.ConnectionError,
    redis.TimeoutError,
    exceptions.RedisClusterException,
    exceptions.OutOfMemoryError,
    exceptions.ReadOnlyError,
    exceptions.ClusterDownError,
    exceptions.TryAgainError,
)
_NOT_NOW = re.compile(
    r"(?:.*: )?-?(?:BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|NOREPLICAS|OOM|READONLY|TRYAGAIN"
    r"|UNBLOCKED)\b"
)
"""How a server begins to say that it takes no such call at present; of a script, after colons."""
_LOGIN = re.compile(
    "WRONGPASS|NOAUTH|invalid username-password|Authentication required|AUTH .*called"
    "|unauthenticated"
)
_MOVING = re.compile("non local key in a cluster node|during rehashing of the slot")
_OUT_OF_MEMORY = re.compile(r"\bOOM\b|used memory > 'maxmemory'")
_TLS = re.compile(r"\[SSL[^\]]*\]|\bSSL\b|_ssl\.c|certificate")
_AROUND_TLS = re.compile(r".*\[SSL[^\]]*\] | \(_ssl\.c.*")
"""What stands before and after the reason, in the words of OpenSSL."""


@contextmanager
def told_apart(address: Address) -> Iterator[None]:
    """Raise errors of the client library as what they mean for the index at an address."""
    try:
        yield
    except (redis.RedisError, exceptions.RedisClusterException) as error:
        raise _meant(error, address) from None


def when_moved(run: Callable[[], Result], patience: float) -> Result:
    """Run a script; wait for so many seconds if its slot is moving to another node."""
    latest = monotonic() + patience
    while True:
        try:
            return run()
        except redis.ResponseError as error:
            # A script that found its slot moving has done nothing.
            if not _MOVING.search(str(error)) or monotonic() > latest:
                raise
        sleep(_PAUSE)


def _meant(error: Exception, address: Address) -> StoreError:
    """Return what an error of the client library means for the index at an address."""
    said = str(error).partition("\n")[0]
    where = f"the shared index {address}"
    by_class = isinstance(error, redis.AuthenticationError | exceptions.AuthorizationError)
    if by_class or _LOGIN.search(said):
        # What the server said may repeat what it was given.
        return StoreError(f"{where}: the server refuses the user or the password")
    if _TLS.search(said):
        return StoreError(
            f"{where}: no connection by TLS with the server: {_AROUND_TLS.sub('', said)}; what "
            "each side asks of the other is set by ssl_ca_certs, ssl_check_hostname, ssl_certfile "
            "and ssl_keyfile in the location, and rediss:// is for ports that speak TLS"
        )
    has_moved = isinstance(error, exceptions.AskError) or said.startswith("MOVED ")
    if has_moved and not address.is_cluster:
        return StoreError(
            f"{where}: the server is a node of a cluster: its location begins with "
            f"{address.shown.partition(':')[0]}+cluster://"
        )
    if isinstance(error, _AWAY) or _NOT_NOW.match(said) or _MOVING.search(said):
        return StoreAway(
            f"{where} cannot be reached, or takes no writes, at present: {_advice(said)}"
        )
    is_wrong_type = isinstance(error, redis.ResponseError) and "WRONGTYPE" in said
    hint = "; other keys are there under its name" if is_wrong_type else ""
    return StoreError(f"{where}: the server refuses the call ({said}){hint}")


def _advice(said: str) -> str:
    if _MOVING.search(said):
        return "a slot of the cluster is moving to another node"
    if _OUT_OF_MEMORY.search(said):
        # Pages that are too many are taken out by events, for which there is no room now either.
        return (
            "the server has no memory left: raise its maxmemory, and set max_pages or expire_days "
            "if the index is to grow no further"
        )
    return said
