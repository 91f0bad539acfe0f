"""A page that a user named -> the text that would be judged, and why other text would not be.

If an index has recorded the page, its record is explained. The record has the page's text and
blocks only with `keep_text`, and never the parts that were not read.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

from dedup_filter.config import FilterConfig
from dedup_filter.features.recipes import consists_of_sentences
from dedup_filter.model import Unjudged
from dedup_filter.review.explanation.excluded_text import ExcludedText, excluded_text
from dedup_filter.review.explanation.judged_page import JudgedPage, judged_page
from dedup_filter.review.explanation.named_features import Feature, advertisements, simhash_of
from dedup_filter.review.explanation.named_page import NamedPage, page_in
from dedup_filter.review.given_page import read_page
from dedup_filter.review.recorded_pages import RecordedPages
from dedup_filter.text.plain_text import count_words
from dedup_filter.upkeep import Index
from dedup_filter.wording import as_time


@dataclass(frozen=True)
class JudgedText:
    """One of the texts that a page is looked up by, or its span."""

    name: str
    """"new", "main", "span": see the terminology; equal texts have all their names."""
    words: int
    fingerprint: int | None
    """None: no page is looked up by it."""


@dataclass(frozen=True)
class Explanation:
    """The texts and features by which a page would be judged."""

    name: str
    url: str
    reason: str | None = None
    """Why the page would be unjudged; None: it is judged."""
    recorded: Mapping[str, Any] | None = None
    """The page's record in the index; None: it is not recorded."""
    language: str | None = None
    language_by: str | None = None
    """How the language was recognized: by "script", "declaration", "stopwords" or "nothing"."""
    declared_language: str | None = None
    selected: tuple[str, ...] = ()
    """The effect of selectors on the page: see `Verdict.selected`."""
    h1: str = ""
    title: str = ""
    headline: tuple[str, ...] = ()
    """The parts of h1 and title that count, normalised."""
    host: str = ""
    host_pages: int = 0
    """Pages of the host that were kept."""
    is_frame_known: bool = False
    texts: list[JudgedText] = field(default_factory=list)
    text: str | None = None
    """The text by which later pages find the page; None: it was not kept."""
    left_out: list[ExcludedText] | None = None
    """All other text, in page order; None: it is not recorded."""
    unread_words: float | None = 0
    """Words in hidden parts and script data, which are only in the digest. None: the page is made
    by scripts, so their number is not known."""
    shingles: int | None = None
    shingles_left_out: int | None = None
    """Shingles that belong to no sentence."""
    advertisements: list[str] = field(default_factory=list)
    """Words, in rows, of shingles that belong to no sentence."""
    are_sentences: bool = True
    """Whether enough shingles belong to sentences; if not, advertisements give features, too."""
    features: list[Feature] = field(default_factory=list)
    tallies: list[float] = field(default_factory=list)
    fingerprint: int | None = None
    digest: str = ""

    @property
    def words(self) -> dict[str, float]:
        """Number of words that were kept, and that were left out by each rule."""
        words = defaultdict[str, float](float, kept=count_words(self.text or ""))
        for each in self.left_out or ():
            words[each.rule] += each.words
        return {rule: round(count, 2) for rule, count in words.items()}


def explain(
    name: str, url: str = "", options: Mapping[str, Any] | None = None, index: Index | None = None
) -> Explanation:
    """Explain a page: a URL, a file or "-", or a page that an index has recorded.

    `url` is the URL of a file. With an index, its options and its frame of the host are used.

    Raises:
        DedupError: the page or the index cannot be read, or an option is wrong.
    """
    if index is None:
        given = read_page(name, url)
        config = FilterConfig.of(options or {})
        return explanation(name, given.url, judged_page(given.url, given.page, config))
    with RecordedPages.open(index, options or {}) as pages:
        page = page_in(pages, name, url)
    found = explanation(name, page.url, page.judged)
    return found if page.record is None else _of_record(found, page)


def explanation(name: str, url: str, found: JudgedPage | Unjudged | None) -> Explanation:
    """Explain a page that was judged; None: it could not be judged again."""
    if not isinstance(found, JudgedPage):
        return Explanation(name, url, None if found is None else found.reason)
    document, profile, analysed = found.texts.document, found.profile, found.analysed
    context = None if found.framed is None else found.framed.context
    simhash = simhash_of(document, analysed.known_by, found.config) if profile.texts else None
    return Explanation(
        name,
        url,
        found.reason,
        language=profile.language,
        language_by=analysed.all.words.language_by,
        declared_language=document.language,
        selected=profile.selected,
        h1=profile.headline.h1,
        title=profile.headline.title,
        headline=profile.headline.parts(profile.around.times_shown),
        host=found.place.host,
        host_pages=0 if context is None else context.host.pages,
        is_frame_known=profile.around.is_frame_known,
        texts=_texts(found),
        text=found.text,
        left_out=excluded_text(found),
        unread_words=profile.unread_words if isfinite(profile.unread_words) else None,
        shingles=profile.shingles,
        shingles_left_out=profile.shingles_without_stopword,
        advertisements=advertisements(analysed.known_by),
        are_sentences=consists_of_sentences(analysed.known_by),
        features=[] if simhash is None else simhash.features,
        tallies=[] if simhash is None else simhash.tallies,
        fingerprint=profile.fingerprint,
        digest=profile.digest.hex(),
    )


def _texts(found: JudgedPage) -> list[JudgedText]:
    """Return the texts of a page, equal texts once."""
    analysed = found.analysed
    named: dict[int, list[str]] = {}
    texts = {id(each): each for each in (analysed.new, analysed.main, analysed.span)}
    for name, text in (("new", analysed.new), ("main", analysed.main), ("span", analysed.span)):
        named.setdefault(id(text), []).append(name)
    looked_up = [] if found.profile.is_unread else analysed.found_by
    fingerprints = {
        id(analysis): text.fingerprint
        for analysis, text in zip(looked_up, found.profile.texts, strict=True)
    }
    return [
        JudgedText(", ".join(names), texts[key].words.count, fingerprints.get(key))
        for key, names in named.items()
    ]


def _of_record(found: Explanation, page: NamedPage) -> Explanation:
    """Add the record of a page; if it cannot be judged again, explain it by the record alone."""
    record = page.record
    assert record is not None
    recorded = {
        "outcome": record.outcome,
        "reason": record.reason,
        "original": page.kept.url_of_original,
        "distance": record.distance,
        "similarity": record.similarity,
        "fingerprint": record.fingerprint,
        "first_seen": as_time(record.first_seen),
        "last_seen": as_time(record.last_seen),
    }
    if isinstance(page.judged, JudgedPage):
        return replace(found, recorded=recorded)
    return replace(
        found,
        reason=record.reason if record.is_kept else None,
        recorded=recorded,
        language=record.language,
        h1=record.h1,
        title=record.title,
        headline=record.headline.everything(),
        host=record.host,
        texts=[JudgedText("new", record.words, record.fingerprint)],
        text=page.kept.text,
        fingerprint=record.fingerprint,
        digest=record.digest.hex(),
    )
