"""A page's texts -> profile: all measures by which it is judged, and all that are stored.

    all text, unread text    -> digest                                     (exact repeats)
    new, main, span          -> words -> shingles -> their hashes          (confirmation)
    new and main, or span    -> features -> fingerprint                    (candidates)
    shingles of all three    -> sketch, keys                               (kept)

The texts of a page consist of passages, its blocks, whose words were found when the page was read
(`read_page`). Each text is made of some of the passages:

    new     the main content of the blocks that its host has not shown yet
    main    the main content of the blocks that are not known to be frame of the host
    span    all blocks from the first to the last of `main`, frame included

Once the host has shown blocks, new passages outside these texts belong to the page, too: they are
compared, but not used to find candidates.

Guarantee: the same texts and options give the same profile on every machine. If the computation of
a profile changes, old indexes become invalid.

Cost: 0.3 ms for 1,000 words.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

from dedup_filter.config import FilterConfig, FilterOptions
from dedup_filter.features.analysis import Analysis, Words, analyse
from dedup_filter.features.recipes import RECIPES, Features, part_features
from dedup_filter.fingerprints.sketch import (
    distinct_hashes,
    found_in,
    keys_of,
    simhash,
    sketch,
    smallest,
    union,
)
from dedup_filter.model import Document, Reason
from dedup_filter.text.blocks import text_hash
from dedup_filter.text.headlines import Headline, TimesShown, never_shown, title_parts
from dedup_filter.text.plain_text import count_words, normalize
from dedup_filter.thresholds import FRAME_TIMES, HALF, MIN_WORDS

if TYPE_CHECKING:
    from typing_extensions import Unpack

DIGEST_BYTES = 24
EQUAL_DIGEST = slice(0, 16)
"""Bytes of a digest: equal if title, all text and unread text are equal."""
UNREAD_DIGEST = slice(8, 16)
"""Bytes of a digest: equal if the unread text is equal."""
WAITING_DIGEST = slice(12, 16)
"""Bytes of a digest: equal if the part of the unread text that waits for a script is equal."""
MAIN_DIGEST = slice(8, 24)
"""Bytes of a digest: equal if title, unread text and text without the host's frame are equal."""


UInt32Array = npt.NDArray[np.uint32]
UInt64Array = npt.NDArray[np.uint64]


PassageKind = Literal["prose", "line", "link"]
"""The kind of a block: sentences; a name, a price, a date; or mostly links."""


class Passage(NamedTuple):
    """A block of a page, and where it stands."""

    text: str
    times: int
    """How many earlier pages of its host have shown it."""
    kind: PassageKind
    in_new: bool
    """Whether it is in the text `new`; likewise in `main` and `span`."""
    in_main: bool
    in_span: bool
    is_beside: bool = False
    """Whether it stands outside the body of the main content."""
    is_framed: bool = False
    """Whether it stands in a frame of the page: aside, nav, footer ..."""
    is_above: bool = False
    """Whether it stands above all links and outside the main text."""
    has_links: bool = False

    @property
    def is_value(self) -> bool:
        """Whether it is a line of the article: a size, a price. Other pages may show it, too."""
        return self.kind == "line" and self.in_span and not self.is_beside

    @property
    def is_compared_elsewhere(self) -> bool:
        """Whether it can be compared with pages of other hosts.

        Sketches hold only the three texts. A passage above the menus of a host is its banner ("This
        is a copy of ...").
        """
        return (self.in_new or self.in_main or self.in_span) and not self.is_above


class Surroundings(NamedTuple):
    """The context of a page: its host, and the site of its host."""

    times_shown: TimesShown = never_shown
    is_frame_known: bool = False
    """Whether the host's frame is known, and left out of the page's own texts."""
    is_view: bool = False
    """Whether the page is a print view: nearly all kept pages of the host have menus, and it has
    none."""
    is_of_site: Callable[[str], bool] | None = None
    """Whether another host has the same menus; None: no host has."""
    is_plain: bool = False
    """Whether the page is a plain text, without the frame of a host."""


class PageTexts(NamedTuple):
    """The texts by which a page is judged, as its passages."""

    document: Document
    """The page's stored text, with its title, headings and images."""
    passages: Sequence[Passage]
    """All passages of any text, in page order."""
    words: Words
    """The words of the passages, one part for each passage."""
    headline: Headline = Headline()
    around: Surroundings = Surroundings()


TextName = Literal["new", "main", "span"]


class Text(NamedTuple):
    """One text of a page."""

    name: TextName
    fingerprint: int
    hashes: UInt32Array
    """Hashes of its shingles, distinct, ascending."""
    word_count: int
    keys: bytes = b""
    """Keys that find pages that share some of its shingles, see `phrase_keys`; b"" for none."""

    def holds(self, passage: Passage) -> bool:
        """Return whether a passage is in this text."""
        in_text: bool = getattr(passage, f"in_{self.name}")
        return in_text


@dataclass(frozen=True, slots=True)
class PageProfile:
    """The measures by which a page is compared, and the measures that are stored."""

    digest: bytes
    """`DIGEST_BYTES`, which find equal pages: hashes of title, all text and unread text (8 bytes);
    of unread text (4 bytes) and its part that waits for a script (4 bytes); of title and all text
    that is not known to be frame (8 bytes)."""
    is_blank: bool
    """Whether all text of the page has no letter and no digit."""
    is_unread: bool
    """Whether more words are unread than read: then the page repeats only equal pages."""
    unread_words: float
    waiting_words: float
    """Unread words that wait for a script, so that they may be the page's content."""
    headline: Headline
    around: Surroundings
    texts: tuple[Text, ...]
    """The texts that look up candidates: `new` and `main`, if they differ and have `MIN_WORDS`
    words; if neither has as many, `span`, if it has; else none. A text without features, of
    stopwords alone, is left out."""
    passages: "MeasuredPassages"
    sketch: bytes
    """Sketch of the shingles of all three texts."""
    keys: bytes
    """Keys of the shingles of all three texts; b"" without `texts`, or if keys are not stored."""
    word_count: int
    """Words of the page's stored text."""
    language: str | None
    shingles: int
    """Shingles of the page's stored text."""
    shingles_without_stopword: int
    """How many of `shingles` have too few function words around them to belong to a sentence."""
    new_share: float
    """Words of the text `new`, divided by the words of `main`."""
    canonical: tuple[str, ...] = ()
    """URLs that the page names as canonical; may be relative."""
    selected: tuple[str, ...] = ()
    """The effects of a user's selectors on the page."""
    text: str = ""
    """The text of `document`."""
    unread_reason: Reason = "by_script"
    """Why the page is unjudged if it is unread and repeats none."""

    @property
    def reason(self) -> Reason:
        """Why no candidates are looked up; only for pages without `texts`."""
        return self.unread_reason if self.is_unread else "too_short"

    @property
    def was_shown(self) -> bool:
        """Whether earlier pages of the host have shown all of it, or half and its headline.

        With half and the headline it is an edition of an earlier page. This does not count while
        the frame of the host is not known, because the half may be frame.
        """
        heads = [self.headline.h1] if self.headline.h1 else title_parts(self.headline.title)
        times = min(map(self.around.times_shown, heads), default=0)
        is_edition = self.around.is_frame_known and 0 < times < FRAME_TIMES
        return self.new_share <= (HALF if is_edition else 0)

    @property
    def fingerprint(self) -> int | None:
        """The fingerprint that later pages find; None: too short, without features, or unread."""
        return self.texts[0].fingerprint if self.texts else None


class CountedPassage(NamedTuple):
    """A passage of a page, and how many of its phrases the sketch of another page has."""

    passage: Passage
    words: int
    phrases: int
    """Its shingles; for a passage shorter than a shingle, the shingles that hold all its words."""
    sampled: int
    """How many of its phrases the sketch samples."""
    there: int
    """How many of the sampled phrases the sketch has."""

    @property
    def missing(self) -> float:
        """Estimated words that the other page lacks: all, if its sketch samples none."""
        return self.words * (1 - self.there / self.sampled) if self.sampled else self.words


class MeasuredPassages(NamedTuple):
    """The shingles of each passage of a page."""

    passages: Sequence[Passage]
    hashes: UInt32Array
    """Hashes of all shingles in page order, (n - size + 1,)."""
    ends: Sequence[int]
    """Words before each passage and, last, of all passages."""
    size: int
    """Words in a shingle."""
    words: UInt64Array
    """Hashes of all words in page order, (n,)."""

    def counted_in(self, sketch: bytes) -> Iterator[CountedPassage]:
        """Yield each passage with the counts of its phrases in a sketch.

        If a passage has fewer words than a shingle, one shared shingle with all its words is
        enough, because its neighbours on the other page may differ.

        Cost: 30 us, and 2 us a passage.
        """
        are_sampled, are_there = found_in(self.hashes, sketch)
        sampled, there = ([0, *np.cumsum(each).tolist()] for each in (are_sampled, are_there))
        most, size = len(self.hashes), self.size
        for passage, first, end in zip(self.passages, self.ends, self.ends[1:], strict=False):
            is_short = end - first < size
            start, last = (max(end - size, 0), first + 1) if is_short else (first, end - size + 1)
            last = min(last, most)
            start = min(start, last)
            told, known = sampled[last] - sampled[start], there[last] - there[start]
            known = told if is_short and known else known
            yield CountedPassage(passage, end - first, last - start, told, known)

    def said_in(self, sketch: bytes, words: UInt64Array, title: str) -> tuple[set[int], set[int]]:
        """Return which of some words, (n,), stand in a shingle that a sketch has, and which do not.

        The words are hashes. A word whose shingles are not sampled is in neither set; a passage
        equal to `title` does not count. Cost: 0.1 ms for 1,000 words.
        """
        are_sampled, are_there = found_in(self.hashes, sketch)
        is_title = np.array([each.text == title for each in self.passages], np.bool_)
        places = np.flatnonzero(np.isin(self.words, words))
        places = places[~is_title[np.searchsorted(self.ends[1:], places, "right")]]
        said: set[int] = set()
        lacking: set[int] = set()
        for place in places.tolist():
            around = slice(max(place - self.size + 1, 0), place + 1)
            if are_there[around].any():
                said.add(int(self.words[place]))
            elif are_sampled[around].any():
                lacking.add(int(self.words[place]))
        return said, lacking - said

    def lacking_in(self, sketch: bytes, text: str) -> tuple[int, int]:
        """Return first and end of the words of a passage that stand in no shingle of a sketch.

        They are counted within the passage. If each word is in such a shingle, all are returned.
        """
        are_there, lacking, size = found_in(self.hashes, sketch)[1], set[int](), 0
        for passage, first, end in zip(self.passages, self.ends, self.ends[1:], strict=False):
            if passage.text == text:
                size = end - first
                for place in range(first, end):
                    if not are_there[max(place - self.size + 1, 0) : place + 1].any():
                        lacking.add(place - first)
        return (min(lacking), max(lacking) + 1) if lacking else (0, size)


class AnalysedTexts(NamedTuple):
    """The words of the three texts of a page; equal texts share one object."""

    all: Analysis
    """The analysis of all passages."""
    new: Analysis
    main: Analysis
    span: Analysis
    found_by: Mapping[Analysis, int]
    """Texts that look up candidates (unless most text is unread) -> their fingerprints."""

    @property
    def known_by(self) -> Analysis:
        """The page's stored text: the first text that looks up candidates, else `main`."""
        return next(iter(self.found_by), self.main)


def are_equal(digest: bytes, other: bytes) -> bool:
    """Return whether title, text and unread text are equal, with the frame or without it."""
    return any(digest[part] == other[part] for part in (EQUAL_DIGEST, MAIN_DIGEST))


def analysed_texts(texts: PageTexts, config: FilterConfig) -> AnalysedTexts:
    """Make the shingles and the fingerprints of the three texts of a page."""
    analysis = Analysis(texts.words, config.shingle_size, config.ads)
    new, main, span = _cut(analysis, texts.passages)
    long = [text for text in dict.fromkeys((new, main)) if _is_long(text)]
    found_by = {
        text: value
        for text in long or filter(_is_long, [span])
        if (value := simhash(*features_of(texts.document, text, config))) is not None
    }
    return AnalysedTexts(analysis, new, main, span, found_by)


def _is_long(text: Analysis) -> bool:
    return text.words.count >= MIN_WORDS


def profile(texts: PageTexts, config: FilterConfig) -> PageProfile:
    """Measure a page. Cost: 0.3 ms for 1,000 words."""
    document, passages, words, headline, around = texts
    analysis, new, main, span, found_by = analysed = analysed_texts(texts, config)
    title, known_by = normalize(document.title), analysed.known_by
    all_text = document.whole_text or document.text
    is_unread = 0 < document.unread_words > count_words(all_text)
    hashes = {text: distinct_hashes(text.hashes) for text in dict.fromkeys((new, main, span))}
    kept = sketch(union(list(hashes.values())))
    has_keys = config.shared_phrases and not is_unread and found_by
    least = {text: smallest(text.hashes) for text in hashes} if has_keys else {}
    said = document.whole_hash or normalize(all_text)
    own = document.own_hash or text_hash(normalize(all_text))
    return PageProfile(
        digest=_digest(title, said, own, document),
        is_blank=not (known_by.words.count or is_unread or any(map(str.isalnum, all_text))),
        is_unread=is_unread,
        unread_words=document.unread_words,
        waiting_words=document.waiting_words,
        headline=headline,
        around=around,
        texts=tuple(
            Text(
                "new" if text is new else "main" if text is main else "span",
                value,
                hashes[text],
                text.words.count,
                keys_of([least[text]]) if least else b"",
            )
            for text, value in ({} if is_unread else found_by).items()
        ),
        passages=MeasuredPassages(
            passages,
            (analysis.hashes >> np.uint64(32)).astype(np.uint32),
            [0, *np.cumsum(words.lengths).tolist()],
            config.shingle_size,
            analysis.words.values.hashes,
        ),
        sketch=kept,
        keys=keys_of([*least.values()]) if least else b"",
        word_count=known_by.words.count,
        language=words.language,
        shingles=len(known_by.hashes),
        shingles_without_stopword=int(np.count_nonzero(~known_by.is_sentence)),
        new_share=new.words.count / max(main.words.count, 1),
        canonical=document.canonical,
        selected=document.selected,
        text=document.text,
        unread_reason=document.unread_reason,
    )


def fingerprint(text: str, **options: "Unpack[FilterOptions]") -> int | None:
    """Return the 64-bit fingerprint of a text; options as for `NearDuplicateFilter.open`.

    None: the text has no feature, as it has no word, or only stopwords.
    """
    if not isinstance(text, str):
        raise TypeError(f"a text is a str, not {type(text).__name__}")
    config = FilterConfig.of(options)
    analysis = analyse(
        [normalize(text)],
        shingle_size=config.shingle_size,
        feature_hash=config.feature_hash,
        ads=config.ads,
    )
    return simhash(*features_of(Document(text), analysis, config))


def _cut(analysis: Analysis, passages: Sequence[Passage]) -> list[Analysis]:
    """Return the analyses of the texts `new`, `main` and `span`; equal texts share one object."""
    choices = [
        np.fromiter(map(attrgetter(name), passages), np.bool_, len(passages))
        for name in ("in_new", "in_main", "in_span")
    ]
    made: dict[bytes, Analysis] = {}
    for choice in choices:
        key = choice.tobytes()
        if key not in made:
            words = analysis.words
            made[key] = (
                analysis
                if choice.all()
                else Analysis(words.part(choice), analysis.size, analysis.ads, is_part=True)
            )
    return [made[choice.tobytes()] for choice in choices]


def features_of(document: Document, analysis: Analysis, config: FilterConfig) -> Features:
    """Return the features of a text, and the features of the page's weighted parts."""
    features = RECIPES[config.features](analysis)
    if not any(config.part_weights):
        return features
    of_parts = part_features(
        normalize(document.title),
        map(normalize, document.headings),
        document.images,
        config.part_weights,
        config.shingle_size,
        config.feature_hash,
    )
    return Features(
        np.concatenate([features.hashes, of_parts.hashes]),
        np.concatenate([features.weights, of_parts.weights]),
    )


def _digest(title: str, all_text: str | int, own_text: int, document: Document) -> bytes:
    unread, waiting = f"{document.unread_hash}", f"{document.waiting_hash}"
    # A normal form contains no line end.
    said = [f"{title}\n{all_text}\n{unread}", unread, waiting, f"{title}\n{own_text}"]
    hashes = [xxhash.xxh3_64_digest(each.encode("utf-8", "surrogatepass")) for each in said]
    return hashes[0] + hashes[1][:4] + hashes[2][4:] + hashes[3]
