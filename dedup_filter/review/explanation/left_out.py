"""A judged page -> all its text, and for what is not in the text that it is known by, the rule.

    all text of the tree -> blocks, and what is in none          `text/account.py`
    blocks               -> the text that the page is known by   `workers/measured.py`

Each rule is asked of the function that follows it in a crawl. The rules beside those of
`text/account.py` (element, hidden, template, notice, data, data_read, markup) are:

    ignored     a selector of the option `ignore` matches it
    outside     no selector of the option `content` matches it
    title       it is a title of the page: it counts for headline and digest, and is no text
    frame_seen  earlier pages of the host have shown it
    frame       it is in page frame by an element's tag or class name
    container   it is outside the container that holds the content
    before      it stands before the content: short, or of links
    after       the same behind it
    links       it is mostly links
"""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from lxml import etree

from dedup_filter.model import Unjudged
from dedup_filter.review.explanation.judged import Framed, Judged
from dedup_filter.text.account import Account, Piece, account
from dedup_filter.text.blocks import Block, frame_name
from dedup_filter.text.decode import parse
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.plain_text import count_words
from dedup_filter.text.reading import Page, markup_of
from dedup_filter.text.selectors import taken_out
from dedup_filter.thresholds import FRAME_TIMES


class Left(NamedTuple):
    """Some text of a page that is not in the text that it is known by."""

    rule: str
    text: str
    words: float
    detail: str = ""
    """What makes the rule apply: the name of an element, a class name, how many pages."""
    is_in_span: bool = False
    """Whether it is between the first and the last block of the main content: then it counts when
    the page is compared with another one of its host or site."""


def left_out(judged: Judged) -> list[Left]:
    """Return, in page order, all text of a page that is not in the text that it is known by.

    What selectors leave out comes first.
    Of a page that an index has kept, only of what was read: its blocks.
    """
    framed = judged.framed
    if framed is None:
        return []
    source = judged.source or PageText()
    html = source.html
    markup = markup_of(html, source.content_type) if isinstance(html, str | bytes) else None
    tree = None if markup is None or isinstance(markup, Unjudged) else parse(markup)
    if tree is None:
        return list(_left_out(framed, _kept(framed.page)))
    return [*_by_selectors(judged, framed.page, tree), *_left_out(framed, account(tree))]


def _by_selectors(judged: Judged, page: Page, tree: etree._Element) -> list[Left]:
    """Take what selectors leave out of the tree, too."""
    selectors = judged.config.selectors.of(judged.place.host)
    if selectors is None or "nothing_left" in page.selected:
        return []
    return [
        Left("ignored" if by else "outside", text, count_words(text), by)
        for by, text in taken_out(tree, selectors)
        if text
    ]


def _kept(page: Page) -> Account:
    """Account for the blocks of a page of which no more was kept."""
    pieces = [Piece(block.text, block=block.position) for block in page.blocks]
    return Account(pieces, list(page.blocks), [])


def _left_out(framed: Framed, found: Account) -> Iterator[Left]:
    kept = {block.position for block in framed.contents.known_by}
    span = {block.position for block in framed.contents.span}
    blocks = {block.position: block for block in found.blocks}
    reasons = _Reasons(framed, found)
    told = set()
    for (unread, element), pieces in groupby(found.pieces, key=_kind):
        if unread and unread != "title":
            text = "\n".join(" ".join(piece.text.split()) for piece in pieces)
            yield Left(unread, text, count_words(text), element)
            continue
        for piece in pieces:
            place = piece.block
            if place is None or place in kept or place in told:
                continue
            told.add(place)
            block = blocks[place]
            rule, detail = reasons.of(block)
            yield Left(rule, block.text, block.words, detail, place in span)
    for block in found.blocks:  # those of script data have no piece of their own
        is_told = block.position in kept or block.position in told
        if not is_told and reasons.is_of_data(block):
            rule, detail = reasons.of(block)
            yield Left(rule, block.text, block.words, detail, block.position in span)


def _kind(piece: Piece) -> tuple[str, str]:
    return piece.unread, piece.element


class _Reasons:
    """Why blocks are not in the text that a page is known by."""

    def __init__(self, framed: Framed, found: Account) -> None:
        page, contents = framed.page, framed.contents
        self._heads, self._title = found.heads, page.title
        self._of_pieces = {piece.block for piece in found.pieces}
        times = framed.context.times_shown().tolist()
        self._times = dict(zip((block.position for block in page.blocks), times, strict=True))
        is_new = contents.known_by is contents.new
        content, self._most = (
            (contents.of_new, 0) if is_new else (contents.of_unframed, FRAME_TIMES - 1)
        )
        given = [block for block in page.blocks if self._times[block.position] <= self._most]
        self._left: Mapping[int, str] = content.left_out(given)

    def is_of_data(self, block: Block) -> bool:
        """Tell whether a block is made of script data or escaped HTML."""
        return block.position not in self._of_pieces

    def of(self, block: Block) -> tuple[str, str]:
        """Return the rule for a block, and what makes it apply."""
        if block.kind == "title":
            return "title", "" if block.text == self._title else "not the first one"
        times = self._times[block.position]
        if times > self._most:
            return "frame_seen", f"shown by {times:,} earlier {'page' if times == 1 else 'pages'}"
        # The headline of a page that is judged as a list of links stands outside of that.
        rule = self._left.get(block.position, "container")
        if rule == "frame":
            frame = block.containers.frames[block.inside]
            return rule, frame_name(self._heads[frame]) if self._heads else ""
        links = f"{block.link_words:g} of {block.words:g} words are links"
        return rule, links if block.link_words else ""
