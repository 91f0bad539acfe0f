"""Responses and items on their way: which item comes from which response.

An item pipeline is not told the response. The spider middleware sees both, so it notes here
which object it lets pass, and the pipeline asks for it by identity (dicts can neither be
hashed nor referred to weakly). A visit lives as long as Scrapy holds its response, that is
until its last item went through the pipelines: nothing has to be cleaned up when an item is
dropped, fails or is replaced on its way. What is not settled of it by then `claims` holds.
One thread.
"""

from collections import deque
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary, ref

from scrapy.http import Request, Response

from dedup_filter.scrapy_plugin.judgement import Judgement
from dedup_filter.scrapy_plugin.response_page import holds_one_page

__all__ = ["Visit", "Visits"]

_REMEMBERED_PAGES = 1000


class Visit:
    """One response, and the verdicts that its items share.

    A page is never a duplicate of itself. Items with the same page text share one verdict;
    an item that is found to repeat a page which this very visit brought in gets that page's
    first verdict. If the response is not a page but holds many (a feed, an answer of an API),
    its items are pages of their own, told apart by their URLs.
    """

    def __init__(self, response: Response) -> None:
        self._response = ref(response)
        self.url = response.url
        # Of the two only that of the request has a fragment.
        self._own_urls = {response.url, getattr(response.request, "url", response.url)}
        self._was_unfiltered = bool(getattr(response.request, "dont_filter", False))
        self.opted_out = _meta(response).get("dedup") is False
        self.is_counted = False
        """Whether the opt-out is in the stats."""
        self.is_one_page = holds_one_page(response)
        self.own: Judgement | None = None
        """The judgement on the response's own text, once there is one."""
        self.items_to_come = 0
        """Items that it gave and whose fate is not known."""
        self.gave_items = False
        self.has_ended = False
        """Whether its output is exhausted, or broke off."""
        self.has_failed = False
        self.is_tried_again = False
        """Whether its page was asked for once more: what it lacked may come then."""
        self.arrivals: dict[int, _Arrival] = {}
        self._by_digest: dict[tuple[str, bytes], Judgement] = {}
        self._by_url: dict[str, Judgement] = {}

    @property
    def response(self) -> Response | None:
        """The response, as long as Scrapy works on it."""
        return self._response()

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
        """Whether its output came to a good end without an item, and with none to come."""
        came_to_nothing = self.has_failed or self.is_tried_again
        return self.has_ended and not self.gave_items and not came_to_nothing

    def asks_for_itself(self, request: Request) -> bool:
        """Tell whether a request of its output is for the page itself; note if it tries again."""
        is_own = request.url in self._own_urls
        # Scrapy filters out all others: they are links of a page to itself.
        if is_own and (request.dont_filter or self._was_unfiltered):
            self.is_tried_again = True
        return is_own

    def known(self, url: str, digest: bytes) -> Judgement | None:
        """Return the judgement on a page text that this visit brought before."""
        known = self._by_digest.get(self._key(url, digest))
        return None if known is None or known.is_void else known

    def settle(self, judgement: Judgement, digest: bytes | None = None) -> Judgement:
        """Return the judgement that holds: the first one, if the page repeats only itself."""
        first = self._first(judgement)
        if first is not None:
            judgement = first
        elif not judgement.verdict.is_duplicate:
            _remember(self._by_url, judgement.url, judgement)
        if digest is not None:
            _remember(self._by_digest, self._key(judgement.url, digest), judgement)
        return judgement

    def _first(self, judgement: Judgement) -> Judgement | None:
        original = judgement.verdict.original
        if not judgement.verdict.is_duplicate or original is None:
            return None
        if not self.is_one_page and original != judgement.url:
            return None
        first = self._by_url.get(original)
        return None if first is None or first.is_void else first

    def _key(self, url: str, digest: bytes) -> tuple[str, bytes]:
        return ("" if self.is_one_page else url), digest


class _Arrival:
    """An item that will reach the pipeline, once for each visit that brings it.

    It belongs to its visits, so it knows them weakly: without a cycle, both are gone as soon
    as the response is.
    """

    __slots__ = ("__weakref__", "item", "visits")

    def __init__(self, item: Any) -> None:
        self.item = item
        self.visits: deque[ref[Visit]] = deque()


class Visits:
    """All visits under way."""

    def __init__(self) -> None:
        self._visits: WeakKeyDictionary[Response, Visit] = WeakKeyDictionary()
        self._arrivals: WeakValueDictionary[int, _Arrival] = WeakValueDictionary()

    def of(self, response: Response) -> Visit:
        """Return the visit of a response, a new one the first time."""
        visit = self._visits.get(response)
        if visit is None:
            visit = self._visits[response] = Visit(response)
        return visit

    def known(self, response: Any) -> Visit | None:
        """Return the visit of a response, if it has one."""
        return self._visits.get(response) if isinstance(response, Response) else None

    def expect(self, item: Any, visit: Visit) -> None:
        """Note that an item of this visit is on its way."""
        visit.gave_items = True
        visit.items_to_come += 1
        arrival = self._arrivals.get(id(item))
        if arrival is None:
            arrival = self._arrivals[id(item)] = _Arrival(item)
        arrival.visits.append(ref(visit))
        visit.arrivals[id(item)] = arrival

    def expects(self, item: Any) -> bool:
        """Tell whether this very object is on its way."""
        arrival = self._arrivals.get(id(item))
        return arrival is not None and arrival.item is item

    def take(self, item: Any, url: str | None) -> Visit | None:
        """Return the visit that brought an item, and forget the item.

        An item that another pipeline made anew is known by its page's URL, if only one
        visit under way has that URL.
        """
        arrival = self._arrivals.get(id(item))
        if arrival is None or arrival.item is not item:
            return self._only_visit_at(url)
        brought_by = arrival.visits.popleft()
        visit = brought_by()
        if visit is not None and brought_by not in arrival.visits:
            del visit.arrivals[id(item)]
        return visit

    def _only_visit_at(self, url: str | None) -> Visit | None:
        if url is None:
            return None
        found = [visit for visit in self._visits.values() if visit.url == url]
        return found[0] if len(found) == 1 else None


def _meta(response: Response) -> dict[str, Any]:
    return {} if response.request is None else response.request.meta


def _remember(judgements: dict[Any, Judgement], key: Any, judgement: Judgement) -> None:
    """Keep the first judgement for a key, and not more than enough for one page's items."""
    if key not in judgements or judgements[key].is_void:
        judgements[key] = judgement
    if len(judgements) > _REMEMBERED_PAGES:
        del judgements[next(iter(judgements))]
