"""What a page is read from -> the page, and how often its host has shown each block -> its profile.

A page's three texts, own, rare and whole, are those of `profile`. Pure: what is known of the host
comes as numbers, so it does not matter in which process this runs.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import (
    FRAME_TIMES,
    MIN_WORDS,
    PageProfile,
    PageTexts,
    Passage,
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


class Measured(NamedTuple):
    """What a page is judged by, but for its headline and the frames around it."""

    profile: PageProfile
    text: str | None
    """The text that the page is known by, if the option `keep_text` is set."""


class Contents(NamedTuple):
    """The blocks of the three texts of a page, and how the first two were chosen."""

    own: Sequence[Block]
    rare: Sequence[Block]
    whole: Sequence[Block]
    of_new: Content
    """The content of the blocks that the host has not shown."""
    of_rare: Content
    """That of those that it has shown less than `FRAME_TIMES`."""

    @property
    def known_by(self) -> Sequence[Block]:
        """The blocks of the text that the page is known by."""
        return self.own if word_sum(self.own) >= MIN_WORDS else self.rare


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

    def read(self, config: FilterConfig) -> PageHere | Measured | Unjudged:
        """Read it in this process; a document, which has no frame, is measured at once.

        Raises:
            TypeError: not exactly one of html and text is given, or one of another type.
        """
        html, text, content_type, link, title = self.page
        content = read(html, text, content_type, self.images_of, title)
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
        page.document(contents.known_by, contents.rare),
        _passages(page.blocks, known.times, contents[:3]),
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
    new = [block for block, shown in zip(blocks, times, strict=True) if shown < 1]
    not_frame = [block for block, shown in zip(blocks, times, strict=True) if shown < FRAME_TIMES]
    of_all = find_content(blocks)
    of_rare = of_all if len(not_frame) == len(blocks) else find_content(not_frame)
    of_own = of_rare if len(new) == len(not_frame) else find_content(new)
    own = of_own.own if any(times) else of_own.main
    whole = whole_content(blocks, of_all.main)
    return Contents(own, of_rare.main, whole, of_own, of_rare)


def _passages(
    blocks: Sequence[Block], times: Sequence[int], texts: Sequence[Sequence[Block]]
) -> list[Passage]:
    own, rare, whole = ({block.position for block in text} for text in texts)
    shown_in = own | rare | whole
    below = first_link(blocks)
    return [
        Passage(
            block.text,
            shown,
            place in own,
            place in rare,
            place in whole,
            place < below and place not in whole,
        )
        for block, shown in zip(blocks, times, strict=True)
        if (place := block.position) in shown_in
    ]
