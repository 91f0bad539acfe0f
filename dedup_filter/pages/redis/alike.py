"""Options that all crawlers of a shared index should have alike -> what is said if they differ.

    scope                          refused: they would not agree on what may be kept twice
    k, similarity, bounds, expiry  a warning: each page is judged by the options of who meets it

Knows no servers: the options of the crawlers that are at work come with the answer of `join`.
"""

import json
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from dedup_filter.errors import ConfigError

__all__ = ["Options", "different_scope", "warn_of_differences"]

logger = logging.getLogger(__name__)

Options = Mapping[str, Any]


def different_scope(
    mine: Options, others: Iterable[bytes], index: str, lease: float
) -> ConfigError:
    """Say that crawlers with another scope are at work."""
    theirs = _told(_decoded(others), "scope", mine.get("scope"))
    return ConfigError(
        f"scope={mine.get('scope')} cannot be chosen now: crawlers with scope={theirs} are at work "
        f"on {index}; choose the same, wait until they have ended (one that was killed counts as "
        f"at work for {lease:.0f} seconds), or choose another name (?name=...)"
    )


def warn_of_differences(mine: Options, others: Iterable[bytes], index: str) -> None:
    """Say in the log which options crawlers that are at work have otherwise."""
    known = _decoded(others)
    differences = [
        f"{name} ({told} there, {value} here)"
        for name, value in mine.items()
        if (told := _told(known, name, value))
    ]
    if differences:
        logger.warning(
            "%s: crawlers are at work on it with other options than this one: %s; what is kept "
            "depends on which of them meets a page; give all the same",
            index,
            ", ".join(differences),
        )


def _decoded(others: Iterable[bytes]) -> list[Options]:
    found: list[Options] = []
    for each in others:
        with suppress(ValueError):
            found.append(json.loads(each))
    return found


def _told(others: list[Options], name: str, mine: object) -> str:
    """Return the values of an option that others have otherwise."""
    values = (each[name] for each in others if name in each)
    return " or ".join(sorted({str(value) for value in values if value != mine}))
