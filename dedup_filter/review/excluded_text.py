"""A judged page -> all text that was left out of its stored text, each with the rule.

    all text of the tree -> blocks, and text outside blocks   `text/account.py`
    blocks               -> the stored text of the page       `fingerprints/own_texts.py`

Each rule is found by the function that applies it in a crawl: from "element" to "markup" by
`text/account.py`.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from lxml import etree

from dedup_filter.fingerprints.read_page import Contents
from dedup_filter.review.explained_page import ExplainedPage, tree_of
from dedup_filter.text.account import Account, Piece, account
from dedup_filter.text.blocks import frame_name
from dedup_filter.text.plain_text import count_words
from dedup_filter.text.reading import Page
from dedup_filter.text.selectors import taken_out
from dedup_filter.thresholds import FRAME_TIMES
from dedup_filter.wording import counted

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
    tree, by_selectors = tree_of(explained.source), list[ExcludedText]()
    if tree is None:
        pieces = [Piece(block.text, block=block.position) for block in page.blocks]
        found = Account(pieces, list(page.blocks), [])
    else:
        by_selectors = _by_selectors(explained, page, tree)
        found = account(tree)
    times = explained.context.times
    of_blocks = dict(_of_blocks(page, contents, times, found))
    for block in contents.known_by:
        of_blocks.pop(block.position, None)
    return [*by_selectors, *_in_order(found, of_blocks)]


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


def _in_order(found: Account, of_blocks: dict[int, ExcludedText]) -> Iterator[ExcludedText]:
    for (unread, element), pieces in groupby(found.pieces, lambda each: each[1:3]):
        if unread and unread != "title":
            text = "\n".join(" ".join(piece.text.split()) for piece in pieces)
            yield ExcludedText(unread, text, count_words(text), element)
            continue
        for piece in pieces:
            if piece.block in of_blocks:
                yield of_blocks.pop(piece.block)
    yield from of_blocks.values()  # blocks of script data have no piece of their own


def _of_blocks(
    page: Page, contents: Contents, times: Sequence[int], found: Account
) -> Iterator[tuple[int, ExcludedText]]:
    """Yield each block by its position, as it is if it is not in the stored text."""
    is_new = contents.known_by is contents.new
    content, most = (contents.of_new, 0) if is_new else (contents.of_unframed, FRAME_TIMES - 1)
    shown = dict(zip((block.position for block in page.blocks), times, strict=True))
    left_out = content.left_out([each for each in page.blocks if shown[each.position] <= most])
    span = {block.position for block in contents.span}
    for block in found.blocks:
        # If a page is judged as a list of links, its headline is outside the list.
        rule: str = left_out.get(place := block.position, "container")
        detail = ""
        if block.kind == "title":
            rule, detail = "title", "" if block.text == page.title else "not the first one"
        elif (count := shown[place]) > most:
            rule, detail = "frame_seen", f"shown by {counted(count, 'earlier page')}"
        elif rule == "frame":
            frame = block.containers.frames[block.inside]
            detail = frame_name(found.heads[frame]) if found.heads else ""
        elif block.link_words:
            detail = f"{block.link_words:g} of {block.words:g} words are links"
        yield place, ExcludedText(rule, block.text, block.words, detail, place in span)
