"""URLs and their verdicts -> rules that make the URLs of duplicates equal, each with its evidence.

    pairs of duplicate and original    propose rules from the difference between their two URLs
    all URLs                           prove or refute a rule: the URLs that it makes equal are a
                                       group, and must have been judged the same in each crawl

If a page changes between two crawls, it is another page in the second. So URLs are compared by
verdicts of the same crawl; URLs without a common crawl are no evidence.

"Do not crawl in the DUST" (Bar-Yossef, Keidar and Schonfeld, TWEB 2009) guesses where we have
verdicts. Rules are applied one by one, so of two alternative parameters only one is removed.

Guarantees: if the pages of two URLs were judged different in a crawl, the proven rules do not give
both URLs one form, unless they have one form without rules. The order of the pages in a crawl
affects only the examples.

Cost: linear in the URLs, 40 us and 1 KB of memory a URL.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from operator import attrgetter, eq
from typing import NamedTuple

from dedup_filter.urls.rule import Form, Rule, form_of, path_of

_MOST_TOGETHER = 4
"""Most parameters of one rule: they vary together in a pair of URLs."""
_LEAST_VOTES = 3
"""Pairs of duplicate and original that must propose a rule before it is tested."""
_MOST_PROPOSED = 32
"""Rules of one origin that are tested in a round: the rules with the most votes."""
_LEAST_VALUES = {"parameters": 2, "where": 20}
"""Different values that a rule must take out; for a single value there is the kind `value`. Rules
for some URLs only may hold by chance, as there are many ways to choose the URLs, so they need more.
"""
_MOST_VALUES = max(_LEAST_VALUES.values())
_EXAMPLES = 3
_Z_SQUARED = 1.959964**2
"""95 % of a normal distribution lie within the root of this many standard deviations."""
ALIKE = 0.9
"""Jaccard similarity from which a kept page counts as the same as the page that it names as
canonical. If `?replytocom=7` adds "Leave a Reply to Ann", a post of 93 words has .94."""


class Page(NamedTuple):
    """A page that was judged."""

    url: str
    same: int
    """The number of the page's original, or its own: equal for pages that were judged the same."""
    first_crawl: int = 0
    crawl: int = 0
    """The first and the last crawl in which the page was at its URL."""


@dataclass
class Evidence:
    """The evidence of URLs for a rule."""

    support: int = 0
    """URLs that the rule makes equal to another URL whose page was judged the same."""
    examples: list[tuple[str, str]] = field(default_factory=list)
    """Pairs of URLs that support the rule."""
    taken_out: set[object] = field(default_factory=set)
    """Different values that the rule takes out of supporting URLs, at most `_MOST_VALUES`."""
    changed: list[tuple[Form, Form]] = field(default_factory=list, repr=False)
    """Forms that the rule changes: before and after."""

    @property
    def precision(self) -> float:
        """Lower bound of the share of equal URLs whose pages are the same, 95 % sure.

        By Wilson (1927), for a sample in which all are the same.
        """
        return self.support / (self.support + _Z_SQUARED)


class Proven(NamedTuple):
    """A rule that holds, with its evidence."""

    rule: Rule
    evidence: Evidence


class Mined(NamedTuple):
    """The rules that the URLs of crawls prove."""

    proven: list[Proven]
    """In the order in which the rules are applied."""
    urls: int
    """Different URLs of the pages."""
    duplicates: int
    """URLs whose page repeats the page of another URL: the most requests that rules could save."""
    saved: int
    """URLs that the rules together make equal to another URL: requests that need not be made."""


def mine(
    pages: Iterable[Page],
    *,
    given: Iterable[Proven] = (),
    refuted: Collection[Rule] = (),
    min_support: int = 10,
    min_precision: float = 0.7,
) -> Mined:
    """Find the rules that pages prove. `min_precision`: see `Evidence.precision`.

    The `given` rules come first, unless the pages refute them. No rule in `refuted` is found.

    >>> pages = [Page(f"https://a.example/{n // 2}?sid={n}", n // 2) for n in range(40)]
    >>> [proven.rule.arguments for proven in mine(pages).proven]
    [('sid',)]
    """
    forms = _Forms()
    for page in pages:
        forms.add(page)
    before = len(forms)
    proven: list[Proven] = []
    for rule, earlier in given:
        evidence = forms.evidence(rule)
        if evidence is not None:
            forms.apply(evidence)
            # A crawl that saves requests sees little of what they would have shown.
            proven.append(Proven(rule, max(earlier, evidence, key=attrgetter("support"))))
    wrong = set(refuted)
    while rules := forms.proposals(wrong):
        for rule in rules:
            evidence = forms.evidence(rule)
            if evidence is not None and _is_proven(rule, evidence, min_support, min_precision):
                forms.apply(evidence)
                proven.append(Proven(rule, evidence))
            else:
                wrong.add(rule)
    saved = before - len(forms)
    return Mined(proven, before, before - forms.page_count, saved)


def _is_proven(rule: Rule, evidence: Evidence, min_support: int, min_precision: float) -> bool:
    return (
        evidence.support >= min_support
        and evidence.precision >= min_precision
        and len(evidence.taken_out) >= _LEAST_VALUES.get(rule.kind, 0)
    )


class _Span(NamedTuple):
    """The crawls, from the first to the last, in which a URL had a page."""

    first: int
    last: int
    same: int


_Judged = tuple[_Span, ...]
"""The pages at the URLs of a form, ascending."""


class _Forms:
    """Forms of URLs by origin, with the pages at their URLs."""

    def __init__(self) -> None:
        self._judged_at: dict[str, dict[Form, _Judged]] = defaultdict(dict)
        self._urls: dict[Form, str] = {}
        """One URL of each form, for examples."""

    def __len__(self) -> int:
        return sum(map(len, self._judged_at.values()))

    @property
    def page_count(self) -> int:
        """By the latest verdicts."""
        return len({judged[-1].same for _, judged in self._items()})

    def add(self, page: Page) -> None:
        form = form_of(page.url)
        if form is None:
            return
        judged = (_Span(page.first_crawl, page.crawl, page.same),)
        known = self._judged_at[form.origin].get(form)
        self._judged_at[form.origin][form] = judged if known is None else _joined(known, judged)
        self._urls.setdefault(form, page.url)

    def proposals(self, refuted: Container[Rule]) -> list[Rule]:
        """Return the rules that pairs of duplicate and original propose, without refuted ones.

        The rules with most votes come first.
        """
        forms_of: dict[int, list[Form]] = defaultdict(list)
        for form, judged in self._items():
            for _, _, same in judged:
                forms_of[same].append(form)
        votes: dict[str, Counter[Rule]] = defaultdict(Counter)
        for forms in forms_of.values():
            if len(forms) > 1:
                for rule in _proposed(sorted(forms, key=self._plainness)):
                    votes[rule.origin][rule] += 1
        proposed = []
        for counts in votes.values():
            enough = (
                (-count, rule)
                for rule, count in counts.items()
                if count >= _LEAST_VOTES and rule not in refuted
            )
            proposed += sorted(enough)[:_MOST_PROPOSED]
        return [rule for _, rule in sorted(proposed)]

    def _plainness(self, form: Form) -> tuple[int, int, int, Form]:
        return len(form.parameters), len(form.segments), -len(self._judged_at[form.origin]), form

    def evidence(self, rule: Rule) -> Evidence | None:
        """Return the evidence for a rule: forms that it makes equal; None: the rule is refuted."""
        found = Evidence()
        groups: dict[Form, tuple[Form, _Judged]] = {}
        for form, judged in self._judged_at[rule.origin].items():
            to = rule.apply(form)
            if to is form:
                continue
            found.changed.append((form, to))
            if to not in groups:
                there = self._judged_at.get(to.origin, {}).get(to)
                groups[to] = (form, judged) if there is None else (to, there)
            first, others = groups[to]
            if first is form:
                continue
            groups[to] = first, _joined(others, judged)
            are_same = _are_same(others, judged)
            if are_same is None:
                continue
            if not are_same:
                return None
            found.support += 1
            if len(found.taken_out) < _MOST_VALUES:
                found.taken_out.add(_taken_out(form, rule))
                if first != to:
                    found.taken_out.add(_taken_out(first, rule))
            if len(found.examples) < _EXAMPLES:
                found.examples.append((self._urls[form], self._urls[first]))
        return found

    def apply(self, evidence: Evidence) -> None:
        """Join the forms that a proven rule makes equal."""
        for form, to in evidence.changed:
            judged = self._judged_at[form.origin].pop(form)
            there = self._judged_at[to.origin]
            there[to] = _joined(there.get(to, ()), judged)
            self._urls.setdefault(to, self._urls.pop(form))
        evidence.changed.clear()

    def _items(self) -> Iterator[tuple[Form, _Judged]]:
        for forms in self._judged_at.values():
            yield from forms.items()


def _joined(some: _Judged, others: _Judged) -> _Judged:
    if some == others or not others:
        return some
    spans: dict[int, _Span] = {}
    for first, last, same in some + others:
        known = spans.get(same, _Span(first, last, same))
        spans[same] = _Span(min(first, known.first), max(last, known.last), same)
    return tuple(sorted(spans.values()))


def _are_same(some: _Judged, others: _Judged) -> bool | None:
    """Return whether two URLs had the same pages in each crawl; None: they share no crawl."""
    found = [
        one.same == other.same
        for one in some
        for other in others
        if one.first <= other.last and other.first <= one.last
    ]
    return all(found) if found else None


def _taken_out(form: Form, rule: Rule) -> object:
    names = rule.arguments[2:] if rule.kind == "where" else rule.arguments
    return tuple(each for each in form.parameters if each[0] in names)


def _proposed(forms: Iterable[Form]) -> Iterator[Rule]:
    """Yield the rules that the URLs of one page propose, plainest first; each rule once a URL.

    A URL is compared with the plainest URL of all, of its path, and of its path with each of its
    parameters. The last difference is what URLs with this parameter can do without.
    """
    plainest: dict[tuple[object, ...], Form] = {}
    for form in forms:
        path = form.origin, form.segments
        kinds = ((), path, *((*path, parameter) for parameter in form.parameters))
        others = {plainest.setdefault(kind, form) for kind in kinds} - {form}
        yield from {rule for other in others for rule in _differences(form, other)}


def _differences(one: Form, other: Form) -> Iterator[Rule]:
    """Yield rules that make the form of a duplicate equal to the form of its original."""
    if one.origin != other.origin:
        if one[1:] == other[1:]:
            yield Rule(one.origin, "origin", (other.origin,))
    elif one.segments == other.segments:
        yield from _of_parameters(one, other)
    elif one.parameters == other.parameters:
        yield from _of_paths(one.origin, one.segments, other.segments)


def _of_parameters(one: Form, other: Form) -> Iterator[Rule]:
    here, there = set(one.parameters), set(other.parameters)
    names = sorted({name for name, _ in here ^ there})
    if 0 < len(names) <= _MOST_TOGETHER:
        yield Rule(one.origin, "parameters", tuple(names))
        for where in (("", path_of(one)), *sorted(here & there)):
            yield Rule(one.origin, "where", (*where, *names))
    for more, less in ((here, there), (there, here)):
        if len(more - less) == 1 and not less - more:
            yield Rule(one.origin, "value", *(more - less))


def _of_paths(origin: str, one: Sequence[str], other: Sequence[str]) -> Iterator[Rule]:
    if [each.lower() for each in one] == [each.lower() for each in other]:
        yield Rule(origin, "letter_case")
        return
    begin = _same_at_start(one, other)
    end = _same_at_start(one[begin:][::-1], other[begin:][::-1])
    here, there = one[begin : len(one) - end], other[begin : len(other) - end]
    if len(here) < len(there):
        here, there = there, here
    if len(here) == 1 and not there:
        if here[0]:
            yield Rule(origin, "segment", (here[0],))
        elif not end:
            yield Rule(origin, "ending", ("/", ""))
    elif len(here) == len(there) == 1:
        if not end:
            yield from _of_endings(origin, *sorted((there[0], here[0]), key=len))
        yield from _of_path_parameters(origin, here[0], there[0])


def _of_endings(origin: str, shorter: str, longer: str) -> Iterator[Rule]:
    begin = _same_at_start(shorter, longer)
    # Words change as a whole: the endings of "7.html" and "7.htm" are ".html" and ".htm".
    while begin > 0 and longer[begin].isalnum():
        begin -= 1
    if not shorter:
        yield Rule(origin, "ending", (f"/{longer}", "/"))
    elif begin:
        yield Rule(origin, "ending", (longer[begin:], shorter[begin:]))


def _of_path_parameters(origin: str, here: str, there: str) -> Iterator[Rule]:
    names = {
        name
        for segment in (here, there)
        for name, sign, _ in (piece.partition("=") for piece in segment.split(";")[1:])
        if sign
    }
    if len(names) == 1:
        yield Rule(origin, "path_parameter", tuple(names))


def _same_at_start(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the common beginning."""
    return sum(1 for _ in takewhile(bool, map(eq, one, other)))
