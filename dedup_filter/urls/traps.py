"""Pages as they are judged in a crawl -> parts of a site that bring hardly anything but duplicates.

A calendar, facets and endless archives have URLs without end. What rules cannot make equal is known
by where it lies: below a path, or by a parameter.

    saw(url)       a page was judged: it makes a trap, or frees what is held back by one
    saved_by(url)  the trap that a request goes into, and whether the request is made all the same

Guarantees: a trap has shown so many pages before anything is held back. The first request into it
is made, then one of twenty. One page that is no duplicate frees it; then it must be shown anew.

Cost: 5 us for a page or a request; 200 bytes for a part of a site, of the 20,000 seen last.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from dedup_filter.urls.live import Reason, Saving
from dedup_filter.urls.rule import Form, form_of

LATEST, MOST_NEW = 50, 2
"""Pages of a part that came last, and how many of them may be no duplicates: 95 % are."""
_ONE_OF = 20
_MOST_PARTS = 20_000
_DEEPEST = 8
"""Segments of a path that are looked at."""


class Part(NamedTuple):
    """A part of a site: what lies below a path, or has a parameter."""

    origin: str
    kind: str
    """ "path" or "parameter"."""
    name: str

    @property
    def meaning(self) -> str:
        """Say where it is; the site's words in it are not made fit for a terminal."""
        return f"{self.origin}{self.name if self.kind == 'path' else f' with {self.name}=...'}"


@dataclass
class _Shown:
    news: int = 0
    """One bit for each of the pages that came last: whether it was no duplicate."""
    pages: int = 0
    uses: int = 0
    """Requests into it, since it is a trap."""


class Traps:
    """The traps of one crawl."""

    def __init__(self, parts: Iterable[Part] = ()) -> None:
        """Begin with parts that were traps before."""
        self._shown: OrderedDict[Part, _Shown] = OrderedDict()
        self._traps = {part: _Shown() for part in parts}

    @property
    def active(self) -> list[Part]:
        """The parts of which hardly anything is requested."""
        return [*self._traps]

    def saw(self, url: str, *, is_duplicate: bool) -> tuple[list[Part], list[Part]]:
        """Note a page; return the traps that it makes, and those that it frees."""
        form = form_of(url)
        made: list[Part] = []
        freed: list[Part] = []
        for part in () if form is None else _parts(form):
            if not is_duplicate and self._traps.pop(part, None) is not None:
                freed.append(part)
                self._shown.pop(part, None)
            shown = self._shown.setdefault(part, _Shown())
            self._shown.move_to_end(part)
            shown.news = (shown.news << 1 | (not is_duplicate)) & ((1 << LATEST) - 1)
            shown.pages += 1
            is_trap = shown.pages >= LATEST and shown.news.bit_count() <= MOST_NEW
            if is_trap and is_duplicate and part not in self._traps:
                self._traps[part] = shown
                made.append(part)
        while len(self._shown) > _MOST_PARTS:
            self._shown.popitem(last=False)
        return made, freed

    def forget(self, origins: Collection[str]) -> bool:
        """Forget what was seen at some origins; return whether that frees a trap."""
        freed = [part for part in self._traps if part.origin in origins]
        for part in freed:
            del self._traps[part]
        for part in [part for part in self._shown if part.origin in origins]:
            del self._shown[part]
        return bool(freed)

    def saved_by(self, url: str) -> Saving | None:
        """Return the smallest trap that a request goes into; None: it goes into none."""
        form = form_of(url) if self._traps else None
        for part in () if form is None else _parts(form):
            shown = self._traps.get(part)
            if shown is not None:
                shown.uses += 1
                return Saving((part,), shown.uses % _ONE_OF == 1)
        return None


def parts_in(reasons: Iterable[Reason]) -> Iterator[Part]:
    """Yield the traps among the reasons for which requests are held back."""
    for origin, kind, what in reasons:
        if isinstance(what, str):
            yield Part(origin, kind, what)


def _parts(form: Form) -> Iterator[Part]:
    """Yield the parts of a site that a URL lies in, the smallest first; the site itself is none."""
    for depth in range(min(len(form.segments) - 1, _DEEPEST), 0, -1):
        yield Part(form.origin, "path", f"/{'/'.join(form.segments[:depth])}/")
    for name in sorted({name for name, _ in form.parameters}):
        yield Part(form.origin, "parameter", name)
