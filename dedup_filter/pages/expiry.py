"""Which pages are to be forgotten: those that have expired, and those that are too many.

Pages not seen for longest go first, kept ones and records of dropped ones by themselves; several
at once, so that each costs little. Pending pages stay: they are about to be committed or released.
"""

from math import ceil

from dedup_filter.pages.directory import PageStore

__all__ = ["PageBounds", "expiry_seconds", "oldest_kept"]

_MOST_AT_ONCE = 256
_BATCHES = 100
"""An index of `max_pages` gives room for a hundredth of them at a time, or for `_MOST_AT_ONCE`."""
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


class PageBounds:
    """At most `max_pages` kept and as many dropped pages, none older than `expire_days`."""

    def __init__(self, store: PageStore, max_pages: int | None, expire_days: float | None) -> None:
        self._store = store
        self._max_pages = max_pages
        self._expire_days = expire_days

    def due(self, moment: float, coming: bool | None = None) -> set[int]:
        """Return some pages to be forgotten before another is recorded; none if there are no more.

        `coming`: whether that one is kept (True) or dropped (False); None: it needs no room.
        """
        due: set[int] = set()
        for is_kept in (True, False):
            if self._expire_days is not None:
                before = oldest_kept(self._expire_days, moment)
                due.update(self._store.oldest(_MOST_AT_ONCE, is_kept=is_kept, before=before))
            if self._max_pages is not None:
                over = self._store.count(is_kept=is_kept) + (coming is is_kept) - self._max_pages
                if over > 0:
                    most = max(over, self._max_pages // _BATCHES)
                    due.update(self._store.oldest(min(most, _MOST_AT_ONCE), is_kept=is_kept))
        return due
