"""An error of the client library -> what it says of the servers of an index.

    wrong login      the user or the password
    away             nobody answers, or no call is taken at present: it may be back soon
    moving           a slot is on its way from one node of a cluster to another

Some answers of servers the library makes errors of their own, without their first word, and its
versions differ: so both classes and words are looked at.
"""

import re

__all__ = ["advice", "is_away", "is_login", "is_moving", "said_by"]

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
_IS_MOVING = re.compile("non local key in a cluster node|during rehashing of the slot")
_IS_OUT_OF_MEMORY = re.compile(r"\bOOM\b|used memory > 'maxmemory'")


def said_by(error: Exception) -> str:
    """Return the first line of what an error says."""
    return str(error).partition("\n")[0]


def is_login(error: Exception) -> bool:
    """Tell whether the servers refuse the user or the password."""
    import redis
    from redis import exceptions

    by_class = isinstance(error, redis.AuthenticationError | exceptions.AuthorizationError)
    return by_class or bool(_IS_LOGIN.search(said_by(error)))


def is_away(error: Exception, said: str) -> bool:
    """Tell whether an error says that the servers cannot be reached, or take no call at present."""
    import redis
    from redis import exceptions

    nobody = redis.ConnectionError | redis.TimeoutError | exceptions.RedisClusterException
    not_now = (
        exceptions.OutOfMemoryError
        | exceptions.ReadOnlyError
        | exceptions.ClusterDownError
        | exceptions.TryAgainError
    )
    if isinstance(error, nobody | not_now):
        return True
    return bool(_IS_NOT_NOW.match(said) or _IS_MOVING.search(said))


def is_moving(error: Exception) -> bool:
    """Tell whether a script found its slot moving to another node; it has done nothing then."""
    return bool(_IS_MOVING.search(str(error)))


def advice(said: str) -> str:
    """Say what to do about what a server said, if that is known."""
    if _IS_MOVING.search(said):
        return "a slot of the cluster is moving to another node"
    if not _IS_OUT_OF_MEMORY.search(said):
        return said
    # Pages that are too many are taken out by events, for which there is no room now either.
    return (
        "the server has no memory left: raise its maxmemory, and set max_pages or expire_days if "
        "the index is to grow no further"
    )
