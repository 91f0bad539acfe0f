"""Every error that dedup_filter raises on purpose.

    DedupError
    └── ConfigError   (also ValueError)   an option or setting that cannot be meant

A message says what is wrong, with which value, and what to do. A page that cannot be
judged is not an error: it gets a `Verdict` with the outcome "unjudged" and a reason.
"""

__all__ = ["ConfigError", "DedupError"]


class DedupError(Exception):
    """The root of all errors of this package."""


class ConfigError(DedupError, ValueError):
    """An option has a value that is unknown or out of range."""
