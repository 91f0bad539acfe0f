"""A page, in the context of its host -> profile: all measures by which it is judged, or stored.

    all text, unread text    -> digest                                     (exact repeats)
    new, main, span          -> words -> shingles -> their hashes          (confirmation)
    new and main, or span    -> features -> fingerprint                    (candidates)
    shingles of all three    -> keys                                       (kept)
    the same, and the blocks -> sketch                                     (kept)

The words of the blocks of a page were found when the page was read (`read_page`). Each of the three
texts is made of some of the blocks (`places`). All blocks that are no frame of the host are
compared (`block_columns`), also outside these texts.

Guarantee: the same page, context and options give the same profile on every machine. If the
computation of a profile changes, old indexes become invalid.

Cost: 0.3 ms for 1,000 words.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import xxhash

from dedup_filter.config import FilterConfig, FilterOptions
from dedup_filter.features.analysis import Analysis, analyse
from dedup_filter.features.recipes import RECIPES, Features, part_features
from dedup_filter.fingerprints.block_columns import BlockColumns, TextName
from dedup_filter.fingerprints.places import Places, contents_of
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.fingerprints.sketch import (
    UInt32Array,
    distinct_hashes,
    keys_of,
    row_of,
    simhash,
    sketch,
    smallest,
    union,
)
from dedup_filter.frames.host_frames import HostContext
from dedup_filter.model import Document, Reason
from dedup_filter.text.blocks import text_hash
from dedup_filter.text.headlines import (
    MOST_OF_HEADLINE,
    Counts,
    Headline,
    times_headed,
    title_parts,
)
from dedup_filter.text.plain_text import count_words, normalize, text_blocks
from dedup_filter.thresholds import FRAME_TIMES, HALF, LONG_WORDS, MIN_WORDS

if TYPE_CHECKING:
    from typing_extensions import Unpack

DIGEST_BYTES = 16
UNREAD_DIGEST = slice(8, 16)
"""Bytes of a digest: equal if the unread text is equal."""
WAITING_DIGEST = slice(12, 16)
"""Bytes of a digest: equal if the part of the unread text that waits for a script is equal."""


class Text(NamedTuple):
    """One text of a page."""

    name: TextName
    fingerprint: int
    hashes: UInt32Array
    """Hashes of its shingles, distinct, ascending."""
    word_count: int
    keys: bytes = b""
    """Keys that find pages that share some of its shingles, see `phrase_keys`; b"" for none."""


@dataclass(frozen=True)
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
    counts: Counts
    """How many pages of the host were headed by an h1 or by a part of a title."""
    site_counts: Counts
    """The counts of sites whose pages have the menus of the page, also of their hosts."""
    is_frame_known: bool
    """Whether the frame of the host is known, and left out of the page's own texts."""
    is_view: bool
    """Whether it is a print view: nearly all kept pages of the host have menus, and it has none."""
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
    known_by: TextName = "main"
    """The page's stored text: the first text that looks up candidates, else `main`."""
    is_plain: bool = False
    """Whether it is a plain text, without the frame of a host."""
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
    def detail(self) -> str | None:
        """How short the text of the page is; None: it is not too short."""
        if self.texts or self.is_blank or self.is_unread:
            return None
        if self.word_count < MIN_WORDS:
            return f"{self.word_count} of {MIN_WORDS} words"
        return f"{self.word_count} words, all of them stopwords"

    @property
    def was_shown(self) -> bool:
        """Whether earlier pages of the host have shown all of it, or half and its headline.

        With half and the headline it is an edition of an earlier page. This does not count while
        the frame of the host is not known, because the half may be frame.
        """
        heads = [self.headline.h1] if self.headline.h1 else title_parts(self.headline.title)
        times = min([times_headed(head, self.counts) for head in heads], default=0)
        is_edition = self.is_frame_known and 0 < times < FRAME_TIMES
        return self.new_share <= (HALF if is_edition else 0)

    @property
    def fingerprint(self) -> int | None:
        """The fingerprint that later pages find; None: too short, without features, or unread."""
        return self.texts[0].fingerprint if self.texts else None


def profile_of(page: ReadPage, context: HostContext, config: FilterConfig) -> PageProfile:
    """Measure a page in the context of its host and its sites. Cost: 0.3 ms for 1,000 words.

    The headline of a plain text is its title, or else the short line that it begins with.
    """
    content, kinds = page.content, page.kinds
    if isinstance(content, Document):
        document, texts, headline = content, text_blocks(content.text), Headline("", content.title)
        if len(texts) > 1 and kinds[0] == "line" and not content.title:
            headline = Headline(texts[0][:MOST_OF_HEADLINE])
        hashes = np.fromiter(map(text_hash, texts), np.uint64, len(texts))
        chosen, places = np.ones(len(texts), np.bool_), Places.of_text(kinds)
        learnt = places.slots[:0]
    else:
        left_out = [
            FRAME_TIMES if is_learnt else times
            for times, is_learnt in zip(context.times, context.learnt, strict=True)
        ]
        contents, headline = contents_of(content, left_out), context.headline
        document = content.document(contents.known_by, contents.main)
        hashes = np.array(content.shown.blocks, np.uint64)
        marks = context.are_frame, context.learnt
        places = Places.of(content, kinds, contents, context.times, *marks)
        learnt = np.unique(places.slots[places.is_learnt])
        chosen = places.in_span | places.in_main | places.in_new | places.is_line | ~places.is_frame
        places = places.at(chosen)
        texts = [block.text for block in compress(content.blocks, chosen.tolist())]
    words = page.words.part(chosen)
    options = config.shingle_size, config.ads, config.ignore_numbers
    blocks = BlockColumns(texts, words, places, hashes, chosen, learnt, *options)
    return measured(document, blocks, headline, context, config, is_plain=page.is_plain)


def measured(
    document: Document,
    blocks: BlockColumns,
    headline: Headline,
    context: HostContext,
    config: FilterConfig,
    *,
    is_plain: bool = False,
) -> PageProfile:
    """Measure the blocks of a page. `document`: its stored text, title, headings and images."""
    new, main, span = blocks.by_text.values()
    found_by: dict[TextName, int] = {
        name: value
        for name in _found_by(blocks.by_text)
        if (value := simhash(*features_of(document, blocks.by_text[name], config))) is not None
    }
    known_by: TextName = next(iter(found_by), "main")
    known = blocks.by_text[known_by]
    all_text = document.whole_text or document.text
    has_more_unread = 0 < document.unread_words > count_words(all_text)
    is_unread = has_more_unread and main.words.count < LONG_WORDS
    hashes = {text: distinct_hashes(text.hashes) for text in dict.fromkeys((new, main, span))}
    has_keys = config.shared_phrases and not is_unread and found_by
    least = {text: smallest(text.hashes) for text in hashes} if has_keys else {}
    said = document.whole_hash or normalize(all_text)
    texts = []
    for name, value in ({} if is_unread else found_by).items():
        text = blocks.by_text[name]
        keys = keys_of([least[text]]) if least else b""
        texts.append(Text(name, value, hashes[text], text.words.count, keys))
    return PageProfile(
        digest=_digest(normalize(document.title), said, document),
        is_blank=not (is_unread or any(map(str.isalnum, all_text))),
        is_unread=is_unread,
        unread_words=document.unread_words,
        waiting_words=document.waiting_words,
        headline=headline,
        counts=context.counts,
        site_counts=context.site_counts,
        is_frame_known=context.is_frame_known,
        is_view=context.is_view,
        texts=tuple(texts),
        blocks=blocks,
        sketch=sketch(union(list(hashes.values())), row_of(blocks.hashes)),
        keys=keys_of([*least.values()]) if least else b"",
        word_count=known.words.count,
        language=blocks.words.language,
        shingles=len(known.hashes),
        shingles_without_stopword=int(np.count_nonzero(~known.is_sentence)),
        new_share=new.words.count / max(main.words.count, 1),
        known_by=known_by,
        is_plain=is_plain,
        is_paged=document.is_paged,
        canonical=document.canonical,
        selected=document.selected,
        text=document.text,
        unread_reason=document.unread_reason,
    )


def _found_by(texts: Mapping[TextName, Analysis]) -> list[TextName]:
    """Return the texts that look up candidates, unless most text is unread; equal texts once."""
    names: dict[Analysis, TextName] = {}
    for name, text in texts.items():
        if text.words.count >= MIN_WORDS:
            names.setdefault(text, name)
    return [name for name in names.values() if name != "span"] or [*names.values()]


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
