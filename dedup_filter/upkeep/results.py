"""Inputs and results of the upkeep of an index, in a directory or on servers."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from dataclasses import fields as fields_of
from typing import Any

from dedup_filter.config import FilterConfig
from dedup_filter.store.protocol import Recorded

Watch = Callable[[Iterable[Any], int | None], AbstractContextManager[Iterable[Any]]]
"""Values and their number (None: not known) -> the same values, with a progress display."""


@dataclass
class Findings:
    """The result of a check: faults, and notes on what the next crawl repairs."""

    faults: list[str]
    notes: list[str] = field(default_factory=list)
    checked_pages: int = 0


def options_of(recorded: Recorded) -> dict[str, Any]:
    """Return the options of the scheme of an index, and those that its last crawl recorded."""
    parts, noted = recorded.scheme.parts, recorded.options
    names = [option.name for option in fields_of(FilterConfig)]
    shaping = {n: type(getattr(FilterConfig, n))(parts[n]) for n in names if n in parts}
    return shaping | {n: noted[n] for n in names if n in noted}
