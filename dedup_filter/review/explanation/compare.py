"""Two pages that a user named -> their similarity, and whether the second repeats the first.

The verdicts are the filter's own (`verdicts.py`), one for each distance. If an index has only the
record of a page, its fingerprint, sketch and headline are known. They suffice for the first page,
but not to judge the second.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dedup_filter.config import FilterConfig
from dedup_filter.hamming.planner import plan
from dedup_filter.model import Unjudged, Verdict
from dedup_filter.review.explanation.compared_page import ComparedPage, Likeness, likeness
from dedup_filter.review.explanation.ignorable import Ignorable, ignorable
from dedup_filter.review.explanation.judged_page import JudgedPage
from dedup_filter.review.explanation.named_page import NamedPage, page_in
from dedup_filter.review.explanation.table_look_ups import LookUp, look_ups
from dedup_filter.review.explanation.text_diff import Change, only_in, word_changes
from dedup_filter.review.explanation.verdicts import (
    DISTANCES,
    as_recorded,
    compared_with_record,
    judged_one_by_one,
    seen_one_by_one,
)
from dedup_filter.review.given_page import GivenPage, read_page
from dedup_filter.review.recorded_pages import RecordedPages, require_pages
from dedup_filter.upkeep import Index

_LEAST_PLANNED = 1_000_000
"""The tables of an index are planned for at least this many pages."""


@dataclass(frozen=True)
class Comparison:
    """The similarity of two pages, and the verdicts on the second."""

    first: ComparedPage
    second: ComparedPage
    distance: int | None
    """Differing bits between the stored fingerprint of the first page and one of the second page:
    its first fingerprint within `max_distance`, else its nearest one."""
    by_text: str | None
    """The name of the second page's text with that fingerprint."""
    differing_bits: list[int]
    """Their positions, 63 first."""
    max_distance: int
    layout: str
    tables: list[LookUp]
    """The result of each table of the layout in a look-up within `max_distance`."""
    likeness: Likeness | None
    """None: one page has no text."""
    verdicts: list[Verdict] | None
    """On the second page if the first was kept, at distance 0, 1, ...; None: too little of the
    second is recorded."""
    ignorable: Ignorable | None
    """Elements without which the second page would repeat the first; None: there are none, or only
    a record of the second is known."""
    only_in_first: list[str] | None
    """Sentences that the other page lacks; None: the text of one page is not known."""
    only_in_second: list[str] | None
    changes: list[Change] | None
    """From the text of the first to the text of the second; None as above."""


def compare(
    names: Sequence[str],
    urls: Sequence[str] = ("", ""),
    options: Mapping[str, Any] | None = None,
    index: Index | None = None,
) -> Comparison:
    """Compare two pages: URLs, files or "-", or pages that an index has recorded.

    `urls` are the URLs of files. With an index, its options and its frames of hosts are used.

    Raises:
        DedupError: a page or the index cannot be read, or an option is wrong.
    """
    require_pages(names)
    if index is None:
        first, second = (read_page(*each) for each in zip(names, urls, strict=True))
        return compared_pages(first, second, FilterConfig.of(options or {}))
    with RecordedPages.open(index, options or {}) as pages:
        one, other = (page_in(pages, *each) for each in zip(names, urls, strict=True))
        config, kept = pages.config, pages.kept
    record, verdicts = one.record, None
    if record is None and isinstance(one.judged, JudgedPage):
        record = as_recorded(one.judged)
    if isinstance(other.judged, JudgedPage):
        verdicts = compared_with_record(record, other.judged, config)
    elif isinstance(other.judged, Unjudged):
        verdicts = [Verdict("unjudged", reason=other.judged.reason)] * len(DISTANCES)
    return _comparison(names, (one, other), verdicts, config, kept)


def compared_pages(first: GivenPage, second: GivenPage, config: FilterConfig) -> Comparison:
    """Compare two pages that were read, like a filter that sees only these two."""
    found = judged_one_by_one(first, second, config)
    pages = [NamedPage(each.url, one) for each, one in zip((first, second), found, strict=True)]
    verdicts = seen_one_by_one(first, second, config)
    return _comparison((first.name, second.name), pages, verdicts, config, 0)


def _comparison(
    names: Sequence[str],
    pages: Sequence[NamedPage],
    verdicts: list[Verdict] | None,
    config: FilterConfig,
    kept: int,
) -> Comparison:
    first, second = ComparedPage.stored(names[0], pages[0]), ComparedPage.of(names[1], pages[1])
    most = config.max_distance
    layout = plan(most, max(kept, _LEAST_PLANNED))
    stored = next(iter(first.fingerprints.values()), None)
    found = None if stored is None else _nearest(stored, second, most)
    texts = None
    if first.text is not None and second.text is not None:
        texts = first.text, second.text
    differing = 0 if stored is None or found is None else stored ^ found[2]
    return Comparison(
        first,
        second,
        None if found is None else found[1],
        None if found is None else [*second.fingerprints][found[0]],
        [position for position in range(63, -1, -1) if differing >> position & 1],
        most,
        repr(layout),
        [] if found is None else look_ups(0, differing, layout, most),
        likeness(first, second),
        verdicts,
        None if verdicts is None else _ignorable(pages[1].judged, verdicts[most]),
        None if texts is None else only_in(*texts),
        None if texts is None else only_in(*reversed(texts)),
        None if texts is None else word_changes(*texts),
    )


def _ignorable(page: JudgedPage | Unjudged | None, verdict: Verdict) -> Ignorable | None:
    source = page.source if isinstance(page, JudgedPage) else None
    if source is None or verdict.refused is None:
        return None
    return ignorable(source, verdict.refused.lines)


def _nearest(stored: int, second: ComparedPage, most: int) -> tuple[int, int, int] | None:
    """Return number, distance and fingerprint of the text by which a page finds a stored one."""
    found = [
        (number, (stored ^ value).bit_count(), value)
        for number, value in enumerate(second.fingerprints.values())
    ]
    within = [each for each in found if each[1] <= most]
    return next(iter(within), min(found, key=lambda each: each[1], default=None))
