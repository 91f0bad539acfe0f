"""Headline of a page (its h1 and title) -> whether two pages have the same.

    h1, title, how often the host shows them -> the parts of the headline, normalised

The headline of a page is the last h1 that other pages of the host do not share; if there is none,
the parts of the title that they do not share ("git-diff" of "git-diff - Git manual"); if there are
none of these either, the part that fewest pages show. Two pages of one host with different
headlines are different pages, however alike their texts are: the manual pages of two commands, two
releases, two products.

A section number in front may be missing, and so may the end of a headline of 40 characters or more
("A long story about the sea…"). On one host, two numbers are two headlines ("3.37.1 released",
"3.37.2 released"). On two hosts, two editions of a manual may number their sections differently.

Pure: what is known of the host comes as a function, which counts the pages that show something.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from dedup_filter.text.plain_text import normalize
from dedup_filter.text.reading import MOST_OF_HEADLINE, title_parts

TimesShown = Callable[[str], int]
"""A function: h1 or part of a title -> how many earlier pages of the host have shown it."""

_SHARED = 2
"""What so many pages of a host show, its pages share."""
_LEAST_CUT = 40
"""Characters from which the beginning of a headline counts as the whole."""
_SECTION = re.compile(
    r"(?:(?:chapter|section|part|appendix|§)\s*[\w.]{1,12}[.:)]?|(?:\d+|[a-z])(?:[.]\d+)+[.:)]?|\d+[.:)])"
    r"\s+(?=\D)"
)
_CUT_OFF = "….\u2025 "


class Headline(NamedTuple):
    """The h1 and the title of a page as written, at most `MOST_OF_HEADLINE` characters each."""

    h1: str = ""
    title: str = ""

    def parts(self, times_shown: TimesShown) -> tuple[str, ...]:
        """Return, normalised, the h1 or else the title's parts that other pages do not share.

        If there are none: the part that fewest pages show.
        """
        if self.has_own_h1(times_shown):
            return (normalize(self.h1),)
        written = [part for part in (*title_parts(self.title), self.h1) if part]
        own = [part for part in title_parts(self.title) if times_shown(part) < _SHARED]
        rarest = sorted(written, key=times_shown)[:1]
        return tuple(filter(None, map(normalize, own or rarest)))

    def has_own_h1(self, times_shown: TimesShown) -> bool:
        """Tell whether there is an h1 that other pages do not share."""
        return bool(self.h1) and times_shown(self.h1) < _SHARED

    def everything(self) -> tuple[str, ...]:
        """Return the h1 and all parts of the title, normalised."""
        return tuple(filter(None, map(normalize, (self.h1, *title_parts(self.title)))))

    def is_made_of(self, text: str) -> bool:
        """Tell whether a block of text is this h1."""
        return bool(self.h1) and text[:MOST_OF_HEADLINE] == self.h1


def is_headed_alike(page: Headline, original: Headline, times_shown: TimesShown) -> bool:
    """Tell whether a page of the same host has each part of a page's headline.

    So has any page if there is no headline.
    """
    theirs = original.parts(times_shown)
    if not (page.has_own_h1(times_shown) and original.has_own_h1(times_shown)):
        # The h1 of one page may be in the title of the other.
        theirs = (*theirs, *original.everything())
    return all(_is_among(part, theirs) for part in page.parts(times_shown))


def is_headed_as_elsewhere(page: Headline, original: Headline, times_shown: TimesShown) -> bool:
    """Tell whether a page of another host has the same headline.

    What the pages of another host share is not known, and their frame may have an h1 of its own. So
    it is enough if the h1 or the longest part of the title is there.
    """
    of_title = Headline(title=page.title).parts(times_shown)
    mine = [*page.parts(times_shown)[:1], *sorted(of_title, key=len)[-1:]]
    theirs = list(map(_without_section, original.everything()))
    return not mine or any(_is_among(_without_section(part), theirs) for part in mine)


def _is_among(part: str, others: Iterable[str]) -> bool:
    return any(_is_same(part, other) for other in others)


def _without_section(part: str) -> str:
    section = _SECTION.match(part)
    return part[section.end() :] if section else part


def _is_same(one: str, other: str) -> bool:
    if one == other or _without_section(one) == other or one == _without_section(other):
        return True
    short, long = sorted((one.rstrip(_CUT_OFF), other.rstrip(_CUT_OFF)), key=len)
    return short == long or (len(short) >= _LEAST_CUT and long.startswith(short))
