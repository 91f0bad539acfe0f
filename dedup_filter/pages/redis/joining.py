"""What servers answer to who joins an index -> the number of its crawl, or what is wrong.

    keys of something else there   ConfigError
    a newer format                 StoreTooNew
    another scheme                 SchemeMismatch, which says what differs
    others with another scope      ConfigError

Knows no servers: the answer is that of the script `join`.
"""

from contextlib import suppress
from typing import NamedTuple, NoReturn

from dedup_filter.errors import ConfigError, StoreCorrupt, StoreTooNew
from dedup_filter.pages.directory import Scheme
from dedup_filter.pages.redis.address import Address
from dedup_filter.pages.redis.alike import Options, different_scope
from dedup_filter.pages.redis.keys import FORMAT

__all__ = ["Joined", "admitted"]

_OTHER_KEYS = -1
_OTHER_SCOPE = -2
_REMEDY = "go back to what it was made with, or choose another name (?name=...)"


class Joined(NamedTuple):
    """What `join` answers."""

    crawl: int
    """Its number, or what is wrong."""
    format: bytes
    scheme: bytes
    id: bytes
    """Chance, by which the index is told from others."""
    others: list[bytes]
    """Options of other processes that are at work."""


def admitted(joined: Joined, scheme: str, options: Options, address: Address, lease: float) -> None:
    """Refuse what cannot be joined.

    Raises:
        ConfigError: other keys are there under its name, or others are at work with another scope.
        SchemeMismatch: its fingerprints were made in another way.
        StoreCorrupt: it cannot be told in which way they were made.
        StoreTooNew: it is of a newer format.
    """
    crawl, its_format = joined.crawl, joined.format
    if crawl == _OTHER_SCOPE:
        raise different_scope(options, joined.others, f"the shared index {address}", lease)
    if crawl == _OTHER_KEYS or not its_format.isdigit():
        raise ConfigError(
            f"the shared index {address}: other keys are there under dedup:{{{address.name}}}; "
            "choose another name (?name=...)"
        )
    if int(its_format) > FORMAT:
        raise StoreTooNew(
            f"the shared index {address} is of format {int(its_format)}, and this version reads "
            f"{FORMAT}: install the version that made it, or choose another name (?name=...)"
        )
    if int(its_format) < FORMAT:
        raise ConfigError(
            f"the shared index {address} is of format {int(its_format)}, of a version of "
            f"dedup-filter before its first release, and this one reads {FORMAT}: choose another "
            "name (?name=...)"
        )
    if not crawl:
        _refuse(scheme, joined.scheme, address)


def _refuse(mine: str, its_scheme: bytes, address: Address) -> NoReturn:
    """Say what differs of another scheme."""
    with suppress(ValueError, TypeError):
        its_own = Scheme.from_json(its_scheme.decode())
        Scheme.from_json(mine).require(its_own, str(address), _REMEDY)
    raise StoreCorrupt(
        f"the shared index {address}: what it says of its scheme is damaged: {_REMEDY}"
    )
