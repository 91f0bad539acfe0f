"""Marked text -> blocks: a page as a list of small pieces of text, each with its place on the page.

A block is the text between one block-level boundary and the next: a paragraph, a heading, a list
item, a table cell, or text that stands directly in a container. The end of a line is a boundary,
too, unless wrapped prose goes on (`plain_text`), or the text is a heading: a heading is one block
however its lines break. Blocks are in page order, never overlap, and together are all given text.
If other blocks are dropped from a list, a block keeps its position.

Containers are the block-level elements that hold text. They are kept as columns, because hundreds
of pages may wait to be judged again (see `frames`): one object for each container would be two
thirds of all objects that Python's garbage collector visits. Page frame is recognised by its HTML
elements, by ARIA landmark roles, and by common class names.

Cost: 0.6 ms for a page of 100 KB (200 blocks in 200 containers), in any script.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Literal, NamedTuple

import xxhash

from dedup_filter.text.marked_text import IMAGE, LINK, OPEN, UNIMAGE, UNLINK
from dedup_filter.text.masks import begins_as_notice, masked
from dedup_filter.text.plain_text import (
    LINE_END,
    MOST_LINES,
    count_words,
    is_spaced,
    join_wrapped,
    with_line_ends,
    without_unseen,
)
from dedup_filter.thresholds import LINE_WORDS

Kind = Literal[
    "title",
    "headline",
    "heading",
    "paragraph",
    "item",
    "pair",
    "cell",
    "code",
    "caption",
    "picture",
    "other",
]
Frame = Literal["", "named", "sure", "main"]

_TAGS_OF_KIND: dict[Kind, str] = {
    "title": "title",
    "headline": "h1",
    "heading": "h2 h3 h4 h5 h6",
    "paragraph": "p blockquote",
    "item": "li",
    "pair": "dt dd",
    "cell": "td th",
    "code": "pre listing plaintext textarea xmp",
    "caption": "caption figcaption legend summary",
    "picture": "picture",
}
_KIND = {tag: kind for kind, tags in _TAGS_OF_KIND.items() for tag in tags.split()}
_OF_ONE_LINE: tuple[Kind, ...] = ("title", "headline", "heading")
_WITH_VALUES: tuple[Kind, ...] = (*_OF_ONE_LINE, "pair", "cell")
"""A word or number alone in these is a value: "Duration", "3d"; a film "Yesterday"."""

FRAMES: tuple[Frame, ...] = ("named", "sure")
_SURE_FRAMES = ("aside", "dialog", "footer", "menu", "nav")
_NAMED_BY_CONTENT = ("article", "main")
"""Their class names often name the subject of a page: "post category-search tag-social"."""
_FRAME_NAME = re.compile(
    r"""(?<![a-z0-9])(?<!has[-_])(?<!with[-_])(?<!no[-_])(?<!tag[-_])(?<!category[-_])
    (?: nav | navbar | navigation | breadcrumbs?
      | comments? | commentlist | respond | disqus
      | author | bio | byline
      | related | recommend(?:ed|ation|ations|s)? | trending | popular
      | footer | copyright | disclaimer | social
      | cookies? | consent | gdpr | newsletter | subscribe | subscription | signup | login
      | modal | popup
      | complementary | contentinfo | search | dialog
    )(?![a-z0-9])""",
    re.VERBOSE,
)
# Not "sidebar", "menu", "share" or "ad": in a page's frame these hold links, which are dropped as
# links; in manuals a "sidebar" holds an aside, and a "share-area" may hold an article. Not ids:
# ids in the content are made from its headings ("search-and-replace").
_CAMEL_HUMP = re.compile("(?<=[a-z0-9])(?=[A-Z])")
_DIGITS = re.compile("[0-9]+")

_MOST_OF_HEAD = 500
"""Characters of an element's name and class names that are read. Class names can be megabytes long,
and they are the cache keys of roles."""
_MAX_LINK_DENSITY = 1 / 3
"""Share of links up to which a block can be content (Kohlschuetter et al. 2010, see `content`)."""
_SHORT = 256
"""Measures of texts up to this many characters are cached: menu entries, notices in footers. Longer
texts hardly occur twice."""

_IMAGE = re.compile(f"{IMAGE}(.*?){UNIMAGE}", re.DOTALL)

NOWHERE = -1
"""Container number that means "no container"."""


class Role(NamedTuple):
    """The kind and frame of the text directly inside an element."""

    kind: Kind
    frame: Frame
    """Whether it is page frame: "sure" by its tag, "named" by a name that can have other uses.
    "main" is the element that HTML names as the main content."""
    name: int = 0
    """16 bits of its tag and class names, without digits."""


class Containers:
    """The containers of a page by their numbers, parents first: 40 bytes each."""

    __slots__ = ("ends", "firsts", "frames", "parents", "roles")

    def __init__(self) -> None:
        self.roles: list[Role] = []
        self.parents: list[int] = []
        """The container around each container; `NOWHERE`: none."""
        self.firsts: list[int] = []
        """The position of the first block in each container."""
        self.ends: list[int] = []
        """The position after the last block, once the container is closed."""
        self.frames: list[int] = []
        """Among each container and its ancestors, the outermost that is "sure" page frame, else the
        innermost that is "named"; `NOWHERE`: none."""

    def open(self, roles: Sequence[Role], parent: int, first: int) -> int:
        """Add containers without blocks, each within the previous one; return the last."""
        frame = NOWHERE if parent == NOWHERE else self.frames[parent]
        all_roles, parents, frames = self.roles, self.parents, self.frames
        for role in roles:
            parents.append(parent)
            parent = len(all_roles)
            is_outer = frame == NOWHERE or all_roles[frame].frame != "sure"
            if role.frame in FRAMES and is_outer:
                frame = parent
            all_roles.append(role)
            frames.append(frame)
        self.firsts += [first] * len(roles)
        self.ends += [first] * len(roles)
        return parent

    def frames_but(self, is_page: Callable[[int], bool]) -> list[int]:
        """Return the outermost page frame around each container, without some; `NOWHERE`: none."""
        frames: list[int] = []
        for number, (role, parent) in enumerate(zip(self.roles, self.parents, strict=True)):
            frame = NOWHERE if parent == NOWHERE else frames[parent]
            is_frame = frame == NOWHERE and role.frame in FRAMES and not is_page(number)
            frames.append(number if is_frame else frame)
        return frames

    def text_around(self, number: int) -> tuple[int, int]:
        """Return first and end of the smallest container with text around a container.

        The search does not leave the page frame of the given container.
        """
        firsts, ends, outermost = self.firsts, self.ends, (self.frames[number], 0)
        while firsts[number] == ends[number] and number not in outermost:
            number = self.parents[number]
        return firsts[number], ends[number]

    def slot(self, number: int) -> int:
        """Return 16 bits of a kind of place: the names of a container and of the one around it."""
        around = self.parents[number]
        outer = 0 if around == NOWHERE else self.roles[around].name
        return (31 * self.roles[number].name + outer) & 0xFFFF


class Block(NamedTuple):
    """A piece of a page's text without a block-level boundary inside."""

    text: str
    compared: str
    """The text that is compared with other pages: a line without what changes by itself."""
    words: float
    link_words: float
    """Number of words in links."""
    is_text: bool
    """Whether it is not mostly links: a block that can be content."""
    hash: int
    """64 bits of the compared text, see `text_hash`."""
    position: int
    """Its number among the blocks of the page, from 0."""
    containers: Containers
    """All containers of the page."""
    inside: int
    """The number of its container."""
    kind: Kind
    """The kind of the text, by its element."""


class Cut(NamedTuple):
    """A marked text cut into blocks."""

    blocks: list[Block]
    images: list[tuple[str, tuple[int, int]]]
    """Address of each image; first and end of the smallest container with text around it."""


@lru_cache(maxsize=8192)
def role_of(head: str) -> Role:
    """Return the role of an element, given as "tag class role"."""
    tag = head.partition(" ")[0]
    frame: Frame = "sure" if tag in _SURE_FRAMES else "named" if frame_name(head) else ""
    if tag == "main" or (not frame and head.endswith(" main")):
        frame = "main"
    name = xxhash.xxh3_64_intdigest(_DIGITS.sub("", head).encode("utf-8", "surrogatepass"))
    return _role(_KIND.get(tag, "other"), frame, name & 0xFFFF)


def frame_name(head: str) -> str:
    """Return the name that makes an element page frame, given as for `role_of`; "" if none does."""
    tag, _, names = head.partition(" ")
    if tag in _SURE_FRAMES or tag == "form":
        return tag
    if tag in _NAMED_BY_CONTENT:
        return ""
    found = _FRAME_NAME.search(_CAMEL_HUMP.sub("-", names).lower())
    return found[0] if found else ""


# One object for equal roles: thousands would keep the garbage collector busy.
_role = cache(Role)
_NO_ROLE = _role("other", "", 0)


def split_blocks(marked: str, role_of: Callable[[str], Role] = role_of) -> Cut:
    """Cut marked text into blocks.

    `role_of` is called with the head of each container in the order of their numbers, except for
    the first, which has no head.
    """
    # Texts and heads in turn: an empty head closes a container.
    pieces = marked.split(OPEN)
    images: list[tuple[str, int]] = []
    has_images = IMAGE[0] in marked
    containers, blocks = Containers(), list[Block]()
    ends, parents = containers.ends, containers.parents
    inside = containers.open([_NO_ROLE], NOWHERE, 0)
    empty: list[str] = []  # open heads without text so far: most never get a container
    in_link, room = False, MOST_LINES
    for head, raw in zip(["", *pieces[1::2]], pieces[0::2], strict=True):
        if head:
            empty.append(head)
        elif empty:
            empty.pop()
        else:
            ends[inside] = len(blocks)
            inside = parents[inside] if inside else 0
        # Two of three texts are the white space between two tags.
        if not raw or raw.isspace():
            continue
        if empty:
            roles = [role_of(each[:_MOST_OF_HEAD]) for each in empty]
            inside = containers.open(roles, inside, len(blocks))
            empty.clear()
        if has_images:
            images += [(address, inside) for address in _IMAGE.findall(raw)]
        shown = _IMAGE.sub("", raw) if has_images else raw
        kind = containers.roles[inside].kind
        has_lines = LINE_END in shown or kind == "code"
        lines = _lines(shown, kind, room) if has_lines else (shown,)
        room -= len(lines) - 1
        for line in lines:
            measure = _known if len(line) <= _SHORT else _measure
            # A link around several blocks starts again in each.
            measures, in_link = measure(LINK + line if in_link else line, kind)
            if measures[0] and measures[-1] != _NOTHING:
                blocks.append(Block(*measures, len(blocks), containers, inside, kind))
    while inside != NOWHERE:
        ends[inside] = len(blocks)
        inside = parents[inside]
    return Cut(blocks, [(image, containers.text_around(place)) for image, place in images])


def _lines(raw: str, kind: Kind, most: int) -> list[str]:
    """Cut a text with link marks at its first `most` line ends, except within wrapped prose."""
    if kind in _OF_ONE_LINE:
        return [raw]
    lines = (with_line_ends(raw) if kind == "code" else raw).split(LINE_END, most)
    return join_wrapped(lines, [each.replace(LINK, "").replace(UNLINK, "") for each in lines])


def compared_text(text: str, words: float, kind: Kind) -> str:
    """Return what is compared of the text of a block: see `masks`; code has only values."""
    if kind == "code" or (words > LINE_WORDS and not begins_as_notice(text)):
        return text
    return masked(text, in_table=kind in _WITH_VALUES)


def text_hash(text: str) -> int:
    """Return 64 bits (XXH3) that identify the text of a block, whatever is unseen in it."""
    return xxhash.xxh3_64_intdigest(without_unseen(text).encode("utf-8", "surrogatepass"))


_NOTHING = text_hash("")


def _measure(raw: str, kind: Kind) -> tuple[tuple[str, str, float, float, bool, int], bool]:
    """Return the first fields of a block, and whether the text ends inside a link."""
    plain, linked, in_link = raw, "", False
    if LINK in raw or UNLINK in raw:
        plain, linked, in_link = _without_links(raw)
    words = plain.split()
    text = " ".join(words)
    count = len(words) if text.isascii() or is_spaced(text) else count_words(text)
    link_count = count if linked is plain else count_words(linked) if linked else 0
    is_text = link_count <= _MAX_LINK_DENSITY * count
    compared = compared_text(text, count, kind)
    return (text, compared, count, link_count, is_text, text_hash(compared)), in_link


# Each page of a host has the texts of its frame. At most 25 MB, usually 5.
_known = lru_cache(maxsize=16_384)(_measure)


def _without_links(raw: str) -> tuple[str, str, bool]:
    """Return a text without link marks, its part in links, and whether it ends inside a link.

    If the text is one link, as most texts with links are, both are the same object.
    """
    before, *pieces = raw.split(LINK)
    # A link inside a link (lxml can build them) leaves an end without a start.
    plain = [before.replace(UNLINK, "")]
    linked = []
    unlink = UNLINK
    for piece in pieces:
        inside, unlink, outside = piece.partition(UNLINK)
        linked.append(inside)
        plain += (inside, outside.replace(UNLINK, ""))
    if len(linked) == 1 and not "".join(plain[::2]).strip():
        return linked[0], linked[0], not unlink
    return "".join(plain), " ".join(linked), not unlink
