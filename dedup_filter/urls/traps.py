"""Verdicts of a crawl -> traps: parts of a site whose pages are hardly ever new.

A calendar, facets and archives have endless URLs. If rules cannot make such URLs equal, a trap is
recognized by its place: all URLs below a path, or all URLs with a parameter.

    add_verdict(url)  a page was judged: a part becomes a trap, or a trap is freed
    saving_for(url)   the trap that a request goes into, and whether the request is an audit

Guarantees: a part becomes a trap after `LATEST` pages at the earliest. The first request into a
trap is made, then one of twenty. One page that is no duplicate frees the part, and its pages are
counted from the beginning.

Cost: 5 us a page or request; 200 bytes a part, for the 20,000 parts seen last.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from dedup_filter.urls.live import Reason, Saving
from dedup_filter.urls.rule import Form, form_of

LATEST, MOST_NEW = 50, 2
"""A part is a trap if at most `MOST_NEW` of its `LATEST` pages are no duplicates."""
_ONE_OF = 20
_MOST_PARTS = 20_000
_DEEPEST = 8
"""Segments of the longest path that can be a part."""


class Part(NamedTuple):
    """A part of a site: all URLs below a path, or all URLs with a parameter."""

    origin: str
    kind: str
    """ "path" or "parameter"."""
    name: str

    @property
    def meaning(self) -> str:
        """Describe the part. The site's text in it is not escaped for a terminal."""
        return f"{self.origin}{self.name if self.kind == 'path' else f' with {self.name}=...'}"


@dataclass
class _Counts:
    new: int = 0
    """One bit for each of the `LATEST` pages: 1 if the page was no duplicate."""
    pages: int = 0
    uses: int = 0
    """Requests into the part since it became a trap."""


class Traps:
    """The traps of one crawl."""

    def __init__(self, parts: Iterable[Part] = ()) -> None:
        """Begin with parts that were traps before."""
        self._parts: OrderedDict[Part, _Counts] = OrderedDict()
        self._traps = {part: _Counts() for part in parts}

    @property
    def active(self) -> list[Part]:
        """The parts that are traps at present."""
        return [*self._traps]

    def add_verdict(self, url: str, *, is_duplicate: bool) -> tuple[list[Part], list[Part]]:
        """Add the verdict on a page; return the parts that become traps, and the freed traps."""
        form = form_of(url)
        made: list[Part] = []
        freed: list[Part] = []
        for part in () if form is None else _parts(form):
            if not is_duplicate and self._traps.pop(part, None) is not None:
                freed.append(part)
                self._parts.pop(part, None)
            counts = self._parts.setdefault(part, _Counts())
            self._parts.move_to_end(part)
            counts.new = (counts.new << 1 | (not is_duplicate)) & ((1 << LATEST) - 1)
            counts.pages += 1
            is_trap = counts.pages >= LATEST and counts.new.bit_count() <= MOST_NEW
            if is_trap and is_duplicate and part not in self._traps:
                self._traps[part] = counts
                made.append(part)
        while len(self._parts) > _MOST_PARTS:
            self._parts.popitem(last=False)
        return made, freed

    def forget(self, origins: Collection[str]) -> bool:
        """Forget the parts of some origins; return whether a trap is freed."""
        freed = [part for part in self._traps if part.origin in origins]
        for part in freed:
            del self._traps[part]
        for part in [part for part in self._parts if part.origin in origins]:
            del self._parts[part]
        return bool(freed)

    def saving_for(self, url: str) -> Saving | None:
        """Return the smallest trap that a request goes into; None: there is none."""
        form = form_of(url) if self._traps else None
        for part in () if form is None else _parts(form):
            counts = self._traps.get(part)
            if counts is not None:
                counts.uses += 1
                return Saving((part,), counts.uses % _ONE_OF == 1)
        return None


def parts_in(reasons: Iterable[Reason]) -> Iterator[Part]:
    """Yield the traps among the reasons for which requests are held back."""
    for origin, kind, what in reasons:
        if isinstance(what, str):
            yield Part(origin, kind, what)


def _parts(form: Form) -> Iterator[Part]:
    """Yield the parts of a site that contain a URL, smallest first; the site itself is no part."""
    for depth in range(min(len(form.segments) - 1, _DEEPEST), 0, -1):
        yield Part(form.origin, "path", f"/{'/'.join(form.segments[:depth])}/")
    for name in sorted({name for name, _ in form.parameters}):
        yield Part(form.origin, "parameter", name)
