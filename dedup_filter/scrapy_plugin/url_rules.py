"""DEDUP_URL_RULES: verdicts of a crawl -> rules for URLs -> requests that are not made.

    Judge           reports which pages were kept, and which kept page each duplicate repeats
    LiveRules       finds the rules, and decides which requests they save
    Traps           finds the parts of a site with hardly any new pages
    HeldRequests    stores these requests; if a rule does not hold, they are made after all
    a file          has the rules, also for the next crawl; it is written when they change

Only dispensable requests are held back: GET requests without a body that Scrapy, too, would filter
(`dont_filter`) and that are judged (`meta["dedup"]`), and only if they can be stored. A held-back
request ends like an off-site request: its errback gets an IgnoreRequest.

A fault here costs savings, never a request.
"""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import Crawler

from dedup_filter.model import Verdict
from dedup_filter.scrapy_plugin.held_requests import HeldRequests
from dedup_filter.scrapy_plugin.index_calls import running_loop
from dedup_filter.scrapy_plugin.judge import Compare
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.stats import CrawlStats
from dedup_filter.store.location import folder_of
from dedup_filter.text.page_url import url_key
from dedup_filter.upkeep.whole_file import require_place
from dedup_filter.urls.live import LiveRules, Reason
from dedup_filter.urls.mining import ALIKE
from dedup_filter.urls.rule import Rule
from dedup_filter.urls.rules_file import IN_FOLDER, read_rules, write_rules
from dedup_filter.urls.traps import LATEST, Traps, parts_in
from dedup_filter.wording import counted, printable

_HELD = "dedup_filter.held"
_NO_VERDICT = ("error", "pending")
"""Reasons of unjudged pages that are no evidence: their text was not compared."""
_RULES_FAILED = "Rules for URLs failed (DEDUP_URL_RULES); the request is made"
_LONGEST = 500

logger = logging.getLogger("dedup_filter")


class UrlRules:
    """The rules of one crawl.

    Raises:
        ConfigError: the file of rules cannot be read, or holds none.
        StoreError: requests cannot be held back.
    """

    def __init__(self, settings: PluginSettings, stats: CrawlStats, crawler: Crawler) -> None:
        self._stats, self._crawler = stats, crawler
        self._is_applied = settings.url_rules == "apply"
        self.file = rules_file(settings)
        if settings.url_rules_file is not None:
            require_place(Path(settings.url_rules_file))
        inherited = read_rules(self.file) if self.file and Path(self.file).exists() else ()
        self._live = LiveRules(inherited, settings.url_audit)
        job = settings.job_folder
        self._held = HeldRequests(None if job is None else Path(job, _HELD))
        self._traps = Traps(parts_in(self._held.reasons()))
        self._unaudited: set[tuple[Reason, ...]] = set()
        """Reasons for which requests were held back since the last audit."""
        self._named: dict[int, int] = {}
        """Key of a canonical URL -> the first page that names it."""
        self._same_as: dict[int, int] = {}
        """Kept page -> the page that it counts as, mostly itself."""
        self._mining: asyncio.Task[None] | None = None
        self._stats.set("rules/active", len(self._live.active))
        for name in ("requests_saved", "audited", "contradicted"):
            self._stats.add(f"rules/{name}", 0)

    def resume(self) -> None:
        """Make the requests that an earlier run of the job held back, unless rules still do."""
        self._make_after_all()

    def add_verdict(self, urls: Sequence[str], verdict: Verdict, compare: Compare) -> None:
        """Add the verdict on a page that is kept, or repeats a kept page, and URLs that show it.

        A kept page counts as the same as an earlier page like it if one of them names the other as
        its canonical page, or both name the same URL.
        """
        if not urls or verdict.reason in _NO_VERDICT:
            return
        kept = verdict.cluster
        other = None if kept is None else self._of_one_canonical(kept, urls[-1], verdict.canonical)
        if kept is None or other is None:
            self._add(urls, verdict)
            return

        def compared(similarity: float | None) -> None:
            if similarity is not None and similarity >= ALIKE:
                self._same_as[kept] = self._same_as.get(other, other)
            self._add(urls, verdict)

        compare(kept, other, compared)

    def _of_one_canonical(self, kept: int, url: str, named: str | None) -> int | None:
        """Return an earlier page with the same canonical URL as a page seen for the first time.

        `named`: that URL, if it is not the page's own. None: no such page, or `kept` is known.
        """
        try:
            other = None if named is None else self._live.page_at(named)
            key = url_key(named or url)
            if other is None:
                other = self._named.get(key)
            if named is not None:
                self._named.setdefault(key, kept)
        except Exception as fault:
            self._stats.fault(fault, _RULES_FAILED)
            return None
        # A page that the rules have used already must not change its number.
        return None if kept in self._same_as else other

    def _add(self, urls: Sequence[str], verdict: Verdict) -> None:
        try:
            kept = verdict.cluster
            same = None if kept is None else self._same_as.setdefault(kept, kept)
            for url in urls:
                retired = self._live.add_verdict(url, same, is_kept=not verdict.is_duplicate)
                if retired:
                    self._retired(retired, url)
            self._look_for_traps(urls[-1], is_duplicate=verdict.is_duplicate)
            if self._live.is_due and self._mining is None:
                self._look()
        except Exception as fault:
            self._stats.fault(fault, _RULES_FAILED)

    def holds_back(self, request: Request) -> bool:
        """Return whether a request is held back; then it is stored."""
        is_plain = request.method == "GET" and not request.body and not request.dont_filter
        if not is_plain or request.meta.get("dedup") is False:
            return False
        try:
            saving = self._live.saving_for(request.url) or self._traps.saving_for(request.url)
            if saving is None:
                return False
            if not self._is_applied:
                self._stats.add("rules/saveable")
                return False
            if saving.is_audit:
                self._stats.add("rules/audited")
                self._unaudited.discard(saving.reasons)
                return False
            self._held.add(request, saving.reasons, self._spider)
            self._unaudited.add(saving.reasons)
        except Exception as fault:
            self._stats.fault(fault, _RULES_FAILED)
            return False
        self._stats.add("rules/requests_saved")
        return True

    def audit_the_last(self) -> None:
        """When the crawl is idle, audit all reasons that held requests back since their last audit.

        So small parts of a site are audited, too.
        """
        while self._unaudited:
            last = self._held.last(self._unaudited.pop(), self._spider)
            self._stats.add("rules/audited", self._make([] if last is None else [last]))

    async def finish(self) -> None:
        """Look for rules one last time, and write them."""
        try:
            if self._mining is not None:
                await self._mining
            if self._live.has_unmined:
                look = self._live.mining()
                found = look() if running_loop() is None else await asyncio.to_thread(look)
                # No request can be made any more; a resumed job makes those without a rule.
                new, gone = self._live.use_rules(found)
                self._log_new(new)
                self._stats.add("rules/contradicted", len(gone))
            self._stats.set("rules/active", len(self._live.active))
            self._write(is_over=True)
        except Exception as fault:
            self._stats.fault(fault, "Rules for URLs could not be written (DEDUP_URL_RULES)")
        finally:
            self._held.close()

    def _look_for_traps(self, url: str, *, is_duplicate: bool) -> None:
        if is_duplicate and self._live.changes(url):
            return  # a rule deals with it
        made, freed = self._traps.add_verdict(url, is_duplicate=is_duplicate)
        for part in made:
            self._stats.add("rules/traps")
            logger.warning(
                "Trap: hardly any of the last %d pages of %s was new; %s",
                LATEST,
                printable(part.meaning, _LONGEST),
                "one of 20 requests into it is made until a page is new"
                if self._is_applied
                else 'with DEDUP_URL_RULES="apply" one of 20 requests into it would be made',
            )
        if freed:
            self._make_after_all()

    def _look(self) -> None:
        look = self._live.mining()
        if running_loop() is None:
            self._use(*self._live.use_rules(look()))
        else:
            self._mining = asyncio.ensure_future(self._look_in_thread(look))

    async def _look_in_thread(self, look: Any) -> None:
        try:
            self._use(*self._live.use_rules(await asyncio.to_thread(look)))
        except Exception as fault:
            self._stats.fault(fault, _RULES_FAILED)
        finally:
            self._mining = None

    def _use(self, new: list[Rule], gone: list[Rule]) -> None:
        self._log_new(new)
        # These rules may deal with all pages of some traps.
        if self._traps.forget({rule.origin for rule in new}):
            self._make_after_all()
        if gone:
            self._retired(gone, None)
        elif new:
            self._changed()

    @staticmethod
    def _log_new(new: list[Rule]) -> None:
        for rule in new:
            logger.info("URL rule found: %s", printable(rule.meaning, _LONGEST))

    def _retired(self, rules: list[Rule], url: str | None) -> None:
        self._stats.add("rules/contradicted", len(rules))
        made = self._make_after_all()
        logger.warning(
            "URL rule%s retired: %s%s%s",
            "s" if len(rules) > 1 else "",
            "; ".join(printable(rule.meaning, _LONGEST) for rule in rules),
            "" if url is None else f"; {printable(url, _LONGEST)} shows another page",
            f"; {counted(made, 'request')} made after all" if made else "",
        )
        self._changed()

    def _make_after_all(self) -> int:
        """Make the held-back requests with a rule or trap that is gone; return how many."""
        active: list[Reason] = []
        if self._is_applied:
            active += self._live.active
            active += self._traps.active
        return self._make(self._held.release(active, self._spider))

    def _make(self, requests: Iterable[Request | Exception]) -> int:
        """Make held-back requests and return how many; report errors in place of requests."""
        engine, made = self._crawler.engine, 0
        assert engine is not None, "a crawl under way has an engine"
        for request in requests:
            if isinstance(request, Request):
                engine.crawl(request.replace(dont_filter=True))
                made += 1
            else:
                self._stats.fault(request, "A request that was held back could not be made")
        # Requests that an earlier run of the job held back were counted by that run.
        self._stats.add("rules/requests_saved", -min(made, self._stats.get("rules/requests_saved")))
        return made

    @property
    def _spider(self) -> Spider:
        spider = self._crawler.spider
        assert spider is not None, "a crawl under way has a spider"
        return spider

    def _changed(self) -> None:
        self._stats.set("rules/active", len(self._live.active))
        self._write()

    def _write(self, *, is_over: bool = False) -> None:
        if self.file is not None:
            write_rules(self.file, self._live.proven(is_over=is_over), force=True)


def rules_file(settings: PluginSettings) -> str | None:
    """Return the file of a crawl's rules; None: the rules end with the crawl."""
    if settings.url_rules_file is not None:
        return settings.url_rules_file
    folder = folder_of(settings.index) or settings.job_folder
    return None if folder is None else str(Path(folder, IN_FOLDER))
