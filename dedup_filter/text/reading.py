"""HTML or text of a page -> Page -> Document, or the reason why there is none.

The reasons:

    no_text      the page is empty
    by_script    scripts make its text; the text in the markup does not identify the page
    binary       it is no text
    too_large    it is longer, or has more tags or text, than is worth the time

An image belongs to some blocks if they have most text of the smallest container with text around
it: the image of a figure belongs to its article, the image of a menu to no article. An image is
identified by its address.
Guarantee: a tree is never changed, because a spider may use it; no page raises.

Cost: 1.7 ms for a page of 100 KB; with selectors of a user, see `selectors`.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from itertools import starmap
from math import inf
from operator import attrgetter
from typing import Any, NamedTuple
from urllib.parse import urldefrag, urljoin

import xxhash
from lxml import etree

from dedup_filter.model import Document, Unjudged
from dedup_filter.text.blocks import Block, split_blocks
from dedup_filter.text.concealed import read_concealed
from dedup_filter.text.content import ANY_MENU, Content, find_content, menus, words_before
from dedup_filter.text.decode import as_utf8, looks_binary, parse
from dedup_filter.text.marked_text import Parts, marked_text, parts_of
from dedup_filter.text.page_url import canonical_links
from dedup_filter.text.selectors import Effect, Selectors, select, selected_copy

MAX_PAGE_LENGTH = 16 * 2**20
"""Bytes or characters of a page. A longer page is a dump of data, and takes seconds to parse."""
_START = 4096
"""Bytes or characters that show whether a page is binary."""
MAX_TEXT_LENGTH = 2 * 2**20
"""Characters of text: jieba cuts a million in two seconds."""
MAX_TAGS = 200_000
"""Tags of a page: this many take half a second and 200 MB. The longest manuals on one page have
100,000."""
MOST_OF_HEADLINE = 200
"""Characters of an h1 or a title that are kept."""
_MOST_READ, _LONGEST_READ = 64, 2**18
"""Number of latest pages that are cached, and the most bytes of each; usually 10 MB. A page that
soon comes again, at another spelling of its URL, is not parsed again."""
_MOST_IMAGES = 1_000
"""The first images of a page that are kept. A page with more is a gallery; these are enough."""
_MOST = 0.5

Image = tuple[int, int, int]
"""XXH3 of its absolute URL; first and end of the smallest container around it that holds text."""
Html = str | bytes | etree._Element | etree._ElementTree

# In a tree that was read as HTML, the second attribute is named "xml:lang".
_LANGUAGE_ATTRIBUTES = ("lang", "{http://www.w3.org/XML/1998/namespace}lang", "xml:lang")
_PRIMARY_SUBTAG = re.compile(r"\s*([a-z]{2,3})(?![a-z0-9])", re.IGNORECASE)
_HEADINGS = ("headline", "heading")
_BETWEEN_PARTS = re.compile(
    r"\s+(?:[-\u2010-\u2015:/<>\u00b7\u2022~]|::|>>|<<)\s+|\s*[|\uff5c\u00bb\u00ab]+\s*"
    # Chinese and Japanese titles have no spaces around separators.
    r"|(?<=[\u2e80-\uffef])\s*[-_\u2010-\u2015]+\s*|\s*[-_\u2010-\u2015]+\s*(?=[\u2e80-\uffef])"
)
_base = etree.XPath("normalize-space(//base/@href)")


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
    """Words of each block."""
    link_words: Sequence[float]

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
    templates or script data, beside more visible text; and its notes, if they have more words than
    the visible text."""
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
    unread text that is not merely hidden."""
    waiting_hash: int = 0
    """64 bits of the waiting text, 0 for none."""
    canonical: tuple[str, ...] = ()
    """URLs that it names as canonical: see `canonical_link`."""
    selected: tuple[Effect, ...] = ()
    """The effects of a user's selectors on it."""

    def __reduce__(self) -> tuple[Callable[..., "Page"], tuple[Any, ...]]:
        """Pickle blocks as tuples: half of the bytes, and a third of the time."""
        others = [getattr(self, field.name) for field in fields(self)[1:]]
        return _page_of, (list(map(_values_of, self.blocks)), others)

    @cached_property
    def main(self) -> Content:
        """Its main content if no block is known to be frame."""
        return find_content(self.blocks)

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
            menus=menus(blocks),
        )

    def document(
        self,
        content: Iterable[Block],
        own: str,
        with_parts: Sequence[Block] | None = None,
    ) -> Document:
        """Make a document whose main text is some blocks.

        `own`: the normal form of all text that is not known to be frame of the page's host. The
        document gets the headings and images within `with_parts`; None: within the main text.
        """
        content = list(content)
        text = _joined(content)
        around = content if with_parts is None else with_parts
        # For other pages the main text is enough, and to join all blocks takes 40 us.
        needs_all = self.unread_words > 0 or not any(map(str.isalnum, text))
        hashes = array("Q", [block.hash for block in self.blocks])
        return Document(
            text,
            self.title,
            self.language,
            _joined(self.blocks) if needs_all else "",
            tuple([block.text for block in around if block.kind in _HEADINGS]),
            self._images_inside(around),
            self.unread_words,
            self.unread_hash,
            self.waiting_words,
            self.waiting_hash,
            _hash_of(hashes.tobytes(), self.notes_hash),
            _hash_of(own.encode("utf-8", "surrogatepass"), self.notes_hash),
            self.canonical,
            self.selected,
        )

    def _images_inside(self, content: Iterable[Block]) -> tuple[int, ...]:
        """Return the hashes of the images that belong to some blocks, in page order."""
        if not self.images or not self.blocks:
            return ()
        containers = self.blocks[0].containers
        of_content = words_before(content, containers)
        of_all = words_before(self.blocks, containers)
        return tuple(
            image
            for image, first, end in self.images
            if of_content[end] - of_content[first] > _MOST * (of_all[end] - of_all[first])
        )


_values_of = attrgetter(*(field.name for field in fields(Block)))


def _page_of(blocks: Iterable[Sequence[Any]], others: Iterable[Any]) -> Page:
    return Page(list(starmap(Block, blocks)), *others)


def title_parts(title: str) -> list[str]:
    """Return the parts of a title, such as the page's name and the site's name.

    >>> title_parts("git-diff - Git 2.39 manual | Example")
    ['git-diff', 'Git 2.39 manual', 'Example']
    """
    return [part for part in map(str.strip, _BETWEEN_PARTS.split(title)) if part]


def part_hash(part: str) -> int:
    """Return 64 bits that identify an h1 or a part of a title.

    They differ from the hash of a block with the same text: the links of a menu have the headlines
    of other pages.
    """
    titled = f"\0title\0{part[:MOST_OF_HEADLINE]}"
    return xxhash.xxh3_64_intdigest(titled.encode("utf-8", "surrogatepass"))


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
        page = read_page(html, images_of, selectors)
        return Unjudged("by_script") if page.is_by_script else _titled(_bounded(page), title)
    if not isinstance(text, str | None) or not isinstance(html, str | bytes | None):
        given = text if html is None else html
        raise TypeError(f"a page cannot be made of {type(given).__name__}")
    if not isinstance(content_type, str | None):
        raise TypeError(f"content_type is a str, not {type(content_type).__name__}")
    if html is not None:
        is_plain = type(html) is bytes and len(html) <= _LONGEST_READ
        read_it = _read_before if is_plain else _read_html
        return _titled(read_it(html, content_type, images_of, selectors), title)
    text = text or ""
    return Unjudged("too_large") if len(text) > MAX_TEXT_LENGTH else Document(text, title)


def read_page(
    tree: etree._Element | etree._ElementTree,
    images_of: str | None = None,
    selectors: Selectors | None = None,
) -> Page:
    """Read a parsed page, or a part of one: with images if `images_of`, its URL, is given."""
    root = tree if isinstance(tree, etree._Element) else tree.getroot()
    if root is None or not isinstance(root.tag, str):
        return Page(())
    canonical = canonical_links(root)
    chosen, effects = (root, ()) if selectors is None else selected_copy(root, selectors)
    language, base, marked = _needed(chosen, images_of)
    page = _page(language, base, parts_of(marked))
    if effects and not page.blocks:
        return replace(read_page(root, images_of), selected=(*effects, "nothing_left"))
    return replace(page, canonical=canonical, selected=effects)


def markup_of(html: str | bytes, content_type: str | None) -> str | bytes | Unjudged:
    """Return the markup of a page, in UTF-8, or the reason not to parse it."""
    if len(html) > MAX_PAGE_LENGTH:
        return Unjudged("too_large")
    # Also of a string: crawlers decode whatever they fetch.
    start = html[:_START]
    if looks_binary(start if isinstance(start, bytes) else start.encode("utf-8", "surrogatepass")):
        return Unjudged("binary")
    if isinstance(html, bytes):
        html = as_utf8(html, content_type)
    if len(html) > MAX_TAGS:
        tags = html.count("<") if isinstance(html, str) else html.count(b"<")
        if tags > MAX_TAGS:
            return Unjudged("too_large")
    return html


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
    canonical = canonical_links(root)
    effects = () if selectors is None else select(root, selectors)
    if effects:
        found = etree.tostring(root)
    language, base, marked = _needed(root, images_of)
    # If the tree is freed now, while it is in the processor's caches, this takes half the time.
    del root
    page = _page(language, base, parts_of(marked))
    if effects and not page.blocks:
        whole = _read_html(html, content_type, images_of)
        effects = (*effects, "nothing_left")
        return whole if isinstance(whole, Unjudged) else replace(whole, selected=effects)
    if canonical or effects:
        page = replace(page, canonical=canonical, selected=effects)
    if page.is_by_script:
        # Only its bytes distinguish it from other pages.
        body = found.encode("utf-8", "surrogatepass") if isinstance(found, str) else found
        return replace(page, unread_words=inf, unread_hash=xxhash.xxh3_64_intdigest(body))
    return _bounded(page)


_read_before = lru_cache(_MOST_READ)(_read_html)


def _titled(page: Page | Unjudged, title: str) -> Page | Unjudged:
    """Give a title to a page that has none."""
    if isinstance(page, Unjudged) or page.title or not title:
        return page
    return replace(page, title=title)


def _bounded(page: Page) -> Page | Unjudged:
    length = len(page.title) + sum([len(block.text) for block in page.blocks])
    return Unjudged("too_large") if length > MAX_TEXT_LENGTH else page


def _needed(root: etree._Element, images_of: str | None) -> tuple[str | None, str, str]:
    """Return the parts of a tree that a page needs: language, base URL (images), marked text."""
    base = "" if images_of is None else _absolute(images_of, str(_base(root))) or images_of
    return _declared_language(root), base, marked_text(root, with_images=images_of is not None)


def _page(language: str | None, base: str, parts: Parts) -> Page:
    cut = split_blocks(parts.visible)
    unread = (0.0, 0, False, 0, 0.0, 0)
    if parts.segments or parts.has_scripts or parts.notes:
        cut, unread = read_concealed(parts, cut)
    blocks, images = cut
    titles = [block.text for block in blocks if block.kind == "title"]
    return Page(
        [block for block in blocks if block.kind != "title"] if titles else blocks,
        titles[0] if titles else "",
        language,
        [(_image_hash(base, image), *place) for image, place in images[:_MOST_IMAGES]],
        *unread,
    )


def _image_hash(base: str, address: str) -> int:
    url = _absolute(base, address) or address
    return xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))


def _absolute(base: str, address: str) -> str:
    try:
        return urldefrag(urljoin(base, address)).url
    except ValueError:  # "http://[1/"
        return ""


def _hash_of(text: bytes, notes: int) -> int:
    """Return 64 bits of a text, and of its notes if there are any."""
    return xxhash.xxh3_64_intdigest(text + notes.to_bytes(8, "little") if notes else text)


def _joined(blocks: Iterable[Block]) -> str:
    return "\n".join([block.text for block in blocks])


def _declared_language(root: etree._Element) -> str | None:
    """Return the primary subtag (BCP 47) of the language that the root element declares."""
    declared = next(filter(None, map(root.get, _LANGUAGE_ATTRIBUTES)), "")
    found = _PRIMARY_SUBTAG.match(declared)
    return found[1].lower() if found else None
