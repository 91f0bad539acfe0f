"""Changes of a store -> its index follows, once they are whole.

    with changes:            one change of the store, whole or not at all
        changes.add(...)     noted; the index does it when the store has done everything

What the store refuses to write did not happen for the index either. Cost: 1 us for a change.
"""

from functools import partial
from types import TracebackType

from dedup_filter.pages.directory.page_store import PageStore
from dedup_filter.pages.directory.records import Change, Measured
from dedup_filter.pages.page_index import PageIndex

__all__ = ["PageChanges"]


class PageChanges:
    """Changes of the store, one after the other, that the index follows once they are whole."""

    def __init__(self, store: PageStore, index: PageIndex) -> None:
        self.gone: list[int] = []
        """Pages whose records were deleted. Its owner adds to it, within a change: what was added
        in one that failed is taken out again."""
        self._store, self._index = store, index
        self._open = store.change()
        self._due: list[partial[None]] = []
        self._were_gone = 0

    def follow(self, change: Change) -> None:
        """Note what the store did."""
        self._due.append(partial(self._index.follow, change))

    def add(self, page: int, measured: Measured, host: int) -> None:
        """Note that the store has a new page."""
        self._due.append(partial(self._index.add, page, measured, host))

    def __enter__(self) -> None:
        self._due.clear()
        self._were_gone = len(self.gone)
        self._open = self._store.change()
        self._open.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._open.__exit__(kind, error, traceback)
        except BaseException:
            del self.gone[self._were_gone :]
            raise
        if error is not None:
            del self.gone[self._were_gone :]
            return
        for step in self._due:
            step()
        self._index.tend()
