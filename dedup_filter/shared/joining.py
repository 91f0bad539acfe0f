"""What servers answer to who joins an index -> the number of its crawl, or what is wrong.

    keys of something else there   ConfigError
    a newer format                 StoreTooNew
    another scheme                 SchemeMismatch, which says what differs

Knows no servers: the answer is that of the script `join`.
"""

from contextlib import suppress
from typing import NoReturn

from dedup_filter.errors import ConfigError, StoreCorrupt, StoreTooNew
from dedup_filter.shared.address import Address
from dedup_filter.shared.keys import FORMAT
from dedup_filter.store import Scheme

__all__ = ["admitted"]

_REMEDY = "go back to what it was made with, or choose another name (?name=...)"


def admitted(
    answer: tuple[int, bytes, bytes, bytes], scheme: str, address: Address
) -> tuple[int, bytes]:
    """Return the number of the crawl, and the chance by which the index is told from others.

    Raises:
        ConfigError: other keys are there under its name.
        SchemeMismatch: its fingerprints were made in another way.
        StoreCorrupt: it cannot be told in which way they were made.
        StoreTooNew: it is of a newer format.
    """
    crawl, its_format, its_scheme, its_id = answer
    if crawl < 0 or not its_format.isdigit():
        raise ConfigError(
            f"the shared index {address}: other keys are there under dedup:{{{address.name}}}; "
            "choose another name (?name=...)"
        )
    if int(its_format) > FORMAT:
        raise StoreTooNew(
            f"the shared index {address} is of format {int(its_format)}, and this version reads "
            f"{FORMAT}: install the version that made it, or choose another name (?name=...)"
        )
    if not crawl:
        _refuse(scheme, its_scheme, address)
    return int(crawl), its_id


def _refuse(mine: str, its_scheme: bytes, address: Address) -> NoReturn:
    """Say what differs of another scheme."""
    with suppress(ValueError, TypeError):
        its_own = Scheme.from_json(its_scheme.decode())
        Scheme.from_json(mine).require(its_own, str(address), _REMEDY)
    raise StoreCorrupt(
        f"the shared index {address}: what it says of its scheme is damaged: {_REMEDY}"
    )
