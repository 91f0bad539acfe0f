"""Pages as they are judged in a crawl -> rules -> requests whose page would repeat a kept one.

    saw(url, same)      a page was judged: evidence for rules, or against some
    saved_by(url)       the rules by which a request would show what the crawl has seen
    mining() -> take    now and then rules are looked for in all pages seen so far

Guarantees: a request that no rule changes is always made, and so is one of whose form this very
crawl has seen no page, or one whose content it has not kept: rules, and pages, of earlier crawls
decide what is the same, never what was seen. One contradiction retires a rule for the crawl. If it
is of several rules together, those may be found again that hold for all pages seen so far. The
first use of a rule is an audit, then a share of its uses.

Cost: 10 us for a page, 10 us for a request, 250 bytes for a page and 1 KB for each that is kept.
Mining is linear (`mining`), and done each time the pages have grown by half: 120 us for a page.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from dedup_filter.urls.mining import Evidence, Page, Proven, mine
from dedup_filter.urls.rule import Form, Rule, Rules, form_of

_FIRST, _GROWTH = 30, 1.5
"""Pages at which rules are looked for first, and how much more there must be each time after."""
_MOST_UNCONFIRMED = 5
"""Crawls in a row in which no page confirms a rule, after which it is forgotten."""


Reason = tuple[str, str, str | tuple[str, ...]]
"""A rule, or a trap that a request goes into."""


class Saving(NamedTuple):
    """Why a request need not be made."""

    reasons: tuple[Reason, ...]
    is_audit: bool
    """Whether it is to be made all the same, to see whether the rules still hold."""


class LiveRules:
    """Rules of one crawl, and what they say of its requests.

    `inherited` are those of an earlier crawl; `audit` is the share of uses that are audits, 0 to 1.
    """

    def __init__(self, inherited: Iterable[Proven] = (), audit: float = 0.02) -> None:
        self._inherited = dict(inherited)
        self._audit = audit
        self._found = _Found([Proven(*each) for each in self._inherited.items()])
        self._pages: list[Page] = []
        self._uses = Counter[Rule]()
        self._retired: set[Rule] = set()
        """Rules that do not hold, or that a page contradicts which could not be judged."""
        self._kept: set[int] = set()
        """Numbers of pages whose content is kept in this crawl."""
        self._due: float = _FIRST
        self._mined = 0
        """Pages in which rules were looked for the last time."""

    @property
    def active(self) -> list[Rule]:
        """The rules, in the order in which they are applied."""
        return [rule for rule, _ in self._found.proven]

    @property
    def is_due(self) -> bool:
        """Whether it is time to look for rules again."""
        return len(self._pages) >= self._due

    @property
    def has_unmined(self) -> bool:
        """Whether pages came since rules were looked for."""
        return len(self._pages) > self._mined

    def saved_by(self, url: str) -> Saving | None:
        """Say why a request need not be made; return None if it must be."""
        form = form_of(url)
        if form is None:
            return None
        to, rules = self._found.rules.applied(form)
        known = self._found.known.get(to)
        if not rules or known is None or known.form == form or known.same not in self._kept:
            return None
        self._uses.update(rules)
        return Saving(tuple(rules), any(map(self._is_audit, rules)))

    def page_at(self, url: str) -> int | None:
        """Return the number of the page that a URL shows, as judged last; None: not seen yet."""
        form = form_of(url)
        known = None if form is None else self._found.known.get(self._found.rules.applied(form)[0])
        return None if known is None else known.same

    def changes(self, url: str) -> bool:
        """Tell whether a rule changes a URL."""
        form = form_of(url)
        return form is not None and bool(self._found.rules.applied(form)[1])

    def saw(self, url: str, same: int | None, *, is_kept: bool = True) -> list[Rule]:
        """Note a page that is kept, or that repeats a kept one; return rules that do not hold.

        Pages that were judged the same have the same number. None: the page could not be judged,
        and its items are kept; that speaks against rules by which it repeats another. `is_kept`:
        whether this crawl keeps it, or else one before, or this one, has kept what it repeats.
        """
        form = form_of(url)
        if form is None:
            return []
        if same is not None:
            self._pages.append(Page(url, same))
            if is_kept:
                self._kept.add(same)
        wrong = self._found.add(form, same)
        if same is None or len(wrong) == 1:
            self._retired.update(wrong)
        return self._retire(wrong)

    def mining(self) -> "Callable[[], _Found]":
        """Return a function that looks for rules in all pages so far; any thread may call it.

        Cost: see `mine`.
        """
        pages, active = self._pages[:], self.active
        self._due = max(_FIRST, _GROWTH * len(pages))
        self._mined = len(pages)
        return lambda: _Found(mine(pages, given=active).proven, _forms(pages))

    def take(self, found: "_Found") -> tuple[list[Rule], list[Rule]]:
        """Take over what was found; return the rules that are new, and those that do not hold."""
        before, self._found = self.active, found
        wrong = self._retired | found.wrong
        for form, same in _forms(self._pages[self._mined :]):
            wrong.update(found.add(form, same))
        self._retire(wrong.intersection(self.active))
        now = self.active
        gone = [rule for rule in before if rule not in now]
        self._retired.update(gone)
        return [rule for rule in now if rule not in before], gone

    def proven(self, *, is_over: bool = False) -> Iterator[Proven]:
        """Yield the rules with their evidence from all crawls; `is_over`: as this one ends.

        Rules that were not confirmed for some crawls are left out then.
        """
        for rule, evidence in self._found.proven:
            before = self._inherited.get(rule, Evidence())
            if evidence is not before and evidence.support:
                support = before.support + evidence.support
                yield Proven(rule, Evidence(support, evidence.examples))
            elif before.unconfirmed + is_over < _MOST_UNCONFIRMED:
                unconfirmed = before.unconfirmed + is_over
                yield Proven(rule, replace(before, unconfirmed=unconfirmed))

    def _is_audit(self, rule: Rule) -> bool:
        uses = self._uses[rule]
        return uses == 1 or int(uses * self._audit) > int((uses - 1) * self._audit)

    def _retire(self, wrong: Collection[Rule]) -> list[Rule]:
        """Let rules go, and those that do not hold without them; return all of them."""
        retired: list[Rule] = []
        while wrong:
            retired += wrong
            left = [proven for proven in self._found.proven if proven.rule not in wrong]
            self._found = _Found(left, (each[:2] for each in self._found.known.values()))
            # What follows a rule was proven of URLs as that left them.
            self._due = 0
            wrong = self._found.wrong
        return retired


class _Known(NamedTuple):
    """Of the pages whose URLs have one form by the rules, one that the fewest rules change."""

    form: Form
    """Of its URL, without rules."""
    same: int
    rules: int
    """How many rules change it: if none does, a contradiction is of the other page's alone."""


class _Found:
    """Rules, and pages by the forms that they make of their URLs."""

    def __init__(self, proven: list[Proven], pages: Iterable[tuple[Form, int]] = ()) -> None:
        self.proven = proven
        self.rules = Rules([rule for rule, _ in proven])
        self.known: dict[Form, _Known] = {}
        self.wrong: set[Rule] = set()
        """Rules that the pages contradict."""
        for form, same in pages:
            self.wrong.update(self.add(form, same))

    def add(self, form: Form, same: int | None) -> list[Rule]:
        """Add a page; return the rules that it contradicts. None: one that could not be judged."""
        to, used = self.rules.applied(form)
        known = self.known.get(to)
        if known is None or known.form == form:  # of a page that has changed the last counts
            if same is not None:
                self.known[to] = _Known(form, same, len(used))
            return []
        if known.same == same:
            if len(used) < known.rules:
                self.known[to] = _Known(form, same, len(used))
            return []
        return list({**dict.fromkeys(used), **dict.fromkeys(self.rules.applied(known.form)[1])})


def _forms(pages: Iterable[Page]) -> Iterator[tuple[Form, int]]:
    for page in pages:
        form = form_of(page.url)
        if form is not None:
            yield form, page.same
