"""A page, once it was read -> the texts that it is judged by, in the context of its host.

    bytes -> blocks (`text/reading`) -> the words of all blocks, cut, hashed and looked up
          -> how often its host has shown each block -> the texts new, main and span (`profile`)

`ReadPage` depends on the page and the options alone, never on its host, so any process can make it.
It is what a worker returns, what a page waits as until the frame of its host is known, and what a
page is judged from, the first time or again. What is stored of it are the blocks
(`text/page_bytes`): their words are found again.

The language is found by the words of the main content, as if no block were known to be frame: menus
and footers are often in another language.

Cost besides `text/reading`: 0.5 ms for 1,000 words, and 0.2 ms for the texts of 200 blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from sys import getsizeof
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.config import FilterConfig
from dedup_filter.features.analysis import BoolArray, Words, words_of
from dedup_filter.fingerprints.block_columns import BlockKind, Places
from dedup_filter.fingerprints.profile import PageTexts, Surroundings
from dedup_filter.model import Document, Reason, Unjudged
from dedup_filter.text.blocks import Block, Containers, text_hash
from dedup_filter.text.content import (
    Content,
    find_content,
    first_link,
    link_items,
    whole_content,
    word_sum,
)
from dedup_filter.text.decode import looks_binary
from dedup_filter.text.headlines import MOST_OF_HEADLINE, Headline
from dedup_filter.text.lines import text_blocks
from dedup_filter.text.masks import masked, without_numbers
from dedup_filter.text.page_bytes import pack_page, page_nbytes, unpack_page
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import links_of_header
from dedup_filter.text.payloads import Payloads
from dedup_filter.text.plain_text import count_words, normalize, normalize_parts
from dedup_filter.text.reading import Page, Shown, read
from dedup_filter.text.selectors import Selectors
from dedup_filter.thresholds import FRAME_TIMES, LINE_WORDS, MIN_WORDS

_LEAST_BYTES = 2_000
"""Memory of a page beside its blocks and words: the heads of arrays and lists."""


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

    @classmethod
    def of(cls, content: Page | Document, config: FilterConfig) -> "ReadPage":
        """Find the words of a page. Cost: 0.5 ms for 1,000."""
        language_parts = None
        if isinstance(content, Page):
            texts, kinds = [block.text for block in content.blocks], _kinds(content.blocks)
            compared = [block.compared for block in content.blocks]
            language_parts = _language_parts(content)
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

    @property
    def nbytes(self) -> int:
        """Memory in bytes, about. Cost: 0.1 ms for 200 blocks."""
        columns = (*self.words.values, self.words.lengths, self.words.worths)
        content = self.content
        of_content = page_nbytes(content) if isinstance(content, Page) else getsizeof(content.text)
        of_words = sum(map(getsizeof, self.normal)) + sum(each.nbytes for each in columns)
        return _LEAST_BYTES + of_content + of_words + len(self.form or b"")

    def pack(self) -> bytes:
        """Return its blocks as bytes, see `page_bytes`. Requires: it is no plain text."""
        assert isinstance(self.content, Page)
        return pack_page(self.content) if self.form is None else self.form


class Source(NamedTuple):
    """What a page is read from."""

    page: PageText
    images_of: str | None = None
    """Its URL, if its images are wanted."""
    selectors: Selectors | None = None
    """Of a user, for pages of its host."""
    payloads: Payloads = Payloads()
    """Which bytes that are no page are judged."""

    @classmethod
    def of(cls, page: PageText, url: str, host: str, config: FilterConfig) -> "Source":
        """Say what a page at a URL is read from."""
        images_of = url if config.part_weights.image else None
        return cls(page, images_of, config.selectors.of(host), config.judged_payloads)

    def content(self) -> Page | Document | Unjudged:
        """Take the page apart.

        Raises:
            TypeError: not exactly one of html and text is given, or one of another type.
        """
        html, text, content_type, link, title = self.page
        if self.payloads.are_data(html, content_type):
            reason: Reason = "binary" if looks_binary(html) else "not_html"
            content: Page | Document | Unjudged = Unjudged(reason)
        else:
            content = read(html, text, content_type, self.images_of, title, self.selectors)
        if isinstance(content, Unjudged) and isinstance(html, bytes):
            content = self.payloads.document(html, content.reason, title or "")
        if isinstance(content, Unjudged) or not link:
            return content
        links = {**dict.fromkeys(content.canonical), **dict.fromkeys(links_of_header(link))}
        return replace(content, canonical=tuple(links))

    def read(self, config: FilterConfig) -> ReadPage | Unjudged:
        """Read the page in this process. Raises TypeError as `content` does."""
        content = self.content()
        if isinstance(content, Unjudged):
            return content
        page = ReadPage.of(content, config)
        return page if page.is_plain or not config.keep_text else replace(page, form=page.pack())


def _language_parts(page: Page) -> BoolArray | None:
    """Return which blocks tell the language, whatever the host has shown; None: all do."""
    main = page.main.main
    if not main:
        return None
    first, last = main[0].position, main[-1].position
    return np.array([first <= block.position <= last for block in page.blocks], np.bool_)


def _kinds(blocks: Sequence[Block]) -> list[BlockKind]:
    """Return what each block is; a heading belongs to the links below it ("Read also")."""
    are_before_links = [not block.is_text for block in blocks[1:]] + [False]
    return [
        "link"
        if not block.is_text or (is_before_links and block.kind == "heading")
        else "line"
        if block.words <= LINE_WORDS
        else "prose"
        for block, is_before_links in zip(blocks, are_before_links, strict=False)
    ]


_ROWS = ("item", "pair", "cell", "caption", "code")
_NO_HEADLINE, _ALONE = Headline(), Surroundings()


class Contents(NamedTuple):
    """The blocks of the three texts of a page, and how they were chosen."""

    new: Sequence[Block]
    main: Sequence[Block]
    span: Sequence[Block]
    of_new: Content
    """The content of the blocks that the host has not shown."""
    of_unframed: Content

    @property
    def known_by(self) -> Sequence[Block]:
        """The blocks of the text that the page is known by."""
        return self.new if word_sum(self.new) >= MIN_WORDS else self.main


def texts_of(
    page: ReadPage,
    times: Sequence[int] = (),
    are_frame: Sequence[bool] = (),
    headline: Headline = _NO_HEADLINE,
    around: Surroundings = _ALONE,
) -> PageTexts:
    """Return the texts that a page is judged by.

    `times` is how many earlier pages of its host have shown each block, `are_frame` whether it is
    marked as frame; of a plain text nothing. The headline of a plain text is its title, or else the
    short line that it begins with.
    """
    content = page.content
    if isinstance(content, Document):
        return _of_document(page, content)
    contents = contents_of(content, times)
    document = content.document(contents.known_by, contents.main)
    places = _places(page, content, times, are_frame, contents)
    chosen = places.in_new | places.in_main | places.in_span | places.is_line | ~places.is_frame
    return PageTexts(
        document,
        places.at(chosen),
        chosen,
        np.array(content.shown.blocks, np.uint64),
        [block.text for block in compress(content.blocks, chosen.tolist())],
        page.words.part(chosen),
        headline,
        around,
        content.is_paged,
    )


def contents_of(page: Page, times: Sequence[int]) -> Contents:
    """Choose the blocks of the three texts, finding the content of equal lists once.

    `times` is how many earlier pages have shown each block.
    """
    blocks = page.blocks
    unframed = [block for block, shown in zip(blocks, times, strict=True) if shown < FRAME_TIMES]
    unseen = [block for block, shown in zip(blocks, times, strict=True) if not shown]
    of_all = page.main
    of_unframed = of_all if len(unframed) == len(blocks) else find_content(unframed)
    of_new = of_unframed if len(unseen) == len(unframed) else find_content(unseen)
    # While nothing is known to be frame, the links around the content may be the menus.
    new = of_new.own if any(times) else of_new.main
    span = whole_content(blocks, of_all.main)
    return Contents(new, of_unframed.main, span, of_new, of_unframed)


def _of_document(page: ReadPage, document: Document) -> PageTexts:
    texts, kinds = text_blocks(document.text), page.kinds
    begins_with_line = len(texts) > 1 and kinds[0] == "line" and not document.title
    first = texts[0][:MOST_OF_HEADLINE] if begins_with_line else ""
    headline = Headline(first, document.title)
    places = Places.of_text(np.array([kind == "prose" for kind in kinds], np.bool_))
    hashes = np.fromiter(map(text_hash, texts), np.uint64, len(texts))
    chosen, around = np.ones(len(texts), np.bool_), Surroundings(is_plain=True)
    return PageTexts(document, places, chosen, hashes, texts, page.words, headline, around)


def _places(
    page: ReadPage,
    content: Page,
    times: Sequence[int],
    are_frame: Sequence[bool],
    contents: Contents,
) -> Places:
    """Return where all blocks of a page stand."""
    blocks = content.blocks
    positions = np.array([block.position for block in blocks], np.intp)

    def mask(chosen: Sequence[Block]) -> BoolArray:
        are_chosen = np.zeros(positions.max(initial=0) + 1, np.bool_)
        are_chosen[[block.position for block in chosen]] = True
        return are_chosen[positions]

    shown, in_span = np.array(times, np.intp), mask(contents.span)
    first, end = contents.of_unframed.body
    kinds = np.array(page.kinds)
    return Places(
        times=shown,
        is_frame=np.array(are_frame, np.bool_),
        is_prose=kinds == "prose",
        is_line=kinds == "line",
        in_new=mask(contents.new),
        in_main=mask(contents.main),
        in_span=in_span,
        is_beside=(positions < first) | (positions >= end),
        is_framed=(shown < FRAME_TIMES) & ~mask(contents.of_unframed.candidates),
        is_outside=_outside_main_element(blocks, positions),
        is_above=(positions < first_link(blocks)) & ~in_span,
        is_item=link_items(blocks),
        is_row=np.array([block.kind in _ROWS for block in blocks], np.bool_),
        is_masked=np.array(list(map(_is_masked, blocks)), np.bool_),
        has_links=np.array([block.link_words > 0 for block in blocks], np.bool_),
    )


def _is_masked(block: Block) -> bool:
    return block.compared != block.text and not any(map(str.isdigit, block.compared))


def _outside_main_element(blocks: Sequence[Block], positions: npt.NDArray[np.intp]) -> BoolArray:
    """Return which blocks stand outside the only `main` element; none if there is not one."""
    containers = blocks[0].containers if blocks else Containers()
    found = [number for number, role in enumerate(containers.roles) if role.frame == "main"]
    if len(found) != 1:
        return np.zeros(len(blocks), np.bool_)
    first, end = containers.firsts[found[0]], containers.ends[found[0]]
    return (positions < first) | (positions >= end)
