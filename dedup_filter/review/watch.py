"""Verdicts of a crawl, a scan or a stream of pages -> warnings about hosts and templates.

They name pages at which a person should look. Counted are the last pages of each host, and of each
template, the URLs of one pattern. Each host or template gets a warning once; the first of each kind
are named, and further ones are only counted.

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

Memory and cost are bounded: the hosts and templates seen last are counted, with 2 KB each at most,
10 us a page.
"""

import re
from collections import Counter, OrderedDict, deque
from shlex import quote
from typing import NamedTuple

from dedup_filter.model import Verdict
from dedup_filter.text.page_url import ONE_PAGE, host_of, kinship, patterns
from dedup_filter.wording import printable

MOST_GROUPS = 6_000
"""Hosts and templates that are counted at a time."""
MOST_NAMED = 20
"""Hosts or templates that are named for each kind of warning."""
LAST_PAGES, LEAST_PAGES = 50, 20
"""Pages of a host or a template that are looked at, and the fewest that give a warning."""
NEARLY_ALL, MANY_UNJUDGED = 0.8, 0.2
"""Shares of these pages above which there is a warning."""
_LONGEST = 500
"""Characters of a URL, a host or a template in a message."""
_ID = re.compile(r"(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{8,}", re.IGNORECASE)
"""A part of a URL that may be the id of a visitor: letters and digits."""

_LOST = (
    "{count} of the last {last} pages of {name} repeat another: {original} and {url}{advice}; "
    "DEDUP_DUPLICATES (scan: --duplicates) lists the URLs of dropped pages, to fetch them again; "
    "see: {command}"
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
"""The messages by kind of warning."""

_FIELDS = "name the fields that hold text (DEDUP_TEXT_FIELDS, --text-fields)"
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
"""Why pages are unjudged, and what can be done. Other messages name item fields without text, and
faults."""

_Mark = int | str
"""What a page counts for: the number of its original, the reason why it is unjudged, or 0."""


class Warned(NamedTuple):
    """A host or a template that gets a warning."""

    kind: str
    text: str | None
    """The message; None: enough of this kind were named."""


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
    """Count verdicts by host and by template.

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

    def messages(self, url: str, verdict: Verdict) -> list[str]:
        """Count a page; return the messages that are due now."""
        return [each.text for each in self.see(url, verdict) if each.text is not None]

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
