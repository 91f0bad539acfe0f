"""CSS selectors of a user, by host -> the tree of a page without what they leave out.

    ignore     what it matches is taken out, as if it were not on the page
    content    what it matches is all that stays, in page order; so do the titles of the page

A selector is CSS as in Scrapy's `response.css`, without `::text` and `::attr()`. Those of a host
are one text or a list of texts, for the pages of all hosts; or a dict of these by host. A host's
name stands for its subdomains, too. Of several names that fit, the longest alone counts; `ANY_HOST`
stands for all hosts that no other name fits.

Guarantee: a selector that is none is refused before any page is read; no page raises.

Cost: nothing without selectors; else 0.1 ms for a page of 800 elements for each selector by tag,
0.3 ms by class or id; 0.4 ms more for a page that is given as a tree, of which a copy is made.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple, cast

from cssselect import HTMLTranslator, SelectorError, parse
from cssselect.xpath import ExpressionError, XPathExpr
from lxml import etree

from dedup_filter.errors import ConfigError
from dedup_filter.wording import printable

ANY_HOST = "*"
MOST_CHARACTERS = 10_000
"""Of the selectors of a host: each is looked for on every page."""
_HOST = re.compile(r"\*|(?:[^\s/:@?#*\[\].]+(?:\.[^\s/:@?#*\[\].]+)*|\[[0-9a-f:.]+\])(?::\d+)?")
_PORT = re.compile(r":\d+$")
_LONGEST_SHOWN = 60
_GONE = "dedup-ignored"
"""The name that elements get which are taken out: no page is read that has it still."""

Effect = Literal["ignored", "content", "no_content", "nothing_left"]
"""What selectors have done to a page:

    ignored       something was taken out
    content       the content was found, and all else left out
    no_content    no content was found: the page stays as it is, without what is ignored
    nothing_left  no text would be left, so the page is judged as if there were no selectors
"""
_ByHost = Mapping[str, tuple[str, ...]]


class Selectors(NamedTuple):
    """The selectors for the pages of a host."""

    ignore: tuple[str, ...] = ()
    content: tuple[str, ...] = ()


class SiteSelectors(NamedTuple):
    """The selectors of all hosts."""

    ignore: _ByHost
    content: _ByHost

    @classmethod
    def read(cls, ignore: Any, content: Any) -> "SiteSelectors":
        """Read and check what a user gives.

        Raises:
            ConfigError: it is of another form, or a selector is none. The message begins with
                "ignore" or "content".
        """
        return cls(_by_host("ignore", ignore), _by_host("content", content))

    def of(self, host: str) -> Selectors | None:
        """Return those for the pages of a host, which may have a port; None for none."""
        if not (self.ignore or self.content):
            return None
        found = Selectors(_of_host(self.ignore, host), _of_host(self.content, host))
        return found if any(found) else None


class _Translator(HTMLTranslator):
    """Refuses prefixes of namespaces, which no page declares for a selector."""

    def xpath_element(self, selector: Any) -> XPathExpr:
        if selector.namespace:
            raise ExpressionError(f"there is no namespace {selector.namespace}")
        return super().xpath_element(selector)

    def xpath_attrib(self, selector: Any) -> XPathExpr:
        if selector.namespace:
            raise ExpressionError(f"there is no namespace {selector.namespace}")
        return super().xpath_attrib(selector)


def select(root: etree._Element, selectors: Selectors) -> tuple[Effect, ...]:
    """Take out of a tree, which is changed, what selectors leave out.

    The root stays whatever matches it; if it is ignored, nothing stays in it.
    """
    effects: list[Effect] = []
    if selectors.ignore and (ignored := _found(root, selectors.ignore)):
        effects.append("ignored")
        if ignored[0] is root:
            root.clear()
        for element in ignored:
            element.tag = _GONE
        etree.strip_elements(root, _GONE, with_tail=False)
    if selectors.content:
        content = _outermost(_found(root, selectors.content))
        effects.append("content" if content else "no_content")
        if content and content[0] is not root:
            _keep_only(root, content)
    return tuple(effects)


def selected_copy(
    root: etree._Element, selectors: Selectors
) -> tuple[etree._Element, tuple[Effect, ...]]:
    """Do as `select` with a copy of a tree; return that, too."""
    copied = deepcopy(root)
    return copied, select(copied, selectors)


def taken_out(root: etree._Element, selectors: Selectors) -> Iterator[tuple[str, str]]:
    """Do as `select`, and yield what is taken out: a selector, and the text that it matches.

    What is outside the content comes last, without a selector.
    """
    by = {}
    for one in (each for text in selectors.ignore for each in parse(text)):
        path = etree.XPath(_Translator().selector_to_xpath(one))
        written = " ".join(one.canonical().split())  # versions of cssselect space it differently
        by.update(dict.fromkeys(cast("list[etree._Element]", path(root)), written))
    outermost = _outermost(_found(root, selectors.ignore)) if by else []
    yield from [(by[element], _text(element)) for element in outermost]
    select(root, selectors._replace(content=()))
    rest = deepcopy(root)
    if "content" in select(root, selectors._replace(ignore=())):
        select(rest, Selectors(ignore=(*selectors.content, "title")))
        yield "", _text(rest)


def _found(root: etree._Element, selectors: tuple[str, ...]) -> list[etree._Element]:
    """Return the elements that any of some selectors matches, in page order."""
    return cast("list[etree._Element]", _compiled(selectors)(root))


@lru_cache(maxsize=1024)
def _compiled(selectors: tuple[str, ...]) -> etree.XPath:
    return etree.XPath(" | ".join(map(_as_xpath, selectors)))


@cache  # how deep it can recurse depends on the caller: what was checked is not translated again
def _as_xpath(selector: str) -> str:
    return _Translator().css_to_xpath(selector)


def _outermost(found: Sequence[etree._Element]) -> list[etree._Element]:
    """Leave out elements that are within others; they come in page order."""
    outermost, inside = [], set[etree._Element]()
    for element in found:
        if element not in inside:
            outermost.append(element)
            if len(found) > 1:
                inside.update(element.iter())
    return outermost


def _keep_only(root: etree._Element, content: Sequence[etree._Element]) -> None:
    """Leave nothing in a tree but titles, bases and some elements, none of them within others."""
    inside = {each for element in content for each in element.iter("title", "base")}
    kept = [*(each for each in root.iter("title", "base") if each not in inside), *content]
    for element in kept:
        element.tail = None
    root.text = None
    root[:] = kept


def _text(element: etree._Element) -> str:
    return " ".join(" ".join(cast("list[str]", _texts(element))).split())


_texts = etree.XPath("descendant::text()")


def _by_host(name: str, given: Any) -> _ByHost:
    by_host = given if isinstance(given, dict) else {ANY_HOST: given}
    read: dict[str, tuple[str, ...]] = {}
    for host, selectors in by_host.items():
        if not isinstance(host, str) or not _HOST.fullmatch(host.lower()):
            raise ConfigError(
                f"{name} must have hosts such as example.com, or {ANY_HOST!r}, not "
                f"{printable(repr(host), _LONGEST_SHOWN)}"
            )
        read[_as_in_urls(host)] = _checked(name, selectors)
    return read if any(read.values()) else {}


def _checked(name: str, given: Any) -> tuple[str, ...]:
    """Return the selectors that are given for a host; none for None and for an empty text."""
    selectors = (given,) if isinstance(given, str) else given or ()
    if not isinstance(selectors, list | tuple) or not all(isinstance(e, str) for e in selectors):
        raise ConfigError(
            f"{name} must be CSS selectors: a text, a list of texts or a dict of these by host, "
            f"not {printable(repr(given), _LONGEST_SHOWN)}"
        )
    selectors = tuple(each for each in selectors if each.strip())
    if (length := sum(map(len, selectors))) > MOST_CHARACTERS:
        raise ConfigError(
            f"{name} has {length:,} characters of selectors for one host; at most "
            f"{MOST_CHARACTERS:,} can be looked for on every page"
        )
    for each in selectors:
        _require(name, each)
    return selectors


def _require(name: str, selector: str) -> None:
    try:
        _compiled((selector,))(etree.Element("html"))
    except (SelectorError, etree.XPathError, ValueError, RecursionError) as error:
        reason = printable(str(error), _LONGEST_SHOWN)
        shown = printable(repr(selector), _LONGEST_SHOWN)
        raise ConfigError(f"{name} has no CSS selector in {shown}: {reason}") from None


def _of_host(by_host: _ByHost, host: str) -> tuple[str, ...]:
    """Return the selectors for a host: those of the longest name that stands for it."""
    host = _as_in_urls(host)
    if host in by_host:
        return by_host[host]
    name = _PORT.sub("", host)
    while name and name not in by_host:
        name = name.partition(".")[2]
    return by_host.get(name or ANY_HOST, ())


def _as_in_urls(host: str) -> str:
    """Return the form of a host's name that URLs have."""
    try:
        return host.lower().encode("idna").decode() if not host.isascii() else host.lower()
    except UnicodeError:
        return host.lower()
