"""Verdicts of a crawl -> warnings about hosts and templates, and hints which lines keep copies.

Warnings come at once. They name pages at which a person should look. Counted are the last pages of
each host, and of each template, the URLs of one pattern. Each host or template gets a warning once;
the log names the first of each kind, and further ones are only counted.

    mostly_dropped   over .8 of a template's last pages repeat others, and these are few
    one_original     over .8 of a host's last pages repeat the same page, and no template is named
    unjudged         over .2 of a host's last pages are unjudged for the same reason

A template that loses its pages is told from copies that a crawl is meant to drop:

    mirrors          each page repeats a page of its own: the originals are as many as the pages.
                     Of different pages that are taken for one, many repeat the same original. So
                     nothing is said of a mirror: to drop it is what its user wants, and the log
                     has a line for each page.
    session ids      not counted is a page at another spelling or view of the URL of its original
                     (`kinship`), a page that names that URL as canonical, and an equal page whose
                     URL differs only in parts that look like ids.
    revisits         repeat no other page.

Hints come at the end of the crawl, when the number of pages is known:

    a near page that is new only for lines or short paragraphs that its nearest page lacks
    -> the elements with these, counted by host, selector and text with masked numbers
    -> without a selector, the lines, likewise
    -> the most frequent: a text whose numbers change, or an element with many texts

A page is counted only if it would repeat its nearest page without the lines. (Nearly always:
without an element, the frame and the main text may change, too.)

Memory and cost are bounded. Warnings: the hosts and templates seen last are counted, with 2 KB each
at most, 10 us a page. Hints: 3 ms and at most 0.5 KB a counted page (see `ignorable`), up to a
bound for each host and for the crawl; pages beyond the bound are not counted, and other pages cost
nothing.
"""

import re
from collections import Counter, OrderedDict, deque
from collections.abc import Sequence
from math import ceil
from shlex import quote
from typing import NamedTuple

from dedup_filter.model import Refusal, Verdict
from dedup_filter.review.refusals import UNLESS, Ignorable, ignorable
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import ONE_PAGE, host_of, kinship, patterns
from dedup_filter.wording import counted, printable

MOST_GROUPS = 6_000
"""Hosts and templates that are counted at a time."""
MOST_NAMED = 20
"""Hosts or templates that the log names for each kind of warning."""
LAST_PAGES, LEAST_PAGES = 50, 20
"""Pages of a host or a template that are looked at, and the fewest that give a warning."""
NEARLY_ALL, MANY_UNJUDGED = 0.8, 0.2
"""Shares of these pages above which there is a warning."""
_LONGEST = 500
"""Characters of a URL, a host or a template in a message."""
MANY = 5
"""Pages needed for a hint, with one text except for its numbers, or each with another text of an
element. Their lines may be content (one chair in five sizes)."""
MOST_HINTS = 3
"""Hints of a crawl. The user has to consider each; the next crawl gives the remaining hints."""
MOST_OF_HOST, MOST_OF_CRAWL = 1_000, 20_000
"""Pages examined of a host and of a crawl. More pages of a host add nothing; 20,000 pages take a
minute."""
_LONGEST_LINE = 60
"""Characters of a line in a message."""
_LONGEST_HOST = 255
"""Most characters of a host by the rules of DNS."""
_NUMBER = re.compile(r"[A-Za-z]*\d[A-Za-z\d.,:]*")
_ID = re.compile(r"(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{8,}", re.IGNORECASE)
"""A part of a URL that may be the id of a visitor: letters and digits."""

_LOST = (
    "{count} of the last {last} pages of {name} repeat another: {original} and {url}{advice}; see: "
    "{command}"
)
_ONE = (
    ". All repeat the first, so look at some in a browser. If they show a consent form, a login, "
    "an error or a request to wait, the site holds its pages back: give it what it needs, or slow "
    "down (DOWNLOAD_DELAY). If they differ, scripts load the difference: have the pages rendered "
    "(scrapy-playwright)"
)
"""What is said, too, if pages repeat one page."""
TEXTS = {
    "one_original": _LOST,
    "mostly_dropped": _LOST,
    "unjudged": "{count} of the last {last} pages of {name} {advice}",
}
"""The log's messages by kind of warning."""

_FIELDS = "name the item fields that hold text (DEDUP_TEXT_FIELDS)"
UNJUDGED = {
    "by_script": "are made by scripts, and kept unjudged (by_script): have them rendered "
    f"(scrapy-playwright), or {_FIELDS}",
    "no_text": "have no text, and are kept unjudged (no_text): if a browser shows text, have them "
    f"rendered (scrapy-playwright), or {_FIELDS}",
    "too_short": "have no text of 20 words, and are dropped only for equal pages (too_short): "
    f"if items have more text, {_FIELDS}",
    "too_large": f"are too large to be read, and kept unjudged (too_large): {_FIELDS}",
    "too_slow": f"took too long to be read, and are kept unjudged (too_slow): {_FIELDS}",
    "binary": "are files, and kept unjudged (binary): have equal files dropped (DEDUP_PAYLOADS), "
    f"or {_FIELDS}",
    "not_html": f"are no HTML, and kept unjudged (not_html): {_FIELDS}",
    "no_response": f"have no response, and are kept unjudged (no_response): {_FIELDS}",
    "other_page": "gave items of the pages that led to them, which are kept unjudged (other_page): "
    "give such an item the HTML of its page in a field, or "
    f"{_FIELDS}",
    "pending": "repeat pages that were pending for a minute, and are kept unjudged (pending): "
    "later pipelines must be quicker",
}
"""Why pages are unjudged, and what can be done. The log names item fields without text and faults
by other messages."""

_Key = tuple[str, ...]
"""Host, selector or "", and the texts of the elements, or the lines, with masked numbers."""
_Mark = int | str
"""What a page counts for: the number of its original, the reason why it is unjudged, or 0."""


class Warned(NamedTuple):
    """A host or a template that gets a warning."""

    kind: str
    text: str | None
    """The message for the log; None: the log has named enough of this kind."""


class _Due(NamedTuple):
    """A warning that the last pages of a host or a template call for."""

    kind: str
    name: str
    """Of the host or the template."""
    pages: int
    """Pages that the warning is about."""
    last: int
    """Pages that were looked at."""
    advice: str
    reason: str = ""
    """Why they are unjudged."""


class Watch:
    """Count the verdicts of a crawl by host and by template.

    `index`: the folder of an index that keeps the text of its pages, for the command in a message.
    """

    def __init__(self, index: str | None = None) -> None:
        self._command = "dedup-filter compare" + (f" --index {_quoted(index)}" if index else "")
        self._last: OrderedDict[str, deque[_Mark]] = OrderedDict()
        """The last pages of each host or template; the one seen longest ago comes first."""
        self._warned: set[tuple[str, str]] = set()
        """Hosts and templates that have had a warning, with the reason or ""."""
        self._counts = Counter[str]()
        """Warnings by kind."""

    def __len__(self) -> int:
        return len(self._last)

    def see(self, url: str, verdict: Verdict) -> list[Warned]:
        """Count a page; return the warnings that are due now.

        Pages without a URL or a host are not counted: no person could look at them.
        """
        host = host_of(url) if url else ""
        if not host:
            return []
        original = (verdict.original_page or 0) if _repeats_another(url, verdict) else 0
        is_unjudged = verdict.outcome == "unjudged" and verdict.reason in UNJUDGED
        due, templates = list[_Due](), patterns(url)
        for template in templates:
            mark = 0 if _differs_by_ids(url, verdict) else original
            due += _of_template(template, self._with(template, mark))
        due += _of_host(host, self._with(host, str(verdict.reason) if is_unjudged else original))
        return [
            self._warned_of(each, url, verdict)
            for each in due
            if self._is_first(each, {host, *templates})
        ]

    def _with(self, name: str, mark: _Mark) -> deque[_Mark]:
        """Add a page to the last pages of a host or a template, and return these."""
        last = self._last.setdefault(name, deque(maxlen=LAST_PAGES))
        self._last.move_to_end(name)
        if len(self._last) > MOST_GROUPS:
            self._last.popitem(last=False)
        last.append(mark)
        return last

    def _is_first(self, due: _Due, names: set[str]) -> bool:
        """Return whether a warning is due for the first time, and note it.

        `names`: the host and the templates of the page. Dropped pages are named once: as pages of
        the host or of a template.
        """
        alike = {due.name} if due.reason else names
        if any((name, due.reason) in self._warned for name in alike):
            return False
        self._warned.add((due.name, due.reason))
        return True

    def _warned_of(self, due: _Due, url: str, verdict: Verdict) -> Warned:
        self._counts[due.kind] += 1
        if self._counts[due.kind] > MOST_NAMED:
            return Warned(due.kind, None)
        original = verdict.original or ""
        text = TEXTS[due.kind].format(
            name=_shown(due.name),
            count=due.pages,
            last=due.last,
            advice=due.advice,
            original=_shown(original),
            url=_shown(url),
            command=f"{self._command} {_quoted(original)} {_quoted(url)}",
        )
        is_last = self._counts[due.kind] == MOST_NAMED
        return Warned(due.kind, f"{text} (more of this kind are only counted)" if is_last else text)


def _of_host(host: str, last: deque[_Mark]) -> list[_Due]:
    mark = last[-1]
    if len(last) < LEAST_PAGES or not mark:
        return []
    count = last.count(mark)
    if isinstance(mark, str):
        is_due = count > MANY_UNJUDGED * len(last)
        return [_Due("unjudged", host, count, len(last), UNJUDGED[mark], mark)] if is_due else []
    is_due = count > NEARLY_ALL * len(last)
    return [_Due("one_original", host, count, len(last), _ONE)] if is_due else []


def _of_template(template: str, last: deque[_Mark]) -> list[_Due]:
    count, originals = len(last) - last.count(0), {*last} - {0}
    if len(last) < LEAST_PAGES or not last[-1] or count <= NEARLY_ALL * len(last):
        return []
    are_few = len(originals) < (1 - NEARLY_ALL) * len(last)
    advice = _ONE if len(originals) == 1 else ""
    return [_Due("mostly_dropped", template, count, len(last), advice)] if are_few else []


def _repeats_another(url: str, verdict: Verdict) -> bool:
    """Return whether a page is a duplicate of a page whose URL stands for another page.

    If the page names a canonical URL, its arguments and those of the original do not count.
    """
    if not verdict.is_duplicate or verdict.reason == "canonical":
        return False
    original = verdict.original or ""
    if kinship(url, original) in ONE_PAGE:
        return False
    named = verdict.canonical
    return named is None or kinship(_without_query(named), _without_query(original)) not in ONE_PAGE


def _without_query(url: str) -> str:
    return url.partition("?")[0]


def _differs_by_ids(url: str, verdict: Verdict) -> bool:
    """Return whether a page equals its original, and their URLs differ in what may be ids alone.

    The last segment of the path is no such part: it may be the id of a page.
    """
    return verdict.outcome == "exact" and _without_ids(url) == _without_ids(verdict.original or "")


def _without_ids(url: str) -> tuple[str, str, str]:
    path, _, query = url.partition("?")
    folders, _, page = path.rpartition("/")
    return _ID.sub("", folders), page, _ID.sub("", query)


def _shown(text: str) -> str:
    return printable(text, _LONGEST)


def _quoted(text: str) -> str:
    """Write a word of a command, for a shell and escaped for a log."""
    return quote(printable(text))


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
