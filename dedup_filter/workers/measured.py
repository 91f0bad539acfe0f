"""What a page is read from -> the page, and how often its host has shown each block -> its profile.

A page's three texts, new, main and span, are those of `profile`. Pure: what is known of the host
comes as numbers, so it does not matter in which process this runs.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import (
    PageProfile,
    PageTexts,
    Passage,
    PassageKind,
    Surroundings,
    profile,
)
from dedup_filter.frames.host_frames import FrameTimes
from dedup_filter.model import Unjudged
from dedup_filter.text.blocks import Block
from dedup_filter.text.canonical_link import links_of_header
from dedup_filter.text.content import Content, find_content, first_link, whole_content, word_sum
from dedup_filter.text.page_bytes import pack_page, unpack_page
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.reading import Page, read
from dedup_filter.text.selectors import Selectors
from dedup_filter.thresholds import FRAME_TIMES, LINE_WORDS, MIN_WORDS


class Measured(NamedTuple):
    """What a page is judged by, but for its headline and the frames around it."""

    profile: PageProfile
    text: str | None
    """The text that the page is known by, if the option `keep_text` is set."""


class Contents(NamedTuple):
    """The blocks of the three texts of a page, and how they were chosen."""

    new: Sequence[Block]
    main: Sequence[Block]
    span: Sequence[Block]
    unframed: Sequence[Block]
    """All blocks that are not known to be frame of the host."""
    of_new: Content
    """The content of the blocks that the host has not shown."""
    of_unframed: Content

    @property
    def known_by(self) -> Sequence[Block]:
        """The blocks of the text that the page is known by."""
        return self.new if word_sum(self.new) >= MIN_WORDS else self.main


class PageHere:
    """A page whose blocks are in this process."""

    is_kept = False
    """Whether its host has learnt from it as from a page that is kept; only workers are told."""

    def __init__(self, page: Page, config: FilterConfig) -> None:
        self.here: Page | None = page
        self.shown = page.shown
        self.is_form_kept = config.keep_text
        """Whether `pack` will be asked for, whatever becomes of the page."""
        self._page = page
        self._config = config
        self._packed: bytes | None = None

    def measure(self, known: FrameTimes) -> Measured:
        """Measure it. Cost: 1.2 ms for 1,000 words."""
        return _measured(texts_of(self._page, known), self._config)

    def pack(self) -> bytes:
        """Return it as bytes, see `page_bytes`. A second time they are there already."""
        if self._packed is None:
            self._packed = pack_page(self._page)
        return self._packed


def unpacked(packed: bytes, config: FilterConfig) -> PageHere:
    """Make a page of what `pack` returned. Raises ValueError for other bytes."""
    return PageHere(unpack_page(packed), config)


class Source(NamedTuple):
    """What a page is read from."""

    page: PageText
    images_of: str | None = None
    """Its URL, if its images are wanted."""
    selectors: Selectors | None = None
    """Of a user, for pages of its host."""

    @classmethod
    def of(cls, page: PageText, url: str, host: str, config: FilterConfig) -> "Source":
        """Say what a page at a URL is read from."""
        return cls(page, url if config.part_weights.image else None, config.selectors.of(host))

    def read(self, config: FilterConfig) -> PageHere | Measured | Unjudged:
        """Read it in this process; a document, which has no frame, is measured at once.

        Raises:
            TypeError: not exactly one of html and text is given, or one of another type.
        """
        html, text, content_type, link, title = self.page
        content = read(html, text, content_type, self.images_of, title, self.selectors)
        if isinstance(content, Unjudged):
            return content
        if link:
            links = {**dict.fromkeys(content.canonical), **dict.fromkeys(links_of_header(link))}
            content = replace(content, canonical=tuple(links))
        if isinstance(content, Page):
            return PageHere(content, config)
        return _measured(PageTexts.of(content), config)


def texts_of(page: Page, known: FrameTimes) -> PageTexts:
    """Return the texts that a page is judged by, but for its headline and the frames around it."""
    contents = contents_of(page, known.times)
    return PageTexts(
        page.document(contents.known_by, contents.unframed, contents.main),
        _passages(page.blocks, known.times, contents),
        around=Surroundings(is_frame_known=known.is_frame_known),
    )


def _measured(texts: PageTexts, config: FilterConfig) -> Measured:
    text = texts.document.text if config.keep_text else None
    return Measured(profile(texts, config), text)


def contents_of(page: Page, times: Sequence[int]) -> Contents:
    """Choose the blocks of the three texts, finding the content of equal lists once.

    `times` is how many earlier pages have shown each block.
    """
    blocks = page.blocks
    unframed = [block for block, shown in zip(blocks, times, strict=True) if shown < FRAME_TIMES]
    unseen = [block for block, shown in zip(blocks, times, strict=True) if not shown]
    of_all = find_content(blocks)
    of_unframed = of_all if len(unframed) == len(blocks) else find_content(unframed)
    of_new = of_unframed if len(unseen) == len(unframed) else find_content(unseen)
    # While nothing is known to be frame, the links around the content may be the menus.
    new = of_new.own if any(times) else of_new.main
    span = whole_content(blocks, of_all.main)
    return Contents(new, of_unframed.main, span, unframed, of_new, of_unframed)


def _passages(blocks: Sequence[Block], times: Sequence[int], contents: Contents) -> list[Passage]:
    new, main, span = ({block.position for block in text} for text in contents[:3])
    unframed = {block.position for block in contents.of_unframed.candidates}
    first, end = contents.of_unframed.body
    below = first_link(blocks)
    is_host_known = any(times)
    return [
        Passage(
            block.text,
            shown,
            _kind(block, after),
            place in new,
            place in main,
            place in span,
            is_beside=not first <= place < end,
            is_framed=shown < FRAME_TIMES and place not in unframed,
            is_above=place < below and place not in span,
            has_links=block.link_words > 0,
        )
        for block, after, shown in zip(blocks, [*blocks, None][1:], times, strict=True)
        if (place := block.position) in main
        or place in span
        or place in new
        or (is_host_known and not shown)
    ]


def _kind(block: Block, after: Block | None) -> PassageKind:
    """Return what a block is; a heading belongs to the links below it ("Read also")."""
    is_label = block.kind == "heading" and after is not None and not after.is_text
    if is_label or not block.is_text:
        return "link"
    return "line" if block.words <= LINE_WORDS else "prose"
