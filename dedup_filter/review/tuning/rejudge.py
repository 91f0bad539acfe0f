"""A finished crawl, other options -> the verdict on each page with them; nothing is fetched.

    every page stored with its blocks    replayed: the verdicts that a crawl gives (`replay`)
    otherwise                            estimated from records, for the options `ESTIMATED`

An estimate compares the sketches of pages within k bits, or that share phrases (`record_pairs`).
If the crawl itself has compared two pages, its verdict stands. A page that it kept beside a
candidate is kept again, unless the candidate's share is between the new `min_similarity` and the
old, higher one. A page that it dropped is dropped, unless `min_similarity` is higher now.

The index is read at one moment; a crawl may go on meanwhile. Pages of a redirected or repeated URL
are separate pages, as they were for the crawl.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError
from dedup_filter.model import REPEATS
from dedup_filter.review.tuning.record_pairs import (
    NEVER,
    Pages,
    Pairs,
    originals_at,
    pages_of,
    pairs_of,
)
from dedup_filter.review.tuning.replay import replayed
from dedup_filter.store.location import scheme_of
from dedup_filter.store.records import PageRecord
from dedup_filter.store.sqlite.page_reader import Snapshot
from dedup_filter.upkeep.directory import options_noted
from dedup_filter.upkeep.results import Watch
from dedup_filter.wording import counted

ESTIMATED = ("max_distance", "min_similarity")
"""Options whose effect records alone can estimate."""
_WITHOUT_EFFECT = {
    "keep_text": "it changes no verdict",
    "workers": "it changes no verdict",
    "revisit": "it changes no verdict",
    "ignore": "pages were kept without what it left out then",
    "content": "pages were kept without what it left out then",
    "max_pages": "pages beyond that bound are not recorded any more",
    "expire_days": "pages beyond that bound are not recorded any more",
}
"""Options that are refused, and why."""

Change = Literal["dropped", "kept", "other_original"]
"""The change: a page is now dropped, is now kept, or is dropped for another original."""


class Judged(NamedTuple):
    """A verdict on a page."""

    outcome: str
    original: str | None = None
    """URL of the page that it repeats; None also if the original is forgotten."""
    original_page: int | None = None
    """Its number in the index."""
    distance: int | None = None
    """Bits."""
    similarity: float | None = None
    """Share of the page's shingles that its original has, 0 to 1."""

    @property
    def is_duplicate(self) -> bool:
        """Whether the page is dropped."""
        return self.outcome in REPEATS


class Rejudged(NamedTuple):
    """A page, its recorded verdict and its verdict with the other options."""

    page: int
    """Its number in the index."""
    url: str
    before: Judged
    after: Judged

    @property
    def change(self) -> Change | None:
        """The change of the verdict; None: no change."""
        was, is_now = self.before.is_duplicate, self.after.is_duplicate
        if was != is_now:
            return "dropped" if is_now else "kept"
        if is_now and self.before.original_page != self.after.original_page:
            return "other_original"
        return None


@dataclass
class Rejudgement:
    """An index judged by other options. Its pages can be read once, while the index is open."""

    before: dict[str, Any]
    """The options of the last crawl that has recorded them; the defaults if none has."""
    after: dict[str, Any]
    is_exact: bool
    """Whether these are the verdicts of a crawl; else they are estimated."""
    notes: list[str]
    """Limits of the answer, in words."""
    pages: Iterator[Rejudged]
    """The pages in the order in which they were recorded."""
    totals: Counter[str] = field(default_factory=Counter)
    """Counts of the pages read so far: `pages`, `dropped_before`, `dropped_after`, by change."""

    def changes(self) -> Iterator[Rejudged]:
        """Yield the pages whose verdict changes, and count all pages."""
        for each in self.pages:
            self.totals["pages"] += 1
            self.totals["dropped_before"] += each.before.is_duplicate
            self.totals["dropped_after"] += each.after.is_duplicate
            if each.change is not None:
                self.totals[each.change] += 1
                yield each


def rejudge(snapshot: Snapshot, options: Mapping[str, Any], watch: Watch) -> Rejudgement:
    """Judge the pages of an index by other options; options not given are the crawl's own.

    Raises:
        ConfigError: an option is wrong, has no effect on verdicts, or needs pages that were kept.
    """
    for name in options:
        if name in _WITHOUT_EFFECT:
            raise ConfigError(f"{name} cannot be judged by: {_WITHOUT_EFFECT[name]}")
    noted = options_noted(snapshot)
    before = FilterConfig.of(noted)
    after = FilterConfig.of({**noted, **options})
    if after.part_weights.image and not before.part_weights.image:
        raise ConfigError("image_weight was 0, so the images of the pages were not kept")
    changed = [name for name in vars(before) if getattr(before, name) != getattr(after, name)]
    lacking, total = snapshot.without_form(), snapshot.count()
    if lacking:
        unknown = [name for name in changed if name not in ESTIMATED]
        if unknown:
            raise ConfigError(
                f"{unknown[0]} can be judged by only if pages were kept (keep_text, "
                f"DEDUP_KEEP_TEXT), and {lacking:,} of {counted(total, 'page')} were not; without "
                f"them there are {' and '.join(ESTIMATED)}"
            )
        pages = _estimated(snapshot, before, after, watch)
    else:
        pages = _replayed(snapshot, after, watch)
    shown = [
        *scheme_of(before).parts,
        *ESTIMATED,
        "learn_frames",
        "scope",
        "shared_phrases",
        "canonical",
    ]
    names = [name for name in vars(before) if name in shown]
    shaping = [{name: getattr(each, name) for name in names} for each in (before, after)]
    return Rejudgement(
        before=shaping[0],
        after=shaping[1],
        is_exact=not lacking,
        notes=list(_notes(snapshot, before)),
        pages=pages,
    )


def _notes(snapshot: Snapshot, config: FilterConfig) -> Iterator[str]:
    crawls = [crawl.options for crawl in snapshot.crawls()]
    if not any(crawls):
        yield "no crawl has noted its options: taken are the defaults"
    elif len({str(each) for each in crawls if each}) > 1:
        yield "its crawls had different options: taken are those of the last"
    sql = "SELECT count(*) FROM pages WHERE crawl != first_crawl"
    if renewed := snapshot.value(sql):
        yield (
            f"{counted(renewed, 'page')} came again in a later crawl: judged is the last form of "
            "each, in its first place"
        )
    here, there = scheme_of(config).parts, snapshot.scheme.parts
    if other := [name for name, value in here.items() if there.get(name) != value]:
        yield f"other versions made its fingerprints ({', '.join(other)}): some changes are theirs"


def _recorded(snapshot: Snapshot, record: PageRecord) -> Judged:
    original = snapshot.url_of_original(record)
    return Judged(record.outcome, original, record.original, record.distance, record.similarity)


def _replayed(snapshot: Snapshot, config: FilterConfig, watch: Watch) -> Iterator[Rejudged]:
    numbers: dict[int, int] = {}
    """Numbers of pages in the replay -> their numbers in the index."""
    with watch(snapshot.records(), snapshot.count()) as records:
        for record, verdict in replayed(snapshot, records, config):
            if verdict.page is not None:
                numbers.setdefault(verdict.page, record.page)
            original = verdict.original_page
            after = Judged(
                verdict.outcome,
                verdict.original,
                None if original is None else numbers.get(original, 0),
                verdict.distance,
                verdict.similarity,
            )
            yield Rejudged(record.page, record.url, _recorded(snapshot, record), after)


def _estimated(
    snapshot: Snapshot, before: FilterConfig, after: FilterConfig, watch: Watch
) -> Iterator[Rejudged]:
    pages = pages_of(snapshot, by_phrases=before.shared_phrases)
    pairs = pairs_of(snapshot, pages, by_host=before.scope == "host")
    pairs = _as_judged(pages, pairs, before)
    originals = originals_at(pages, pairs, after.max_distance, after.min_similarity)
    measured = {
        (later, earlier): (bits, share)
        for later, earlier, bits, share in zip(*(c.tolist() for c in pairs[:4]), strict=True)
    }
    with watch(snapshot.records(), snapshot.count()) as records:
        for place, record in enumerate(records):
            found = Judged(record.outcome if record.is_kept else "new")
            original, before_it = int(originals[place]), _recorded(snapshot, record)
            if original >= 0:
                number = int(pages.numbers[original])
                if before_it.is_duplicate and number == record.original:
                    found = before_it
                elif pages.twins[place] != place:
                    found = Judged("exact", snapshot.url(number), number, 0, 1.0)
                else:
                    found = Judged("near", snapshot.url(number), number, *measured[place, original])
            yield Rejudged(record.page, record.url, before_it, found)


def _as_judged(pages: Pages, pairs: Pairs, config: FilterConfig) -> Pairs:
    """Adapt the limits to the verdicts of the crawl.

    A dropped page repeats its original; a kept page repeats no candidate that would pass by sketch.
    """
    least = NEVER if config.min_similarity is None else config.min_similarity
    limits = np.where(pages.originals[pairs.later] == pairs.earlier, least, NEVER)
    limits = np.maximum(limits, pairs.limits)
    were_compared = (
        pages.are_kept[pairs.later]
        & pages.are_kept[pairs.earlier]
        & pairs.are_found(config.max_distance, config.min_similarity)
    )
    return pairs._replace(limits=np.where(were_compared & (limits >= least), NEVER, limits))
