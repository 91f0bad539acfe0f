"""Verdicts and faults -> the stats of a crawl, and lines in its log.

All stats are numbers, below "dedup/"; docs/statistics.md describes each.

No fault may cost an item: faults that are caught elsewhere are reported here. An outage of a server
makes one line in the log when it begins and one when it ends. If a server answers some calls and
refuses others (its memory is full, a node is down), the outage ends after a time without faults.
"""

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from time import monotonic, perf_counter
from typing import get_args

from scrapy.statscollectors import StatsCollector

from dedup_filter.errors import DedupError, StoreAway
from dedup_filter.judge import Judge
from dedup_filter.model import RECORDED, SOURCES, Outcome, Reason, Refusal, Verdict
from dedup_filter.review.watch import Watch
from dedup_filter.scrapy_plugin.advice import Hints
from dedup_filter.text.page_fields import PageText
from dedup_filter.wording import counted, printable

NOT_JUDGED = "A page could not be judged; its items are kept"
_NOT_RECORDED = "A call of the index failed (commit or release of a page, comparison, figures)"

_STAT_OF = {outcome: outcome.replace("revisit", "revisits") for outcome in get_args(Outcome)}
_LANGUAGE_CODE = re.compile("[a-z]{2,3}")
_LONGEST_FAULT = 500
_CALM = 1.0
"""Seconds without a fault after which an answer ends an outage."""

logger = logging.getLogger("dedup_filter")


class CrawlStats:
    """Count into the stats collector of a crawl.

    `end_crawl` is called after the first fault. `index`: see `Watch`.
    """

    def __init__(
        self,
        collector: StatsCollector,
        end_crawl: Callable[[], None] | None = None,
        index: str | None = None,
    ) -> None:
        self._collector = collector
        self._end_crawl = end_crawl
        self._logged = 0
        """Faults other than outages."""
        self.is_away = False
        """Whether an outage is going on."""
        self._outage_faults = 0
        self._outage_began = self._last_outage_fault = 0.0
        self._watch = Watch(index)
        self._hints = Hints()
        self.spent: Callable[[float], None] = partial(collector.inc_value, "dedup/seconds")
        """Adds seconds that judging took."""
        for name in ("pages", "new", "near", "exact", "unjudged", "items_dropped", "errors"):
            self.add(name, 0)  # these show even if they are 0

    def add(self, name: str, count: float = 1) -> None:
        """Add to a figure."""
        self._collector.inc_value(f"dedup/{name}", count)  # type: ignore[arg-type]

    def set(self, name: str, value: float) -> None:
        """Set a figure."""
        self._collector.set_value(f"dedup/{name}", value)

    def page(self, url: str, verdict: Verdict, text: PageText | Reason) -> None:
        """Count the verdict on a page."""
        for name in _counted_names(verdict):
            self.add(name)
        for name in ("candidates", "shingles", "shingles_without_stopword"):
            self.add(name, getattr(verdict, name))
        if verdict.refused is not None and isinstance(text, PageText):
            self._look_at_lines(url, verdict.refused, text)
        for warned in self._watch.see(url, verdict):
            self.add(f"warnings/{warned.kind}")
            if warned.text is not None:
                logger.warning("%s", warned.text)

    def fault(self, fault: BaseException, message: str = _NOT_RECORDED) -> None:
        """Count a fault and log it."""
        self.add("errors")
        what = printable(f"{type(fault).__name__}: {fault}", _LONGEST_FAULT)
        if isinstance(fault, StoreAway):
            self._last_outage_fault = monotonic()
            if not self.is_away:
                self.is_away = True
                self._outage_began, self._outage_faults = self._last_outage_fault, 0
                logger.error(
                    "Index server unreachable; items are kept unjudged meanwhile: %s", what
                )
            self._outage_faults += 1
        else:
            self._log(fault, message, what)
        if self._end_crawl is not None:
            end_crawl, self._end_crawl = self._end_crawl, None
            logger.error(
                "Spider closed after a fault (DEDUP_ON_ERROR); items still under way are kept"
            )
            end_crawl()

    def answered(self, *, is_last: bool = False) -> None:
        """Report a successful call, which ends an outage after a time without faults."""
        if self.is_away and (is_last or monotonic() - self._last_outage_fault >= _CALM):
            self.is_away = False
            logger.warning(
                "Index server reachable again after %.0f s and %s; pages are judged again",
                monotonic() - self._outage_began,
                counted(self._outage_faults, "fault"),
            )

    def hints(self) -> list[str]:
        """Return hints which elements kept near pages apart, for the end of the crawl."""
        return self._hints.messages()

    def close(self, figures: Mapping[str, int]) -> None:
        """Set the final figures."""
        for name, count in {**figures, "seconds": round(self.get("seconds"), 3)}.items():
            self.set(name, count)

    def get(self, name: str) -> float:
        """Return a figure, 0 if nothing was counted."""
        value: float = self._collector.get_value(f"dedup/{name}", 0)
        return value

    def outcomes(self) -> dict[str, int]:
        """Return the pages by outcome."""
        return {outcome: int(self.get(name)) for outcome, name in _STAT_OF.items()}

    def summary(self, figures: Mapping[str, int]) -> str:
        """Sum up the crawl so far in one line."""
        pages = self.get("pages")
        each = 1000 * self.get("seconds") / pages if pages else 0.0
        dropped, size = self.get("items_dropped"), _size(self.get("bytes_dropped"))
        parts = [
            _pages(self.get, self.get("unjudged/error")),
            f"items dropped: {dropped:,.0f} ({size} of pages)",
        ]
        if figures:
            in_index = f"{counted(figures['index_size'], 'page')} kept"
            parts.append(f"index: {in_index}, {_size(figures['index_bytes'])} of memory")
        parts.append(f"{each:.1f} ms a page")
        if self.get("rules/saveable"):
            parts.append(f"{counted(self.get('rules/saveable'), 'request')} could be saved")
        if self.get("rules/requests_saved") or self.get("rules/audited"):
            saved = counted(self.get("rules/requests_saved"), "request")
            wrong = self.get("rules/contradicted")
            how_many = f"{counted(wrong, 'rule')} wrong" if wrong else "none wrong"
            parts.append(f"{saved} saved, {self.get('rules/audited'):,.0f} audited, {how_many}")
        if self.get("errors"):
            parts.append(counted(self.get("errors"), "fault"))
        if "all/pages" in figures:
            everywhere = _pages(lambda name: figures.get(f"all/{name}", 0))
            parts.append(f"all crawlers since the index was made, {everywhere}")
        return "; ".join(parts)

    def _look_at_lines(self, url: str, refusal: Refusal, text: PageText) -> None:
        started = perf_counter()
        try:
            self._hints.see(url, refusal, text)
        except Exception as fault:
            self.fault(fault, "The lines that make a page differ could not be located in it")
        self.spent(perf_counter() - started)

    def _log(self, fault: BaseException, message: str, what: str) -> None:
        """Log the 1st, 2nd, 4th, 8th, ... fault: a fault on every page must not fill the disk."""
        self._logged += 1
        if self._logged & (self._logged - 1) == 0:
            again = f"{self._logged} faults so far; the last: " if self._logged > 1 else ""
            says_all = bool(again) or isinstance(fault, DedupError)
            logger.error("%s%s: %s", again, message, what, exc_info=None if says_all else fault)


def figures_of(judge: Judge) -> Mapping[str, int]:
    """Return the figures of an index; if it is shared, also the totals of all crawlers."""
    figures = {
        "index_size": len(judge),
        "index_bytes": judge.nbytes,
        "capped": judge.capped,
        "frames/forgotten": judge.forgotten,
        "learnt": judge.learnt,
    }
    totals = judge.totals()
    if totals is not None:
        figures |= {f"all/{_STAT_OF[each]}": totals.get(each, 0) for each in RECORDED}
        figures["all/pages"] = sum(totals.get(each, 0) for each in RECORDED)
    return figures


def _pages(count: Callable[[str], float], failed: float = 0) -> str:
    """Write pages by outcome; `failed` of them are unjudged because of a fault."""
    again = f"{counted(count('revisits'), 'revisit')}, " if count("revisits") else ""
    thin = f"{count('same_template'):,.0f} of one template, " if count("same_template") else ""
    why = f" ({failed:,.0f} after a fault)" if failed else ""
    return (
        f"{counted(count('pages'), 'page')}: {count('new'):,.0f} new, "
        f"{count('near'):,.0f} near, {count('exact'):,.0f} exact, "
        f"{again}{thin}{count('unjudged'):,.0f} unjudged{why}"
    )


def _size(count: float) -> str:
    """Write a number of bytes.

    >>> _size(37_937), _size(5_069_867)
    ('38 kB', '5.1 MB')
    """
    return f"{count / 1e3:.0f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"


def _counted_names(verdict: Verdict) -> Iterator[str]:
    """Yield the stats that count a page by its verdict."""
    yield from ("pages", _STAT_OF[verdict.outcome])
    if verdict.reason in (*SOURCES, "again"):
        yield str(verdict.reason)
    if verdict.outcome == "unjudged":
        yield f"unjudged/{verdict.reason}"
    if verdict.distance is not None:
        yield f"distance/{verdict.distance}"
    # The language comes from the page: an invalid code must not become a stat.
    if verdict.language is not None and _LANGUAGE_CODE.fullmatch(verdict.language):
        yield f"language/{verdict.language}"
    if verdict.refused is not None:
        yield f"kept/{verdict.refused.rule}"
    if verdict.change and not verdict.is_duplicate:
        yield "revisits/changed"
    yield from (f"selectors/{effect}" for effect in verdict.selected)
