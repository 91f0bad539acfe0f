"""Layer "store": what is remembered of each page besides its place in the index.

Pages in, rows out: a row is the number of a page, counted from 0. Knows no table and no
text; the filter keeps store and index in step.
"""

from dedup_filter.store.memory_store import MemoryStore

__all__ = ["MemoryStore"]
