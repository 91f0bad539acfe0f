"""Location of a shared index -> which servers, and which index on them.

    redis://[user:password@]host[:port][/database][?name=NAME]       rediss:// with TLS
    redis+cluster://[user:password@]host:port[,host:port ...][?name=NAME]   rediss+cluster://

Several indexes can be on one server, each under a name of its own. All options but the name are the
client library's, which reads them. What is shown of an address has no user and no password in it.
"""

import re
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from dedup_filter.errors import ConfigError

__all__ = ["Address", "is_address"]

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_NODE = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]@/\s]+)(?::([0-9]{1,5}))?")
_DEFAULT_PORT = 6379
_WRONG = (
    "location must be redis://host:port/database or redis+cluster://host:port,host:port, with "
    "user:password@ before the host if there are any (their special characters written as %XX)"
)


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
    options: tuple[tuple[str, str], ...]
    """Further options for the client library, as they stand in the location."""

    @classmethod
    def of(cls, location: str) -> "Address":
        """Read a location.

        Raises:
            ConfigError: it cannot be meant. The message shows no password.
        """
        try:
            parts = urlsplit(location)
            scheme, _, cluster = parts.scheme.partition("+")
            login, at, hosts = parts.netloc.rpartition("@")
            nodes = tuple(map(_node, hosts.split(",")))
        except ValueError:
            raise ConfigError(_WRONG) from None
        if not is_address(location) or parts.fragment or (len(nodes) > 1 and not cluster):
            raise ConfigError(_WRONG)
        options = _options(parts)
        name = options.pop("name", "pages")
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"location: the name of an index has letters, digits, '_', '.' and '-', at most "
                f"64 of them, not {name!r}"
            )
        database = _database(parts, is_cluster=bool(cluster))
        has_tls, further = scheme == "rediss", tuple(options.items())
        return cls(nodes, name, bool(cluster), has_tls, database, login + at, further)

    def __str__(self) -> str:
        """Write it without user and password."""
        hosts = ",".join(_shown(node) for node in self.nodes)
        place = f"+cluster://{hosts}" if self.is_cluster else f"://{hosts}/{self.database}"
        return f"{self._scheme}{place}?name={self.name}"

    def __repr__(self) -> str:
        """Write it without user and password, too: it ends in messages and tracebacks."""
        return f"<Address {self}>"

    @property
    def client_url(self) -> str:
        """What the client library connects to, with user and password: the first of the nodes."""
        place = f"{self.login}{_shown(self.nodes[0])}/{self.database}"
        # Versions of the library read this one differently: `connection` does.
        options = [option for option in self.options if option[0] != "ssl_check_hostname"]
        return f"{self._scheme}://{place}?{urlencode(options)}"

    @property
    def _scheme(self) -> str:
        return "rediss" if self.has_tls else "redis"


def _node(text: str) -> tuple[str, int]:
    found = _NODE.fullmatch(text)
    port = int(found[2] or _DEFAULT_PORT) if found else 0
    if found is None or not 0 < port < 65_536:
        raise ValueError
    return found[1].strip("[]"), port


def _shown(node: tuple[str, int]) -> str:
    host, port = node
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _options(parts: SplitResult) -> dict[str, str]:
    options: dict[str, str] = {}
    for option, value in parse_qsl(parts.query, keep_blank_values=True):
        if option in options:
            raise ConfigError(f"location: {option} is given twice after the question mark")
        options[option] = value
    return options


def _database(parts: SplitResult, *, is_cluster: bool) -> int:
    path = parts.path.strip("/") or "0"
    if not path.isdecimal() or (is_cluster and int(path)):
        # It is not shown: an unescaped "/" may have cut a password in two.
        raise ConfigError(
            "location: after the server comes the number of a database, redis://host:port/0; a "
            "cluster has only number 0"
        )
    return int(path)
