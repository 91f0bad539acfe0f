"""Every error that dedup_filter raises on purpose.

A message says what is wrong, with which value, and what to do. A page that cannot be
judged is not an error: it gets a `Verdict` with the outcome "unjudged" and a reason.
"""

from collections.abc import Iterator
from contextlib import contextmanager


class DedupError(Exception):
    """The root of all errors of this package."""


class ConfigError(DedupError, ValueError):
    """An option has a value that is unknown or out of range, or needs a package that is missing."""


class StoreError(DedupError):
    """An index cannot be opened, read or written; its earlier contents are unchanged."""


class StoreAway(StoreError):  # noqa: N818 - the fault is the name
    """The server of an index cannot be reached, or takes no writes; it may be back soon."""


class StoreBusy(StoreError):  # noqa: N818 - the fault is the name
    """Another process is writing to the index."""


class StoreCorrupt(StoreError):  # noqa: N818 - the fault is the name
    """The files of an index are damaged."""


class StoreTooNew(StoreError):  # noqa: N818 - the fault is the name
    """A newer version of this package wrote the index."""


class SchemeMismatch(StoreError):  # noqa: N818 - the fault is the name
    """The fingerprints of an index were made in another way than fingerprints of new pages."""


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Turn a failed import into the error that names the extra with the package."""
    try:
        yield
    except ImportError as error:
        raise ConfigError(
            f"{what} needs another package: install dedup-filter with its extra {extra!r} ({error})"
        ) from error
