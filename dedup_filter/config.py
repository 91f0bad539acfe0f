"""The options of a filter: one frozen value, checked when it is made."""

import json
import re
from ast import literal_eval
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from math import ceil
from typing import Any, TypedDict

from dedup_filter.errors import ConfigError, needs_extra
from dedup_filter.features.analysis import ADS, FEATURE_HASHES
from dedup_filter.features.recipes import RECIPES, PartWeights
from dedup_filter.hamming.layout import MAX_DISTANCE
from dedup_filter.text.payloads import PAYLOADS, Payloads
from dedup_filter.text.selectors import SiteSelectors
from dedup_filter.wording import json_fault

_IS_JSON = re.compile(r"""\s*(\{|\[\s*(["'\]]|$))""")
_PART_WEIGHTS = tuple(f"{part}_weight" for part in PartWeights._fields)
PAGE_OPTIONS = ("scope", "min_similarity", "max_missing")
"""The options that decide whether a page repeats one that was found: each page may have its own.
All others shape what is recorded of a page, or which pages the index finds."""
FLAGS = {"true": True, "1": True, "false": False, "0": False}
"""Strings that mean True or False."""
_Rule = tuple[str, Callable[[Any], bool]]
"""A description of valid values, and a test."""


Selectors = str | Sequence[str] | Mapping[str, str | Sequence[str]]
"""CSS selectors, or a mapping of them by host."""


class FilterOptions(TypedDict, total=False):
    """The options of a filter as keyword arguments: the fields of `FilterConfig`."""

    max_distance: int
    min_similarity: float | None
    ignore: Selectors | None
    content: Selectors | None
    max_missing: int
    ignore_numbers: bool
    learn_frames: bool
    features: str
    feature_hash: str
    shingle_size: int
    ads: str
    title_weight: int
    heading_weight: int
    image_weight: int
    payloads: str
    read_pdf: bool
    scope: str
    shared_phrases: bool
    canonical: bool
    changes: bool
    learn_changes: bool
    revisit: str
    same_template: int | None
    max_pages: int | None
    expire_days: float | None
    keep_text: bool
    frame_memory: float
    workers: int | str


@dataclass(frozen=True)
class FilterConfig:
    """How pages are judged. Each field is an option of `NearDuplicateFilter.open`.

    Raises:
        ConfigError: a value is of the wrong type or out of range.
    """

    max_distance: int = 12
    """k: pages whose fingerprints differ in at most this many bits are compared. 0 to 12."""
    min_similarity: float | None = 0.8
    """Share of a page's phrases (shingles) that its original must have. None: the fingerprints
    alone decide, as in the paper."""
    ignore: Selectors | None = None
    """CSS selectors, or a dict of them by host: elements that they match are treated as if they
    were not on the page."""
    content: Selectors | None = None
    """CSS selectors, or a dict of them by host: only matching elements and the title are judged."""
    max_missing: int = 0
    """Words of lines and links that may be missing in the original on the same host, besides the
    words that may always be missing in a long text or an article."""
    ignore_numbers: bool = False
    """Do not compare numbers in lines (views, prices, times), nor make features of them."""
    learn_frames: bool = True
    """Leave out blocks that repeat on a host (menus, footers) before choosing the main text."""
    features: str = "content"
    """The features of the fingerprint: "content", "shingles", "words" or "keywords"."""
    feature_hash: str = "xxh3"
    """The hash of features: "xxh3", "fnv1a" or "fnv1"."""
    shingle_size: int = 3
    """Words in a shingle."""
    ads: str = "window"
    """Which shingles are taken for advertisements and give no features: shingles with too few
    function words in the "window" around them, shingles without a stopword ("shingle"), or none
    ("off")."""
    title_weight: int = 0
    """With features="shingles": weight of each shingle of the title; 0: they are no features."""
    heading_weight: int = 0
    """The same for each shingle of a heading within the main content."""
    image_weight: int = 0
    """The same for each image within the main content."""
    payloads: str = "documents"
    """Which bytes that are no page are compared, as bytes: "documents" (PDF, office files,
    archives), "all" (also images, JSON, feeds), or "none"."""
    read_pdf: bool = False
    """Judge a PDF by its text. Needs the extra "pdf"."""
    scope: str = "all"
    """A page is compared with "all" pages, or only with pages of its "host"."""
    shared_phrases: bool = True
    """If a page repeats none within `max_distance` bits, also compare it with pages that share rare
    phrases with it, however far apart their fingerprints are."""
    canonical: bool = False
    """Compare a page with the page that it names as canonical (`<link rel="canonical">`, or the
    header Link), however far apart their fingerprints are."""
    changes: bool = False
    """Name the first lines that came to a page since an earlier crawl recorded it at its URL
    (`Verdict.came`)."""
    learn_changes: bool = True
    """Do not tell changes in places of a host's pages whose text changes at each visit, such as
    quotations and advertisements; it may be missing between spellings of one URL."""
    revisit: str = "keep"
    """"keep" or "drop" the item of a page that an earlier crawl saw at the same URL and that has
    not changed since (`Verdict.change` is 0). The filter's verdict is "revisit" either way."""
    same_template: int | None = None
    """After so many kept pages of a host with the same menus and fewer than 20 words of their own,
    further such pages are "same_template", and are not recorded. None: there is no limit."""
    max_pages: int | None = None
    """Store at most this many pages, and as many records of dropped pages. The pages seen longest
    ago are removed first."""
    expire_days: float | None = None
    """Forget pages that were not seen for this many days."""
    keep_text: bool = False
    """Keep the main text and all blocks of each page, compressed, in an index on disk: 8 to 9 KB
    for a page of 110 KB."""
    frame_memory: float = 400
    """MB of memory for the frames of hosts, and for pages that wait until their frame is known;
    400 MB hold 10,000 hosts of 3,000 blocks. An index in a directory loads further frames when
    needed; other indexes forget them."""
    workers: int | str = 0
    """Processes that read and profile pages for `see_many` and `submit`; verdicts do not change.
    "auto": the number of cores less one, at most 4."""

    def __post_init__(self) -> None:
        for name, (wanted, is_right) in _RULES.items():
            value = getattr(self, name)
            if not is_right(value):
                raise ConfigError(f"{name} must be {wanted}, not {value!r}")
        self.selectors.of("")  # raises ConfigError for invalid selectors
        if self.read_pdf:
            with needs_extra("pdf", "read_pdf"):
                import_module("pypdfium2")
        for name in _PART_WEIGHTS if self.features != "shingles" else ():
            if getattr(self, name):
                raise ConfigError(
                    f'{name} is for features="shingles"; with features="{self.features}" it must'
                    " be 0"
                )

    @classmethod
    def of(cls, options: Mapping[str, object]) -> "FilterConfig":
        """Make a configuration of named options; ConfigError: a name is unknown."""
        require_known("option", options, [field.name for field in fields(cls)])
        return cls(**dict[str, Any](options))

    @property
    def looks_for_phrases(self) -> bool:
        """Whether pages are compared with pages that share their phrases."""
        return self.shared_phrases and self.min_similarity is not None

    @cached_property
    def selectors(self) -> SiteSelectors:
        """The selectors of `ignore` and `content`, by host."""
        return SiteSelectors.read(self.ignore, self.content)

    @cached_property
    def judged_payloads(self) -> Payloads:
        """Which bytes that are no page are judged."""
        return Payloads(self.payloads, self.read_pdf)

    @cached_property
    def part_weights(self) -> PartWeights:
        """Weights of titles, headings and images as features."""
        return PartWeights(*(getattr(self, name) for name in _PART_WEIGHTS))


def require_known(
    what: str, names: Iterable[str], known: Collection[str], prefix: str = ""
) -> None:
    """Raise ConfigError for an unknown name; its message suggests the nearest known name.

    All names have the prefix. It is left out of the comparison, as it would make them all similar.
    """
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            there = ", ".join(prefix + each for each in known)
            hint = f"did you mean {prefix}{near[0]}?" if near else f"there are {there}"
            raise ConfigError(f"unknown {what} {prefix}{name}: {hint}")


def option_in(name: str, value: Any) -> Any:
    """Parse the string value of an option of another type, as given on a command line.

    Letter case does not count, except in selectors. A value that cannot be parsed is returned
    unchanged, and refused by `FilterConfig`. Raises ConfigError for JSON that is broken.
    """
    if not isinstance(value, str):
        return value
    if name in ("ignore", "content"):
        return _selectors_in(name, value)
    default, value = getattr(FilterConfig, name, None), value.strip()
    if isinstance(default, bool):
        return FLAGS.get(value.lower(), value)
    if isinstance(default, str):
        return value.lower()
    try:
        return literal_eval(value.capitalize())  # numbers, and none as well as None
    except (SyntaxError, ValueError):
        return value.lower() if name == "workers" else value


def json_in(name: str, text: str) -> Any:
    """Read the JSON of a setting. Raises ConfigError, which says where it is broken."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{name} is broken JSON: {json_fault(error)}") from None
    except RecursionError:
        raise ConfigError(f"{name} is broken JSON: it is nested too deep") from None


def _selectors_in(name: str, text: str) -> Any:
    """Read selectors: one string, none, a JSON list, or a JSON object of selectors by host."""
    if text.strip().lower() == "none":
        return None
    # A CSS selector can begin with a bracket, but not with a bracket and a quotation mark.
    return json_in(name, text) if _IS_JSON.match(text) else text


def _whole(least: int, most: int, *others: Any) -> _Rule:
    return (
        f"a whole number from {least} to {most}",
        lambda value: value in others or (type(value) is int and least <= value <= most),
    )


def _number_or_none(wanted: str, is_right: Callable[[float], bool]) -> _Rule:
    return (
        f"{wanted}, or None",
        lambda value: value is None or (type(value) in (int, float) and is_right(value)),
    )


def _one_of(known: Collection[str]) -> _Rule:
    choices = ", ".join(f'"{choice}"' for choice in known)
    return f"one of {choices}", lambda value: isinstance(value, str) and value in known


_FLAG: _Rule = "True or False", lambda value: type(value) is bool
# The thread of one crawl can hardly keep ten workers busy.
_WORKERS, _IS_NUMBER_OF_WORKERS = _whole(0, 64, "auto")
_RULES: Mapping[str, _Rule] = {
    "max_distance": _whole(0, MAX_DISTANCE),
    "min_similarity": _number_or_none("from 0 to 1", lambda value: 0 <= value <= 1),
    "max_missing": _whole(0, 10_000),
    "ignore_numbers": _FLAG,
    "learn_frames": _FLAG,
    "features": _one_of(RECIPES),
    "feature_hash": _one_of(FEATURE_HASHES),
    "shingle_size": _whole(1, 16),
    "ads": _one_of(ADS),
    # A page has a few hundred shingles of weight 1 or 2: more would leave nothing to its text.
    **dict.fromkeys(_PART_WEIGHTS, _whole(0, 1_000)),
    "payloads": _one_of(PAYLOADS),
    "read_pdf": _FLAG,
    "scope": _one_of(("all", "host")),
    "shared_phrases": _FLAG,
    "canonical": _FLAG,
    "changes": _FLAG,
    "learn_changes": _FLAG,
    "revisit": _one_of(("keep", "drop")),
    "same_template": _whole(1, 2**32 - 1, None),
    "max_pages": _whole(1, 2**32 - 1, None),
    "expire_days": _number_or_none(
        "more than 0 and at most 36500", lambda value: 0 < value <= 36_500
    ),
    "keep_text": _FLAG,
    "frame_memory": (
        "more than 0 and at most 1000000",
        lambda value: type(value) in (int, float) and 0 < value <= 1_000_000,
    ),
    "workers": (f'"auto" or {_WORKERS}', _IS_NUMBER_OF_WORKERS),
}


def expiry_seconds(days: float | None) -> int | None:
    """Return the seconds after which a page expires, at least one; None: it does not."""
    return None if days is None else ceil(days * 86_400)
