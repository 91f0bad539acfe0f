"""`expire_days`, as servers, stores and crawlers count it.

days           -> whole seconds that a record lasts           expiry_seconds
days, a moment -> since when a page must have been seen       oldest_kept
"""

from math import ceil

__all__ = ["expiry_seconds", "oldest_kept"]

_DAY_SECONDS = 86_400


def expiry_seconds(days: float) -> int:
    """Return after how many seconds nothing is to be left of a page; never fewer than one.

    >>> expiry_seconds(2), expiry_seconds(1e-6)
    (172800, 1)
    """
    return ceil(days * _DAY_SECONDS)


def oldest_kept(days: float, moment: float) -> int:
    """Return the Unix second before which pages were seen last that are forgotten at a moment.

    >>> oldest_kept(2, 1_000_000.5)
    827200
    """
    return int(moment - days * _DAY_SECONDS)
