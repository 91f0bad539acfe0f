"""Headline of a page (its h1 and title) -> whether two pages have the same headline.

The headline of a page is the last h1 that other pages of the host do not share; if there is none,
the parts of the title that they do not share ("git-diff" of "git-diff - Git manual"); if there are
no such parts either, the part that fewest pages show. Two pages of one host with different
headlines are different pages, however alike their texts are: the manual pages of two commands, two
releases, two products.

A section number in front may be missing. The end may be missing where the page shows that it was
cut off: by an ellipsis ("A long story about the se…"), or by another headline of the same page that
goes on. On one host, two numbers are two headlines ("3.37.1 released", "3.37.2 released"). On two
hosts, two editions of a manual may number their sections differently.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import xxhash

from dedup_filter.text.plain_text import is_spaced, normalize, without_unseen
from dedup_filter.thresholds import FRAME_TIMES

MOST_OF_HEADLINE = 200
"""Characters of an h1 or a title that are kept."""
_BETWEEN_PARTS = re.compile(
    r"\s+(?:[-\u2010-\u2015:/<>\u00b7\u2022~]|::|>>|<<)\s+|\s*[|\uff5c\u00bb\u00ab]+\s*"
    # Chinese and Japanese titles have no spaces around separators.
    r"|(?<=[\u2e80-\uffef])\s*[-_\u2010-\u2015]+\s*|\s*[-_\u2010-\u2015]+\s*(?=[\u2e80-\uffef])"
)
_NAME, _VERSION = r"[^\W\d][\w.+# -]{0,40}?", r"\s+v?\d[\w.+-]*"
_TOOL = re.compile(
    rf"(?P<tool>\b(?:by|with|using)\s+{_NAME}){_VERSION}$"
    rf"|(?P<manual>\b{_NAME}){_VERSION}(?=(?::\s[\w ]{{1,40}}?)?"
    r"\s+(?:documentation|dokumentation|documentación|docs|manual"
    r"|handbuch|reference|api|文档|文件|說明文件|ドキュメント)\b)",
    re.IGNORECASE,
)
"""The version of the tool that has made a page, or of the manual that it belongs to."""

Counts = Sequence[Mapping[int, int]]
"""Of a host, and of others with its menus: `part_hash` of an h1 or of a part of a title -> how many
earlier pages were headed by it."""


_SECTION = re.compile(
    r"(?:(?:chapter|section|part|appendix|§)\s*[\w.]{1,12}[.:)]?|(?:\d+|[a-z])(?:[.]\d+)+[.:)]?|\d+[.:)])"
    r"\s+(?=\D)"
)
_AT_END, _ELLIPSIS = ". ", ".."
"""What may follow a normalised headline, and what shows that its end was cut off."""


# The headline of a page is compared with the headline of each candidate.
_normal = lru_cache(maxsize=1024)(normalize)


def title_parts(title: str) -> list[str]:
    """Return the parts of a title, such as the page's name and the site's name.

    In all but the first, a tool or a manual is named without its version: with each release the
    same page has another title. The first part may be about the release.
    """
    parts = [part for part in map(str.strip, _BETWEEN_PARTS.split(title)) if part]
    return [*parts[:1], *(_TOOL.sub(r"\g<tool>\g<manual>", part) for part in parts[1:])]


@lru_cache(maxsize=1024)
def part_hash(part: str) -> int:
    """Return 64 bits that identify an h1 or a part of a title.

    They differ from the hash of a block with the same text: the links of a menu have the headlines
    of other pages.
    """
    titled = f"\0title\0{without_unseen(part[:MOST_OF_HEADLINE])}"
    return xxhash.xxh3_64_intdigest(titled.encode("utf-8", "surrogatepass"))


def times_headed(part: str, counts: Counts) -> int:
    """Count the earlier pages that were headed by an h1, or by a part of a title."""
    return max([each.get(part_hash(part), 0) for each in counts], default=0)


class Headline(NamedTuple):
    """The h1 and the title of a page as written, at most `MOST_OF_HEADLINE` characters each."""

    h1: str = ""
    title: str = ""

    def parts(self, counts: Counts) -> tuple[str, ...]:
        """Return, normalised, the h1 or else the title's parts that other pages do not share.

        If there is no such part: the part that fewest pages show.
        """
        if self.has_own_h1(counts):
            return (_normal(self.h1),)
        written = [part for part in (*title_parts(self.title), self.h1) if part]
        own = [part for part in title_parts(self.title) if times_headed(part, counts) < FRAME_TIMES]
        rarest = sorted(written, key=partial(times_headed, counts=counts))[:1]
        return tuple(filter(None, map(_normal, own or rarest)))

    def has_own_h1(self, counts: Counts) -> bool:
        """Return whether there is an h1 that other pages do not share."""
        return bool(self.h1) and times_headed(self.h1, counts) < FRAME_TIMES

    def everything(self) -> tuple[str, ...]:
        """Return, normalised, the h1 and all parts of the title.

        A part that was cut off is left out if it stands there in full, too.
        """
        parts = [*filter(None, map(_normal, (self.h1, *title_parts(self.title))))]
        cut = {part for part in parts if part.endswith(_ELLIPSIS) and _is_begun(part, parts)}
        return tuple(part for part in parts if part not in cut)

    def is_made_of(self, text: str) -> bool:
        """Return whether a block of text is this h1."""
        return bool(self.h1) and text[:MOST_OF_HEADLINE] == self.h1


def canonical_marks(url_key: int, headline: Headline) -> tuple[str, str]:
    """Return texts under which pages that name a canonical URL are counted like headlines.

    The first counts all these pages, the second those with this headline.
    """
    mark = f"\0canonical\0{url_key:x}"
    return mark, f"{mark} {headline.h1 or headline.title}"


def is_headed_alike(
    page: Headline, original: Headline, counts: Counts, *, with_title: bool = True
) -> bool:
    """Return whether a page of the same host has each part of a page's headline.

    If there is no headline, every page has it. `with_title`: below one h1, too, titles that other
    pages do not share are compared.
    """
    theirs = original.parts(counts)
    own = page.parts(counts)
    if with_title and page.title != original.title and page.has_own_h1(counts):
        of_title = (part for part in title_parts(page.title) if not times_headed(part, counts))
        beside = (part for part in map(_normal, of_title) if not _is_begun(part, own))
        own, theirs = (*own, *beside), (*theirs, *original.everything())
    if not (page.has_own_h1(counts) and original.has_own_h1(counts)):
        # The h1 of one page may be in the title of the other.
        theirs = (*theirs, *original.everything())
    return all(any(is_same(part, each) for each in theirs) for part in own)


def shares_words(h1: str, title: str) -> bool:
    """Return whether an h1 shares a word with the title, or there is no title.

    In scripts without spaces one character is enough. The h1 of a frame ("Our partners") has none.
    """
    texts = normalize(h1), normalize(title)
    words = [set(text.split() if is_spaced(text) else text) for text in texts]
    return not title or bool(words[0] & words[1])


def headlines(headline: Headline, counts: Counts) -> set[str]:
    """Return, normalised, the texts that may be a page's headline.

    They are the page's own h1, and the longest part of its title unless the title has the h1, too.
    """
    heads = {*headline.parts(counts)[:1]}
    if headline.has_own_h1(counts) and is_within(_normal(headline.h1), _normal(headline.title)):
        return heads
    of_title = Headline(title=headline.title).parts(counts)
    return {*heads, *sorted(of_title, key=len)[-1:]}


def is_within(short: str, long: str) -> bool:
    """Return whether a headline stands in another as whole words, or begins it."""
    at = long.find(short)
    while at > 0:
        end = at + len(short)
        if not (
            _is_one_word(long[at - 1], short[0])
            or (end < len(long) and _is_one_word(short[-1], long[end]))
        ):
            return True
        at = long.find(short, at + 1)
    return at == 0


def _is_one_word(one: str, other: str) -> bool:
    """Return whether adjacent characters are in one word; scripts without spaces have no words."""
    return one.isalnum() and other.isalnum() and is_spaced(one + other)


def without_section(part: str) -> str:
    """Return a headline without the number of its section."""
    section = _SECTION.match(part)
    return part[section.end() :] if section else part


def is_same(one: str, other: str) -> bool:
    """Return whether two headlines differ at most in a section number or a cut-off end."""
    if one == other or without_section(one) == other or one == without_section(other):
        return True
    if one.rstrip(_AT_END) == other.rstrip(_AT_END):
        return True
    both_ways = (one, other), (other, one)
    return any(cut.endswith(_ELLIPSIS) and _is_begun(cut, [full]) for cut, full in both_ways)


def _is_begun(part: str, others: Sequence[str]) -> bool:
    """Return whether a headline is the beginning of another one."""
    beginning = part.rstrip(_AT_END)
    return bool(beginning) and any(
        other.startswith(beginning) and other.rstrip(_AT_END) != beginning for other in others
    )
