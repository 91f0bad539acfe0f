"""DEDUP_URL_RULES: rules of earlier crawls -> requests that are not made; an index -> new rules.

    start      the rules are read from their file
    request    held back if rules give its URL the form of a page that this crawl has kept
    page       remembered by the form of its URL; a page of its own switches rules off
    end        rules are mined from the index, and the file is written anew

Guarantees: a request is held back only if a rule changes its URL, and if the content of the page at
the changed URL has passed the pipelines of this crawl. So a refused, failed or dropped page never
costs another request. Of the requests that a rule could save, the first and then a share are made
all the same (an audit). If the page of such a request is kept as a page of its own, the rule is
contradicted: it is off for the rest of the crawl, and the file loses it.

Only dispensable requests are held back: GET requests without a body that Scrapy, too, would filter
(`dont_filter`), and whose pages have no options of their own (DEDUP_RULES, `meta["dedup"]`). A
held-back request ends like an off-site request: its errback gets an IgnoreRequest.

duplicate-url-discarder's fingerprinter has no place here: it makes the first request of a form and
none after it, whatever became of the first (robots.txt, another host, an error). For crawls without
an index `urls.discarder` gives it the same rules.

Cost: 15 us a page, 15 us a request, 250 bytes a page; at the end 60 us and 1 KB for each of the
last `_MOST_MINED` records of the index. After a fault the request is made.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest

from dedup_filter.config import FilterConfig
from dedup_filter.judge import Judge
from dedup_filter.model import Verdict
from dedup_filter.scrapy_plugin import Addon
from dedup_filter.scrapy_plugin.index_calls import in_thread
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.stats import CrawlStats
from dedup_filter.store.location import folder_of
from dedup_filter.upkeep import index_at
from dedup_filter.upkeep.whole_file import require_place
from dedup_filter.urls.mining import ALIKE, Proven, mine
from dedup_filter.urls.recorded import judged_pages
from dedup_filter.urls.rule import Form, Rule, Rules, form_of, url_of
from dedup_filter.urls.rules_file import IN_FOLDER, read_rules, write_rules
from dedup_filter.wording import printable

_MOST_MINED = 500_000
_NO_VERDICT = ("error", "pending")
"""Reasons of unjudged pages that are no evidence: their text was not compared."""
_FAILED = "Rules for URLs failed (DEDUP_URL_RULES); the request is made"
_LONGEST = 500

logger = logging.getLogger("dedup_filter")


class _Seen(NamedTuple):
    """A page of this crawl."""

    form: Form
    """The form of its URL before the rules."""
    page: int
    """The number of its original, or its own."""
    names_form: bool
    """Whether it names another URL that has its form after the rules as canonical."""


class UrlRules:
    """The rules of one crawl.

    Raises:
        ConfigError: the file of rules cannot be read, or holds none.
    """

    def __init__(self, settings: PluginSettings, stats: CrawlStats) -> None:
        self._stats = stats
        self._is_applied = settings.url_rules == "apply"
        self._audit = settings.url_audit
        self._index = settings.index
        self._pages = settings.page_rules(FilterConfig())
        if settings.url_rules_file is not None:
            require_place(Path(settings.url_rules_file))
        in_index = Path(folder_of(settings.index) or "", IN_FOLDER)
        self._file = Path(settings.url_rules_file or in_index)
        self._given = read_rules(self._file) if self._file.exists() else []
        self._rules = Rules([rule for rule, _ in self._given])
        self._contradicted: set[Rule] = set()
        self._uses = Counter[Rule]()
        self._seen: dict[Form, _Seen] = {}
        """A form after the rules -> the first page seen that has it, by the latest verdict."""
        self._kept: set[int] = set()
        """Numbers of pages whose content is kept in this crawl."""
        stats.set("rules/active", len(self._given))
        for name in ("requests_saved", "audited", "contradicted"):
            stats.add(f"rules/{name}", 0)

    def holds_back(self, request: Request) -> bool:
        """Return whether a request is not made, because its page would repeat a kept page."""
        is_plain = request.method == "GET" and not request.body and not request.dont_filter
        page = self._pages.treatment(request.url, request.meta.get("dedup"))
        if not is_plain or page != self._pages.default:
            return False
        try:
            return self._is_saved(request.url)
        except Exception as fault:
            self._stats.fault(fault, _FAILED)
            return False

    def _is_saved(self, url: str) -> bool:
        form = form_of(url)
        if form is None:
            return False
        to, rules = self._rules.applied(form)
        seen = self._seen.get(to)
        if not rules or seen is None or seen.form == form or seen.page not in self._kept:
            return False
        self._uses.update(rules)
        if not self._is_applied:
            self._stats.add("rules/saveable")
            return False
        if any(map(self._is_audit, rules)):
            self._stats.add("rules/audited")
            return False
        self._stats.add("rules/requests_saved")
        return True

    def _is_audit(self, rule: Rule) -> bool:
        uses = self._uses[rule]
        return uses == 1 or int(uses * self._audit) > int((uses - 1) * self._audit)

    def add_verdict(self, urls: Sequence[str], verdict: Verdict, judge: Judge) -> None:
        """Add a page that is kept, or repeats a kept page, and the URLs that lead to it."""
        try:
            if verdict.reason not in _NO_VERDICT:
                for form in filter(None, map(form_of, urls)):
                    self._add(form, verdict, judge)
        except Exception as fault:
            self._stats.fault(fault, _FAILED)

    def _add(self, form: Form, verdict: Verdict, judge: Judge) -> None:
        to, rules = self._rules.applied(form)
        seen, page = self._seen.get(to), verdict.cluster
        named = None if verdict.canonical is None else self._rules.form_of(verdict.canonical)
        is_other = seen is not None and seen.form != form and seen.page != page
        if seen is not None and is_other and not verdict.is_duplicate:
            similarity = None
            if page is not None and (seen.names_form or named == to):
                similarity = judge.similarity(page, seen.page)
            if similarity is None or similarity < ALIKE:
                self._switch_off({*rules, *self._rules.applied(seen.form)[1]}, form)
                to = self._rules.applied(form)[0]
                seen = self._seen.get(to)
        if page is None:
            return
        if seen is None or seen.form == form:
            self._seen[to] = _Seen(form, page, named == to)
        if not verdict.is_duplicate:
            self._kept.add(page)

    def _switch_off(self, rules: set[Rule], form: Form) -> None:
        self._contradicted |= rules
        self._rules = Rules([rule for rule, _ in self._given if rule not in self._contradicted])
        self._seen = {self._rules.applied(each.form)[0]: each for each in self._seen.values()}
        self._stats.add("rules/contradicted", len(rules))
        self._stats.set("rules/active", len(self._given) - len(self._contradicted))
        logger.warning(
            "URL rule%s switched off: %s; %s shows another page",
            "s" if len(rules) > 1 else "",
            "; ".join(sorted(printable(rule.meaning, _LONGEST) for rule in rules)),
            printable(url_of(form), _LONGEST),
        )

    async def finish(self) -> None:
        """Mine the closed index, and write the rules; a fault is only logged."""
        try:
            found = await in_thread(self._mined)
            known = {rule for rule, _ in self._given}
            for rule, _ in found:
                if rule not in known:
                    logger.info("URL rule found: %s", printable(rule.meaning, _LONGEST))
            self._stats.set("rules/active", len(found))
        except Exception as fault:
            self._stats.fault(fault, "Rules for URLs could not be mined (DEDUP_URL_RULES)")

    def _mined(self) -> list[Proven]:
        given = [each for each in self._given if each.rule not in self._contradicted]
        with index_at(self._index).recorded() as recorded:
            pages = judged_pages(recorded, _MOST_MINED)
            found = mine(pages, given=given, refuted=self._contradicted).proven
        write_rules(self._file, found, force=True)
        return found


class UrlRulesMiddleware:
    """Hold back requests whose page would repeat a kept page (downloader middleware)."""

    def __init__(self, rules: UrlRules) -> None:
        self._rules = rules

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "UrlRulesMiddleware":
        """Make the downloader middleware of a crawl."""
        rules = Addon.of(crawler).pipeline.rules
        assert rules is not None, "the add-on adds this middleware only with rules"
        return cls(rules)

    def process_request(self, request: Request, spider: Spider | None = None) -> None:  # noqa: ARG002
        """Let a request be made, or raise IgnoreRequest."""
        if self._rules.holds_back(request):
            raise IgnoreRequest("by a URL rule (DEDUP_URL_RULES) its page repeats a kept page")
