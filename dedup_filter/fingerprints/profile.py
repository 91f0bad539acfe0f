"""A page's texts -> profile: all measures by which it is judged, and all that are stored.

    all text, unread text    -> digest                                     (exact repeats)
    new, main, span          -> words -> shingles -> their hashes          (confirmation)
    new and main, or span    -> features -> fingerprint                    (candidates)
    shingles of all three    -> keys                                       (kept)
    the same, and the blocks -> sketch                                     (kept)

The words of the blocks of a page were found when the page was read (`read_page`). Each text is made
of some of the blocks:

    new     the main content of the blocks that its host has not shown yet
    main    the main content of the blocks that are not known to be frame of the host
    span    all blocks from the first to the last of `main`, frame included

All blocks that are no frame of the host are compared (`block_columns`), also outside these texts.

Guarantee: the same texts and options give the same profile on every machine. If the computation of
a profile changes, old indexes become invalid.

Cost: 0.3 ms for 1,000 words.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import xxhash

from dedup_filter.config import FilterConfig, FilterOptions
from dedup_filter.features.analysis import Analysis, Words, analyse
from dedup_filter.features.recipes import RECIPES, Features, part_features
from dedup_filter.fingerprints.block_columns import BlockColumns, Places
from dedup_filter.fingerprints.sketch import (
    BoolArray,
    UInt32Array,
    UInt64Array,
    distinct_hashes,
    keys_of,
    row_of,
    simhash,
    sketch,
    smallest,
    union,
)
from dedup_filter.model import Document, Reason
from dedup_filter.text.headlines import Headline, TimesShown, never_shown, title_parts
from dedup_filter.text.plain_text import count_words, normalize
from dedup_filter.thresholds import FRAME_TIMES, HALF, LONG_WORDS, MIN_WORDS

if TYPE_CHECKING:
    from typing_extensions import Unpack

DIGEST_BYTES = 16
UNREAD_DIGEST = slice(8, 16)
"""Bytes of a digest: equal if the unread text is equal."""
WAITING_DIGEST = slice(12, 16)
"""Bytes of a digest: equal if the part of the unread text that waits for a script is equal."""


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
    """The blocks by which a page is judged."""

    document: Document
    """The page's stored text, with its title, headings and images."""
    places: Places
    """Where its blocks stand, in page order."""
    chosen: BoolArray
    """Which of all its blocks these are, (m,)."""
    hashes: UInt64Array
    """The hashes of all its blocks, (m,)."""
    texts: Sequence[str]
    words: Words
    """The words of the blocks, one part for each."""
    headline: Headline = Headline()
    around: Surroundings = Surroundings()
    is_paged: bool = False
    """Whether it is one page of a sequence."""


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


@dataclass(frozen=True, slots=True)
class PageProfile:
    """The measures by which a page is compared, and the measures that are stored."""

    digest: bytes
    """`DIGEST_BYTES`, equal if all text is: hashes of title, all text and unread text (8 bytes); of
    unread text (4 bytes) and of its part that waits for a script (4 bytes)."""
    is_blank: bool
    """Whether all text of the page has no letter and no digit."""
    is_unread: bool
    """Whether more words are unread than read, and the main text is short: then the page repeats
    only equal pages. Beside a longer text the rest is templates of dialogs and forms."""
    unread_words: float
    waiting_words: float
    """Unread words that wait for a script, so that they may be the page's content."""
    headline: Headline
    around: Surroundings
    texts: tuple[Text, ...]
    """The texts that look up candidates: `new` and `main`, if they differ and have `MIN_WORDS`
    words; if neither has as many, `span`, if it has; else none. A text without features, of
    stopwords alone, is left out."""
    blocks: BlockColumns
    sketch: bytes
    """Sketch of the shingles of all three texts and of the blocks."""
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
    is_paged: bool = False
    """Whether it is one page of a sequence."""
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


class AnalysedTexts(NamedTuple):
    """The words of the three texts of a page; equal texts share one object."""

    all: Analysis
    """The analysis of all blocks."""
    new: Analysis
    main: Analysis
    span: Analysis
    found_by: Mapping[Analysis, int]
    """Texts that look up candidates (unless most text is unread) -> their fingerprints."""

    @property
    def known_by(self) -> Analysis:
        """The page's stored text: the first text that looks up candidates, else `main`."""
        return next(iter(self.found_by), self.main)


def analysed_texts(texts: PageTexts, config: FilterConfig) -> AnalysedTexts:
    """Make the shingles and the fingerprints of the three texts of a page."""
    analysis = Analysis(texts.words, config.shingle_size, config.ads)
    new, main, span = _cut(analysis, texts.places)
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
    document, places, chosen, block_hashes, block_texts, words, headline, around, is_paged = texts
    analysis, new, main, span, found_by = analysed = analysed_texts(texts, config)
    title, known_by = normalize(document.title), analysed.known_by
    all_text = document.whole_text or document.text
    has_more_unread = 0 < document.unread_words > count_words(all_text)
    is_unread = has_more_unread and main.words.count < LONG_WORDS
    hashes = {text: distinct_hashes(text.hashes) for text in dict.fromkeys((new, main, span))}
    kept = sketch(union(list(hashes.values())), row_of(block_hashes[chosen]))
    has_keys = config.shared_phrases and not is_unread and found_by
    least = {text: smallest(text.hashes) for text in hashes} if has_keys else {}
    said = document.whole_hash or normalize(all_text)
    return PageProfile(
        digest=_digest(title, said, document),
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
        blocks=BlockColumns(
            block_texts,
            block_hashes[chosen],
            places,
            (analysis.hashes >> np.uint64(32)).astype(np.uint32),
            np.concatenate(([0], np.cumsum(words.lengths, dtype=np.intp))),
            config.shingle_size,
            analysis.words.values.hashes,
            analysis.words.values.is_function_word,
            block_hashes,
            chosen,
        ),
        sketch=kept,
        keys=keys_of([*least.values()]) if least else b"",
        word_count=known_by.words.count,
        language=words.language,
        shingles=len(known_by.hashes),
        shingles_without_stopword=int(np.count_nonzero(~known_by.is_sentence)),
        new_share=new.words.count / max(main.words.count, 1),
        is_paged=is_paged,
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


def _cut(analysis: Analysis, places: Places) -> list[Analysis]:
    """Return the analyses of the texts `new`, `main` and `span`; equal texts share one object."""
    made: dict[bytes, Analysis] = {}
    choices = places.in_new, places.in_main, places.in_span
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


def _digest(title: str, all_text: str | int, document: Document) -> bytes:
    unread, waiting = f"{document.unread_hash}", f"{document.waiting_hash}"
    # A normal form contains no line end.
    said = [f"{title}\n{all_text}\n{unread}", unread, waiting]
    hashes = [xxhash.xxh3_64_digest(each.encode("utf-8", "surrogatepass")) for each in said]
    return hashes[0] + hashes[1][:4] + hashes[2][4:]
