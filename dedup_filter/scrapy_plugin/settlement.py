"""Fates of items -> fates of their pages.

    an item went through (item_scraped)                   its page is committed
    none of a page's items did, and no more can come      the page is released

Items of one response may share a page. No more can come when the response's output has ended
and the fate of each of its items is known. If another page waits for this one, it is enough
that an item came to nothing and no other is on its way: one that comes later is judged anew.

An item is known by identity. One that a later pipeline made anew is known by its response, and
among the items of that by its page's URL. Which one of several items of a page it is does not
matter. If it can be of one of several pages, its fate is held until as many items of the
response are left as there are fates held: then that does not matter either, unless the fates
differ. Then all pages are released that may be: one that counts as seen without its item would
cost its twin, while one forgotten costs nothing but a duplicate.
"""

from collections import deque
from dataclasses import dataclass
from typing import Any

from scrapy.http import Response
from scrapy.utils.defer import maybe_deferred_to_future

from dedup_filter.scrapy_plugin.claims import Claims
from dedup_filter.scrapy_plugin.faults import Faults
from dedup_filter.scrapy_plugin.judgement import Judgement
from dedup_filter.scrapy_plugin.near_duplicate import NearDuplicate
from dedup_filter.scrapy_plugin.page_source import item_url
from dedup_filter.scrapy_plugin.visits import Visit, Visits
from dedup_filter.text.page_fields import FieldNames

__all__ = ["Passage", "Settlement"]


@dataclass(frozen=True, eq=False)
class Passage:
    """An item that came to the pipeline."""

    item: Any
    url: str | None = None
    visit: Visit | None = None
    was_expected: bool = False
    """Whether it is the very object that its response gave."""
    judgement: Judgement | None = None
    """None: its response opted out."""


class Settlement:
    """Follows the items of one crawl, and settles the claims of their pages."""

    def __init__(self, visits: Visits, claims: Claims, faults: Faults, names: FieldNames) -> None:
        self._visits = visits
        self._claims = claims
        self._faults = faults
        self._names = names
        self._under_way: dict[int, deque[Passage]] = {}
        self._held: dict[Visit | None, list[bool]] = {}

    def passes(self, passage: Passage) -> None:
        """Note an item that goes on to the pipelines that follow."""
        self._under_way.setdefault(id(passage.item), deque()).append(passage)

    async def wait(self, judgement: Judgement) -> None:
        """Wait for the original of a page: afterwards the judgement holds or is void."""
        original = judgement.original
        if original is None or not original.is_pending:
            return
        reason = "pending"
        if original.is_elsewhere:
            reason = await self._claims.watch(judgement, original)
        else:
            woken = self._claims.await_fate(original)
            self._faults.guard(lambda: self._reconsider(original), lambda: None)
            await maybe_deferred_to_future(woken)
        if judgement.is_void:
            self._claims.release(judgement)
        elif judgement.waits:
            self.give_up(judgement, reason)

    def give_up(self, judgement: Judgement, reason: str = "pending") -> None:
        """Let a page be unjudged whose original's fate will not be known; its item is kept."""
        self._claims.withdraw(judgement)
        judgement.give_up(reason)

    def item_scraped(self, item: Any, response: Any) -> None:
        """Follow an item that went through all pipelines; a handler of Scrapy's signal."""
        self._faults.guard(lambda: self._fate(item, response, True), lambda: None)

    def item_dropped(self, item: Any, response: Any, exception: Any) -> None:
        """Follow an item that was dropped; a handler of Scrapy's signal."""
        # What this filter drops is settled already.
        fate = None if isinstance(exception, NearDuplicate) else False
        self._faults.guard(lambda: self._fate(item, response, fate), lambda: None)

    def item_error(self, item: Any, response: Any) -> None:
        """Follow an item that a pipeline failed on; a handler of Scrapy's signal."""
        self._faults.guard(lambda: self._fate(item, response, False), lambda: None)

    def output_ended(self, response: Response, *, has_failed: bool) -> None:
        """Settle the pages of a response that gives no more items."""
        visit = self._visits.known(response)
        if visit is not None:
            visit.has_ended = True
            visit.has_failed = has_failed
            self._faults.guard(lambda: self._reconsider_all(visit), lambda: None)

    def _fate(self, item: Any, response: Any, went_through: bool | None) -> None:
        visit = self._visits.known(response)
        if visit is not None and visit.items_to_come:
            visit.items_to_come -= 1
        if went_through is not None:
            passages = self._under_way.get(id(item))
            if passages:
                here = [passage for passage in passages if passage.visit is visit]
                self._settle((here or passages)[0], went_through)
            else:
                self._stranger(item_url(item, self._names), visit, went_through)
        if visit is not None:
            self._reconsider_all(visit)

    def _reconsider_all(self, visit: Visit) -> None:
        if visit.is_over:
            for judgement in self._claims.of(visit):
                self._reconsider(judgement)

    def _reconsider(self, judgement: Judgement) -> None:
        """Settle a page if nothing more is to be learnt of its fate."""
        if not judgement.is_pending or self._is_under_way(judgement):
            return
        visit = self._claims.visit(judgement)
        if visit is not None and visit.gave_only_links:
            self._claims.commit(judgement)
        elif (
            visit is None
            or visit.is_over
            or (judgement.has_lost_items and self._claims.is_awaited(judgement))
        ):
            self._claims.release(judgement)

    def _stranger(self, url: str | None, visit: Visit | None, went_through: bool) -> None:
        """Settle the page of an item that never came here as this object."""
        # Dropped items are shown as they entered the first pipeline. One that is unknown was
        # made anew before it came here, or never came.
        possible = [
            passage for passage in self._of(visit) if went_through or not passage.was_expected
        ]
        if visit is None and not went_through:
            possible = _at(url, possible)
        elif not possible:
            possible = _at(url, self._of(None))
        possible = _at(url, possible) or possible
        if not possible:
            return
        judgement = possible[0].judgement
        if went_through and judgement and all(each.judgement is judgement for each in possible):
            self._claims.commit(judgement)
        self._held.setdefault(possible[0].visit, []).append(went_through)
        self._use_held(possible[0].visit)

    def _use_held(self, visit: Visit | None) -> None:
        """Take the fates that are held for those of the items that are left, if as many."""
        fates = self._held.get(visit, [])
        passages = self._of(visit)
        if len(passages) <= len(fates):
            self._held.pop(visit, None)
            for passage in passages:
                self._settle(passage, all(fates))

    def _settle(self, passage: Passage, went_through: bool) -> None:
        passages = self._under_way[id(passage.item)]
        passages.remove(passage)
        if not passages:
            del self._under_way[id(passage.item)]
        judgement = passage.judgement
        if judgement is not None and went_through:
            self._claims.commit(judgement)
        elif judgement is not None:
            judgement.has_lost_items = True
            self._reconsider(judgement)
        if passage.visit in self._held:
            self._use_held(passage.visit)

    def _of(self, visit: Visit | None) -> list[Passage]:
        return [
            passage
            for passages in self._under_way.values()
            for passage in passages
            if passage.visit is visit
        ]

    def _is_under_way(self, judgement: Judgement) -> bool:
        return any(
            passage.judgement is judgement
            for passages in self._under_way.values()
            for passage in passages
        )


def _at(url: str | None, passages: list[Passage]) -> list[Passage]:
    return [passage for passage in passages if url is not None and passage.url == url]
