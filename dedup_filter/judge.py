"""Page -> verdict: judge in memory, write behind.

A page is judged by its own text, not by the frame of its host:

    page, its host and sites -> profile -> compared (`comparison.look_ups`) -> claim
    commit    the claim's page is kept for good, or dropped for good: counted for its host, and
              written with the next batch
    release   the page is forgotten; so are its duplicates

Blocks that earlier pages of the host have shown are left out before the main content is chosen. If
only one page has shown a block, the block is either frame or text that this page repeats (a print
view, another session id). So both texts, `new` and `main`, are looked up, and `comparison` decides
which candidate contains the page's text. A page of mostly links (a table of contents) is judged
with its links, because its few sentences may stand on many such pages.

The truth is in this process: a claim is an object, and the index and the hosts are memory. The
store gets batches of finished facts. A batch is written before a page is judged, never after: so if
the store fails, nothing has happened to that page, the facts stay in memory, and the next flush
writes them. What was flushed outlives the process. Claims that are pending at the end are gone.

A page is counted when it is committed; a duplicate of a kept page at once, as its host shows its
frame whatever becomes of the page. Meanwhile other pages are judged as if it had been committed.
A page that comes before the frame of its template is known waits: it is judged again after each of
the next two pages of its template (`store.Waiting`).

In a directory, dropped pages are recorded too. In memory they are not: nobody could read them.
"""

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from time import time as now
from typing import Any, NamedTuple, Protocol

from dedup_filter.comparison.candidates import relation_of_urls
from dedup_filter.comparison.look_ups import (
    LookUps,
    first_lines,
    judge,
    pages_like,
    verdict_on,
)
from dedup_filter.comparison.near_pages import Query
from dedup_filter.comparison.visits import Visit, own_row, visit_of
from dedup_filter.config import FilterConfig, expiry_seconds
from dedup_filter.fingerprints.profile import PageProfile, profile_of
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.fingerprints.sketch import jaccard
from dedup_filter.frames.host_frames import (
    SITE,
    FrameUpdate,
    Host,
    HostContext,
    frame_mark,
    visit_mark,
)
from dedup_filter.frames.slots import SlotChange, lessons
from dedup_filter.host_cache import MOST_WAITING_OF_HOST, HostCache
from dedup_filter.model import Fate, Unjudged, Verdict
from dedup_filter.store.page_index import PageIndex
from dedup_filter.store.protocol import (
    CRAWLS,
    LAST_PAGE,
    LOGS,
    Batch,
    KeptContent,
    Store,
    Waiting,
)
from dedup_filter.store.records import (
    KEPT_AS_TEXT,
    Crawl,
    PageRecord,
    crawls_from_json,
    crawls_to_json,
    measures_of,
)
from dedup_filter.text.headlines import canonical_marks, part_hash
from dedup_filter.text.page_url import Place, canonical, canonical_of, url_key
from dedup_filter.text.reading import Shown, clean_text
from dedup_filter.thresholds import FRAME_TIMES, MOST
from dedup_filter.wording import printable

logger = logging.getLogger(__name__)

BOOKMARK = "bookmark"
"""The note that is written with each batch for the owner of the judge, see `bookmark`."""
FULL_BATCH = 64
"""Pages in a batch. A larger batch hardly saves time, and a killed process would lose more."""
_MOST_REVISITED = 10_000
"""The latest committed revisits stay known by their own numbers; a crawl has fewer at once."""
_AT_ONCE = 256
MOST_AHEAD = 32
"""Most pages for which a shared index is read at once."""
_FORGETTING = (
    "the frames of hosts take more than frame_memory=%s MB, so those of hosts not met for longest "
    "are forgotten, and copies there may be missed: raise it (DEDUP_FRAME_MEMORY), or keep the "
    "index in a directory (DEDUP_INDEX), which has room for all"
)
_LEARNT = (
    "Text on %s changes at each visit, for example %r: changes there are not told "
    "(DEDUP_LEARN_CHANGES = False tells them)"
)
_LONGEST = 80
_BATCHES = 100
"""A full index forgets a hundredth of `max_pages` at once, but at most `_AT_ONCE` pages."""


class Counting(NamedTuple):
    """How a page is counted for its host and its sites."""

    host: str
    shown: Shown
    is_kept: bool
    """False also for a kept page whose text was shown before."""
    counts_thin: bool
    """Whether it is counted among the thin pages, if it is one."""
    evidence: Sequence[int]
    """Hashes that count beside its blocks: see `HostContext.updates`."""
    page: ReadPage | None
    """None: the page need not be judged again."""
    times: tuple[bytes, bool] | None
    """The expected counts of its frame when the page was judged, if it may be judged again."""


@dataclass(eq=False, slots=True)
class Claim:
    """A page that was judged: until its fate is known, and after it."""

    verdict: Verdict
    record: PageRecord | None = None
    """None: nothing is recorded, so the claim is not pending."""
    content: KeptContent | None = None
    """What is kept beside the record."""
    counting: Counting | None = None
    """None: the page is not counted, or was counted at once."""
    state: Fate = "pending"
    earlier: int | None = None
    """The number of an earlier visit or version of the page, whose place it takes."""
    repeats: "list[Claim]" = field(default_factory=list)
    """The claims of pages that repeat this one while it is pending: its fate decides theirs."""
    original: "Claim | None" = None
    """The claim that has this one among its `repeats`."""

    @classmethod
    def unrecorded(cls, page: Unjudged) -> "Claim":
        """Make the claim of a page that cannot be judged."""
        return cls(Verdict("unjudged", reason=page.reason), state="kept")


_Again = list[tuple[Waiting, PageRecord, PageProfile]]
"""Waiting pages, their records, and their profiles now that a page is counted."""


class _Change(NamedTuple):
    """What counting a page changes."""

    updates: list[tuple[Host, FrameUpdate]]
    """Updates of its host and of sites."""
    again: _Again
    waiting: dict[int, Waiting | None]
    """Number -> a page that waits, or waits on; None: it waits no longer."""
    shown: Sequence[int] | None = None
    """The hashes of the page; None: another process has counted it."""


class Judge:
    """The conductor of an index: pages in, verdicts out, facts behind.

    `options`: noted with the crawl. Raises:
        StoreError: by all methods: the store cannot be read or written.
    """

    is_shared = False
    """Whether other processes keep pages in the same index, so that calls wait for a server."""

    def __init__(
        self,
        config: FilterConfig,
        store: Store,
        crawl: str | None = None,
        options: Mapping[str, Any] | None = None,
        *,
        with_text: bool = False,
    ) -> None:
        self._config, self.store, self._with_text = config, store, with_text
        self._batch = Batch()
        """Facts that are not written yet."""
        self._hosts = HostCache(
            store, self._batch, config.frame_memory, learns_changes=config.learn_changes
        )
        self._look_ups = self._opened()
        self._claims: dict[int, Claim] = {}
        """Number -> pending claim."""
        self._looked_up: dict[int, PageRecord | None] = {}
        """Records that were read for the page that is being judged."""
        self._revisited: dict[int, int] = {}
        """Number of a committed revisit -> number of the page that it revisited."""
        self._last_page = int(store.note(LAST_PAGE) or 0)
        self.bookmark: Callable[[], str] | None = None
        """Returns a note that is written with each batch; if it raises, nothing is written."""
        self.capped = 0
        """Number of comparisons with more candidates than `MOST_COMPARED`."""
        self.forgotten = 0
        """Number of hosts whose frames were forgotten to stay within `frame_memory`."""
        self.learnt = 0
        """Number of places of pages that were learnt to change by themselves."""
        self._told: set[tuple[str, int]] = set()
        self._room = -1
        """Pages that can be written before `max_pages` can be exceeded; negative: to be counted."""
        self._is_closed = False
        self._crawls = {each.number: each for each in crawls_from_json(store.note(CRAWLS))}
        self._crawl = self._begun(crawl, options)
        self._records_dropped = store.is_durable
        """Whether dropped pages are recorded."""
        self.flush()

    def __len__(self) -> int:
        """Count the kept pages, pending ones included."""
        return len(self._index)

    @property
    def nbytes(self) -> int:
        """Memory of the index and the hosts, in bytes; of a store in memory also its records."""
        return self._index.nbytes + self._hosts.nbytes + self.store.memory

    def totals(self) -> Mapping[str, int] | None:
        """Return None: no other process judges pages of this index."""
        return None

    def read_ahead(self, waiting: Iterable[tuple[Place, ReadPage | Unjudged]]) -> None:
        """Read at once what the next pages need; call it before the first of them is judged.

        Do nothing: the index is in this process. Verdicts do not change.
        """

    def claim(self, place: Place, page: ReadPage | Unjudged) -> Claim:
        """Judge a page; if it is recorded, the claim is pending until `commit` or `release`.

        If the store fails, nothing has changed.
        """
        if isinstance(page, Unjudged):
            return Claim.unrecorded(page)
        claim, expected = self._claim(place, page)
        if claim.counting is not None:
            updates = self._updates(claim.counting, expected)
            number = claim.verdict.page or 0
            self._hosts.expect(number, {host.name: each for host, each in updates})
        return claim

    def commit(self, claim: Claim) -> None:
        """Keep the page of a claim for good, or drop it for good; then count it.

        A claim that is not pending, or of another judge, stays as it is. If the store fails, the
        claim is still pending.
        """
        record, counting, change = claim.record, claim.counting, None
        if record is None or not self._is_pending(claim):
            return
        repeats = [each for each in claim.repeats if each.state == "kept"]
        before = [each.earlier for each in (claim, *repeats) if each.earlier is not None]
        earlier = {each.page: each for each in self._stored(before)}
        if counting is not None:
            context = self._hosts.context(counting.host, counting.shown)
            if counting.page is not None and context.frame_times != counting.times:
                found_by = profile_of(counting.page, context, self._config)
                record = record._replace(**measures_of(found_by))
                claim.content = claim.content and claim.content._replace(text=found_by.text)
            change = self._change(record.page, counting, context)
        if claim.original is not None and claim.original.state == "pending":
            claim.state = "kept"
            return
        kept = self._settled(claim, record, earlier)
        # From here on nothing can fail.
        claim.state = "kept"
        if change is not None:
            self._apply(claim.verdict.page or 0, change)
        for each in claim.repeats:
            assert each.record is not None
            each.record = each.record._replace(original=kept.page)
        for each in repeats:
            assert each.record is not None
            self._settled(each, each.record, earlier)

    def release(self, claim: Claim) -> None:
        """Forget the page of a pending claim of this judge, and its repeats; else do nothing."""
        if self._is_pending(claim):
            self._end_claim(claim)

    def see(self, place: Place, page: ReadPage | Unjudged) -> Verdict:
        """Judge a page, and keep it for good."""
        if isinstance(page, Unjudged):
            return Claim.unrecorded(page).verdict
        claim, _ = self._claim(place, page)
        try:
            self.commit(claim)
        except BaseException:
            self._take_back(claim)  # else it would be a duplicate of itself when it comes again
            raise
        verdict = claim.verdict
        is_revisit = verdict.outcome == "revisit"
        return verdict._replace(page=verdict.original_page) if is_revisit else verdict

    def judge(self, place: Place, page: ReadPage | Unjudged) -> Verdict:
        """Return the verdict of `claim` on a page now; record and count nothing."""
        if isinstance(page, Unjudged):
            return Claim.unrecorded(page).verdict
        self._shrink()
        return self._judged(place, page).verdict

    def find(self, query: Query) -> Sequence[PageRecord]:
        """Return the records of pages within k bits, with a digest, or that share keys.

        Pending pages may be among them.
        """
        self._looked_up.clear()
        pages = pages_like(query, self._look_ups, by_phrases=self._config.looks_for_phrases)
        is_any_host = self._config.scope != "host"
        return [each for each in self._stored(pages) if is_any_host or each.host == query.host]

    def profile(self, place: Place, page: ReadPage) -> PageProfile:
        """Profile a page as `claim` would now; count nothing."""
        context = self._hosts.expected(self._hosts.context(self._host(place, page), page.shown))
        return profile_of(page, context, self._config)

    def pending(self, number: int) -> Claim | None:
        """Return the pending claim with this number; None: it is not pending, or there is none."""
        return self._claims.get(number)

    def fate_of_original(self, claim: Claim) -> Fate:
        """Return the state of the page that a claimed page repeats; "kept" if it repeats none."""
        return "kept" if claim.original is None else claim.original.state

    def fate(self, number: int) -> Fate:
        """Return the state of a page; a committed revisit has the state of the page it revisits."""
        if number in self._claims:
            return self._claims[number].state
        self._looked_up.clear()
        return "kept" if self._stored([self._revisited.get(number, number)]) else "gone"

    def sketches(self, pages: Sequence[int]) -> Mapping[int, bytes]:
        """Return the sketches of pages by their numbers; pages that are gone are left out."""
        self._looked_up.clear()
        return {each.page: each.sketch for each in self._stored(pages)}

    def similarity(self, one: int, other: int) -> float | None:
        """Estimate the Jaccard similarity of two recorded pages, 0 to 1, from their sketches.

        `one` and `other` are their numbers; None: a record is gone. Cost: 0.1 ms, or a call of the
        server.
        """
        sketches = self.sketches([one, other])
        return jaccard(sketches[one], sketches[other]) if {one, other} <= {*sketches} else None

    def forget(self, url: str) -> int:
        """Forget all pages at a URL in any spelling; they stay counted. Return their number."""
        at_url = {
            record.page: record
            for record in self.store.records(self.store.at_url(url))
            if record.page not in self._batch.pages
        }
        key, named = url_key(url), canonical(url)
        pending = [each.record for each in self._claims.values()]
        for record in filter(None, [*self._batch.pages.values(), *pending]):
            if record.url_key == key and canonical(record.url) == named:
                at_url[record.page] = record
        claims = [self._claims[number] for number in at_url if number in self._claims]
        for record in [each for number, each in at_url.items() if number not in self._claims]:
            self._delete(record)
        for claim in claims:  # one may be a repeat of another, and end with it
            self._end_claim(claim)
        return len(at_url)

    def flush(self) -> None:
        """Write everything committed so far, so that it outlives this process.

        Then pages beyond `expire_days` and `max_pages` are forgotten, and the frames of hosts of
        which no counted page is left.
        """
        self._write()
        while self._forget_beyond_bounds():
            self._write()

    def note_log(self, counts: Mapping[str, int]) -> None:
        """Add the counts of a run to those of earlier runs of this crawl.

        `counts`: outcome -> pages, also pages without a record, such as unjudged ones without
        text. They are written with the next batch.
        """
        logs = json.loads(self.store.note(LOGS) or "{}")
        logs[str(self._crawl)] = Counter(logs.get(str(self._crawl), {})) + Counter(counts)
        self._batch.notes[LOGS] = json.dumps(logs)

    def close(self) -> None:
        """Forget pending claims, flush, and close the store; a second call does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        for claim in [*self._claims.values()]:
            self.release(claim)
        try:
            self._crawls[self._crawl] = self._crawls[self._crawl]._replace(ended=int(now()))
            self._batch.notes[CRAWLS] = crawls_to_json(self._crawls.values())
            self.flush()
            self.store.save_arrays(self._index.arrays)
        finally:
            self.store.close()

    def check(self) -> None:
        """Raise AssertionError if index, hosts, claims and store do not agree. Cost: reads all."""
        self._hosts.check()
        written = {each.page: each for each in self.store.records()}
        there = {page: each for page, each in (written | self._batch.pages).items() if each}
        pending = {page: each.record for page, each in self._claims.items()}
        assert not there.keys() & pending.keys(), "a pending page is recorded"
        records = [*there.values(), *filter(None, pending.values())]
        self._index.check(records)
        assert all(page <= self._last_page for page in there), "a number was not given"

    def _take_back(self, claim: Claim) -> None:
        """Forget the page of a claim that could not be committed."""
        self.release(claim)

    def _is_pending(self, claim: Claim) -> bool:
        # Another judge has claims with the same numbers.
        number = claim.verdict.page or 0
        return claim.state == "pending" and self._claims.get(number) is claim

    def _begun(self, name: str | None, options: Mapping[str, Any] | None) -> int:
        """Begin a crawl, or resume the crawl of this name; return its number."""
        known = [each for each in self._crawls.values() if name is not None and each.name == name]
        number = max(self._crawls, default=0) + 1
        crawl = known[0] if known else Crawl(number, name, int(now()), None)
        noted = None if options is None else dict(options)
        self._crawls[crawl.number] = crawl._replace(ended=None, options=noted)
        self._batch.notes[CRAWLS] = crawls_to_json(self._crawls.values())
        return crawl.number

    def _claim(self, place: Place, page: ReadPage) -> tuple[Claim, HostContext]:
        """Judge a page, and record it; return its expected context, too."""
        self._make_room()
        judged = self._judged(place, page)
        counted, expected, found_by, found, *_ = judged
        if found.reason == "no_text" or found.outcome == "same_template":
            return Claim(found, state="kept"), expected
        original = self._original(found)
        counting = None if original is not None else self._counting(page, judged)
        claim = Claim(found, counting=counting, original=original)
        is_repeat = found.original_page is not None
        if is_repeat and not (self._records_dropped or found.outcome == "revisit"):
            claim.state = "kept"
        else:
            record = PageRecord.of(place, found_by, found, int(now()), self._crawl)
            claim.record = self._entered(place, judged, record)
            number = claim.record.page
            claim.verdict = found._replace(page=number)
            if self._config.keep_text:
                form = KEPT_AS_TEXT if page.is_plain else page.pack()
                claim.content = KeptContent(found_by.text, form)
            if found.outcome == "revisit":
                claim.earlier = found.original_page
            elif judged.visit is not None:
                claim.earlier = judged.visit[0].page
            self._claims[number] = claim
            if original is not None:
                original.repeats.append(claim)
        if counting is not None and is_repeat:
            self._apply(0, self._change(0, counting, counted))
            claim.counting = None
        return claim, expected

    def _judged(self, place: Place, page: ReadPage) -> "_Judged":
        """Judge a page in the context of its host as it is expected to be."""
        config = page.options or self._config
        self._looked_up.clear()
        counted, expected, earlier = self._contexts(place, page)
        found_by = self._profile(page, expected)
        if found_by.is_blank:
            return _Judged(counted, expected, found_by, verdict_on(found_by, "unjudged", "no_text"))
        visit = None if earlier is None else (earlier, visit_of(found_by, earlier))
        compared, found = found_by, self._compared(place, found_by, visit, config)
        if found.outcome == "revisit" and earlier is not None and not self._has_ended(earlier):
            found = found._replace(reason="again")
        if visit is not None and found.change and self._config.changes:
            found = found._replace(went=self._went(page, visit))
        if found_by.canonical:
            found = found._replace(canonical=canonical_of(place, found_by.canonical))
        if self._with_text:
            found = found._replace(text=clean_text(page.content, expected.times))
        most = self._config.same_template
        repeats_none = found.outcome in ("new", "unjudged")
        if most is not None and repeats_none and expected.is_thin and expected.thin_pages >= most:
            found = found._replace(outcome="same_template", reason=None, refused=None)
        was_shown = found_by.was_shown or expected.own_count > 0
        if not expected.own_count and _is_at_its_url(place, found):
            found_by = profile_of(page, replace(expected, own_count=1), self._config)
            was_shown = True
        slots = self._lessons(place, found_by, found, visit)
        return _Judged(
            counted, expected, found_by, found, was_shown, visit, slots, compared, config
        )

    def _contexts(
        self, place: Place, page: ReadPage
    ) -> tuple[HostContext, HostContext, PageRecord | None]:
        """Return the counted and the expected context of a page, and its earlier record."""
        counted = self._hosts.context(self._host(place, page), page.shown)
        expected, earlier = self._hosts.expected(counted), self._earlier(place)
        if earlier is not None and self._was_counted(place, earlier):
            # Its own earlier visit has shown these blocks, not another page.
            expected = replace(expected, own_count=1, own=own_row(earlier))
        return counted, expected, earlier

    def _profile(self, page: ReadPage, context: HostContext) -> PageProfile:
        return profile_of(page, context, self._config)

    def _lessons(
        self,
        place: Place,
        page: PageProfile,
        found: Verdict,
        visit: tuple[PageRecord, Visit] | None,
    ) -> tuple[Mapping[int, SlotChange], int] | None:
        """Return what the slots did since another fetch of a page; None: there was none.

        Within a crawl, the same page is fetched under several spellings of its URL.
        """
        if not self._config.learn_changes:
            return None
        if visit is not None:
            return visit[1].slots, place.key
        nearest = found.original_page or (found.refused.page if found.refused else None)
        there = [] if nearest is None else self._stored([nearest])
        if not there or there[0].host != place.host:
            return None
        if relation_of_urls(page, place, there[0]) not in ("same", "spelling"):
            return None
        return visit_of(page, there[0]).slots, there[0].url_key

    def _earlier(self, place: Place) -> PageRecord | None:
        """Return the latest record of an earlier crawl at the URL of a page; None: there is none.

        A URL that was met in this crawl has none. If the URL was met twice in a crawl, the second
        record repeats the first one, which is the page.
        """
        there = self._look_ups.visits(place.key) if place.url else []
        if not there or any(self._is_ours(each.crawl) for each in there):
            return None
        return next((each for each in there if each.page == there[0].original), there[0])

    def _went(self, page: ReadPage, visit: tuple[PageRecord, Visit]) -> tuple[str, ...]:
        """Return the first lines that went since an earlier visit, if that version was kept."""
        earlier, went = visit[0], visit[1].went
        known = self._batch.contents.get(earlier.page) or self.store.content(earlier)
        before = known.page()
        if before is None:
            return ()
        # Two lines may have the same 16 bits. A line that the page still shows has not gone.
        there = {*page.shown.blocks}
        return first_lines(
            block.text
            for block, hashed in zip(before.blocks, before.shown.blocks, strict=True)
            if hashed & 0xFFFF in went and hashed not in there
        )

    def _has_ended(self, record: PageRecord) -> bool:
        crawl = self._crawls.get(record.crawl)
        return crawl is None or crawl.ended is not None

    def _was_counted(self, place: Place, earlier: PageRecord) -> bool:
        """Return whether the blocks of an earlier visit were counted for its host as its own."""
        if earlier.is_kept:
            return True
        return all(each.host != place.host for each in self._stored([earlier.original or 0]))

    def _compared(
        self,
        place: Place,
        page: PageProfile,
        visit: tuple[PageRecord, Visit] | None,
        config: FilterConfig,
    ) -> Verdict:
        """Return whether a page repeats a kept or pending page."""
        verdict, capped = judge(place, page, self._look_ups, config, self._is_ours, visit)
        self.capped += capped
        return verdict.named(lambda number: self._stored([number])[0].url)

    def _opened(self) -> "_Index":
        """Open the index of the pages in the store."""
        self._index = PageIndex(self._config.max_distance, self.store, self._stored)
        return self._index

    def _is_ours(self, crawl: int) -> bool:
        """Return whether a crawl is not an earlier one."""
        return crawl == self._crawl

    def _original(self, found: Verdict) -> Claim | None:
        """Return the claim of the pending page that a page repeats."""
        return self._claims.get(found.original_page or 0)

    def _entered(self, place: Place, judged: "_Judged", record: PageRecord) -> PageRecord:  # noqa: ARG002
        """Let later pages find a page that is pending now; return its record with its number."""
        self._last_page += 1
        record = record._replace(page=self._last_page)
        self._index.add(record)
        return record

    def _host(self, place: Place, page: ReadPage) -> str:
        """Return the host for which a page is counted; "" for none: a plain text has no frame."""
        return place.host if self._config.learn_frames and not page.is_plain else ""

    def _counting(self, page: ReadPage, judged: "_Judged") -> Counting | None:
        """Return how a page is counted whose original, if any, is kept; None: it is not."""
        counted, expected, found_by, found, was_shown, visit, *_ = judged
        if not counted.host.name:
            return None
        # A text that was shown before is not counted a second time: otherwise it would be taken for
        # frame, and the page would never be found again.
        is_kept = found.original_page is None and not was_shown
        waits = is_kept and counted.pages_of_template < FRAME_TIMES
        refused = found.refused
        evidence = [] if refused is None else [*map(frame_mark, refused.paragraphs)]
        if found.canonical is not None:
            named = canonical_marks(url_key(found.canonical), expected.headline)
            evidence += map(part_hash, named)
        if visit is not None and visit[1].is_same:
            # A paragraph that came to two pages of the host is a notice. Copies are one page: they
            # repeat one original, or have one heading.
            heading = expected.headline.h1
            at = part_hash(heading) if heading else visit[0].original or visit[0].page
            came = found_by.blocks.hashes[visit[1].came & found_by.blocks.places.is_prose].tolist()
            for block in came:
                mark = visit_mark(block, at)
                if mark not in counted.host.sightings:
                    evidence += [mark, frame_mark(block)]
        if judged.lessons is not None:
            of_slots, url = judged.lessons
            found_there, learnt = lessons(counted.host.sightings, page.shown.slots, of_slots, url)
            evidence += found_there
            self._tell(counted.host.name, found_by, learnt)
        return Counting(
            counted.host.name,
            page.shown,
            is_kept,
            self._config.same_template is not None and found.original_page is None,
            evidence,
            page if waits else None,
            expected.frame_times if waits else None,
        )

    def _tell(self, host: str, page: PageProfile, learnt: Sequence[int]) -> None:
        """Log the places of a host's pages that were learnt to change by themselves, once each."""
        for slot in learnt:
            if (host, slot) in self._told:
                continue
            self._told.add((host, slot))
            self.learnt += 1
            at = page.blocks.places.slots == slot
            text = next(compress(page.blocks.texts, at.tolist()), "")
            logger.info(_LEARNT, printable(host, _LONGEST), printable(text, _LONGEST))

    def _updates(self, counting: Counting, context: HostContext) -> list[tuple[Host, FrameUpdate]]:
        return context.updates(
            is_kept=counting.is_kept,
            counts_thin=counting.counts_thin,
            evidence=counting.evidence,
        )

    def _change(self, number: int, counting: Counting, context: HostContext) -> _Change:
        """Return what counting a page changes; nothing is changed yet."""
        page, waiting = counting.page, None
        if page is not None and (times := context.pages_of_template) < FRAME_TIMES:
            waiting = Waiting(number, context.host.name, times, context.new, page)
        change = self._counted(self._updates(counting, context), waiting)
        return change._replace(shown=counting.shown.hashes)

    def _counted(
        self, updates: list[tuple[Host, FrameUpdate]], page: Waiting | None = None
    ) -> _Change:
        """Return what updates of a host and its sites change; `page` is to wait."""
        host, update = updates[0]
        there = self._hosts.waiting(host.name) if update.is_kept else []
        again = self._judged_again(host, update, there)
        waiting: dict[int, Waiting | None] = {} if page is None else {page.page: page}
        for each, *_ in again:
            on = replace(each, times=each.times + 1)
            waiting[each.page] = on if on.times < FRAME_TIMES else None
        after = {each.page: each for each in there} | waiting
        numbers = sorted(number for number, each in after.items() if each is not None)
        # The earliest pages wait no longer.
        waiting |= dict.fromkeys(numbers[:-MOST_WAITING_OF_HOST])
        return _Change(updates, again, waiting)

    def _judged_again(self, host: Host, update: FrameUpdate, waiting: list[Waiting]) -> _Again:
        """Profile the waiting pages of the template of a page as if it were counted already."""
        if host.pages > FRAME_TIMES:  # whether the first pages have one template is not known yet
            shown = set(update.shown)
            waiting = [
                each
                for each in waiting
                if len(shown & {*each.new.tolist()}) >= (1 - MOST) * len(each.new)
            ]
        if not waiting:
            return []
        after, again = host.with_pages(update), []
        records = {each.page: each for each in self._stored([each.page for each in waiting])}
        for each in waiting:
            page = each.read(self._config)
            if page is not None and each.page in records:
                context = replace(self._hosts.context(host.name, page.shown, 1), host=after)
                found_by = profile_of(page, context, self._config)
                again.append((each, records[each.page], found_by))
        return again

    def _apply(self, number: int, change: _Change) -> None:
        """Count a page; this cannot fail."""
        self._revise(change.again)
        self._hosts.wait(change.waiting)
        updates = {host.name: update for host, update in change.updates}
        self._hosts.settle(number, updates)
        for name, update in updates.items():
            self._hosts.add(name, update)

    def _revise(self, again: _Again) -> None:
        """Give the records of waiting pages their other profiles."""
        for page, record, found_by in again:
            self._replace(record, page, found_by)

    def _replace(self, record: PageRecord, page: Waiting, found_by: PageProfile) -> None:
        """Give the record of a waiting page another profile."""
        revised = record._replace(**measures_of(found_by))
        self._index.remove(record)
        self._index.add(revised)
        self._batch.pages[record.page] = revised
        if self._config.keep_text:
            self._batch.contents[record.page] = KeptContent(found_by.text, page.form)

    def _settled(
        self, claim: Claim, record: PageRecord, earlier: Mapping[int, PageRecord]
    ) -> PageRecord:
        """Put the record of a committed claim into the batch, in place of the earlier one."""
        number, old = claim.verdict.page or 0, earlier.get(claim.earlier or 0)
        if old is not None and record.outcome == "revisit":
            record = _revisited(old, record)
        record = self._put(claim, record._replace(is_pending=False), old)
        self._claims.pop(number, None)
        if record.page != number:
            self._revisited[number] = record.page
            if len(self._revisited) > _MOST_REVISITED:
                del self._revisited[next(iter(self._revisited))]
        claim.record = record
        return record

    def _put(self, claim: Claim, record: PageRecord, old: PageRecord | None) -> PageRecord:
        """Record the page of a claim for good, in place of its earlier record; return its record.

        If the earlier record has the same number, the page was visited again.
        """
        assert claim.record is not None
        is_revisit = old is not None and old.page == record.page
        if old is not None and is_revisit:
            self._index.remove(old)
        elif old is not None:
            self._delete(old)
        if claim.record._replace(is_pending=False) != record:
            self._index.remove(claim.record)
            self._index.add(record)
        self._batch.pages[record.page] = record
        if claim.content is not None or is_revisit:
            # What is kept of a revisit replaces what was kept of the earlier visit.
            self._batch.contents[record.page] = claim.content
        return record

    def _end_claim(self, claim: Claim) -> None:
        """Forget a claim that is not settled, and its repeats."""
        for each in (claim, *claim.repeats):
            each.state = "gone"
            number = each.verdict.page or 0
            if self._claims.pop(number, None) and each.record is not None:
                self._withdraw(each.record)
            self._hosts.settle(number)

    def _withdraw(self, record: PageRecord) -> None:
        """Remove the record of a pending page."""
        self._index.remove(record)

    def _delete(self, record: PageRecord) -> None:
        self._index.remove(record)
        self._batch.pages[record.page] = None
        self._batch.contents.pop(record.page, None)
        self._hosts.discard(record.page)

    def _stored(self, pages: Sequence[int]) -> list[PageRecord]:
        """Return the records of pages in this order, pending ones too; gone ones are left out."""
        found = self._looked_up
        for number in pages:
            if number in self._claims:
                found[number] = self._claims[number].record
            elif number in self._batch.pages:
                found[number] = self._batch.pages[number]
        if unread := [number for number in pages if number not in found]:
            found.update(dict.fromkeys(unread))
            found.update((each.page, each) for each in self.store.records(unread))
        return [each for number in pages if (each := found[number]) is not None]

    def _make_room(self) -> None:
        """Write a full batch, and stay within the bounds of memory."""
        if max(len(self._batch.pages), len(self._batch.hosts)) >= FULL_BATCH:
            self.flush()
        self._shrink()

    def _shrink(self) -> None:
        if gone := self._hosts.shrink():
            if not self.forgotten:
                logger.warning(_FORGETTING, self._config.frame_memory)
            self.forgotten += sum(not name.startswith(SITE) for name in gone)

    def _write(self) -> None:
        if self.bookmark is not None:
            self._batch.notes[BOOKMARK] = self.bookmark()
        self._batch.notes[LAST_PAGE] = str(self._last_page)
        self.store.write(self._batch)
        self._room -= len(self._batch.pages)
        self._batch.clear()
        self._looked_up.clear()

    def _forget_beyond_bounds(self) -> bool:
        """Forget a part of what is beyond the bounds; return whether anything was."""
        if self._config.expire_days is None and self._config.max_pages is None:
            return False
        due = [*self.store.records(self._beyond_bounds())]
        hosts = [] if due else self.store.hosts_without_pages(_AT_ONCE)
        for record in due:
            self._delete(record)
        for name in hosts:
            self._hosts.forget(name)
        return bool(due or hosts)

    def _beyond_bounds(self) -> list[int]:
        """Return a part of the pages beyond the bounds, the least recently seen first.

        Kept and dropped pages have separate bounds. Pending pages stay.
        """
        due, room = list[int](), list[int]()
        seconds, bound = expiry_seconds(self._config.expire_days), self._config.max_pages
        for is_kept in (True, False):
            if seconds is not None:
                before = int(now()) - seconds
                due += self.store.oldest(_AT_ONCE, is_kept=is_kept, before=before)
            if bound is not None and not due and self._room < 0:  # to count reads all pages
                room.append(bound - self.store.count(is_kept=is_kept))
                most = min(max(-room[-1], bound // _BATCHES), _AT_ONCE)
                due += self.store.oldest(most, is_kept=is_kept) if room[-1] < 0 else ()
        if room and not due:
            self._room = min(room)
        return due


class _Index(LookUps, Protocol):
    """The look-ups of an index."""

    def visits(self, key: int) -> Sequence[PageRecord]:
        """Return the records at a URL, kept or dropped, the latest first."""


class _Judged(NamedTuple):
    counted: HostContext
    expected: HostContext
    profile: PageProfile
    verdict: Verdict
    was_shown: bool = False
    visit: tuple[PageRecord, Visit] | None = None
    """The record of an earlier crawl at its URL, and what has changed."""
    lessons: tuple[Mapping[int, SlotChange], int] | None = None
    """Which slots have changed since another fetch of the page, and the key of its URL."""
    compared: PageProfile | None = None
    """The profile that was compared; None: none was."""
    config: FilterConfig | None = None
    """The options of this page; None: it was not compared."""


def _is_at_its_url(place: Place, found: Verdict) -> bool:
    """Return whether a page is a later version of a page at its URL, near or not near enough."""
    nearest = found.refused.url if found.refused is not None else None
    # Pages without a URL are not at one.
    return found.outcome == "revisit" or (bool(nearest) and url_key(nearest or "") == place.key)


def _revisited(old: PageRecord, new: PageRecord) -> PageRecord:
    """Return the record of a page with the measures of its revisit; its number and URL stay."""
    return new._replace(
        page=old.page,
        url=old.url,
        host=old.host,
        first_seen=old.first_seen,
        last_seen=max(new.last_seen, old.last_seen),
        first_crawl=old.first_crawl,
        original=None,
    )
