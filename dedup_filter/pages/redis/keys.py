"""Names of the keys of a shared index, which are listed in docs/formats.md.

What is in braces tells a cluster the slot of a key. All that scripts touch is in one slot; the
records of committed pages are spread over many, by their numbers, and what was taught of hosts by
their hashes.
"""

import re
from typing import Final, NamedTuple

__all__ = ["FORMAT", "Keys"]

FORMAT: Final = 2
"""Of all that is written to servers."""
_SPREAD = 1_024
"""Slots that records and hosts are spread over, at most."""


class Keys(NamedTuple):
    """The keys of the index of a name."""

    name: str

    def named(self, name: str) -> str:
        """Name a key that scripts touch.

        >>> Keys("pages").named("log:0")
        'dedup:{pages}:log:0'
        """
        return f"dedup:{{{self.name}}}:{name}"

    def page(self, number: int) -> str:
        """Name the key with the record of a page.

        >>> Keys("pages").page(2_000)
        'dedup:{pages:976}:page:2000'
        """
        return f"dedup:{{{self.name}:{number % _SPREAD}}}:page:{number}"

    @property
    def pages(self) -> str:
        """The pattern, as Redis reads it, of the keys with records."""
        # A name has none of the characters that mean something in a pattern.
        return f"dedup:{{{self.name}:*}}:page:*"

    def frame(self, hashed: int) -> str:
        """Name the key with what pages taught of a host, given by its hash.

        >>> Keys("pages").frame(2_000)
        'dedup:{pages:976}:frame:00000000000007d0'
        """
        return f"dedup:{{{self.name}:{hashed % _SPREAD}}}:frame:{hashed:016x}"

    def page_number(self, key: str) -> int | None:
        """Return the number of the page whose record a key has; None if it has none.

        >>> Keys("pages").page_number("dedup:{pages:976}:page:2000")
        2000
        """
        found = re.fullmatch(r"dedup:\{.*\}:page:([0-9]{1,15})", key)
        number = int(found[1]) if found else 0
        return number if number and self.page(number) == key else None
