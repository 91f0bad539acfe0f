"""Items on their way: which response they come from, and what becomes of their pages.

    an item went through (item_scraped)                   its page is committed
    none of a page's items did, and no more can come      the page is released

An item pipeline is not told the response. The spider middleware sees both, so it notes here which
object it lets pass, and the pipeline asks for it by identity. A visit lives as long as Scrapy
holds its response, that is until its last item went through the pipelines.

No more items can come when the response's output has ended and the outcome of each of its items
is known. If another page waits for this one, it is enough that an item came to nothing and no
other is on its way: one that comes later is judged anew.

An item that a later pipeline made anew is known by its response, and among the items of that by
its page's URL. If it can be one of several pages' items, its outcome is held until as many items
of the response are left as there are outcomes held; then they are matched. If those outcomes
differ, all these pages are released: a page wrongly committed loses its content (its copies are
dropped), one wrongly released only lets a copy through.
"""

from collections import deque
from dataclasses import dataclass
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary, ref

from scrapy.http import Request, Response

from dedup_filter.scrapy_plugin.claims import Claims
from dedup_filter.scrapy_plugin.index_calls import Reading
from dedup_filter.scrapy_plugin.page_fate import Event, Judgement
from dedup_filter.scrapy_plugin.page_source import holds_one_page, item_url
from dedup_filter.text.page_fields import FieldNames

__all__ = ["Items", "Passage", "Visit"]

_REMEMBERED_PAGES = 1000
"""Pages of one response, a feed, whose judgements its items can share."""


class Visit:
    """One response, and the judgements that its items share.

    No page of a response is a duplicate of another of it. Items with the same page text share one
    judgement; an item whose page repeats one that this very response brought gets that page's
    judgement. If the response is not a page but holds many (a feed, an answer of an API), its items
    are pages of their own, told apart by their URLs.
    """

    def __init__(self, response: Response) -> None:
        request = response.request
        self.response = ref(response)
        """The response, as long as Scrapy works on it."""
        self.url = response.url
        # Of the two only that of the request has a fragment.
        self._own_urls = {response.url, getattr(request, "url", response.url)}
        self._was_unfiltered = bool(getattr(request, "dont_filter", False))
        self.opted_out = request is not None and request.meta.get("dedup") is False
        self.is_counted = False
        """Whether the opt-out is in the stats."""
        self.is_one_page = holds_one_page(response)
        self.own: Judgement | None = None
        """The judgement on the response's own text, once there is one."""
        self.reading: Reading | None = None
        """The response's page, if a worker reads it and it is not judged yet."""
        self.expected: dict[int, deque[tuple[int, Any]]] = {}
        """Items that have not reached the pipeline, by identity, with their place in the order."""
        self.items_to_come = 0
        """Items that it gave and whose outcome is not known."""
        self.gave_items = False
        self.has_ended = False
        """Whether its output is exhausted, or broke off."""
        self.has_failed = False
        self.is_retried = False
        """Whether its page was requested again: what it lacked may come then."""
        self._by_digest: dict[tuple[str, bytes], Judgement] = {}
        self._by_url: dict[str, Judgement] = {}

    @property
    def is_page_to_judge(self) -> bool:
        """Whether the response itself is a page on which a verdict is wanted."""
        return self.is_one_page and not self.opted_out

    @property
    def is_over(self) -> bool:
        """Whether it has no item under way and will give none."""
        return self.has_ended and not self.items_to_come

    @property
    def gave_only_links(self) -> bool:
        """Whether its output ended without a failure, an item or a retry."""
        return self.has_ended and not (self.gave_items or self.has_failed or self.is_retried)

    def asks_for_itself(self, request: Request) -> bool:
        """Tell whether a request of its output is for the page itself; note if it is a retry."""
        is_own = request.url in self._own_urls
        # Scrapy filters out all others: they are links of a page to itself.
        if is_own and (request.dont_filter or self._was_unfiltered):
            self.is_retried = True
        return is_own

    def known(self, url: str, digest: bytes) -> Judgement | None:
        """Return the judgement on a page text that this response brought before."""
        return _valid(self._by_digest.get(self._key(url, digest)))

    def share(self, judgement: Judgement, digest: bytes = b"") -> Judgement:
        """Return the judgement that holds: the first one, if the page repeats only itself."""
        original = judgement.verdict.original
        if original is None or not judgement.verdict.is_duplicate:
            _remember(self._by_url, judgement.url, judgement)
        elif self.is_one_page or original == judgement.url:
            judgement = _valid(self._by_url.get(original)) or judgement
        if digest:
            _remember(self._by_digest, self._key(judgement.url, digest), judgement)
        return judgement

    def _key(self, url: str, digest: bytes) -> tuple[str, bytes]:
        return ("" if self.is_one_page else url), digest


@dataclass(eq=False)
class Passage:
    """An item that came to the pipeline."""

    item: Any
    url: str | None = None
    visit: Visit | None = None
    was_expected: bool = False
    """Whether it is the very object that its response gave."""
    judgement: Judgement | None = None
    """None: its response opted out."""
    reading: Reading | None = None
    """The page in its own fields, if a worker reads it."""
    is_dropped: bool = False
    """Whether it is to be dropped because of its page's verdict."""


class Items:
    """The items of one crawl, and the responses that they come from."""

    def __init__(self, claims: Claims, names: FieldNames) -> None:
        self._claims = claims
        self._names = names
        self._visits: WeakKeyDictionary[Response, Visit] = WeakKeyDictionary()
        self._order = count()
        self._under_way: dict[int, deque[Passage]] = {}
        """Items in the pipelines that follow, by identity."""
        self._held: dict[Visit | None, list[bool]] = {}
        """For each visit: of items that may be one of several, whether they went through."""

    def visit(self, response: Response) -> Visit:
        """Return the visit of a response, a new one the first time."""
        visit = self._visits.get(response)
        if visit is None:
            visit = self._visits[response] = Visit(response)
        return visit

    def known_visit(self, response: Any) -> Visit | None:
        """Return the visit of a response, if it has one."""
        return self._visits.get(response) if isinstance(response, Response) else None

    def expect(self, item: Any, response: Response) -> None:
        """Note that an item of a response is on its way to the pipeline."""
        visit = self.visit(response)
        visit.gave_items = True
        visit.items_to_come += 1
        visit.expected.setdefault(id(item), deque()).append((next(self._order), item))

    def arrive(self, item: Any) -> Passage:
        """Return the item that came to the pipeline, with the visit that brought it.

        An item that another pipeline made anew is known by its page's URL, if only one visit
        under way has that URL.
        """
        url = item_url(item, self._names)
        visit = self._visit_that_gave(item)
        if visit is None:
            return Passage(item, url, self._only_visit_at(url))
        visit.expected[id(item)].popleft()
        if not visit.expected[id(item)]:
            del visit.expected[id(item)]
        return Passage(item, url, visit, was_expected=True)

    def go_on(self, passage: Passage) -> None:
        """Note an item that goes on to the pipelines that follow."""
        self._under_way.setdefault(id(passage.item), deque()).append(passage)

    def came_out(self, item: Any, response: Any, *, went_through: bool | None) -> None:
        """Act on the outcome of an item; None: it was dropped because of its page's verdict."""
        visit = self.known_visit(response)
        if visit is not None and visit.items_to_come:
            visit.items_to_come -= 1
        if went_through is not None:
            passages = self._under_way.get(id(item))
            if passages:
                of_visit = [passage for passage in passages if passage.visit is visit]
                self._end((of_visit or passages)[0], went_through)
            else:
                self._end_unknown(item_url(item, self._names), visit, went_through)
        if visit is not None:
            self._reconsider_all(visit)

    def output_ended(self, response: Response, *, has_failed: bool) -> None:
        """Note that a response gives no more items, and act on what follows for its pages."""
        visit = self.known_visit(response)
        if visit is not None:
            visit.has_ended = True
            visit.has_failed = has_failed
            self._reconsider_all(visit)

    def reconsider(self, judgement: Judgement) -> None:
        """Commit or release a page if no more is to be learnt of its items."""
        if not judgement.is_claimed or self._is_under_way(judgement):
            return
        visit = self._claims.visit(judgement)
        if visit is not None and visit.gave_only_links:
            self._claims.end(judgement, Event.ONLY_LINKS)
        elif (
            visit is None
            or visit.is_over
            or (judgement.has_lost_items and self._claims.is_awaited(judgement))
        ):
            self._claims.end(judgement, Event.NO_ITEM_PASSED)

    def _reconsider_all(self, visit: Visit) -> None:
        if visit.is_over:
            for judgement in self._claims.of(visit):
                self.reconsider(judgement)

    def _end(self, passage: Passage, went_through: bool) -> None:
        """Act on the outcome of an item that is known."""
        passages = self._under_way[id(passage.item)]
        passages.remove(passage)
        if not passages:
            del self._under_way[id(passage.item)]
        judgement = passage.judgement
        if judgement is not None and went_through:
            self._claims.end(judgement, Event.ITEM_PASSED)
        elif judgement is not None:
            judgement.has_lost_items = True
            self.reconsider(judgement)
        if passage.visit in self._held:
            self._match_held(passage.visit)

    def _end_unknown(self, url: str | None, visit: Visit | None, went_through: bool) -> None:
        """Act on the outcome of an item that never came to the pipeline as this object."""
        # Scrapy shows a dropped item as it entered the first pipeline. One that is unknown was
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
            self._claims.end(judgement, Event.ITEM_PASSED)
        self._held.setdefault(possible[0].visit, []).append(went_through)
        self._match_held(possible[0].visit)

    def _match_held(self, visit: Visit | None) -> None:
        """Take the outcomes that are held for those of the items that are left, if as many."""
        outcomes = self._held.get(visit, [])
        passages = self._of(visit)
        if len(passages) <= len(outcomes):
            self._held.pop(visit, None)
            for passage in passages:
                self._end(passage, all(outcomes))

    def _of(self, visit: Visit | None) -> list[Passage]:
        return [passage for passage in self._passages() if passage.visit is visit]

    def _is_under_way(self, judgement: Judgement) -> bool:
        return any(passage.judgement is judgement for passage in self._passages())

    def _passages(self) -> list[Passage]:
        return [passage for passages in self._under_way.values() for passage in passages]

    def _visit_that_gave(self, item: Any) -> Visit | None:
        """Return the visit that expects an item; of several the one that gave it first."""
        visits = [visit for visit in self._visits.values() if id(item) in visit.expected]
        return min(visits, key=lambda visit: visit.expected[id(item)][0][0], default=None)

    def _only_visit_at(self, url: str | None) -> Visit | None:
        found = [visit for visit in self._visits.values() if url is not None and visit.url == url]
        return found[0] if len(found) == 1 else None


def _at(url: str | None, passages: list[Passage]) -> list[Passage]:
    return [passage for passage in passages if url is not None and passage.url == url]


def _valid(judgement: Judgement | None) -> Judgement | None:
    return None if judgement is None or judgement.is_void else judgement


def _remember(judgements: dict[Any, Judgement], key: Any, judgement: Judgement) -> None:
    """Keep the first judgement for a key that is not void, and a bounded number of keys."""
    if _valid(judgements.get(key)) is None:
        judgements[key] = judgement
    if len(judgements) > _REMEMBERED_PAGES:
        del judgements[next(iter(judgements))]
