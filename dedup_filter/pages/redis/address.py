"""Location of a shared index -> which servers, which database, which name.

    redis://[user:password@]host[:port][/database][?name=NAME]       rediss:// with TLS
    redis+cluster://[user:password@]host:port[,host:port ...][?name=NAME]   rediss+cluster://

Several indexes can be on one server, each by a name of its own. What is shown of an address
never has the user and the password in it.
"""

import re
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from dedup_filter.errors import ConfigError

__all__ = ["Address", "is_address"]

_SINGLE = ("redis", "rediss")
_CLUSTER = ("redis+cluster", "rediss+cluster")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_DEFAULT_NAME = "pages"
_DEFAULT_PORT = 6379


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
    user: str | None
    password: str | None
    options: tuple[tuple[str, str], ...]
    """Further options for the client, as they stand in the location."""

    @classmethod
    def of(cls, location: str) -> "Address":
        """Read a location.

        Raises:
            ConfigError: it cannot be meant. The message shows no password.
        """
        try:
            parts = urlsplit(location)
            nodes = _nodes(parts)
        except ValueError:
            raise ConfigError(_WRONG) from None
        options = _options(parts)
        name = options.pop("name", _DEFAULT_NAME)
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"location: the name of an index has letters, digits, '_', '.' and '-', at most "
                f"64 of them, not {name!r}"
            )
        user, password = _login(parts)
        return cls(
            nodes,
            name,
            parts.scheme in _CLUSTER,
            parts.scheme.startswith("rediss"),
            _database(parts),
            user,
            password,
            tuple(options.items()),
        )

    def __str__(self) -> str:
        """Write it without user and password."""
        scheme = "rediss" if self.has_tls else "redis"
        nodes = ",".join(f"[{h}]:{p}" if ":" in h else f"{h}:{p}" for h, p in self.nodes)
        place = f"+cluster://{nodes}" if self.is_cluster else f"://{nodes}/{self.database}"
        return f"{scheme}{place}?name={self.name}"

    def __repr__(self) -> str:
        """Write it without user and password, too: it ends in messages and tracebacks."""
        return f"<Address {self}>"

    @property
    def client_options(self) -> str:
        """The further options, for the client to read and to refuse."""
        return urlencode(self.options)


_WRONG = (
    "location must be redis://host:port/database or redis+cluster://host:port,host:port, with "
    "user:password@ before the host if there are any (their special characters written as %XX)"
)


def _nodes(parts: SplitResult) -> tuple[tuple[str, int], ...]:
    if parts.scheme not in _SINGLE + _CLUSTER or not parts.netloc or parts.fragment:
        raise ValueError
    nodes = tuple(map(_node, parts.netloc.rpartition("@")[2].split(",")))
    if len(nodes) > 1 and parts.scheme in _SINGLE:
        raise ValueError
    return nodes


def _node(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]@/\s]+)(?::([0-9]{1,5}))?", text)
    if found is None:
        raise ValueError
    port = int(found[2] or _DEFAULT_PORT)
    if not 0 < port < 65_536:
        raise ValueError
    return found[1].strip("[]"), port


def _options(parts: SplitResult) -> dict[str, str]:
    options: dict[str, str] = {}
    for option, value in parse_qsl(parts.query, keep_blank_values=True):
        if option in options:
            raise ConfigError(f"location: {option} is given twice after the question mark")
        options[option] = value
    return options


def _login(parts: SplitResult) -> tuple[str | None, str | None]:
    login, at, _ = parts.netloc.rpartition("@")
    if not at:
        return None, None
    user, colon, password = login.partition(":")
    return unquote(user) or None, unquote(password) if colon else None


def _database(parts: SplitResult) -> int:
    path = parts.path.strip("/")
    if not path:
        return 0
    if not path.isdecimal() or (parts.scheme in _CLUSTER and int(path)):
        # It is not shown: an unescaped "/" may have cut a password in two.
        raise ConfigError(
            "location: after the server comes the number of a database, redis://host:port/0; a "
            "cluster has only number 0"
        )
    return int(path)
