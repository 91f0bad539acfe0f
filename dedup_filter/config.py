"""The options of a filter: one frozen value, checked when it is made."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from dedup_filter.errors import ConfigError
from dedup_filter.features import FEATURE_HASHES, RECIPES, PartWeights
from dedup_filter.hamming import MAX_DISTANCE

__all__ = ["FilterConfig"]

SCOPES = ("all", "host")
REVISITS = ("keep", "drop")

_MOST_PAGES = 2**32 - 1
_MOST_DAYS = 36_500
_MOST_WORKERS = 64
"""The thread of one crawl can hardly keep ten busy."""
_PART_WEIGHTS = tuple(f"{part}_weight" for part in PartWeights._fields)
_MAX_WEIGHT = 1_000
"""A page has a few hundred shingles of weight 1 or 2: more would leave nothing to its text."""


@dataclass(frozen=True)
class FilterConfig:
    """How pages are judged. Each field is an option of `NearDuplicateFilter.open`.

    Raises:
        ConfigError: a value is of the wrong type or out of range.
    """

    max_distance: int = 12
    """k: pages whose fingerprints differ in at most so many bits are compared. 0 to 12."""
    min_similarity: float | None = 0.8
    """Share of a page's phrases (shingles) that its original must have. None: the fingerprints
    alone decide, as in the paper."""
    learn_frames: bool = True
    """Leave out what repeats on a host (menus, footers) before a page's main text is chosen."""
    features: str = "content"
    """What the fingerprint is made of: "content", "shingles", "words" or "keywords"."""
    feature_hash: str = "xxh3"
    """How features are hashed: "xxh3", "fnv1a" or "fnv1"."""
    shingle_size: int = 3
    """Words in a shingle."""
    title_weight: int = 0
    """With features="shingles": weight of each shingle of the title; 0: none is a feature."""
    heading_weight: int = 0
    """The same for each shingle of a heading within the main content."""
    image_weight: int = 0
    """The same for each image within the main content."""
    scope: str = "all"
    """A page is compared with "all" pages, or only with those of its "host"."""
    revisit: str = "keep"
    """What is to become of the item of a page that an earlier crawl saw at the same URL, and
    that is near what it was: "keep" or "drop". The filter's verdict is "revisit" either way."""
    max_pages: int | None = None
    """Keep at most so many pages in mind, and as many records of dropped ones: those not seen
    for longest go first."""
    expire_days: float | None = None
    """Forget pages that were not seen for so many days."""
    keep_text: bool = False
    """Keep the main text of each page, compressed: for an index on disk."""
    workers: int | str = 0
    """Processes that read and measure pages for `see_many` and `submit`; the verdicts are the same.
    "auto": one less than there are cores, at most 4."""

    def __post_init__(self) -> None:
        self._check_whole("max_distance", 0, MAX_DISTANCE)
        self._check_whole("shingle_size", 1, 16)
        self._check_number("min_similarity", "from 0 to 1", lambda value: 0 <= value <= 1)
        self._check_flag("learn_frames")
        self._check_flag("keep_text")
        self._check_workers()
        self._check_choice("features", RECIPES)
        self._check_choice("feature_hash", FEATURE_HASHES)
        for name in _PART_WEIGHTS:
            self._check_part_weight(name)
        self._check_choice("scope", SCOPES)
        self._check_choice("revisit", REVISITS)
        if self.max_pages is not None:
            self._check_whole("max_pages", 1, _MOST_PAGES)
        days = f"more than 0 and at most {_MOST_DAYS}"
        self._check_number("expire_days", days, lambda value: 0 < value <= _MOST_DAYS)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "FilterConfig":
        """Make a configuration of options by name; an unknown name is a `ConfigError`."""
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
                raise ConfigError(f"unknown option {name!r}: {hint}")
        return cls(**options)

    @cached_property
    def part_weights(self) -> PartWeights:
        """Weights of what of a page is a feature besides its text."""
        return PartWeights(*(getattr(self, name) for name in _PART_WEIGHTS))

    def _check_whole(self, name: str, least: int, most: int) -> None:
        value = getattr(self, name)
        if type(value) is not int or not least <= value <= most:
            raise ConfigError(
                f"{name} must be a whole number from {least} to {most}, not {value!r}"
            )

    def _check_flag(self, name: str) -> None:
        value = getattr(self, name)
        if type(value) is not bool:
            raise ConfigError(f"{name} must be True or False, not {value!r}")

    def _check_workers(self) -> None:
        value = self.workers
        if value != "auto" and (type(value) is not int or not 0 <= value <= _MOST_WORKERS):
            raise ConfigError(
                f'workers must be "auto" or a whole number from 0 to {_MOST_WORKERS}, not {value!r}'
            )

    def _check_number(self, name: str, wanted: str, is_wanted: Callable[[float], bool]) -> None:
        value = getattr(self, name)
        if value is not None and (type(value) not in (int, float) or not is_wanted(value)):
            raise ConfigError(f"{name} must be {wanted}, or None, not {value!r}")

    def _check_part_weight(self, name: str) -> None:
        self._check_whole(name, 0, _MAX_WEIGHT)
        if getattr(self, name) and self.features != "shingles":
            raise ConfigError(
                f'{name} is for features="shingles"; with features="{self.features}" it must be 0'
            )

    def _check_choice(self, name: str, known: Iterable[str]) -> None:
        value = getattr(self, name)
        if not isinstance(value, str) or value not in known:
            choices = ", ".join(f'"{choice}"' for choice in known)
            raise ConfigError(f"{name} must be one of {choices}, not {value!r}")
