"""A page, once it was read: its blocks and their words.

    bytes -> blocks (`text/reading`) -> the words of all blocks, cut, hashed and looked up

`ReadPage` depends on the page and the options alone, never on its host, so any process can make it.
It is what a worker returns, what a page waits as until the frame of its host is known, and what a
page is judged from, the first time or again. What is stored of it are the blocks
(`text/page_bytes`): their words are found again.

The language is found by the words of the main content, as if no block were known to be frame: menus
and footers are often in another language.

Cost besides `text/reading`: 0.5 ms for 1,000 words.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dedup_filter.config import FilterConfig
from dedup_filter.features.analysis import Words, words_of
from dedup_filter.fingerprints.places import BlockKind, kinds_of
from dedup_filter.model import Document, Reason, Unjudged
from dedup_filter.text.decode import looks_binary
from dedup_filter.text.masks import masked, without_numbers
from dedup_filter.text.page_bytes import pack_page, unpack_page
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import Place, links_of_header
from dedup_filter.text.plain_text import count_words, normalize, normalize_parts, text_blocks
from dedup_filter.text.reading import Page, Shown, read
from dedup_filter.thresholds import LINE_WORDS


@dataclass(frozen=True)
class ReadPage:
    """A page that was read."""

    content: Page | Document
    """The page taken apart; a document, if it is a plain text."""
    kinds: Sequence[BlockKind]
    """What each of its blocks is; of a plain text, each of its paragraphs and lines."""
    normal: Sequence[str]
    """The normal form of each."""
    words: Words
    """The words of what is compared of each."""
    form: bytes | None = None
    """Its blocks as bytes, if they are to be kept whatever becomes of it."""
    options: FilterConfig | None = None
    """The options of this page, see `PAGE_OPTIONS`; None: those of the index."""

    @classmethod
    def of(cls, content: Page | Document, config: FilterConfig) -> "ReadPage":
        """Find the words of a page. Cost: 0.5 ms for 1,000."""
        language_parts = None
        if isinstance(content, Page):
            texts, kinds = [block.text for block in content.blocks], kinds_of(content.blocks)
            compared = [block.compared for block in content.blocks]
            if any(content.in_span):
                language_parts = np.array(content.in_span, np.bool_)
        else:
            texts = text_blocks(content.text)
            kinds = ["line" if count_words(text) <= LINE_WORDS else "prose" for text in texts]
            compared = [
                masked(text) if kind == "line" else text
                for text, kind in zip(texts, kinds, strict=True)
            ]
        normal = normalize_parts(texts)
        parts = [
            form if own == text else normalize(own)
            for text, own, form in zip(texts, compared, normal, strict=True)
        ]
        if config.ignore_numbers:
            parts = [
                without_numbers(part) if kind == "line" else part
                for part, kind in zip(parts, kinds, strict=True)
            ]
        words = words_of(
            parts,
            language_parts,
            declared_language=content.language,
            feature_hash=config.feature_hash,
        )
        return cls(content, kinds, normal, words)

    @classmethod
    def unpacked(cls, form: bytes, config: FilterConfig) -> "ReadPage":
        """Make a page of what `pack` returned. Raises ValueError for other bytes."""
        return cls.of(unpack_page(form), config)

    @cached_property
    def is_plain(self) -> bool:
        """Whether it is a plain text, which has no frame of a host around it."""
        return isinstance(self.content, Document)

    @cached_property
    def shown(self) -> Shown:
        """What is counted of it among the pages of its host."""
        if isinstance(self.content, Page):
            return self.content.shown
        return Shown(self.content.title, (), (), (), (), ())

    def pack(self) -> bytes:
        """Return its blocks as bytes, see `page_bytes`. Requires: it is no plain text."""
        assert isinstance(self.content, Page)
        return pack_page(self.content) if self.form is None else self.form


def read_page(page: PageText, place: Place, config: FilterConfig) -> ReadPage | Unjudged:
    """Read a page. Raises TypeError as `content_of` does."""
    content = content_of(page, place, config)
    if isinstance(content, Unjudged):
        return content
    read = ReadPage.of(content, config)
    return read if read.is_plain or not config.keep_text else replace(read, form=read.pack())


def content_of(page: PageText, place: Place, config: FilterConfig) -> Page | Document | Unjudged:
    """Take a page apart.

    Raises:
        TypeError: not exactly one of html and text is given, or one of another type.
    """
    html, text, content_type, link, title = page
    payloads = config.judged_payloads
    if payloads.are_data(html, content_type):
        reason: Reason = "binary" if looks_binary(html) else "not_html"
        content: Page | Document | Unjudged = Unjudged(reason)
    else:
        images_of = place.url if config.part_weights.image else None
        selectors = config.selectors.of(place.host)
        content = read(html, text, content_type, images_of, title, selectors)
    if isinstance(content, Unjudged) and isinstance(html, bytes):
        content = payloads.document(html, content.reason, title or "")
    if isinstance(content, Unjudged) or not link:
        return content
    links = {**dict.fromkeys(content.canonical), **dict.fromkeys(links_of_header(link))}
    return replace(content, canonical=tuple(links))
