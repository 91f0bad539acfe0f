"""Events of responses and their items -> the fate of each claimed page.

    state     event                                                              new state
    --------  -----------------------------------------------------------------  ---------
    pending   one of the page's items passes all pipelines                       kept
    pending   the page is a duplicate, and its items are dropped                 kept
    pending   its response is over, and gave nothing but links                   kept
    pending   its response is over, and no item of the page passed               gone
    pending   another page waits for it, an item is lost, and none is under way  gone
    pending   its original is gone, or the crawl ends                            gone
    pending   the fate of its original stays unknown                             None
    kept, gone, None                  (final: any further event changes nothing)

A response is over when its output has ended and the outcome of each of its items is known. A page
that waits for another one needs a decision earlier: an item that comes later is judged anew.

Scrapy names the response of an outcome, and an item by its identity. If a later pipeline replaced
an item, only the response is known; it counts such items (`replaced`). If exactly that many items
are still open, those are the replaced ones.

A page without a final state when the crawl ends is released: a page that is wrongly kept loses its
content, because its copies are dropped; one that is wrongly released only lets a copy through.

Knows neither Scrapy nor the index.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dedup_filter.model import Fate, Verdict


@dataclass(eq=False)
class ResponseItems:
    """The items of one response whose outcomes are not known yet."""

    gives_more: bool = True
    """False for items without a response: each of them stands alone."""
    comes_again: bool = False
    """Whether the output broke off, or requests the page again: more items may come then."""
    to_come: int = 0
    """How many items it gave that have no outcome."""
    under_way: "list[tuple[Any, Judgement | None]]" = field(default_factory=list)
    """Items that were judged and are in later pipelines; without a judgement if they opted out."""
    replaced: int = 0
    """How many items passed after a later pipeline replaced them: any of `under_way`."""
    gave_items: bool = False
    has_ended: bool = False
    """Whether the output is exhausted, or broke off."""

    @property
    def is_over(self) -> bool:
        """Whether the output has ended and no outcome is missing."""
        return self.has_ended and not self.to_come


@dataclass(eq=False)
class Judgement:
    """The verdict on a page, and the fate of the page; items of one page share one judgement."""

    verdict: Verdict
    url: str
    urls: tuple[str, ...] = ()
    """URLs at which a link leads to the page's response."""
    size: int = 0
    """Bytes of the page."""
    items: ResponseItems = field(default_factory=ResponseItems)
    """The items of the page's response."""
    waits: bool = False
    """Whether the fate of the page's original is not known yet."""
    fate: Fate | None = None
    """Pending while the page is claimed; gone: the page must be judged anew, or its content would
    be lost. None: the index has no record of the page, but the verdict stands."""
    is_counted: bool = False
    """Whether the page is in the stats, and has its line in the log."""
    has_lost_items: bool = False
    """Whether a pipeline dropped an item of the page, or failed on one."""


class PageFates:
    """Decides the fate of each claimed page; `ended` is called once a page, with its judgement."""

    def __init__(self, ended: Callable[[Judgement], None]) -> None:
        self._ended = ended
        self.orphans = ResponseItems(gives_more=False, comes_again=True)
        """Items without a response."""
        self._claimed: dict[int | None, Judgement] = {}
        """Pending pages by number."""

    def claim(self, judgement: Judgement) -> None:
        """Add a page that the index has pending."""
        judgement.fate = "pending"
        self._claimed[judgement.verdict.page] = judgement

    def leave(self, items: ResponseItems, item: Any, *, has_passed: bool) -> None:
        """Act on the outcome of an item: it passed all pipelines, or one of them lost it."""
        items.to_come = max(items.to_come - 1, 0)
        for giver in (items, self.orphans):  # the response of an item may not have been known
            for passage in giver.under_way:
                if passage[0] is item:
                    self._leave(giver, passage, has_passed)
                    self._resolve(items)
                    return
        items.replaced += has_passed
        self._resolve(items)

    def response_ended(self, items: ResponseItems, *, has_failed: bool) -> None:
        """Act on the end of a response's output."""
        items.has_ended = True
        items.comes_again |= has_failed
        self._resolve(items)

    def is_pending(self, page: int) -> bool:
        """Return whether a page is still pending, now that another page waits for it."""
        if page in self._claimed:
            self._decide(self._claimed[page], is_awaited=True)
        return page in self._claimed

    def end(self, judgement: Judgement, fate: Fate | None) -> None:
        """Give a page that is pending its final state."""
        if self._claimed.pop(judgement.verdict.page, None) is not None:
            judgement.fate = fate
            self._ended(judgement)

    def end_all(self) -> None:
        """Release the pages that are pending, because the crawl ends."""
        for judgement in list(self._claimed.values()):
            self.end(judgement, "gone")

    def _resolve(self, items: ResponseItems) -> None:
        """Infer outcomes that are never reported; if the response is over, decide its pages."""
        have_passed = len(items.under_way) <= items.replaced
        if have_passed or items.is_over:
            items.replaced = 0
            for passage in list(items.under_way):
                self._leave(items, passage, have_passed)
        if items.is_over:
            for judgement in list(self._claimed.values()):
                if judgement.items is items:
                    self._decide(judgement)

    def _leave(
        self, items: ResponseItems, passage: tuple[Any, Judgement | None], has_passed: bool
    ) -> None:
        items.under_way = [each for each in items.under_way if each is not passage]
        judgement = passage[1]
        if judgement is not None and has_passed:
            self.end(judgement, "kept")
        elif judgement is not None and judgement.verdict.page in self._claimed:
            judgement.has_lost_items = True
            self._decide(judgement)

    def _decide(self, judgement: Judgement, *, is_awaited: bool = False) -> None:
        items = judgement.items
        if any(each is judgement for _, each in items.under_way):
            return
        if items.is_over or not items.gives_more:
            gave_links = not (items.gave_items or items.comes_again)
            self.end(judgement, "kept" if gave_links else "gone")
        elif judgement.has_lost_items and is_awaited:
            self.end(judgement, "gone")
