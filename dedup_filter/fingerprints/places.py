"""Blocks of a page -> which texts of the page they are in, what they are, and where they stand.

    new     the main content of the blocks that its host has not shown yet
    main    the main content of the blocks that are not known to be frame of the host

Cost: 0.2 ms for 200 blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.frames.slots import Learnt
from dedup_filter.text.blocks import Block, Containers
from dedup_filter.text.content import (
    Content,
    find_content,
    first_link,
    link_items,
    word_sum,
)
from dedup_filter.text.reading import Page
from dedup_filter.thresholds import FRAME_TIMES, HEADLINE_WORDS, LINE_WORDS, MIN_WORDS

IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
UInt8Array = npt.NDArray[np.uint8]
UInt16Array = npt.NDArray[np.uint16]

_ROWS = ("item", "pair", "cell", "caption", "code")
BlockKind = Literal["prose", "line", "link"]
"""The kind of a block: sentences; a name, a price, a date; or mostly links."""


def kinds_of(blocks: Sequence[Block]) -> list[BlockKind]:
    """Return what each block is; a heading belongs to the links below it ("Read also")."""
    are_before_links = [not block.is_text for block in blocks[1:]] + [False]
    return [
        "link"
        if not block.is_text or (is_before_links and block.kind == "heading")
        else "line"
        if block.words <= LINE_WORDS
        else "prose"
        for block, is_before_links in zip(blocks, are_before_links, strict=False)
    ]


class Contents(NamedTuple):
    """The blocks of the two texts of a page, and how they were chosen."""

    new: Sequence[Block]
    main: Sequence[Block]
    of_new: Content
    """The content of the blocks that the host has not shown."""
    of_unframed: Content

    @property
    def known_by(self) -> Sequence[Block]:
        """The blocks of the text that the page is known by."""
        return self.new if word_sum(self.new) >= MIN_WORDS else self.main


def contents_of(page: Page, times: Sequence[int]) -> Contents:
    """Choose the blocks of both texts, finding the content of equal lists once.

    `times` is how many earlier pages have shown each block.
    """
    blocks = page.blocks
    unframed = [block for block, shown in zip(blocks, times, strict=True) if shown < FRAME_TIMES]
    unseen = [block for block, shown in zip(blocks, times, strict=True) if not shown]
    of_all = page.main
    of_unframed = of_all if len(unframed) == len(blocks) else find_content(unframed)
    of_new = of_unframed if len(unseen) == len(unframed) else find_content(unseen)
    # While nothing is known to be frame, the links around the content may be the menus.
    new = of_new.own if any(times) else of_new.main
    return Contents(new, of_unframed.main, of_new, of_unframed)


@dataclass(frozen=True, eq=False)
class Places:
    """What the n blocks of a page are, and where they stand: columns of (n,)."""

    times: IntArray
    """How many earlier pages of the host have shown it."""
    is_frame: BoolArray
    """Whether it is marked as frame of the host, see `host_frames`."""
    is_prose: BoolArray
    is_line: BoolArray
    in_new: BoolArray
    """Whether it is in the text `new`; likewise in `main`."""
    in_main: BoolArray
    in_span: BoolArray
    """Whether it stands between the first and the last block of the main content of all blocks."""
    is_beside: BoolArray
    """Whether it stands outside the body of the main content."""
    is_framed: BoolArray
    """Whether it stands in a frame of the page: aside, nav, footer ..."""
    is_outside: BoolArray
    """Whether it stands outside the element that HTML names as main content."""
    is_apart: BoolArray
    """Whether it stands outside that element; if there is none, outside the largest element that
    holds the text and no menu."""
    is_above: BoolArray
    """Whether it stands above all links and outside the main text."""
    is_item: BoolArray
    """Whether it belongs to a group of links, each with little text of its own."""
    is_lone_link: BoolArray
    """Whether it is a short link beside no other, or one too short for a headline: a brand, a
    tag, a button with a price."""
    is_row: BoolArray
    """Whether it is a cell, an item of a list, a caption, or code."""
    is_masked: BoolArray
    """Whether a part of it changes by itself, and the rest are words: "Read 1,037 times"."""
    has_links: BoolArray
    learnt: UInt8Array
    """What changes at each visit where it stands: flags, see `frames.slots`."""
    slots: UInt16Array
    """Hash of its kind of place: the names of the two innermost elements around it."""

    @cached_property
    def is_link(self) -> BoolArray:
        """The blocks that are mostly links."""
        return ~(self.is_prose | self.is_line)

    @cached_property
    def are_lines(self) -> BoolArray:
        """The lines and lone links."""
        return self.is_line | self.is_lone_link

    @cached_property
    def are_values(self) -> BoolArray:
        """The lines and lone links within the text, and rows: a size, a price, a date, a brand."""
        lines: BoolArray = self.is_line & (self.in_span | self.is_row)
        return lines | (self.is_lone_link & self.in_span)

    @cached_property
    def are_main_lines(self) -> BoolArray:
        """The lines and lone links of the page's main part, whatever element they stand in.

        A form may hold a price, the footer of an article a place.
        """
        lines: BoolArray = (self.is_line & ~self.is_item) | self.is_lone_link
        return lines & ~self.is_apart

    @cached_property
    def has_slot(self) -> BoolArray:
        """The blocks whose place is learnt if their text changes at each visit."""
        return ~self.is_link | self.are_main_lines

    @cached_property
    def is_learnt(self) -> BoolArray:
        """The blocks that stand where the text of the host, or a number, changes at each visit."""
        return self.learnt > Learnt.NOTHING

    @cached_property
    def are_known(self) -> BoolArray:
        """The blocks that are known frame of the host, or change by themselves."""
        return self.is_masked | self.is_learnt | (self.is_frame & ~self.are_values)

    @cached_property
    def are_texts(self) -> BoolArray:
        """The blocks of text that are neither in a frame nor known to change by themselves."""
        is_text = ~(self.is_link | self.is_item | self.is_framed)
        return (is_text | self.are_main_lines) & ~self.are_known

    @cached_property
    def are_own(self) -> BoolArray:
        """The blocks that are the page's own text, and values."""
        return (self.in_span | self.in_main | self.in_new | self.is_row) & self.are_texts

    @classmethod
    def of(
        cls,
        page: Page,
        kinds: Sequence[BlockKind],
        contents: "Contents",
        times: Sequence[int],
        are_frame: Sequence[bool],
        learnt: Sequence[Learnt],
    ) -> "Places":
        """Return the columns for all blocks of a page, by their kinds and the texts they are in."""
        blocks = page.blocks
        positions = np.array([block.position for block in blocks], np.intp)

        def mask(chosen: Sequence[Block]) -> BoolArray:
            if len(chosen) == len(blocks):
                return np.ones(len(blocks), np.bool_)
            are_chosen = np.zeros(positions.max(initial=0) + 1, np.bool_)
            are_chosen[[block.position for block in chosen]] = True
            return are_chosen[positions]

        shown, in_main = np.array(times, np.intp), mask(contents.main)
        of_slots = np.array(learnt, np.uint8)
        is_known = (shown >= FRAME_TIMES) | (of_slots > Learnt.NOTHING)
        in_span, is_item = np.array(page.in_span, np.bool_), link_items(blocks)
        is_link = _mask_of("link", kinds)
        words = np.array([block.words for block in blocks])
        first, end = contents.of_unframed.body
        of_main = _main_element(blocks)
        return cls(
            times=shown,
            is_frame=np.array(are_frame, np.bool_),
            is_prose=_mask_of("prose", kinds),
            is_line=_mask_of("line", kinds),
            in_new=in_main if contents.new is contents.main else mask(contents.new),
            in_main=in_main,
            in_span=in_span,
            is_beside=(positions < first) | (positions >= end),
            is_framed=~(is_known | mask(contents.of_unframed.candidates)),
            is_outside=_outside(of_main, positions),
            is_apart=_outside(of_main or _without_menu(blocks, (first, end)), positions),
            is_above=(positions < first_link(blocks)) & ~in_span,
            is_item=is_item,
            is_lone_link=is_link & (words <= np.where(is_item, HEADLINE_WORDS - 1, LINE_WORDS)),
            is_row=np.array([block.kind in _ROWS for block in blocks], np.bool_),
            is_masked=np.array(list(map(_is_masked, blocks)), np.bool_),
            has_links=np.array([block.link_words > 0 for block in blocks], np.bool_),
            learnt=of_slots,
            slots=np.array(page.shown.slots, np.uint16),
        )

    @classmethod
    def of_text(cls, kinds: Sequence[BlockKind]) -> "Places":
        """Return the columns for the blocks of a plain text: all are its main text."""
        is_prose = _mask_of("prose", kinds)
        no, yes = np.zeros_like(is_prose), np.ones_like(is_prose)
        columns: dict[str, Any] = dict.fromkeys((each.name for each in fields(cls)), no)
        columns |= {"is_prose": is_prose, "is_line": ~is_prose}
        columns |= dict.fromkeys(("in_new", "in_main", "in_span"), yes)
        columns["times"] = np.zeros(len(kinds), np.intp)
        columns["learnt"] = np.zeros(len(kinds), np.uint8)
        columns["slots"] = np.zeros(len(kinds), np.uint16)
        return cls(**columns)

    def at(self, chosen: BoolArray) -> "Places":
        """Return the columns of the chosen blocks, given by a mask, (n,)."""
        return (
            self
            if chosen.all()
            else Places(*(getattr(self, each.name)[chosen] for each in fields(self)))
        )


def _mask_of(name: BlockKind, kinds: Sequence[BlockKind]) -> BoolArray:
    """Return which blocks are of a kind, (n,)."""
    return np.array([kind == name for kind in kinds], np.bool_)


def _is_masked(block: Block) -> bool:
    return block.compared != block.text and not any(map(str.isdigit, block.compared))


def _main_element(blocks: Sequence[Block]) -> tuple[int, int] | None:
    """Return first and end of the only `main` element, by positions; None: there is not one."""
    containers = blocks[0].containers if blocks else Containers()
    found = [number for number, role in enumerate(containers.roles) if role.frame == "main"]
    return (containers.firsts[found[0]], containers.ends[found[0]]) if len(found) == 1 else None


def _without_menu(blocks: Sequence[Block], body: tuple[int, int]) -> tuple[int, int] | None:
    """Return the largest container with the body of the text but not the page's first link."""
    if not blocks:
        return None
    link, containers = first_link(blocks), blocks[0].containers
    around = (
        (first, end)
        for first, end in zip(containers.firsts, containers.ends, strict=True)
        if first <= body[0] and body[1] <= end and not first <= link < end
    )
    return max(around, key=lambda each: each[1] - each[0], default=None)


def _outside(part: tuple[int, int] | None, positions: IntArray) -> BoolArray:
    """Return which positions are outside a part of the page; none if there is no part."""
    if part is None:
        return np.zeros(len(positions), np.bool_)
    first, end = part
    return (positions < first) | (positions >= end)
