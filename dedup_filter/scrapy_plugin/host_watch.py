"""Verdicts of a crawl -> warnings about hosts whose pages a person should look at.

    URL and verdict of each page -> counts of its host -> a warning, if they pass a bound

    one_original        many of the host's pages repeat the same page
    duplicates_jumped   nearly all of its last pages repeat earlier pages, and few did before
    same_text           most of its new pages have the text of another page under their own headline
    made_by_scripts     most of its pages have no text without their scripts
    no_pages            most of its responses are files or data
    no_function_words   most of its longer texts are in no language that has a word list
    all_frame           most of its new pages have nearly all their text in the host's frame

A warning says what was counted, what it may mean and what to do. Only a person can decide whether
it is right, so the bounds are high: a crawl of ordinary pages has no warnings.

Memory is bounded: the hosts seen last are counted, with 5 KB each at most. If a host returns after
that, its counts begin anew. A host gets each warning once. The log names some hosts of each kind;
further hosts are only counted.

Cost: 5 to 10 us a page, half of it to find the host.
"""

from collections import Counter, OrderedDict, deque
from collections.abc import Mapping
from typing import NamedTuple

from dedup_filter.model import Verdict
from dedup_filter.text.page_url import host_of
from dedup_filter.wording import printable

MOST_HOSTS = 2_000
"""Hosts that are counted at a time."""
MOST_NAMED = 20
"""Hosts that the log names for each kind of warning."""

LAST_PAGES = 50
"""Number of the last pages of a host; also the fewest pages from which a share is taken."""
_NEARLY_ALL, _FEW = 0.9, 0.1
"""Shares of duplicates: among the last pages, and among all pages before."""
LEAST_REPEATS = 20
"""Pages that must repeat one original before it is named."""
_MANY = 0.05
"""Share of a host's pages that must repeat one original before it is named."""
MOST_ORIGINALS = 40
"""Originals counted for a host. An original with more than 1/41 of the host's duplicates is among
them, and its count is at most 1/41 of the duplicates too low (Misra and Gries 1982)."""
_LONG = 60
"""Shingles of a text from which the absence of function words counts."""
_NO_SENTENCES = 0.8
"""Share of shingles outside sentences from which all words of a text are features (`recipes`)."""
_ALL_FRAME = 0.9
"""Share of a text in the host's frame. One in 500 pages of Python's manual reaches it."""

_BY_SCRIPTS = ("by_script", "no_text")
_NO_PAGES = ("binary", "not_html")
_LONGEST = 500
"""Characters of a URL or a host in a message."""

_LOOK = (
    "look at some of them in a browser. If they show a consent form, a login, an error or a "
    "request to wait, the site holds its pages back: give it what it needs, or slow down "
    "(DOWNLOAD_DELAY)"
)
TEXTS = {
    "one_original": "{count:,} of {pages:,} pages repeat {url}: " + _LOOK + ". If they differ, "
    "scripts load the difference: have the pages rendered (scrapy-playwright)",
    "duplicates_jumped": "{count} of the last {last} pages repeat earlier ones, most of them {url} "
    "(of the {pages:,} pages before: {before:.0f} %): " + _LOOK,
    "duplicates_jumped/apart": "{count} of the last {last} pages repeat {originals} other ones (of "
    "the {pages:,} pages before: {before:.0f} %): if the crawl goes in circles (session ids, sort "
    "orders) or has come to print views or a mirror, do not follow such links",
    "same_text": "{count:,} of {pages:,} new pages have the text of another page under headlines "
    "of their own, this time of {url}: " + _LOOK,
    "made_by_scripts": "{count:,} of {pages:,} pages have no text without their scripts, and are "
    "kept unjudged: have them rendered (scrapy-playwright), or name the item fields that hold text "
    "(DEDUP_TEXT_FIELDS)",
    "no_pages": "{count:,} of {pages:,} responses are files or data, and are kept unjudged: name "
    "the item fields that hold text (DEDUP_TEXT_FIELDS), or exclude such responses by "
    'request.meta["dedup"] = False',
    "no_function_words": "no function words in {count:,} of {pages:,} longer texts: they are in a "
    "language without a word list, or lists and tables. Repeats are found all the same, but "
    "advertisements within such a text are compared, too: if copies with other advertisements are "
    'kept, lower DEDUP_MIN_SIMILARITY; if that is None, set DEDUP_FEATURES = "shingles"',
    "all_frame": "{count:,} of {pages:,} new pages share nearly all their text with other pages of "
    "the host, so it is left out as frame: if this text is what the pages are about, set "
    "DEDUP_LEARN_FRAMES = False",
}
"""The log's messages by kind of warning; after a slash: a variant."""
KINDS = tuple(dict.fromkeys(name.partition("/")[0] for name in TEXTS))

Figure = int | float | str
Passed = tuple[str, Mapping[str, Figure]]
"""A bound that is passed: the name of its message, and the figures for the message."""


class Warned(NamedTuple):
    """A host whose counts have passed a bound for the first time."""

    kind: str
    text: str | None
    """The message for the log; None: the log has named enough hosts."""


class HostWatch:
    """Count the verdicts of a crawl by host."""

    def __init__(self, most_hosts: int = MOST_HOSTS) -> None:
        self._most_hosts = most_hosts
        self._hosts: OrderedDict[str, _Counts] = OrderedDict()
        """The host seen longest ago comes first."""
        self._named: dict[str, set[str]] = {kind: set() for kind in KINDS}
        """Hosts that the log has named, by kind."""

    def __len__(self) -> int:
        return len(self._hosts)

    def see(self, url: str, verdict: Verdict) -> list[Warned]:
        """Count a page; return the warnings about its host that are due now.

        Pages without a URL or a host are not counted: no person could look at them.
        """
        host = host_of(url) if url else ""
        if not host:
            return []
        if host in self._hosts:
            self._hosts.move_to_end(host)
        else:
            self._hosts[host] = _Counts()
            if len(self._hosts) > self._most_hosts:
                self._hosts.popitem(last=False)
        counts = self._hosts[host]
        due = [self._first(host, counts, *passed) for passed in counts.add(verdict)]
        return [warned for warned in due if warned is not None]

    def _first(
        self, host: str, counts: "_Counts", name: str, figures: Mapping[str, Figure]
    ) -> Warned | None:
        kind = name.partition("/")[0]
        named = self._named[kind]
        if kind in counts.given or host in named:
            return None
        counts.given += (kind,)
        if len(named) == MOST_NAMED:
            return Warned(kind, None)
        named.add(host)
        shown = {
            each: printable(value, _LONGEST) if isinstance(value, str) else value
            for each, value in figures.items()
        }
        text = f"{printable(host, _LONGEST)}: {TEXTS[name].format_map(shown)}"
        is_last = len(named) == MOST_NAMED
        return Warned(kind, f"{text} (more such hosts are only counted)" if is_last else text)


class _Counts:
    """The counts of one host."""

    __slots__ = (
        *("_duplicates", "_frames", "_last", "_last_duplicates", "_long", "_new", "_pages"),
        *("_repeats", "_same_text", "_unjudged", "_without_words", "given"),
    )

    def __init__(self) -> None:
        self.given: tuple[str, ...] = ()
        """Kinds of warnings that were given."""
        self._pages = self._duplicates = self._new = self._frames = self._same_text = 0
        """Pages; duplicates; new pages; new pages that are nearly all frame; new pages with the
        text of another page."""
        self._long = self._without_words = 0
        """Longer texts; longer texts without function words."""
        self._last: deque[int] = deque(maxlen=LAST_PAGES)
        """The number of the original of each of the last pages; 0: it is no duplicate."""
        self._last_duplicates = 0
        self._repeats: dict[int, int] = {}
        """Number of an original -> pages that repeat it."""
        self._unjudged: dict[str, int] = {}
        """Pages that could not be read, by reason."""

    def add(self, verdict: Verdict) -> list[Passed]:
        """Count a page; return the bounds that it passes."""
        original = verdict.original_page or -1 if verdict.is_duplicate else 0
        if len(self._last) == LAST_PAGES and self._last[0]:
            self._last_duplicates -= 1
        self._last.append(original)
        self._pages += 1
        if original:
            return self._duplicate(original, verdict.original or "")
        if verdict.outcome == "unjudged":
            return self._unread(verdict.reason or "")
        return self._text(verdict)

    def _duplicate(self, original: int, url: str) -> list[Passed]:
        self._duplicates += 1
        self._last_duplicates += 1
        repeats = self._repeats
        if original in repeats or len(repeats) < MOST_ORIGINALS:
            repeats[original] = repeats.get(original, 0) + 1
        else:
            self._repeats = {each: count - 1 for each, count in repeats.items() if count > 1}
        count = repeats.get(original, 0)
        if count >= LEAST_REPEATS and count > _MANY * self._pages:
            return [("one_original", {"count": count, "pages": self._pages, "url": url})]
        before = self._pages - LAST_PAGES
        if before < LAST_PAGES or self._last_duplicates < _NEARLY_ALL * LAST_PAGES:
            return []
        share = (self._duplicates - self._last_duplicates) / before
        repeated = Counter(filter(None, self._last))
        [(most, times)] = repeated.most_common(1)
        is_one = 2 * times >= self._last_duplicates
        if share > _FEW or (is_one and most != original):  # a later page brings its URL
            return []
        figures: Mapping[str, Figure] = {
            "count": self._last_duplicates,
            "last": LAST_PAGES,
            "originals": len(repeated),
            "pages": before,
            "before": 100 * share,
            "url": url,
        }
        return [("duplicates_jumped" if is_one else "duplicates_jumped/apart", figures)]

    def _unread(self, reason: str) -> list[Passed]:
        for kind, reasons in (("made_by_scripts", _BY_SCRIPTS), ("no_pages", _NO_PAGES)):
            if reason in reasons:
                self._unjudged[kind] = self._unjudged.get(kind, 0) + 1
                return _most(kind, self._unjudged[kind], self._pages)
        return []

    def _text(self, verdict: Verdict) -> list[Passed]:
        passed: list[Passed] = []
        if verdict.outcome == "new":
            self._new += 1
            if verdict.frame_share >= _ALL_FRAME:
                self._frames += 1
                passed += _most("all_frame", self._frames, self._new)
            refused = verdict.refused
            if refused is not None and refused.rule == "headline" and refused.distance == 0:
                self._same_text += 1
                passed += _most("same_text", self._same_text, self._new, refused.url or "")
        if verdict.shingles >= _LONG:
            self._long += 1
            no_sentences = verdict.shingles_without_stopword > _NO_SENTENCES * verdict.shingles
            if no_sentences and verdict.language is None:
                self._without_words += 1
                passed += _most("no_function_words", self._without_words, self._long)
        return passed


def _most(kind: str, count: int, pages: int, url: str = "") -> list[Passed]:
    is_most = pages >= LAST_PAGES and 2 * count > pages
    return [(kind, {"count": count, "pages": pages, "url": url})] if is_most else []
