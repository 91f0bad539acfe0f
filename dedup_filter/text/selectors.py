"""CSS selectors of a user, by host -> the tree of a page without the elements they leave out.

    ignore     matching elements are removed, as if they were not on the page
    content    only matching elements stay, in page order, and the titles of the page

A selector is CSS as in Scrapy's `response.css`, without `::text` and `::attr()`. A host's name
stands for its subdomains, too. If several names fit, only the longest counts; `ANY_HOST` stands for
all hosts that no other name fits.

Guarantee: an invalid selector is refused before any page is read; no page raises.

Cost: nothing without selectors; else 0.1 ms for a page of 800 elements for each selector by tag,
0.3 ms by class or id; 0.4 ms more to copy a page that is given as a tree.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple, cast

from cssselect import HTMLTranslator, SelectorError, parse
from cssselect.xpath import ExpressionError, XPathExpr
from lxml import etree

from dedup_filter.errors import ConfigError
from dedup_filter.text.url_pattern import ANY_HOST, host_in_urls, is_host, names_of
from dedup_filter.wording import printable

MOST_CHARACTERS = 10_000
"""Characters of the selectors of a host: each selector is searched on every page."""
_LONGEST_SHOWN = 60
_GONE = "dedup-ignored"
"""The tag name that elements get before they are removed: no page that is read has it."""

Effect = Literal["ignored", "content", "no_content", "nothing_left"]
"""The effects of selectors on a page:

    ignored       elements were removed
    content       the content was found, and all other elements were left out
    no_content    no content was found: the page stays as it is, without ignored elements
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
        """Read and check the options of a user.

        Raises:
            ConfigError: an option has another form, or a selector is invalid. The message begins
                with "ignore" or "content".
        """
        return cls(_by_host("ignore", ignore), _by_host("content", content))

    def of(self, host: str) -> Selectors | None:
        """Return the selectors for the pages of a host, which may have a port; None for none."""
        found = Selectors(_of_host(self.ignore, host), _of_host(self.content, host))
        return found if any(found) else None


class _Translator(HTMLTranslator):
    """Refuses prefixes of namespaces, which no page declares for a selector."""

    def xpath(self, parsed_selector: Any) -> XPathExpr:
        if namespace := getattr(parsed_selector, "namespace", None):
            raise ExpressionError(f"there is no namespace {namespace}")
        return super().xpath(parsed_selector)


def select(root: etree._Element, selectors: Selectors) -> tuple[Effect, ...]:
    """Remove from a tree, in place, the elements that selectors leave out.

    The root always stays; if it is ignored, it is emptied. With content, titles and bases stay.
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
            inside = {each for element in content for each in element.iter("title", "base")}
            kept = [*(each for each in root.iter("title", "base") if each not in inside), *content]
            for element in kept:
                element.tail = None
            root.text = None
            root[:] = kept
    return tuple(effects)


def taken_out(root: etree._Element, selectors: Selectors) -> Iterator[tuple[str, str]]:
    """Do as `select`, and yield the removed parts: a selector, and the text that it matches.

    The text outside the content comes last, without a selector.
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
    """Return the elements that match any of some selectors, in page order."""
    return cast("list[etree._Element]", _compiled(selectors)(root))


@lru_cache(maxsize=1024)
def _compiled(selectors: tuple[str, ...]) -> etree.XPath:
    return etree.XPath(" | ".join(map(_as_xpath, selectors)))


@cache  # its depth of recursion depends on the caller: a checked selector is not translated again
def _as_xpath(selector: str) -> str:
    return _Translator().css_to_xpath(selector)


def _outermost(found: Sequence[etree._Element]) -> list[etree._Element]:
    """Leave out elements that are within others; `found` is in page order."""
    outermost, inside = [], set[etree._Element]()
    for element in found:
        if element not in inside:
            outermost.append(element)
            if len(found) > 1:
                inside.update(element.iter())
    return outermost


def _text(element: etree._Element) -> str:
    return " ".join(" ".join(cast("list[str]", element.xpath("descendant::text()"))).split())


def _by_host(name: str, given: Any) -> _ByHost:
    by_host = given if isinstance(given, dict) else {ANY_HOST: given}
    read: dict[str, tuple[str, ...]] = {}
    for host, selectors in by_host.items():
        if not is_host(host):
            raise ConfigError(
                f"{name} must have hosts such as example.com, or {ANY_HOST!r}, not "
                f"{printable(repr(host), _LONGEST_SHOWN)}"
            )
        read[host_in_urls(host)] = _checked(name, selectors)
    return read if any(read.values()) else {}


def _checked(name: str, given: Any) -> tuple[str, ...]:
    """Return the selectors given for a host; none for None and for an empty text."""
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
        shown, reason = (printable(part, _LONGEST_SHOWN) for part in (repr(selector), str(error)))
        raise ConfigError(f"{name} has no CSS selector in {shown}: {reason}") from None


def _of_host(by_host: _ByHost, host: str) -> tuple[str, ...]:
    """Return the selectors for a host: the selectors of the longest name that stands for it."""
    return next((by_host[name] for name in names_of(host) if name in by_host), ())
