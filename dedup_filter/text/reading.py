"""What a caller has of a page -> Page -> Document, or the reason why there is none.

    read         HTML, a tree or text -> Page, Document or a reason
    read_page    tree -> Page: its blocks, title and language; its images where asked for
    parse_page   str or UTF-8 -> Page; the tree is freed at once

The reasons:

    no_text      there is nothing in it
    by_script    its text is made by scripts; what there is says nothing of the page
    binary       it is no text
    too_large    it is longer, or has more tags or text, than is worth the time

Guarantee: a tree is never changed, it may be the one a spider works on; no page raises.

Cost: 1.7 ms for a page of 100 KB.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import NamedTuple

import xxhash
from lxml import etree

from dedup_filter.model import Document, Unjudged
from dedup_filter.text.blocks import Block, blocks_hash
from dedup_filter.text.concealed import read_blocks
from dedup_filter.text.content import Content, find_content
from dedup_filter.text.decode import as_utf8, looks_binary, parse
from dedup_filter.text.headlines import MOST_OF_HEADLINE, part_hash, title_parts
from dedup_filter.text.images import Image, ImageSource, images_inside, page_images
from dedup_filter.text.marked_text import marked_text
from dedup_filter.text.menus import ANY_MENU, menus

__all__ = [
    "MAX_PAGE_LENGTH",
    "MAX_TAGS",
    "MAX_TEXT_LENGTH",
    "NO_PARTS",
    "Html",
    "Page",
    "Shown",
    "WantedParts",
    "parse_page",
    "read",
    "read_page",
]

MAX_PAGE_LENGTH = 16 * 2**20
"""Bytes or characters of a page. A longer one is a dump of data, and takes seconds to parse."""
MAX_TEXT_LENGTH = 2 * 2**20
"""Characters of text: jieba cuts a million in two seconds."""
MAX_TAGS = 400_000
"""Tags of a page: so many take a second and 200 MB to parse. The longest manuals on one page have
100,000."""

Html = str | bytes | etree._Element | etree._ElementTree

# "xml:lang" is the name of the one before it in a tree that was read as HTML.
_LANGUAGE_ATTRIBUTES = ("lang", "{http://www.w3.org/XML/1998/namespace}lang", "xml:lang")
_HEADINGS = ("headline", "heading")
_PRIMARY_SUBTAG = re.compile(r"\s*([a-z]{2,3})(?![a-z0-9])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WantedParts:
    """What of a page is asked for besides its text."""

    headings: bool = False
    images: ImageSource | None = None


NO_PARTS = WantedParts()
_NO_SOURCE = ImageSource("")


class Shown(NamedTuple):
    """What a page shows, as far as it is counted of its host's pages."""

    title: str
    h1: Sequence[str]
    """Texts of its h1, in page order."""
    menus: Sequence[int]
    """64 bits of each menu."""
    blocks: Sequence[int]
    """64 bits of each block, in page order."""
    words: Sequence[float]
    """Words of each block."""
    link_words: Sequence[float]

    @property
    def hashes(self) -> list[int]:
        """All that is counted of a host's pages: hashes of blocks, parts of headlines, menus."""
        parts = [*title_parts(self.title[:MOST_OF_HEADLINE]), *self.h1]
        menu_hashes = [ANY_MENU, *self.menus] if self.menus else []
        return [*self.blocks, *map(part_hash, parts), *menu_hashes]


@dataclass(frozen=True)
class Page:
    """A page taken apart."""

    blocks: Sequence[Block]
    """All text that is read of it (see `concealed`) but its title, in page order."""
    title: str = ""
    language: str | None = None
    images: Sequence[Image] = ()
    """All its images, if asked for."""
    wanted: WantedParts = NO_PARTS
    unread_words: float = 0
    """Words of text that a reader may see but that is not in the blocks: text that is hidden, or in
    templates or script data, beside more visible text; text beyond the bound of blocks."""
    unread_hash: int = 0
    """64 bits of that text, 0 for none. If more is unread than read, a page can repeat only pages
    with the same hash."""
    is_by_script: bool = False
    """Whether its text is made by scripts, so that the blocks say nothing of the page."""

    @cached_property
    def shown(self) -> Shown:
        """What is counted of it among the pages of its host."""
        blocks = self.blocks
        return Shown(
            self.title,
            [block.text for block in blocks if block.kind == "headline"],
            menus(blocks),
            [block.hash for block in blocks],
            [block.words for block in blocks],
            [block.link_words for block in blocks],
        )

    @cached_property
    def content(self) -> Content:
        """Its main content if nothing is known of its host."""
        return find_content(self.blocks)

    def document(
        self, content: Iterable[Block], with_parts: Sequence[Block] | None = None
    ) -> Document:
        """Make a document whose main text is these blocks.

        Its headings and images are those within `with_parts`; None: within the main text.
        """
        content = list(content)
        text = _joined(content)
        # On other pages the main text tells as much, and to join all blocks takes 40 us.
        needs_all = self.unread_words > 0 or not any(map(str.isalnum, text))
        around = content if with_parts is None else with_parts
        wants = self.wanted.headings
        headings = [block.text for block in around if block.kind in _HEADINGS] if wants else ()
        return Document(
            text,
            self.title,
            self.language,
            _joined(self.blocks) if needs_all else "",
            tuple(headings),
            images_inside(self.images, around, self.blocks) if self.images else (),
            self.unread_words,
            self.unread_hash,
            blocks_hash(self.blocks),
        )


def read(
    html: Html | None,
    text: str | None,
    content_type: str | None,
    wanted: WantedParts = NO_PARTS,
) -> Page | Document | Unjudged:
    """Return the page of some HTML, the document of a text, or why it cannot be judged.

    Raises:
        TypeError: not exactly one of html and text is given, or one of another type.
    """
    if (html is None) == (text is None):
        raise TypeError("give either html or text")
    if isinstance(html, etree._Element | etree._ElementTree):
        return _bounded(read_page(html, wanted))
    if not isinstance(text, str | None) or not isinstance(html, str | bytes | None):
        given = text if html is None else html
        raise TypeError(f"a page cannot be made of {type(given).__name__}")
    if not isinstance(content_type, str | None):
        raise TypeError(f"content_type is a str, not {type(content_type).__name__}")
    return _read_text(text or "") if html is None else _read_html(html, content_type, wanted)


def read_page(tree: etree._Element | etree._ElementTree, wanted: WantedParts = NO_PARTS) -> Page:
    """Take a parsed page, or a part of one, apart."""
    root = tree if isinstance(tree, etree._Element) else tree.getroot()
    if root is None or not isinstance(root.tag, str):
        return Page(())
    return _page(*_needed(root, wanted), wanted)


def parse_page(markup: str | bytes, wanted: WantedParts = NO_PARTS) -> Page | None:
    """Parse a page, bytes as UTF-8, and take it apart; None when there is nothing in it."""
    root = parse(markup)
    if root is None:
        return None
    needed = _needed(root, wanted)
    # Freed now, while it is in the processor's caches, the tree takes half the time.
    del root
    return _page(*needed, wanted)


def _read_text(text: str) -> Document | Unjudged:
    return Unjudged("too_large") if len(text) > MAX_TEXT_LENGTH else Document(text)


def _read_html(html: str | bytes, content_type: str | None, wanted: WantedParts) -> Page | Unjudged:
    if len(html) > MAX_PAGE_LENGTH:
        return Unjudged("too_large")
    if isinstance(html, bytes):
        if looks_binary(html):
            return Unjudged("binary")
        html = as_utf8(html, content_type)
    if len(html) > MAX_TAGS and _tags(html) > MAX_TAGS:
        return Unjudged("too_large")
    page = parse_page(html, wanted)
    if page is None:
        return Unjudged("no_text")
    if page.is_by_script:
        # Nothing but its bytes tells it from other pages.
        body = html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html
        return replace(page, unread_words=inf, unread_hash=xxhash.xxh3_64_intdigest(body))
    return _bounded(page)


def _tags(html: str | bytes) -> int:
    return html.count("<") if isinstance(html, str) else html.count(b"<")


def _bounded(page: Page) -> Page | Unjudged:
    if page.is_by_script:
        return Unjudged("by_script")
    length = len(page.title) + sum([len(block.text) for block in page.blocks])
    return Unjudged("too_large") if length > MAX_TEXT_LENGTH else page


def _needed(root: etree._Element, wanted: WantedParts) -> tuple[str, str | None, Sequence[Image]]:
    """Return what a page needs of a tree: its marked text, language and images."""
    images = page_images(root, wanted.images) if wanted.images else ()
    return marked_text(root), _declared_language(root), images


def _page(marked: str, language: str | None, images: Sequence[Image], wanted: WantedParts) -> Page:
    reading = read_blocks(marked)
    titles = [block.text for block in reading.blocks if block.kind == "title"]
    return Page(
        [block for block in reading.blocks if block.kind != "title"],
        titles[0] if titles else "",
        language,
        images,
        # The page may be kept for a while: it must not keep the bytes of its images in memory.
        WantedParts(wanted.headings, _NO_SOURCE) if wanted.images else wanted,
        *reading[1:],
    )


def _joined(blocks: Iterable[Block]) -> str:
    return "\n".join([block.text for block in blocks])


def _declared_language(root: etree._Element) -> str | None:
    """Return the primary subtag (BCP 47) of the language that the root element declares."""
    declared = next(filter(None, map(root.get, _LANGUAGE_ATTRIBUTES)), "")
    found = _PRIMARY_SUBTAG.match(declared)
    return found[1].lower() if found else None
