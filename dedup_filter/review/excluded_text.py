"""A judged page -> all text that was left out of its stored text, each with the rule.

    tree            -> blocks, and text that is in no block   `text/concealed.py`
    blocks          -> the stored text of the page            `fingerprints/read_page.py`

Each rule is found by the function that applies it in a crawl: the page is read once more, with the
text that is skipped in a crawl. So all texts together are all text nodes of the tree, and of the
pages in its frames.

Cost: three times as much as to read the page.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import compress
from typing import NamedTuple

from lxml import etree

from dedup_filter.fingerprints.places import Contents
from dedup_filter.frames.host_frames import HostContext
from dedup_filter.frames.slots import changed_at
from dedup_filter.review.explained_page import ExplainedPage, tree_of
from dedup_filter.text.blocks import Block, Role, frame_name, role_of, split_blocks
from dedup_filter.text.concealed import Choice
from dedup_filter.text.marked_text import (
    ENDUNREAD,
    OPEN,
    SCRIPT,
    UNREAD,
    UNSCRIPT,
    marked_text,
    segments_of,
    text_of,
)
from dedup_filter.text.plain_text import count_words
from dedup_filter.text.reading import Page, cut_marked
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
    "title": "title of the page; it counts for headline and digest",
    "learnt": "left out: it changes at each visit",
    "frame_seen": "frame: earlier pages of the host had it",
    "frame": "page frame by an element's tag or class name",
    "container": "outside the container that holds the main content",
    "before": "before the main content: short, or links",
    "after": "after the main content: short, or links",
    "links": "mostly links, within the main content",
}
"""Why text is left out, by rule."""
_SECTION = re.compile(f"{UNREAD}.*?{ENDUNREAD}|{SCRIPT}.*?{UNSCRIPT}", re.DOTALL)


class ExcludedText(NamedTuple):
    """Some text of a page that is not in its stored text."""

    rule: str
    text: str
    words: float
    detail: str = ""
    """Why the rule applies: the name of an element, a class name, a number of pages."""
    is_compared: bool = False
    """Whether another page must have it all the same: see `ExplainedPage.are_compared`."""


def excluded_text(explained: ExplainedPage) -> list[ExcludedText]:
    """Return all text of a page that is not in its stored text.

    Text that selectors leave out comes first, then text that is in no block, then the blocks, each
    in page order. If an index has kept the page, only its blocks are known.
    """
    page, contents = explained.page.content, explained.contents
    if not isinstance(page, Page) or contents is None:
        return []
    tree = tree_of(explained.source)
    blocks, heads = page.blocks, list[str]()
    found: list[ExcludedText] = []
    if tree is not None:
        found += _by_selectors(explained, page, tree)
        parts, cut = cut_marked(marked_text(tree, with_sources=True))
        choice = Choice(parts, cut.blocks)
        found += _in_no_block(tree, choice, parts.data)
        blocks, heads = _with_heads(choice.marked)
    reasons = _Reasons(page, contents, explained.context, heads)
    known, compared = {block.position for block in contents.known_by}, explained.compared_positions
    for block in blocks:
        if block.position not in known:
            rule, detail = reasons.of(block)
            is_compared = block.position in compared and block.kind != "title"
            found.append(ExcludedText(rule, block.text, block.words, detail, is_compared))
    return found


def _by_selectors(explained: ExplainedPage, page: Page, tree: etree._Element) -> list[ExcludedText]:
    """Return what selectors leave out, and take it out of the tree."""
    selectors = explained.config.selectors.of(explained.place.host)
    if selectors is None or "nothing_left" in page.selected:
        return []
    return [
        ExcludedText("ignored" if by else "outside", text, count_words(text), by)
        for by, text in taken_out(tree, selectors)
        if text
    ]


def _in_no_block(
    tree: etree._Element, choice: Choice, data: Collection[str]
) -> Iterator[ExcludedText]:
    """Yield the text that is in no block; `data`: the texts of scripts that are data."""
    marked = marked_text(tree, with_unread=True)
    for section in _SECTION.findall(marked):
        name, _, text = section[len(OPEN) : -len(OPEN)].partition(OPEN)
        if section.startswith(SCRIPT) and text in data:
            rule, name = "data_read" if choice.reads_data else "data", ""
        else:
            rule, name = "element", name or "script"
        if text and not text.isspace():
            yield ExcludedText(rule, text, count_words(text), name)
    for place, segment in segments_of(_SECTION.sub("", marked)):
        if place and not (choice.reads_hidden and place in ("hidden", "waiting")):
            text = text_of(segment)
            yield ExcludedText("hidden" if place == "waiting" else place, text, count_words(text))


def _with_heads(marked: str) -> tuple[list[Block], list[str]]:
    """Return the blocks of a page with its titles, and the head of each container."""
    heads = [""]

    def noted(head: str) -> Role:
        heads.append(head)
        return role_of(head)

    return split_blocks(marked, noted).blocks, heads


class _Reasons:
    def __init__(
        self, page: Page, contents: Contents, context: HostContext, heads: Sequence[str]
    ) -> None:
        self._heads, self._title, self._sightings = heads, page.title, context.host.sightings
        positions = [block.position for block in page.blocks]
        self._times = dict(zip(positions, context.times, strict=True))
        self._learnt = {*compress(positions, context.learnt)}
        is_new = contents.known_by is contents.new
        content = contents.of_new if is_new else contents.of_unframed
        self._most = 0 if is_new else FRAME_TIMES - 1
        self._inside, self._candidates, self._stretch = (
            {block.position for block in part} for part in content[1:4]
        )

    def of(self, block: Block) -> tuple[str, str]:
        """Return the rule for a block, and why it applies."""
        place = block.position
        if block.kind == "title":
            return "title", "" if block.text == self._title else "not the first one"
        times = self._times[place]
        if place in self._learnt:
            urls = changed_at(self._sightings, block.containers.slot(block.inside))
            return "learnt", f"changed at {counted(urls, 'URL')}"
        if times > self._most:
            return "frame_seen", f"shown by {counted(times, 'earlier page')}"
        if place not in self._candidates:
            frame = block.containers.frames[block.inside]
            return "frame", frame_name(self._heads[frame]) if self._heads else ""
        if place not in self._inside:
            rule = "container"
        elif place in self._stretch:
            rule = "links"
        else:
            rule = "before" if place < min(self._stretch, default=0) else "after"
        links = f"{block.link_words:.0f} of {block.words:.0f} words are links"
        return rule, links if block.link_words else ""
