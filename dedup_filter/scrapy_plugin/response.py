"""A response and its items -> the fate of each of its pages.

The response is the unit of fate: an item of it is open from the callback on, until it passes all
pipelines or is lost (a pipeline drops it or fails).

    a pending page becomes
    kept    when one of its items passes; when it is a duplicate, and its items are dropped; when
            its response is over and gave nothing but links
    gone    when its response is over, and no item of the page passed; when a copy waits for it, it
            has lost an item, and none of its items is under way; when its original is gone
    None    when the fate of its original stays unknown

A response is over when its output has ended and no item is open. A page that is still pending when
the crawl ends is gone: a page that is wrongly kept loses its content, because its copies are
dropped; one that is wrongly released only lets a copy through.

Scrapy gives a pipeline the item without its response. So the response is found by the identity of
the item object, and when the item passes or is lost, its page is found in the same way. If a later
pipeline has replaced the item, only its response is known. Such items are counted: if exactly so
many items of the response are under way, these have passed.

No page of a response is a duplicate of another page of the same response: items with the same page
text share one judgement, and so do items whose pages repeat one another. The items of a feed are
separate pages, distinguished by their URLs.

An item may be completed by a second response (the stock of a product). The request of each response
names the last pages that led to it, in `meta`, which outlives redirects, retries and JOBDIR; the
header Referer does not tell them, if a site's Referrer-Policy says so. If the URL of an item is
that of such a page, the text of the response is not the item's page: the item is judged by its own
fields, or not at all.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin
from weakref import WeakKeyDictionary, ref

from scrapy.http import Request, Response

from dedup_filter.config import FilterConfig
from dedup_filter.judge import Claim
from dedup_filter.model import Fate, Reason, Verdict
from dedup_filter.scrapy_plugin.item_page import ItemFields, is_one_page, page_of
from dedup_filter.scrapy_plugin.page_rules import PageRules, Treatment
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.stats import NOT_JUDGED, CrawlStats
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import host_of, kinship, url_key
from dedup_filter.workers import Reading

_NO_RULES = PageRules(FilterConfig(payloads="none"), "drop")
_LED_BY = "dedup_led_by"
"""The key in the `meta` of a request for the URLs of the pages that led to it, the last first."""
_MOST_LED_BY = 3
_MOST_SHARED = 2000
"""Judgements that the items of one response (a feed) can share."""


@dataclass(eq=False)
class Judgement:
    """The verdict on a page, and the fate of the page; items of one page share one judgement."""

    verdict: Verdict
    url: str
    action: str
    """What becomes of its items if the page is a duplicate: "drop" or "tag"."""
    visit: "Visit | None" = None
    """The response of the page."""
    claim: Claim | None = None
    fate: Fate | None = None
    """Pending while the page is claimed; gone: the page must be judged anew, or its content would
    be lost. None: the index has no record of the page, but the verdict stands."""
    is_counted: bool = False
    """Whether the verdict is final, and the page is in the stats and has its line in the log."""
    has_lost_items: bool = False
    """Whether a pipeline dropped an item of the page, or failed on one."""


@dataclass(eq=False)
class Page:
    """The page of an item: its response, or the text in its own fields."""

    url: str
    text: PageText | Reason
    """The text of the page, or the reason why there is none."""
    treatment: Treatment
    reading: Reading | None = None
    """None: reading has not started."""
    judgement: Judgement | None = None
    """The last judgement on the page."""


class Visit:
    """One response, as long as Scrapy holds it: until its last item has left the pipelines."""

    def __init__(self, response: Response | None, rules: PageRules = _NO_RULES) -> None:
        request = None if response is None else response.request
        self.url = "" if response is None else response.url
        self.meta = None if request is None else request.meta.get("dedup")
        self.treatment = rules.treatment(self.url, self.meta)
        self.page: Page | None = None
        """The page of the response, once `read` was called."""
        self.is_one_page = response is not None and is_one_page(response)
        self._payloads = rules.default.config.judged_payloads
        self._response = (lambda: None) if response is None else ref(response)
        self.urls = () if request is None or request.method != "GET" else _urls(self.url, request)
        """URLs that lead to this response: its own, and URLs that redirected to it."""
        self._led_by = [] if request is None else request.meta.get(_LED_BY, [])
        self.turn = asyncio.Lock()
        """Excludes other judgements while a page of it is looked up and claimed. It is always free
        if calls are direct and no worker reads."""
        self.gave_items = False
        self.open = 0
        """Number of its items without an outcome."""
        self.expected: list[Any] = []
        """Items that have not reached the pipeline."""
        self.under_way: list[tuple[Any, Judgement | None]] = []
        """Items that are in later pipelines; without a judgement if the response opted out."""
        self.replaced = 0
        """Number of items that passed after a pipeline replaced them: any of `under_way`."""
        self.has_ended = False
        """Whether the output is exhausted, or broke off."""
        self.comes_again = False
        """Whether the output broke off, or requests the page again: more items may come then."""
        self._shared: dict[str | int, Judgement] = {}
        """Judgements on pages of its items, by URL (the first) and by the hash of their text."""

    @property
    def is_over(self) -> bool:
        """Whether the output has ended and no item is open."""
        return self.has_ended and not self.open

    def gave(self, item: Any) -> None:
        """Add an item that is on its way to the pipeline."""
        self.gave_items = True
        self.open += 1
        self.expected.append(item)

    def led_to(self, request: Request) -> None:
        """Note in a request of its output that this response led to it."""
        request.meta[_LED_BY] = [*dict.fromkeys((self.url, *self._led_by))][:_MOST_LED_BY]

    def is_of_earlier(self, url: str) -> bool:
        """Return whether a URL is that of a page that led to this response, and not its own.

        A URL that differs from its own in the visitor alone is its own.
        """
        if url_key(url) not in map(url_key, self._led_by):
            return False
        is_spelling = kinship(url, self.url) in ("same", "spelling")
        is_own = is_spelling and host_of(url) == host_of(self.url)
        return not is_own and url_key(url) not in map(url_key, self.urls)

    def read(self) -> Page:
        """Return the page of the response; a reason, if it holds many pages or none."""
        if self.page is None:
            response = self._response()
            if response is None:
                return Page(self.url, "no_response", self.treatment)
            self.page = Page(self.url, page_of(response, self._payloads), self.treatment)
        return self.page

    def known(self, page: Page) -> Judgement | None:
        """Return the valid judgement on a page of this visit; None: the page must be claimed."""
        if page.judgement is not None and page.judgement.fate != "gone":
            return page.judgement
        is_of_item = page is not self.page and not isinstance(page.text, str)
        return self._shared_by(self._key(page)) if is_of_item else None

    def share(self, page: Page, judgement: Judgement) -> Judgement:
        """Return the valid judgement: the first, if the page repeats only its own response."""
        original = judgement.verdict.original or ""
        if judgement.verdict.is_duplicate and (self.is_one_page or original == page.url):
            judgement = self._shared_by(original) or judgement
        for key in (page.url, self._key(page)):
            self._shared[key] = self._shared_by(key) or judgement
        while len(self._shared) > _MOST_SHARED:
            del self._shared[next(iter(self._shared))]
        return judgement

    def _key(self, page: Page) -> int:
        return hash((self.is_one_page or page.url, page.text))

    def _shared_by(self, key: str | int) -> Judgement | None:
        found = self._shared.get(key)
        return None if found is None or found.fate == "gone" else found


class Visits:
    """The responses of a crawl that Scrapy holds, and their pending pages.

    `ended` is called once for each page that was pending, with its judgement.
    """

    def __init__(
        self,
        settings: PluginSettings,
        rules: PageRules,
        stats: CrawlStats,
        ended: Callable[[Judgement], None],
    ) -> None:
        self._rules, self._stats, self._ended = rules, stats, ended
        self._fields = ItemFields(settings.field_names)
        # If settings name fields, items are judged as with DEDUP_SOURCE="item".
        is_by_names = settings.source == "auto" and self._fields.names.name_page
        self.source = "item" if is_by_names else settings.source
        self._visits: WeakKeyDictionary[Response, Visit] = WeakKeyDictionary()
        self.no_response = Visit(None, rules)
        """The visit of all items without a response; each of them stands alone."""
        self._pending: dict[int, Judgement] = {}
        """Pending pages by number."""

    def of(self, response: Any) -> Visit:
        """Return the visit of a response, a new one the first time."""
        if not isinstance(response, Response):
            return self.no_response
        try:
            if response not in self._visits:
                self._visits[response] = Visit(response, self._rules)
                if not self._visits[response].treatment.judge:
                    self._stats.add("opted_out")
            return self._visits[response]
        except Exception as fault:
            self._stats.fault(fault, NOT_JUDGED)
            return self.no_response

    def visit_of(self, item: Any) -> Visit:
        """Return the visit that gave an item.

        If another pipeline replaced the item, its visit is found by the URL of its page, provided
        that only one visit under way has this URL.
        """
        visits = [*self._visits.values(), self.no_response]
        for visit in visits:
            for place, expected in enumerate(visit.expected):
                if expected is item:
                    del visit.expected[place]
                    return visit
        url = self._fields.url(item)
        there = [visit for visit in visits if visit.url == url]
        return there[0] if len(there) == 1 else self.no_response

    def url(self, item: Any, visit: Visit) -> str:
        """Return the URL of an item's page; it may be relative to the URL of its response."""
        url = self._fields.url(item)
        try:
            return urljoin(visit.url, url)
        except ValueError:  # such as http://[1/
            return visit.url or url

    def page(self, item: Any, visit: Visit) -> Page:
        """Return the page of an item."""
        if self.source == "response":
            return visit.read()
        url = self.url(item, visit)
        is_of_other = self.source == "auto" and visit.is_of_earlier(url)
        if self.source == "auto" and visit.is_one_page and not is_of_other:
            return visit.read()
        text = self._fields.page(item)
        if isinstance(text, str) and self.source == "auto":
            if not is_of_other:
                return visit.read()
            text = "other_page"
        return Page(url, text, self._rules.treatment(url, visit.meta))

    def claim(self, judgement: Judgement) -> None:
        """Add a page that the index has pending."""
        assert judgement.verdict.page is not None
        judgement.fate = "pending"
        self._pending[judgement.verdict.page] = judgement

    def is_pending(self, page: int) -> bool:
        """Return whether a page is still pending, now that a copy waits for it."""
        if page in self._pending:
            self._decide(self._pending[page], is_awaited=True)
        return page in self._pending

    def end(self, judgement: Judgement, fate: Fate | None) -> None:
        """Give a page its final state, unless it has one."""
        if judgement.fate in ("kept", "gone"):
            return
        was_pending, judgement.fate = judgement.fate == "pending", fate
        if was_pending:
            del self._pending[judgement.verdict.page or 0]
            self._ended(judgement)

    def end_all(self) -> None:
        """Release the pages that are pending, because the crawl ends."""
        for judgement in list(self._pending.values()):
            self.end(judgement, "gone")

    def left(self, item: Any, response: Any, *, has_passed: bool) -> None:
        """Act on the outcome of an item: it passed all pipelines, or one of them lost it."""
        visit = self.of(response)
        visit.open = max(visit.open - 1, 0)
        for held_by in (visit, self.no_response):  # its response may not have been known
            for place, (known, judgement) in enumerate(held_by.under_way):
                if known is item:
                    del held_by.under_way[place]
                    self._leave(judgement, has_passed=has_passed)
                    self._resolve(visit)
                    return
        visit.replaced += has_passed
        self._resolve(visit)

    def output_ended(self, visit: Visit, *, has_failed: bool) -> None:
        """Act on the end of a response's output."""
        visit.has_ended = True
        visit.comes_again |= has_failed
        self._resolve(visit)

    def _resolve(self, visit: Visit) -> None:
        """Infer outcomes that are never reported; if the response is over, decide its pages."""
        have_passed = len(visit.under_way) <= visit.replaced
        if have_passed or visit.is_over:
            left, visit.under_way, visit.replaced = visit.under_way, [], 0
            for _, judgement in left:
                self._leave(judgement, has_passed=have_passed)
        if visit.is_over:
            for judgement in list(self._pending.values()):
                if judgement.visit is visit:
                    self._decide(judgement)

    def _leave(self, judgement: Judgement | None, *, has_passed: bool) -> None:
        """Act on the outcome of an item of a page."""
        if judgement is not None and has_passed:
            self.end(judgement, "kept")
        elif judgement is not None and judgement.fate == "pending":
            judgement.has_lost_items = True
            self._decide(judgement, is_awaited=judgement.visit is self.no_response)

    def _decide(self, judgement: Judgement, *, is_awaited: bool = False) -> None:
        visit = judgement.visit
        if visit is None or any(each is judgement for _, each in visit.under_way):
            return
        if visit.is_over and not (visit.gave_items or visit.comes_again):
            self.end(judgement, "kept")
        elif visit.is_over or (is_awaited and judgement.has_lost_items):
            self.end(judgement, "gone")


def _urls(url: str, request: Request) -> tuple[str, ...]:
    redirected = request.meta.get("redirect_urls", ())
    return (*(each for each in redirected if isinstance(each, str)), url)
