"""A page and the look-ups of an index -> the verdict: which kept page it repeats, if any.

    its digest                                      -> equal pages                       exact
    if there are none: the fingerprints of its texts -> pages within k bits               near
                       its canonical URL             -> pages there, at any distance      near
    if it repeats none of these: keys of its phrases -> pages that share some, likewise   near

`rule` decides whether a page repeats a candidate. If it repeats several, its original is one of
this crawl; else one of an earlier crawl at the same URL (the same page, seen again: "revisit");
else another of an earlier crawl. Among several of a kind, the page that it names as canonical comes
first (with the option `canonical`, a candidate at any distance, by the same rule), then the
nearest. A page that repeats none is new; its verdict names the rule that refused the nearest one.

Thousands of pages of a template, or empty shells, can be within k bits of one another without being
near-duplicates. Only the `MOST_COMPARED` nearest are compared; among equally near ones the earliest
come first.

Most originals are within few bits, and a look-up of few bits takes a tenth of the time. So an index
may be asked in rings: first within few bits; within k bits only if no page of this crawl that the
page repeats was found. The verdict is the same, because the nearest page is the original.

Every kind of index answers these look-ups, so a page gets the same verdict in each. Knows no store.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cache, partial
from itertools import compress, islice
from typing import NamedTuple, Protocol

from dedup_filter.comparison.candidates import (
    MOST_COMPARED,
    NAMED_EVIDENCE,
    Candidate,
    Found,
    Stored,
    found_beyond,
    found_by_phrases,
    found_by_texts,
    relation,
    relation_of_urls,
)
from dedup_filter.comparison.loss import LONGEST_LINE, MOST_LINES, loss_of
from dedup_filter.comparison.near_pages import Query
from dedup_filter.comparison.rule import Examined, examined
from dedup_filter.comparison.visits import Earlier, Visit
from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.block_columns import Shares
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.model import Match, MissingLine, Outcome, Reason, Refusal, Source, Verdict
from dedup_filter.text.page_url import Place, canonical_of, url_key
from dedup_filter.thresholds import ARTICLE_WORDS, HALF, MOST

_MOST_NAMED = 4
"""Most pages at one URL, from several crawls, to compare with a page that names it canonical."""
_TOLERANCE = 0.1
"""How much less of the text of an unchanged copy its original may have: sketches are samples."""


class LookUps(Protocol):
    """The answers of an index about its kept and pending pages, by their numbers.

    With `scope` "host" an index need not give pages of other hosts; the caller leaves them out.
    """

    @property
    def inner_rings(self) -> Sequence[int]:
        """The distances to ask `near` for before `max_distance`, ascending.

        There are none unless `equal` finds all pages with a digest.
        """

    def equal(self, digest: bytes) -> Iterable[int]:
        """Return the pages with a digest, the earliest first; others may be among them.

        Pages that `near` finds at distance 0 may be missing.
        """

    def near(
        self, fingerprint: int, most: int | None = None, distance: int | None = None
    ) -> Sequence[Match]:
        """Return the pages within a distance, or the `most` nearest of them.

        `distance`: one of `inner_rings`; None for `max_distance`.
        """

    def visits(self, key: int) -> Sequence[Earlier]:
        """Return the stored pages at a URL, by its key, kept or dropped, the latest first."""

    def sharing(self, texts: Sequence[bytes]) -> Mapping[int, int]:
        """Return the pages that share keys with texts, and how many keys each shares."""

    def stored(self, pages: Sequence[int]) -> Sequence[Stored]:
        """Return the stored fields of pages, in this order; a page that is gone is left out."""


class Judged(NamedTuple):
    """The verdict on a page, without URLs (see `Verdict.named`)."""

    verdict: Verdict
    capped: int = 0
    """Look-ups that found more than `MOST_COMPARED` pages."""


def judge(
    place: Place,
    page: PageProfile,
    look_ups: LookUps,
    config: FilterConfig,
    is_ours: Callable[[int], bool],
    visit: tuple[Earlier, Visit] | None = None,
) -> Judged:
    """Judge a page by the pages of an index; `is_ours`: whether a crawl is the present one.

    `visit`: the record of an earlier crawl at the page's URL, and how the page has changed.

    Cost: the look-ups, and 0.1 to 0.2 ms for each candidate that is compared.
    """
    if page.is_blank:
        return Judged(verdict_on(page, "unjudged", "no_text"))
    known = Compared(page, config.min_similarity, config.max_missing)
    judging = _Judging(place, page, look_ups, config, is_ours, known)
    if visit is not None and (again := judging.again(*visit)) is not None:
        return Judged(again)
    named = judging.named()
    equal = judging.equal(named)
    if equal:
        verdict = judging.verdict(equal)
        return Judged(judging.unless_changed(verdict, *visit) if visit is not None else verdict)
    near: list[Candidate] = []
    capped = 0
    # A named page may be the original at any distance.
    inner = () if named else look_ups.inner_rings
    for distance in (*inner, config.max_distance):
        more, capped = judging.near(named, distance, {each.page for each in near})
        near += more
        if distance < config.max_distance and judging.is_settled(near):
            break
    verdict = judging.verdict(near)
    if verdict.outcome == "new" and config.looks_for_phrases:
        more = judging.sharing({each.page for each in near})
        verdict = judging.verdict([*near, *more]) if more else verdict
    if visit is not None:
        verdict = judging.unless_changed(verdict, *visit)
    return Judged(verdict, capped)


def repeated(
    place: Place, page: PageProfile, look_ups: LookUps, config: FilterConfig
) -> list[Examined]:
    """Return all pages that a page repeats, the best first; equal pages are not looked up.

    For a caller that decides later which of these pages are kept. All are of the present crawl.
    """
    known = Compared(page, config.min_similarity, config.max_missing)
    judging = _Judging(place, page, look_ups, config, lambda _: True, known)
    near, _ = judging.near(judging.named(), config.max_distance, frozenset())
    there = {each.page for each in near}
    candidates = [*near, *(judging.sharing(there) if config.looks_for_phrases else ())]
    found = [each for each in known.with_more(candidates) if each.refusal is None]
    return sorted(found, key=lambda each: each.candidate.source != "canonical")


class _Judging(NamedTuple):
    """The judgement of one page."""

    place: Place
    page: PageProfile
    look_ups: LookUps
    config: FilterConfig
    is_ours: Callable[[int], bool]
    known: "Compared"

    def verdict(self, candidates: Sequence[Candidate]) -> Verdict:
        return self.known.verdict(candidates, self.place.key, self.is_ours)

    def again(self, earlier: Earlier, visit: Visit) -> Verdict | None:
        """Return the verdict on a page that is still the page of an earlier crawl at its URL.

        It was kept, or it was dropped and its original still holds it. None: neither is so.
        """
        if not visit.is_same:
            return None
        page = self.page
        found = verdict_on(page, "revisit")._replace(
            original_page=earlier.page,
            distance=_distance(page, earlier),
            similarity=visit.share,
            change=visit.change,
            came=self._came(visit),
        )
        if earlier.is_kept:
            return found
        there = self._stored([earlier.original]) if earlier.original is not None else []
        if visit.told.any() or not there:
            return None
        [original] = there
        places, shares = page.blocks.places, page.blocks.shares_in(original.sketch)
        stayed = places.in_main & ~(places.is_beside | places.is_framed | visit.came)
        sampled = int(shares.sampled[stayed].sum())
        before = 1.0 if earlier.similarity is None else earlier.similarity
        least = min(before, MOST) - _TOLERANCE
        # If the original had all of it, a line that is not there has changed in the original.
        has_changed = before == 1 and (stayed & places.are_lines & ~shares.is_there).any()
        if has_changed or shares.there[stayed].sum() < least * sampled:
            return None
        found = found._replace(distance=_distance(page, original), reason=earlier.reason)
        is_same_host = bool(original.host) and original.host == self.place.host
        return _repeating(found, page, original, is_same_host, shares)

    def unless_changed(self, verdict: Verdict, earlier: Earlier, visit: Visit) -> Verdict:
        """Return that a page is new if a change since an earlier visit is not in its original.

        A copy on another host may have other words than its original, but a change of it is news.
        """
        verdict = verdict._replace(change=visit.change, came=self._came(visit))
        there = [] if verdict.outcome != "near" else self._stored([verdict.original_page or 0])
        if earlier.is_kept or not visit.is_same or not there:
            return verdict
        blocks = self.page.blocks
        shares = blocks.shares_in(there[0].sketch)
        news = visit.told & ~shares.is_there & (shares.missing >= HALF * shares.words)
        if not news.any():
            return verdict
        text = blocks.texts[int(news.argmax())]
        words = float(shares.missing[news].sum())
        refused = Refusal("paragraph", words, 0, text, there[0].page, verdict.distance or 0)
        return verdict._replace(
            outcome="new",
            original_page=None,
            distance=None,
            similarity=None,
            lost=None,
            lost_words=None,
            reason=None,
            refused=refused,
        )

    def _came(self, visit: Visit) -> tuple[str, ...]:
        came = compress(self.page.blocks.texts, visit.told.tolist())
        return first_lines(came if self.config.changes else ())

    def is_settled(self, near: Sequence[Candidate]) -> bool:
        """Return whether the page repeats a page of this crawl among the nearest candidates.

        A page beyond them is not the original then.
        """
        found = self.known.with_more(near)
        return any(each.refusal is None and self.is_ours(each.candidate.crawl) for each in found)

    def equal(self, named: Iterable[int]) -> list[Candidate]:
        """Return the candidates with the page's digest; none if no page is equal."""
        digest = self.page.digest
        stored = [e for e in self._stored(self.look_ups.equal(digest)) if e.digest == digest]
        found = dict.fromkeys([each.page for each in stored], (0, 0))
        return self._candidates(found, stored, dict.fromkeys(named, "canonical"))

    def near(
        self, named: Sequence[int], distance: int, known: Set[int]
    ) -> tuple[list[Candidate], int]:
        """Return the candidates within a distance or at the canonical URL, and the capped look-ups.

        Known candidates are left out. Within less than k bits none are returned if k bits may find
        one of them by an earlier text, at another distance.
        """
        look_up, texts = self.look_ups.near, self.page.texts
        found, capped = found_by_texts(
            look_up(text.fingerprint, MOST_COMPARED + 1, distance) for text in texts
        )
        stored = self._stored(page for page in [*named, *found] if page not in known)
        farther = range(distance + 1, self.config.max_distance + 1)
        for each in stored if farther else ():
            of_page = each.fingerprint or 0
            earlier = texts[: found[each.page][0]]
            if any((of_page ^ text.fingerprint).bit_count() in farther for text in earlier):
                return [], capped
        if named and self.config.min_similarity is not None:
            at_url = [each for each in stored if each.page in named]
            found = found_beyond(self.page, at_url, NAMED_EVIDENCE) | found
        return self._candidates(found, stored, dict.fromkeys(named, "canonical")), capped

    def sharing(self, known: Set[int]) -> list[Candidate]:
        """Return the candidates that share phrases with the page, without the known ones."""
        shared = self.look_ups.sharing([text.keys for text in self.page.texts])
        stored = self._stored([page for page in shared if page not in known])
        found = found_by_phrases(self.page, self.place.host, shared, stored)
        return self._candidates(found, stored, dict.fromkeys(found, "shared_phrases"))

    def named(self) -> list[int]:
        """Return the latest pages at the URL that the page names as canonical."""
        is_wanted = self.config.canonical and self.page.canonical
        url = canonical_of(self.place, self.page.canonical) if is_wanted else None
        there = [] if url is None else self.look_ups.visits(url_key(url))
        found = [e.page for e in there if e.is_kept and e.fingerprint is not None]
        return found[:_MOST_NAMED]

    def _stored(self, pages: Iterable[int]) -> list[Stored]:
        stored = self.look_ups.stored([*dict.fromkeys(pages)])
        is_any_host = self.config.scope != "host"
        return [each for each in stored if is_any_host or each.host == self.place.host]

    def _candidates(
        self, found: Found, stored: Iterable[Stored], sources: Mapping[int, Source]
    ) -> list[Candidate]:
        there = {each.page: each for each in stored}
        related = cache(partial(relation, self.page, self.place.host))
        return [
            Candidate(
                *found[number],
                *related(each.host),
                each.sketch,
                each.headline,
                number,
                each.crawl,
                each.url_key,
                each.digest,
                sources.get(number),
                partial(relation_of_urls, self.page, self.place, each),
            )
            for number in found
            if (each := there.get(number)) is not None
        ]


def first_lines(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the first lines of a change, cut to some length."""
    return tuple(text[:LONGEST_LINE] for text in islice(texts, MOST_LINES))


def pages_like(query: Query, look_ups: LookUps, *, by_phrases: bool) -> list[int]:
    """Return the numbers of all pages that may be like a page, ascending; see `near_pages`."""
    numbers = {match.row for each in query.fingerprints for match in look_ups.near(each)}
    if query.digest is not None:
        numbers.update(look_ups.equal(query.digest))
    if by_phrases:
        numbers.update(look_ups.sharing(query.keys))
    return sorted(numbers)


def _distance(page: PageProfile, other: Stored) -> int | None:
    """Return the differing bits of the fingerprints of two pages; None: one has none."""
    if page.fingerprint is None or other.fingerprint is None:
        return None
    return (page.fingerprint ^ other.fingerprint).bit_count()


def _repeating(
    verdict: Verdict,
    page: PageProfile,
    original: Stored | Candidate,
    is_same_host: bool,
    shares: Shares | None = None,
) -> Verdict:
    """Return the verdict on a page that repeats another: what its original lacks is lost.

    `shares`: what the original has of each block, if it is known.
    """
    lost = loss_of(page, original, is_same_host=is_same_host, shares=shares)
    return verdict._replace(
        outcome="exact" if page.digest == original.digest else "near",
        original_page=original.page,
        similarity=lost.similarity,
        lost=lost.lines,
        lost_words=lost.words,
    )


def verdict_on(page: PageProfile, outcome: Outcome, reason: Reason | None = None) -> Verdict:
    """Return a verdict on a page, with the measures of its profile."""
    return Verdict(
        outcome,
        reason=reason,
        language=page.language,
        shingles=page.shingles,
        shingles_without_stopword=page.shingles_without_stopword,
        fingerprint=page.fingerprint,
        words=max((text.word_count for text in page.texts), default=page.word_count),
        selected=page.selected,
    )


class Compared:
    """Candidates that were compared with a page, each once.

    They are pages equal to it, if there are any; else pages near its texts and its canonical page;
    if it repeats none of these, also pages that share phrases with it. `least` is the option
    `min_similarity`, `max_missing` the option of the same name.

    Cost: 0.1 ms a candidate; 0.2 ms if the headlines differ.
    """

    def __init__(self, page: PageProfile, least: float | None, max_missing: int) -> None:
        self._page, self._least, self._max_missing = page, least, max_missing
        self._found: list[Examined] = []

    def with_more(self, candidates: Sequence[Candidate]) -> list[Examined]:
        """Return all candidates, nearest first. Requires: the first of them were given before."""
        more = candidates[len(self._found) :]
        self._found += examined(self._page, more, self._least, self._max_missing)
        self._found.sort(key=lambda each: (each.candidate.distance, -each.share))
        return self._found

    def verdict(
        self, candidates: Sequence[Candidate], url_key: int, is_ours: Callable[[int], bool]
    ) -> Verdict:
        """Return the verdict, by all candidates; for the URL of its original see `Verdict.named`.

        `url_key`: of the page. `is_ours`: whether a crawl is the present one.
        """
        page = self._page
        same = [each for each in candidates if each.digest == page.digest]
        if not (same or page.texts):
            return verdict_on(page, "unjudged", page.reason)._replace(detail=page.detail)
        verdict = verdict_on(page, "new")
        if same:
            best = [Examined(candidate._replace(distance=0), 1.0, None) for candidate in same]
        else:
            found = self.with_more(candidates)
            best = [each for each in found if each.refusal is None]
            refused = None if best or not found else self._refusal(found[0])
            verdict = verdict._replace(candidates=len(candidates), refused=refused)
        if not best:
            return verdict
        best.sort(key=lambda each: each.candidate.source != "canonical")
        itself = next((each for each in best if each.candidate.url_key == url_key), best[0])
        ours = next((each for each in best if is_ours(each.candidate.crawl)), itself)
        original, share, _, shares = ours
        verdict = verdict._replace(distance=original.distance, reason=original.source)
        if original.url_key == url_key and not is_ours(original.crawl):
            again = {"outcome": "revisit", "similarity": share}
            return verdict._replace(original_page=original.page, **again)
        return _repeating(verdict, page, original, original.is_same_host, shares)

    def _refusal(self, nearest: Examined) -> Refusal | None:
        """Return why the page does not repeat a candidate; its lines if little is missing."""
        page, refusal = self._page, nearest.refusal
        if refusal is None or not refusal.lines:
            return refusal
        # A counter, a clock, a quote of the day. If it lacks more, it is another page.
        if len(refusal.lines) > MOST_LINES or refusal.words > ARTICLE_WORDS:
            return refusal._replace(lines=())
        texts = dict.fromkeys(line.text for line in refusal.lines)
        options = self._least, self._max_missing
        [rest] = examined(page, [nearest.candidate], *options, without=texts.keys())
        lacking = partial(page.blocks.lacking_in, nearest.candidate.sketch)
        lines = [MissingLine(text, lacking(text)) for text in texts] if rest.refusal is None else ()
        return refusal._replace(lines=tuple(lines))
