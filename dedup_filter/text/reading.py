"""HTML or text of a page -> Page -> Document, or the reason why there is none.

The reasons:

    no_text      the page is empty
    by_script    scripts make its text; the text in the markup does not identify the page
    binary       it is no text
    too_large    it is longer, or has more tags or text, than is worth the time

Guarantee: a tree is never changed, because a spider may use it; no page raises.

Cost: 1.7 ms for a page of 100 KB; with selectors of a user, see `selectors`.
"""

import re
from array import array
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import compress
from math import inf
from typing import NamedTuple
from urllib.parse import urldefrag, urljoin

import xxhash
from lxml import etree

from dedup_filter.model import Document, Unjudged
from dedup_filter.text.blocks import Block, Cut, split_blocks, text_hash
from dedup_filter.text.concealed import read_concealed
from dedup_filter.text.content import (
    ANY_MENU,
    Content,
    find_content,
    menus,
    word_sum,
    words_before,
)
from dedup_filter.text.decode import as_utf8, begins_as_file, looks_binary, parse
from dedup_filter.text.headlines import MOST_OF_HEADLINE, part_hash, title_parts
from dedup_filter.text.marked_text import Parts, marked_text, parts_of, with_pictures
from dedup_filter.text.page_url import base_of, canonical_links, is_paged
from dedup_filter.text.selectors import Effect, Selectors, select
from dedup_filter.thresholds import ARTICLE_WORDS, FRAME_TIMES, HALF, LINE_WORDS

MAX_PAGE_LENGTH = 16 * 2**20
"""Bytes or characters of a page. A longer page is a dump of data, and takes seconds to parse."""
MAX_TEXT_LENGTH = 2 * 2**20
"""Characters of text: jieba cuts a million in two seconds."""
MAX_TAGS = 200_000
"""Tags of a page: this many take half a second and 200 MB. The longest manuals have 100,000."""
_MOST_READ, _LONGEST_READ = 64, 2**18
"""Number of latest pages that are cached, and the most bytes of each; usually 10 MB. A page that
soon comes again, at another spelling of its URL, is not parsed again."""
_MOST_IMAGES = 1_000
"""The first images of a page that are kept. A page with more is a gallery."""
_MOST_LINKS = 2 / 3
"""Share of links from which a sentence between others is a teaser."""

Image = tuple[int, int, int]
"""XXH3 of its absolute URL; first and end of the smallest container around it that holds text."""
Html = str | bytes | etree._Element | etree._ElementTree

# In a tree that was read as HTML, the second attribute is named "xml:lang".
_LANGUAGE_ATTRIBUTES = ("lang", "{http://www.w3.org/XML/1998/namespace}lang", "xml:lang")
_PRIMARY_SUBTAG = re.compile(r"\s*([a-z]{2,3})(?![a-z0-9])", re.IGNORECASE)
_HEADINGS = ("headline", "heading")


class Shown(NamedTuple):
    """The parts of a page by which frames count the pages of a host."""

    title: str
    h1: Sequence[str]
    """Texts of its h1 elements, in page order."""
    menus: Sequence[int]
    """64 bits of each menu."""
    blocks: Sequence[int]
    """64 bits of each block, in page order."""
    words: Sequence[float]
    link_words: Sequence[float]
    slots: Sequence[int] = ()
    """16 bits of the kind of place of each block, see `Containers.slot`."""

    @property
    def hashes(self) -> list[int]:
        """The hashes that frames count: hashes of blocks, parts of headlines, menus."""
        parts = [*title_parts(self.title[:MOST_OF_HEADLINE]), *self.h1]
        menu_hashes = [ANY_MENU, *self.menus] if self.menus else []
        return [*self.blocks, *map(part_hash, parts), *menu_hashes]


@dataclass(frozen=True)
class Page:
    """A page taken apart."""

    blocks: Sequence[Block]
    """All text that is read of the page (see `concealed`) but its title, in page order."""
    title: str = ""
    language: str | None = None
    images: Sequence[Image] = ()
    """Its images, if they are read."""
    unread_words: float = 0
    """Words of text that a reader may see but that is not in the blocks: text that is hidden, or in
    templates or script data; and its notes, if they have more words than the visible text."""
    unread_hash: int = 0
    """64 bits of the unread text, 0 for none. If more text is unread than read, a page can repeat
    only pages with the same hash."""
    is_by_script: bool = False
    """Whether scripts make its text, so that the blocks do not identify the page."""
    notes_hash: int = 0
    """64 bits of its notes: options, attributes that are shown; 0 for none. Pages are equal only if
    their notes are equal."""
    waiting_words: float = 0
    """The part of `unread_words` that waits for a script and may be the content of the page: all
    unread text that is not merely hidden. More than all words of the page if it has few, and its
    script data has values."""
    waiting_hash: int = 0
    """64 bits of the waiting text, 0 for none."""
    canonical: tuple[str, ...] = ()
    """URLs that it names as canonical: see `canonical_links`."""
    selected: tuple[Effect, ...] = ()
    """The effects of a user's selectors on it."""
    is_paged: bool = False
    """Whether it is one page of a sequence, by its links."""

    @cached_property
    def main(self) -> Content:
        """Its main content if no block is known to be frame."""
        return find_content(self.blocks)

    @cached_property
    def in_span(self) -> Sequence[bool]:
        """Which blocks stand from the first one of its main content to the last.

        Short lines between may be the only difference from other pages: a name, a number, a price.
        """
        main = self.main.main
        first, last = (main[0].position, main[-1].position) if main else (0, -1)
        return [first <= block.position <= last for block in self.blocks]

    @cached_property
    def shown(self) -> Shown:
        """The parts by which frames count it among the pages of its host."""
        blocks = self.blocks
        return Shown(
            title=self.title,
            h1=[block.text for block in blocks if block.kind == "headline"],
            blocks=[block.hash for block in blocks],
            words=array("d", [block.words for block in blocks]),
            link_words=array("d", [block.link_words for block in blocks]),
            slots=array("H", [block.containers.slot(block.inside) for block in blocks]),
            menus=menus(blocks),
        )

    def document(
        self,
        content: Sequence[Block],
        with_parts: Sequence[Block] | None = None,
    ) -> Document:
        """Make a document whose main text is some blocks.

        The document gets the headings and images within `with_parts`; None: within the main text.
        """
        text = "\n".join([block.text for block in content])
        around = content if with_parts is None else with_parts
        # For other pages the main text is enough, and to join all blocks takes 40 us.
        needs_all = self.unread_words > 0 or not any(map(str.isalnum, text))
        hashes = array("Q", self.shown.blocks).tobytes()
        if self.notes_hash:
            hashes += self.notes_hash.to_bytes(8, "little")
        return Document(
            text,
            self.title,
            self.language,
            "\n".join([block.text for block in self.blocks]) if needs_all else "",
            tuple([block.text for block in around if block.kind in _HEADINGS]),
            self._images_inside(around),
            self.unread_words,
            self.unread_hash,
            self.waiting_words,
            self.waiting_hash,
            xxhash.xxh3_64_intdigest(hashes),
            self.canonical,
            self.selected,
            self.is_paged,
        )

    def _images_inside(self, content: Iterable[Block]) -> tuple[int, ...]:
        """Return the hashes of the images that belong to some blocks, in page order.

        The blocks have most text of the smallest container with text around the image.
        """
        if not self.images or not self.blocks:
            return ()
        containers = self.blocks[0].containers
        of_content = words_before(content, containers)
        of_all = words_before(self.blocks, containers)
        return tuple(
            image
            for image, first, end in self.images
            if of_content[end] - of_content[first] > HALF * (of_all[end] - of_all[first])
        )


def clean_text(page: Page | Document, times: Sequence[int]) -> str:
    """Return the main text of a page, for output: its blocks in page order, one a line.

    `times` is how many other pages of its host have shown each block: blocks of the frame are left
    out, as for judging. Two things differ from the text that is judged. The data of scripts is no
    text of a page that shows an article. A sentence between the blocks of the main content is part
    of it, also with many links or in an element whose class name is the name of a frame (a quoted
    post). A plain text is returned as it was given. Cost: 0.1 ms for 200 blocks.
    """
    if isinstance(page, Document):
        return page.text
    own = list(compress(page.blocks, [shown < FRAME_TIMES for shown in times]))
    # The data of scripts stands after the first outer container.
    ends = own[0].containers.ends[1:2] if own else []
    content = find_content([block for block in own if block.position < ends[0]] if ends else own)
    if word_sum(content.main) < ARTICLE_WORDS:
        content = find_content(own)
    first, last = (content.stretch[at].position if content.stretch else 0 for at in (0, -1))
    main = {block.position for block in content.main}
    return "\n".join(
        block.text
        for block in own
        if (block.position in main and block.kind != "picture")
        or (
            first < block.position < last
            and block.words > LINE_WORDS
            and block.link_words <= _MOST_LINKS * block.words
        )
    )


def read(
    html: Html | None,
    text: str | None,
    content_type: str | None,
    images_of: str | None = None,
    title: str | None = None,
    selectors: Selectors | None = None,
) -> Page | Document | Unjudged:
    """Return the page of some HTML, the document of a text, or why it cannot be judged.

    `images_of`: the URL of the page; None: its images are not read. `title`: the headline of a
    text, or of HTML that has no title. `selectors`: a user's choice of the parts of HTML to judge.

    Raises:
        TypeError: not exactly one of html and text is given, or one of another type.
    """
    if (html is None) == (text is None):
        raise TypeError("give either html or text")
    title = " ".join((title or "").split())[:MOST_OF_HEADLINE]
    if isinstance(html, etree._Element | etree._ElementTree):
        page: Page | Unjudged = read_page(html, images_of, selectors)
    elif not isinstance(text, str | None) or not isinstance(html, str | bytes | None):
        given = text if html is None else html
        raise TypeError(f"a page cannot be made of {type(given).__name__}")
    elif not isinstance(content_type, str | None):
        raise TypeError(f"content_type is a str, not {type(content_type).__name__}")
    elif html is None:
        text = text or ""
        return Unjudged("too_large") if len(text) > MAX_TEXT_LENGTH else Document(text, title)
    else:
        is_plain = type(html) is bytes and len(html) <= _LONGEST_READ
        read_it = _read_before if is_plain else _read_html
        page = read_it(html, content_type, images_of, selectors)
    if isinstance(page, Unjudged):
        return page
    if page.selected and not page.blocks:
        whole = read(html, None, content_type, images_of, title)
        selected: tuple[Effect, ...] = (*page.selected, "nothing_left")
        return replace(whole, selected=selected) if isinstance(whole, Page) else whole
    if page.is_by_script and page.unread_words < inf:  # a tree has no bytes
        return Unjudged("by_script")
    length = len(page.title) + sum([len(block.text) for block in page.blocks])
    if length > MAX_TEXT_LENGTH:
        return Unjudged("too_large")
    return page if page.title or not title else replace(page, title=title)


def read_page(
    tree: etree._Element | etree._ElementTree,
    images_of: str | None = None,
    selectors: Selectors | None = None,
) -> Page:
    """Read a parsed page, or a part of one: with images if `images_of`, its URL, is given."""
    root = tree if isinstance(tree, etree._Element) else tree.getroot()
    if root is None or not isinstance(root.tag, str):
        return Page(())
    return _page(*_needed(root if selectors is None else deepcopy(root), images_of, selectors))


def markup_of(html: str | bytes, content_type: str | None) -> bytes | Unjudged:
    """Return the markup of a page, in UTF-8, or the reason not to parse it."""
    if len(html) > MAX_PAGE_LENGTH:
        return Unjudged("too_large")
    is_text = isinstance(html, str)
    markup = html.encode("utf-8", "replace") if isinstance(html, str) else html
    # Crawlers decode whatever they fetch; but a string with control characters is text.
    if begins_as_file(markup) if is_text else looks_binary(markup):
        return Unjudged("binary")
    markup = markup if is_text else as_utf8(markup, content_type)
    has_many = len(markup) > MAX_TAGS and markup.count(b"<") > MAX_TAGS
    return Unjudged("too_large") if has_many else markup


def _read_html(
    html: str | bytes,
    content_type: str | None,
    images_of: str | None,
    selectors: Selectors | None = None,
) -> Page | Unjudged:
    found = markup_of(html, content_type)
    if isinstance(found, Unjudged):
        return found
    root = parse(found)
    if root is None:
        return Unjudged("no_text")
    needed = _needed(root, images_of, selectors)
    # Only its bytes distinguish a page that is made by script from other pages.
    body = etree.tostring(root) if needed[0].selected else found
    # If the tree is freed now, while it is in the processor's caches, this takes half the time.
    del root
    page = _page(*needed)
    if page.is_by_script:
        return replace(page, unread_words=inf, unread_hash=xxhash.xxh3_64_intdigest(body))
    return page


_read_before = lru_cache(_MOST_READ)(_read_html)


def _needed(
    root: etree._Element, images_of: str | None, selectors: Selectors | None
) -> tuple[Page, str, str]:
    """Return what `_page` needs of a tree, from which selectors remove elements."""
    canonical = canonical_links(root)
    selected = () if selectors is None else select(root, selectors)
    base = "" if images_of is None else _absolute(images_of, str(base_of(root))) or images_of
    marked = marked_text(root, with_images=images_of is not None, with_sources=True)
    language, paged = _declared_language(root), is_paged(root)
    empty = Page((), "", language, canonical=canonical, selected=selected, is_paged=paged)
    return empty, base, marked


def _page(empty: Page, base: str, marked: str) -> Page:
    """Fill a page; `base`: the URL to which the addresses of its images are relative."""
    parts, cut = cut_marked(marked)
    unread = (0.0, 0, False, 0, 0.0, 0)
    if parts.segments or parts.has_scripts or parts.notes:
        cut, unread = read_concealed(parts, cut)
    titles = [block.text for block in cut.blocks if block.kind == "title"]
    return Page(
        [block for block in cut.blocks if block.kind != "title"] if titles else cut.blocks,
        titles[0] if titles else "",
        empty.language,
        [
            (text_hash(_absolute(base, image) or image), *place)
            for image, place in cut.images[:_MOST_IMAGES]
        ],
        *unread,
        empty.canonical,
        empty.selected,
        empty.is_paged,
    )


def cut_marked(marked: str) -> tuple[Parts, Cut]:
    """Separate the parts of a marked text with sources, and cut the visible one.

    A page of a few words is known by its pictures, too: each is a block then.
    """
    whole = parts_of(marked)
    parts = _with_pictures(whole, are_text=False)
    cut = split_blocks(parts.visible)
    if parts.visible is not whole.visible:
        words = word_sum(block for block in cut.blocks if block.is_text and block.kind != "title")
        if words < ARTICLE_WORDS:
            parts = _with_pictures(whole, are_text=True)
            cut = split_blocks(parts.visible)
    return parts, cut


def _with_pictures(parts: Parts, *, are_text: bool) -> Parts:
    visible = with_pictures(parts.visible, are_text=are_text)
    pieces = [(place, with_pictures(text, are_text=are_text)) for place, text in parts.segments]
    return parts._replace(visible=visible, segments=pieces)


def _absolute(base: str, address: str) -> str:
    try:
        return urldefrag(urljoin(base, address)).url
    except ValueError:  # "http://[1/"
        return ""


def _declared_language(root: etree._Element) -> str | None:
    """Return the primary subtag (BCP 47) of the language that the root element declares."""
    found = _PRIMARY_SUBTAG.match(next(filter(None, map(root.get, _LANGUAGE_ATTRIBUTES)), ""))
    return found[1].lower() if found else None
