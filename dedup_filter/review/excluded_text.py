"""A judged page -> all text that was left out of its stored text, each with the rule.

    all text of the tree -> blocks, and text outside blocks   `text/account.py`
    blocks               -> the stored text of the page       `fingerprints/own_texts.py`

Each rule is found by the function that applies it in a crawl: from "element" to "markup" by
`text/account.py`.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from lxml import etree

from dedup_filter.fingerprints.read_page import Contents
from dedup_filter.model import Unjudged
from dedup_filter.review.explained_page import ExplainedPage
from dedup_filter.text.account import Account, Piece, account
from dedup_filter.text.blocks import Block, frame_name
from dedup_filter.text.decode import parse
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.plain_text import count_words
from dedup_filter.text.reading import Page, markup_of
from dedup_filter.text.selectors import taken_out
from dedup_filter.thresholds import FRAME_TIMES

RULES = {
    "ignored": "left out by selectors of ignore",
    "outside": "outside the elements that selectors of content name",
    "element": "in elements that are never read",
    "hidden": "hidden, or in noscript, while more words are visible",
    "template": "in templates",
    "notice": "noscript that only requests JavaScript",
    "data": "script data without prose that is read",
    "data_read": "script data; its prose is read after all other text",
    "markup": "escaped HTML in hidden text; it is read as HTML",
    "title": "title of the page; it counts for headline and digest",
    "frame_seen": "frame: earlier pages of the host had it",
    "frame": "page frame by an element's tag or class name",
    "container": "outside the container that holds the main content",
    "before": "before the main content: short, or links",
    "after": "after the main content: short, or links",
    "links": "mostly links, within the main content",
}
"""Why text is left out, by rule."""


class ExcludedText(NamedTuple):
    """Some text of a page that is not in its stored text."""

    rule: str
    text: str
    words: float
    detail: str = ""
    """Why the rule applies: the name of an element, a class name, a number of pages."""
    is_in_span: bool = False
    """Whether it is between the first and the last block of the main content: then it counts when
    the page is compared with another page of its host or site."""


def excluded_text(explained: ExplainedPage) -> list[ExcludedText]:
    """Return, in page order, all text of a page that is not in its stored text.

    Text that selectors leave out comes first. If an index has kept the page, only its blocks are
    known.
    """
    page, contents = explained.page.content, explained.contents
    if not isinstance(page, Page) or contents is None:
        return []
    source = explained.source or PageText()
    html = source.html
    markup = markup_of(html, source.content_type) if isinstance(html, str | bytes) else None
    tree = None if markup is None or isinstance(markup, Unjudged) else parse(markup)
    by_selectors = [] if tree is None else _by_selectors(explained, page, tree)
    found = _kept(page) if tree is None else account(tree)
    reasons = _Reasons(page, contents, explained.context.times_shown().tolist(), found)
    return [*by_selectors, *_excluded(contents, found, reasons)]


def _by_selectors(explained: ExplainedPage, page: Page, tree: etree._Element) -> list[ExcludedText]:
    """Remove the elements that selectors leave out from the tree, and return their text."""
    selectors = explained.config.selectors.of(explained.place.host)
    if selectors is None or "nothing_left" in page.selected:
        return []
    return [
        ExcludedText("ignored" if by else "outside", text, count_words(text), by)
        for by, text in taken_out(tree, selectors)
        if text
    ]


def _kept(page: Page) -> Account:
    """Account for a page if only its blocks were kept."""
    pieces = [Piece(block.text, block=block.position) for block in page.blocks]
    return Account(pieces, list(page.blocks), [])


def _excluded(contents: Contents, found: Account, reasons: "_Reasons") -> Iterator[ExcludedText]:
    span = {block.position for block in contents.span}
    blocks = {block.position: block for block in found.blocks}
    done = {block.position for block in contents.known_by}
    """Blocks that are in the stored text, or that were yielded."""

    def excluded(block: Block) -> ExcludedText:
        done.add(block.position)
        rule, detail = reasons.of(block)
        return ExcludedText(rule, block.text, block.words, detail, block.position in span)

    for (unread, element), pieces in groupby(found.pieces, key=_kind):
        if unread and unread != "title":
            text = "\n".join(" ".join(piece.text.split()) for piece in pieces)
            yield ExcludedText(unread, text, count_words(text), element)
            continue
        for piece in pieces:
            if piece.block is not None and piece.block not in done:
                yield excluded(blocks[piece.block])
    of_pieces = {piece.block for piece in found.pieces}
    for block in found.blocks:  # blocks of script data have no piece of their own
        if block.position not in of_pieces | done:
            yield excluded(block)


def _kind(piece: Piece) -> tuple[str, str]:
    return piece.unread, piece.element


class _Reasons:
    """Why blocks are not in the stored text of a page."""

    def __init__(
        self, page: Page, contents: Contents, times: Sequence[int], found: Account
    ) -> None:
        self._heads, self._title = found.heads, page.title
        self._times = dict(zip((block.position for block in page.blocks), times, strict=True))
        is_new = contents.known_by is contents.new
        content, self._most = (
            (contents.of_new, 0) if is_new else (contents.of_unframed, FRAME_TIMES - 1)
        )
        given = [block for block in page.blocks if self._times[block.position] <= self._most]
        self._left: Mapping[int, str] = content.left_out(given)

    def of(self, block: Block) -> tuple[str, str]:
        """Return the rule for a block, and why it applies."""
        if block.kind == "title":
            return "title", "" if block.text == self._title else "not the first one"
        times = self._times[block.position]
        if times > self._most:
            return "frame_seen", f"shown by {times:,} earlier {'page' if times == 1 else 'pages'}"
        # If a page is judged as a list of links, its headline is outside the list.
        rule = self._left.get(block.position, "container")
        if rule == "frame":
            frame = block.containers.frames[block.inside]
            return rule, frame_name(self._heads[frame]) if self._heads else ""
        links = f"{block.link_words:g} of {block.words:g} words are links"
        return rule, links if block.link_words else ""
