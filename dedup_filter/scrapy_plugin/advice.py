"""Near pages of a crawl that are kept -> hints which elements or lines keep them.

They come at the end of the crawl, when the number of pages is known:

    a near page that is new only for lines or short paragraphs that its nearest page lacks
    -> the elements with these, counted by host, selector and text with masked numbers
    -> without a selector, the lines, likewise
    -> the most frequent: a text whose numbers change, or an element with many texts

A page is counted only if it would repeat its nearest page without the lines. (Nearly always:
without an element, the frame and the main text may change, too.)

Memory and cost are bounded: 3 ms and at most 0.5 KB a counted page (see `ignorable`), up to a bound
for each host and for the crawl. Pages beyond the bound are not counted, and other pages cost
nothing.
"""

import re
from collections import Counter
from collections.abc import Sequence
from math import ceil

from dedup_filter.model import Refusal
from dedup_filter.review.refusals import UNLESS, Ignorable, ignorable
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import host_of
from dedup_filter.wording import counted, printable

MANY = 5
"""Pages needed for a hint, with one text except for its numbers, or each with another text of an
element. Their lines may be content (one chair in five sizes)."""
MOST_HINTS = 3
"""Hints of a crawl. The user has to consider each; the next crawl gives the remaining hints."""
MOST_OF_HOST, MOST_OF_CRAWL = 1_000, 20_000
"""Pages examined of a host and of a crawl. More pages of a host add nothing; 20,000 pages take a
minute."""
_LONGEST, _LONGEST_LINE = 500, 60
"""Characters of a line that are compared, and that a message shows."""
_LONGEST_HOST = 255
"""Most characters of a host by the rules of DNS."""
_NUMBER = re.compile(r"[A-Za-z]*\d[A-Za-z\d.,:]*")

_Key = tuple[str, ...]
"""Host, selector or "", and the texts of the elements, or the lines, with masked numbers."""


class Hints:
    """Count the near pages of a crawl that are kept for lines alone."""

    def __init__(self) -> None:
        self._examined = Counter[str]()
        """Pages by host."""
        self._pages = Counter[_Key]()
        self._found: dict[_Key, list[Ignorable]] = {}
        """The elements of two of these pages whose texts differ, by host and selector."""
        self._lines: dict[_Key, Sequence[str]] = {}
        """The lines of the first of these pages, if no selector names them."""
        self._words = Counter[_Key]()
        """The most words that one of these pages has beyond its nearest page."""

    def see(self, url: str, refusal: Refusal, page: PageText) -> None:
        """Count a page, if its nearest page lacks lines alone; `refusal` names them."""
        host, lines = host_of(url), refusal.lines
        if not lines or not 0 < len(host) <= _LONGEST_HOST:
            return
        if self._examined[host] == MOST_OF_HOST or self._examined.total() >= MOST_OF_CRAWL:
            return
        self._examined[host] += 1
        found = ignorable(page, lines)
        if found is None:
            selector, texts = "", [line.text[:_LONGEST] for line in lines]
        else:
            selector, texts = found.selector, [text for _, text in found.elements]
        key = (host, selector, *(_NUMBER.sub("#", text) for text in texts))
        self._pages[key] += 1
        if found is None:
            self._lines.setdefault(key, texts)
            self._words[key] = max(self._words[key], ceil(refusal.words))
            return
        there = self._found.setdefault(key[:2], [])
        if found not in there and len(there) < 2:
            there.append(found)

    def messages(self) -> list[str]:
        """Return the messages for the log at the end of the crawl, one for host and selector."""
        places: dict[_Key, list[_Key]] = {}
        for key, _ in self._pages.most_common():
            places.setdefault(key[:2], []).append(key)
        hints = Counter[str]()
        for place, (most, *others) in places.items():
            texts = [most, *others] if place in self._found else [most]
            if self._pages[most] >= MANY or len(texts) >= MANY:
                hint, pages = self._hint(place, most), sum(self._pages[each] for each in texts)
                near = f"{counted(pages, 'near page')} of {printable(place[0])}"
                hints[f"{near} differ from an earlier one {hint}"] = pages
        return [hint for hint, _ in hints.most_common(MOST_HINTS)]

    def _hint(self, place: _Key, most: _Key) -> str:
        if place not in self._found:
            return _in_lines(self._lines[most], self._words[most])
        first, *others = self._found[place]
        return first.hint("them", *others)


def _in_lines(lines: Sequence[str], words: int) -> str:
    """Describe lines that are in no element with a name.

    >>> print(_in_lines(["Sold 1037 times"], 3))
    only in 'Sold 1037 times', in no element that an id or a class names: unless that \
text matters, as a price or a size does, DEDUP_MAX_MISSING = 3 would drop them, and other pages \
that differ in so few words
    """
    shown = " and ".join(repr(each[:_LONGEST_LINE]) for each in lines)
    return (
        f"only in {shown}, in no element that an id or a class names: {UNLESS} "
        f"DEDUP_MAX_MISSING = {words} would drop them, and other pages that differ in so few words"
    )
