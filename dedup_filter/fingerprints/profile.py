"""A page's texts -> profile: all measures that its judgement needs, and all that is kept of it.

    all text; the span    -> digest                                     (exact repeats)
    own, rare, the span   -> words -> shingles -> their hashes          (confirmation)
    own and rare, or span -> features -> fingerprint                    (candidates)
    shingles of all three -> sketch                                     (kept)

The texts of a page consist of the same passages. Their words are found in one pass, and each text
is measured by its share of them:

    own     the main content of the blocks that its host has not shown yet
    rare    the main content of those that it has shown at most once
    whole   the span: all blocks from the first to the last of the main content, frame included

"All text" is all that was read of the page, outside the span too.

Guarantee: the same texts and options give the same profile on every machine. What a profile depends
on must not change while there are indexes that were filled with it.

Cost: 0.5 ms for 1,000 words.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import xxhash

from dedup_filter.config import FilterConfig
from dedup_filter.features.analysis import Analysis, analyse
from dedup_filter.features.recipes import RECIPES, Features, part_features
from dedup_filter.fingerprints.simhash import simhash
from dedup_filter.fingerprints.sketch import distinct_hashes, found_in, sketch, union
from dedup_filter.model import Document, Reason
from dedup_filter.text.headlines import Headline
from dedup_filter.text.plain_text import count_words, normalize, normalize_parts

MIN_WORDS = 20
"""Words of an ordinary sentence. Pages may have the same shorter text by chance ("Photo: Reuters",
"No results"), so no candidates are looked up by it."""

LONG_WORDS = 60
"""In a text of fewer words, one edited sentence is a quarter of the text (see `comparison`)."""

FRAME_TIMES = 2
"""A block that so many pages of a host have shown belongs to its frame."""

MAIN_DIGEST = 8
"""The byte of a digest at which the part of title, span and unread text begins."""

_FEW_SHINGLES = 3
"""A passage with at most so many shingles of its own is known by all shingles that hold a word of
it: of so few, a sketch can hardly tell."""

_LITTLE_NEW = 0.02
"""Share of new words up to which the host of a page has shown that page before."""

UInt32Array = npt.NDArray[np.uint32]


class Passage(NamedTuple):
    """A block of a page, and which of its texts hold it; `in_whole`: it is in the span."""

    text: str
    times: int
    """How many earlier pages of its host have shown it."""
    in_own: bool
    in_rare: bool
    in_whole: bool
    is_above: bool = False
    """Whether it stands above all links and outside the main text."""


def _never_shown(_: str) -> int:
    return 0


class Surroundings(NamedTuple):
    """What is known of a page's host, and of the site that it belongs to."""

    times_shown: Callable[[str], int] = _never_shown
    """How many earlier pages have shown an h1 or a part of a title."""
    is_frame_known: bool = False
    """Whether the host's frame is known, and left out of the page's own texts."""
    is_view: bool = False
    """Whether the page is a print view: all kept pages of the host have menus, and it has none."""
    is_of_site: Callable[[str], bool] | None = None
    """Whether another host shows its pages in the same frame; None: no host does."""


class PageTexts(NamedTuple):
    """The texts that a page is judged by, as its passages."""

    document: Document
    """The text that the page is known by, with its title, headings and images."""
    passages: Sequence[Passage]
    """All passages of any text, in page order."""
    headline: Headline = Headline()
    around: Surroundings = Surroundings()

    @classmethod
    def of(cls, document: Document) -> "PageTexts":
        """Make one passage of a document that has no frame."""
        only = Passage(document.text, 0, in_own=True, in_rare=True, in_whole=True)
        return cls(document, [only], Headline("", document.title))


class Text(NamedTuple):
    """One text of a page."""

    fingerprint: int
    hashes: UInt32Array
    """Hashes of its shingles, distinct, ascending."""
    word_count: int
    own_word_count: int
    """How many of the words are no frame."""
    is_own: bool
    """Whether it is the text `own`."""

    def has(self, passage: Passage) -> bool:
        """Tell whether a passage counts when this text is compared; a new one always does."""
        return passage.in_own or passage.in_whole or (passage.in_rare and not self.is_own)


@dataclass(frozen=True, slots=True)
class PageProfile:
    """What a page is compared by, and what is kept of it."""

    digest: bytes
    """16 bytes. Those before `MAIN_DIGEST` are the same for pages with the same title, all text and
    unread text; the others for pages with the same title, span and unread text."""
    is_blank: bool
    """Whether all text of the page has no letter and no digit."""
    is_unread: bool
    """Whether more words were not read than were: the page repeats only what it equals."""
    unread_words: float
    headline: Headline
    around: Surroundings
    texts: tuple[Text, ...]
    """Those that candidates are looked up by: `own` and `rare`, as far as they differ and have
    `MIN_WORDS` words; if neither has, `whole`, if it has; else none. One without any feature, of
    stopwords alone, is none of them."""
    own: UInt32Array
    """Hashes of the text `own`, however short it is."""
    not_frame: UInt32Array
    """Hashes of the text `rare`; of `own` while the frame of the host is not known."""
    whole: UInt32Array
    """Hashes of the span."""
    passages: "CountedIn"
    sketch: bytes
    """Sketch of the shingles of all three texts."""
    word_count: int
    """Words of the text that the page is known by."""
    language: str | None
    shingles: int
    """Shingles of the text that the page is known by."""
    shingles_without_stopword: int
    """How many of these have too few function words around them to be a sentence's."""
    was_shown: bool
    """Whether earlier pages of the host have shown nearly all of it."""
    frame_share: float = 0.0
    """Share of the words of the span that are frame of the host, 0 to 1."""
    canonical: tuple[str, ...] = ()
    """URLs that the page names as its canonical ones; may be relative."""

    @property
    def reason(self) -> Reason:
        """Why no candidates are looked up; only for pages without `texts`."""
        return "by_script" if self.is_unread else "too_short"

    @property
    def fingerprint(self) -> int | None:
        """What later pages find this one by; None: too short, without features, or unread."""
        return self.texts[0].fingerprint if self.texts else None


class CountedPassage(NamedTuple):
    """A passage of a page, and what the sketch of another page has of it."""

    passage: Passage
    words: int
    shingles: int
    asked: int
    """How many of the shingles the sketch can tell of."""
    there: int
    """How many of these it has."""


class CountedIn(Protocol):
    """The passages of a page, wherever they are."""

    def counted_in(self, sketch: bytes) -> Iterator[CountedPassage]:
        """Yield each passage with what a sketch has of it."""


class MeasuredPassages(NamedTuple):
    """The shingles of each passage of a page."""

    passages: Sequence[Passage]
    hashes: UInt32Array
    """Hashes of all shingles in page order, (n - size + 1,)."""
    ends: Sequence[int]
    """Words before each passage and, last, of all."""
    size: int
    """Words in a shingle."""

    def counted_in(self, sketch: bytes) -> Iterator[CountedPassage]:
        """Yield each passage with what a sketch has of it.

        A passage of few words is known by all shingles that hold a word of it.

        Cost: 30 us, and 2 us a passage.
        """
        asked, there = ([0, *np.cumsum(each).tolist()] for each in found_in(self.hashes, sketch))
        most = len(self.hashes)
        for passage, first, end in zip(self.passages, self.ends, self.ends[1:], strict=False):
            is_short = end - first < _FEW_SHINGLES + self.size
            last = min(end if is_short else end - self.size + 1, most)
            start = min(max(first - self.size + 1, 0) if is_short else first, last)
            yield CountedPassage(
                passage,
                end - first,
                last - start,
                asked[last] - asked[start],
                there[last] - there[start],
            )


class AnalysedTexts(NamedTuple):
    """The words of the three texts of a page; equal texts share one object."""

    parts: list[str]
    """The normalised passages."""
    all: Analysis
    """That of all passages."""
    own: Analysis
    rare: Analysis
    whole: Analysis
    found_by: Mapping[Analysis, int]
    """The texts that candidates are looked up by, as far as they are read: their fingerprints."""

    @property
    def known_by(self) -> Analysis:
        """The text that the page is known by."""
        return next(iter(self.found_by), self.own)


def _is_long(text: Analysis) -> bool:
    return text.word_count >= MIN_WORDS


def analysed_texts(texts: PageTexts, config: FilterConfig) -> AnalysedTexts:
    """Find the words of the three texts of a page. Cost: most of that of a profile."""
    parts = normalize_parts([passage.text for passage in texts.passages])
    analysis = analyse(
        parts,
        declared_language=texts.document.language,
        shingle_size=config.shingle_size,
        feature_hash=config.feature_hash,
    )
    own, rare, whole = _cut(analysis, texts.passages)
    long = [text for text in dict.fromkeys((own, rare)) if _is_long(text)]
    found_by = {
        text: value
        for text in long or filter(_is_long, [whole])
        if (value := simhash(*features_of(texts.document, text, config))) is not None
    }
    return AnalysedTexts(parts, analysis, own, rare, whole, found_by)


def profile(texts: PageTexts, config: FilterConfig) -> PageProfile:
    """Measure a page. Cost: 0.5 ms for 1,000 words."""
    document, passages, headline, around = texts
    parts, analysis, own, rare, whole, found_by = analysed = analysed_texts(texts, config)
    title, known_by = normalize(document.title), analysed.known_by
    in_frame = np.array(
        [each.in_whole and each.times >= FRAME_TIMES for each in passages], np.bool_
    )
    all_text = document.whole_text or document.text
    is_unread = 0 < document.unread_words > count_words(all_text)
    hashes = {text: distinct_hashes(text.hashes) for text in dict.fromkeys((own, rare, whole))}
    kept = sketch(union(list(hashes.values())))
    span = " ".join(part for part, each in zip(parts, passages, strict=True) if each.in_whole)
    is_span = len(passages) == 1 and passages[0].in_whole and passages[0].text == all_text
    said = document.whole_hash or (span if is_span else normalize(all_text))
    return PageProfile(
        digest=_digest(title, said, span, document.unread_hash),
        is_blank=not (known_by.word_count or is_unread or any(map(str.isalnum, all_text))),
        is_unread=is_unread,
        unread_words=document.unread_words,
        headline=headline,
        around=around,
        texts=tuple(
            Text(
                value,
                hashes[text],
                text.word_count,
                min(text.word_count, max(own.word_count, rare.word_count)),
                text is own,
            )
            for text, value in ({} if is_unread else found_by).items()
        ),
        own=hashes[own],
        not_frame=hashes[rare if around.is_frame_known else own],
        whole=hashes[whole],
        passages=MeasuredPassages(
            passages,
            (analysis.hashes >> np.uint64(32)).astype(np.uint32),
            np.searchsorted(analysis.tokens.owners, np.arange(len(passages) + 1)).tolist(),
            config.shingle_size,
        ),
        sketch=kept,
        word_count=known_by.word_count,
        language=analysis.language,
        shingles=len(known_by.hashes),
        shingles_without_stopword=int(np.count_nonzero(~known_by.is_sentence)),
        was_shown=own.word_count <= _LITTLE_NEW * rare.word_count,
        frame_share=analysis.tokens.count(in_frame) / max(whole.word_count, 1),
        canonical=document.canonical,
    )


def fingerprint(text: str, **options: object) -> int | None:
    """Return the 64-bit fingerprint of a text; options as for `NearDuplicateFilter.open`.

    None: the text has no feature, as it has no word, or only stopwords.
    """
    if not isinstance(text, str):
        raise TypeError(f"a text is a str, not {type(text).__name__}")
    config = FilterConfig.of(options)
    analysis = analyse(
        [normalize(text)], shingle_size=config.shingle_size, feature_hash=config.feature_hash
    )
    return simhash(*features_of(Document(text), analysis, config))


def _cut(analysis: Analysis, passages: Sequence[Passage]) -> list[Analysis]:
    """Return the analyses of the texts `own`, `rare` and `whole`; equal texts share one object."""
    choices = np.array([each[2:5] for each in passages], np.bool_).reshape(len(passages), 3).T
    made: dict[bytes, Analysis] = {}
    for choice in choices:
        key = choice.tobytes()
        if key not in made:
            made[key] = analysis if choice.all() else analysis.part(choice)
    return [made[choice.tobytes()] for choice in choices]


def features_of(document: Document, analysis: Analysis, config: FilterConfig) -> Features:
    """Return the features of a text, and those of the page's weighted parts."""
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


def _digest(title: str, all_text: str | int, span: str, unread: int) -> bytes:
    # No normal form has a line's end.
    said = [f"{title}\n{text}\n{unread}" for text in (all_text, span)]
    return b"".join(xxhash.xxh3_64_digest(each.encode("utf-8", "surrogatepass")) for each in said)
