"""Verdicts of a crawl -> rules -> requests whose page would repeat a kept page.

    add_verdict(url, same)   a page was judged: evidence for or against rules
    saving_for(url)          the rules by which a request would show a page that the crawl has kept
    mining() -> use_rules    look for rules in all pages so far, now and then

Guarantees: a request is saved only if a rule changes its URL and this crawl has kept the page at
the changed URL. Rules and pages of earlier crawls decide which pages are the same, never which
pages were seen. One contradiction retires a rule for the crawl. If it contradicts several rules
together, rules that hold for all pages so far may be found again. The first use of a rule, and then
a share of its uses, are audits: the request is made all the same.

Cost: 10 us a page, 10 us a request, 250 bytes a page and 1 KB a kept page. Mining is linear
(`mining`) and is repeated each time the pages have grown by half: 120 us a page.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from dedup_filter.urls.mining import Evidence, Page, Proven, mine
from dedup_filter.urls.rule import Form, Rule, Rules, form_of

_FIRST, _GROWTH = 30, 1.5
"""Pages at which rules are first looked for, and the growth of pages before each next time."""
_MOST_UNCONFIRMED = 5
"""A rule is forgotten after this many crawls in a row in which no page confirms it."""


Reason = tuple[str, str, str | tuple[str, ...]]
"""A rule, or a trap that a request goes into."""


class Saving(NamedTuple):
    """Why a request need not be made."""

    reasons: tuple[Reason, ...]
    is_audit: bool
    """Whether the request is made all the same, to check whether the rules still hold."""


class LiveRules:
    """The rules of one crawl, and the requests that they save.

    `inherited`: rules of earlier crawls. `audit`: share of uses that are audits, 0 to 1.
    """

    def __init__(self, inherited: Iterable[Proven] = (), audit: float = 0.02) -> None:
        self._inherited = dict(inherited)
        self._audit = audit
        self._found = _Found([Proven(*each) for each in self._inherited.items()])
        self._pages: list[Page] = []
        self._uses = Counter[Rule]()
        self._retired: set[Rule] = set()
        """Rules that a page contradicts, judged or unjudged."""
        self._kept: set[int] = set()
        """Numbers of pages whose content is kept in this crawl."""
        self._due: float = _FIRST
        self._mined = 0
        """Number of pages when rules were last looked for."""

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
        """Whether pages came after rules were last looked for."""
        return len(self._pages) > self._mined

    def saving_for(self, url: str) -> Saving | None:
        """Return why a request need not be made; None: it must be made."""
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
        """Return the number of the page at a URL by the latest verdict; None: not seen yet."""
        form = form_of(url)
        known = None if form is None else self._found.known.get(self._found.rules.applied(form)[0])
        return None if known is None else known.same

    def changes(self, url: str) -> bool:
        """Return whether a rule changes a URL."""
        form = form_of(url)
        return form is not None and bool(self._found.rules.applied(form)[1])

    def add_verdict(self, url: str, same: int | None, *, is_kept: bool = True) -> list[Rule]:
        """Add the verdict on a page; return the rules that it contradicts.

        `same`: a number, equal for pages that were judged the same. None: the page could not be
        judged and its items are kept, which contradicts rules by which it repeats another page.
        `is_kept`: this crawl keeps the page. Else the page repeats one of this or an earlier crawl.
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

    def use_rules(self, found: "_Found") -> tuple[list[Rule], list[Rule]]:
        """Use the rules that were found; return the new rules, and the rules that do not hold."""
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
        """Yield the rules with their evidence from all crawls; `is_over`: this crawl ends.

        Rules that `_MOST_UNCONFIRMED` crawls in a row did not confirm are left out.
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
        """Remove rules, and rules that do not hold without them; return all removed rules."""
        retired: list[Rule] = []
        while wrong:
            retired += wrong
            left = [proven for proven in self._found.proven if proven.rule not in wrong]
            self._found = _Found(left, (each[:2] for each in self._found.known.values()))
            # Later rules were proven for URLs as the removed rule had changed them.
            self._due = 0
            wrong = self._found.wrong
        return retired


class _Known(NamedTuple):
    """Of the pages whose URLs have one form after the rules, the one that fewest rules change."""

    form: Form
    """The form of its URL before the rules."""
    same: int
    rules: int
    """Rules that change its URL. If 0, a contradiction concerns only rules of the other page."""


class _Found:
    """Rules, and pages by the forms of their URLs after the rules."""

    def __init__(self, proven: list[Proven], pages: Iterable[tuple[Form, int]] = ()) -> None:
        self.proven = proven
        self.rules = Rules([rule for rule, _ in proven])
        self.known: dict[Form, _Known] = {}
        self.wrong: set[Rule] = set()
        """Rules that the pages contradict."""
        for form, same in pages:
            self.wrong.update(self.add(form, same))

    def add(self, form: Form, same: int | None) -> list[Rule]:
        """Add a page; return the rules that it contradicts. `same` None: it was not judged."""
        to, used = self.rules.applied(form)
        known = self.known.get(to)
        if known is None or known.form == form:  # the latest verdict on a URL counts
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
