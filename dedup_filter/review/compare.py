"""Two pages that a user named -> whether the second would be dropped for the first, and why.

    the first page is kept         its record, or the record that it would have, in a new index
    its blocks are counted         for its host, as far as they are not
    the second page comes          profiled with the known frame of its host, and compared

So the verdict is the filter's own. If the second page is kept for a few lines, elements that
contain them are a hint only if both pages, read without these elements, are the same.

If an index has only the record of a page, its fingerprint, sketch and headline are known. They
suffice for the first page, but not to judge the second. A first page that the crawl dropped is
compared as if it had been kept.

In the word diff all text is compared that the rule compares, as written: the main text, and the
lines around it, such as prices. In scripts without spaces each character is a word.
Lines are compared first, and words only within lines that differ, as the time grows with the
product of the lengths. Cost: 10 ms for texts of 1,000 words.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from itertools import groupby
from typing import Any, Literal, NamedTuple

from dedup_filter.comparison.look_ups import judge
from dedup_filter.comparison.loss import Loss, loss_of
from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.sketch import shared
from dedup_filter.hamming.pairs import hamming_distance
from dedup_filter.model import Unjudged, Verdict
from dedup_filter.review.explained_page import NamedPage
from dedup_filter.review.recorded_pages import RecordedPages, require_pages
from dedup_filter.review.refusals import Ignorable, ignorable
from dedup_filter.store.page_index import PageIndex
from dedup_filter.text.url_pattern import ANY_HOST
from dedup_filter.upkeep import Index
from dedup_filter.wording import counted

_RANGES = "\u0e00-\u10ff\u1780-\u17ff\u2e80-\uabff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_UNSPACED = re.compile(f"[{_RANGES}]")
_WORD = re.compile(f"[{_RANGES}]|[^\\s{_RANGES}]+")
_MOST_AT_ONCE = 4_000_000
"""Product of the words of two parts up to which they are compared word by word: 1 s. Also pairs of
equal lines up to which all lines are compared."""


class Change(NamedTuple):
    """Consecutive words that both texts have, or only one of them."""

    kind: Literal["same", "gone", "new"]
    words: list[str]


class Likeness(NamedTuple):
    """The share of the phrases (shingles) of each page that the other page has."""

    of_second: float
    of_first: float
    jaccard: float
    is_estimated: bool
    """Whether the sketch of one page is a sample of its phrases."""


@dataclass(frozen=True)
class Comparison:
    """Two pages, and the verdict on the second if the first was kept."""

    first: NamedPage
    second: NamedPage
    config: FilterConfig
    has_index: bool
    verdict: Verdict | None
    """None: too little of the second page is recorded to judge it."""
    ignorable: Ignorable | None
    """Elements without which the second page would be dropped; None: there are none, or only a
    record of the second is known."""

    @property
    def assumed(self) -> str:
        """The relation of the two pages that was assumed, and how much of their host is known."""
        pages = {"A": self.first, "B": self.second}
        without = [name for name, each in pages.items() if not each.url]
        hosts = dict.fromkeys(each.host or "not known" for each in pages.values() if each.url)
        if len(without) == 2:
            relation = "one host, as A and B have no URL (give them with --url)"
        elif without:
            relation = f"two hosts, as {without[0]} has no URL (give it with --url)"
        else:
            relation = f"{'one host' if len(hosts) == 1 else 'two hosts'}, {' and '.join(hosts)}"
        return f"as pages of {relation}; {self._frame}"

    @property
    def are_out_of_scope(self) -> bool:
        """Whether they are not compared, as the option `scope` keeps hosts apart."""
        return self.config.scope == "host" and self.first.host != self.second.host

    @property
    def repeats_in_crawl(self) -> bool:
        """Whether the crawl of the index has dropped the second page for the first."""
        first, record = self.first.record, self.second.record
        return bool(first and record and not record.is_kept and record.original == first.page)

    @property
    def _frame(self) -> str:
        page = self.second.explained
        if page is None or page.page.is_plain:
            return "B is not judged" if page is None else "B is a plain text, without a frame"
        if not self.config.learn_frames:
            return "frames are not learnt (learn_frames)"
        pages = counted(page.context.host.pages, "page")
        if page.profile.is_frame_known:
            return f"the frame of B's host is known by {pages}"
        where = "" if self.has_index else " (give an index of the host: --index)"
        return f"the frame of B's host is not known: {pages} kept there{where}"

    @property
    def share_in_crawl(self) -> float | None:
        """The share of the second that the first has, as the crawl found it.

        It may differ from the share now, as more of the frame of the host may be known. None: the
        crawl did not drop the second page for the first.
        """
        record = self.second.record
        return record.similarity if record is not None and self.repeats_in_crawl else None

    @cached_property
    def loss(self) -> Loss | None:
        """The text of the second that the first lacks; None: too little of one is known."""
        page, first = self.second.explained, self.first.record or self.first.measures
        if page is None or first is None:
            return None
        return loss_of(page.profile, first, is_same_host=self.first.host == self.second.host)

    @cached_property
    def likeness(self) -> Likeness | None:
        """Their likeness by their sketches; None: one page has no text."""
        one, other = self.first.measures, self.second.measures
        if one is None or other is None or not (one.sketch and other.sketch):
            return None
        both, of_second, of_first = (int(each[0]) for each in shared([other.sketch], [one.sketch]))
        return Likeness(
            both / max(of_second, 1),
            both / max(of_first, 1),
            both / max(of_second + of_first - both, 1),
            is_estimated=max(one.sketch[0], other.sketch[0]) > 0,
        )

    @cached_property
    def distance(self) -> int | None:
        """Bits in which their fingerprints differ; None: one page has none.

        The fingerprint of the second is that of its first text within `max_distance`, else of its
        nearest text.
        """
        first = self.first.record or self.first.measures
        page, record = self.second.explained, self.second.record
        of_second = [record and record.fingerprint]
        if page is not None:
            of_second = [text.fingerprint for text in page.profile.texts]
        stored = None if first is None else first.fingerprint
        found = [
            hamming_distance(stored, each)
            for each in of_second
            if stored is not None and each is not None
        ]
        return min(found, key=lambda bits: max(bits, self.config.max_distance), default=None)

    @cached_property
    def changes(self) -> list[Change] | None:
        """From the text of the first to the text of the second; None: one is not known."""
        one, other = self.first.compared_text, self.second.compared_text
        return None if one is None or other is None else word_changes(one, other)


def compare(
    names: Sequence[str],
    urls: Sequence[str] = ("", ""),
    options: Mapping[str, Any] | None = None,
    index: Index | None = None,
) -> Comparison:
    """Compare two pages: URLs, files or "-", or pages that an index has recorded.

    `urls` are the URLs of files. With an index, its options and its frames of hosts are used.

    Raises:
        DedupError: a page or the index cannot be read, or an option is wrong.
    """
    require_pages(names)
    with RecordedPages.open(index, options or {}) as pages:
        first = pages.named(names[0], urls[0], is_met_now=True)
        pages.keep(first)
        second = pages.named(names[1], urls[1], is_met_now=True)
        verdict = _verdict(first, second, pages.config)
        hint = None if verdict is None else _proved(pages, first, second, verdict)
        return Comparison(first, second, pages.config, index is not None, verdict, hint)


def _verdict(first: NamedPage, second: NamedPage, config: FilterConfig) -> Verdict | None:
    """Compare a page with another page, as if that were kept."""
    page = second.page
    if page is None or isinstance(page, Unjudged):
        return None if page is None else Verdict("unjudged", reason=page.reason)
    is_recorded = first.record is not None and first.record.is_kept
    record = first.record if is_recorded else first.measures
    if record is not None and not is_recorded:
        record = None if first.reason == "no_text" else record._replace(page=1, outcome="new")
    there = [] if record is None else [record]
    index = PageIndex(config.max_distance, None, lambda pages: there if pages else ())
    for each in there:
        index.add(each)
    found = judge(page.place, page.profile, index, config, lambda _: not is_recorded).verdict
    return found.named(lambda _: there[0].url)


def _proved(
    pages: RecordedPages, first: NamedPage, second: NamedPage, verdict: Verdict
) -> Ignorable | None:
    """Find elements without which the second page would be dropped for the first."""
    page = second.explained
    if page is None or page.source is None or verdict.refused is None:
        return None
    found = ignorable(page.source, verdict.refused.lines)
    if found is None:
        return None
    by_host = {ANY_HOST: (), **pages.config.selectors.ignore}
    ignore = {host: (*texts, found.selector) for host, texts in by_host.items()}
    without = pages.with_options(replace(pages.config, ignore=ignore))
    one = without.again(first)
    without.keep(one)
    dropped = _verdict(one, without.again(second), without.config)
    return found if dropped is not None and dropped.is_duplicate else None


def word_changes(before: str, after: str) -> list[Change]:
    """Return the words to remove from one text, and to add, to make the other text.

    >>> word_changes("one two three", "one four three")[1:3]
    [Change(kind='gone', words=['two']), Change(kind='new', words=['four'])]
    """
    changes, gone = list[Change](), list[str]()
    for kind, lines in _changes(before.split("\n"), after.split("\n")):
        words = _WORD.findall("\n".join(lines))
        if kind == "same":
            changes.append(Change(kind, words))
        elif kind == "gone":
            gone = words
        elif len(gone) * len(words) <= _MOST_AT_ONCE:
            changes += _changes(gone, words)
        else:
            changes += Change("gone", gone), Change("new", words)
    together = groupby((change for change in changes if change.words), key=lambda each: each.kind)
    return [Change(kind, [w for each in some for w in each.words]) for kind, some in together]


def is_letter_of_unspaced(word: str) -> bool:
    """Return whether a word of a change is one character of a script without spaces.

    >>> is_letter_of_unspaced("港"), is_letter_of_unspaced("a")
    (True, False)
    """
    return len(word) == 1 and _UNSPACED.fullmatch(word) is not None


def _changes(before: list[str], after: list[str]) -> Iterator[Change]:
    """Yield what two lists have both, or what is gone and then what is new, in turn.

    Only if equal entries make too many pairs, the frequent ones are left out of the search.
    """
    times = Counter(after)
    is_long = sum(times[each] for each in before) > _MOST_AT_ONCE
    matcher = SequenceMatcher(None, before, after, autojunk=is_long)
    for tag, a, a_end, b, b_end in matcher.get_opcodes():
        if tag == "equal":
            yield Change("same", before[a:a_end])
        else:
            yield Change("gone", before[a:a_end])
            yield Change("new", after[b:b_end])
