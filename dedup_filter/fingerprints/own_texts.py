"""A page that was read, and how often its host has shown each block -> the texts it is judged by.

`profile` names the three texts: new, main and span. Pure: the frame of the host comes as numbers.

Cost: 0.3 ms for 200 blocks.
"""

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from dedup_filter.features.analysis import BoolArray
from dedup_filter.fingerprints.profile import PageTexts, Passage, Surroundings
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.model import Document
from dedup_filter.text.blocks import Block
from dedup_filter.text.content import Content, find_content, first_link, whole_content, word_sum
from dedup_filter.text.headlines import Headline
from dedup_filter.text.lines import text_blocks
from dedup_filter.text.reading import MOST_OF_HEADLINE, Page
from dedup_filter.thresholds import FRAME_TIMES, MIN_WORDS

_NO_HEADLINE, _ALONE = Headline(), Surroundings()


class Contents(NamedTuple):
    """The blocks of the three texts of a page, and how they were chosen."""

    new: Sequence[Block]
    main: Sequence[Block]
    span: Sequence[Block]
    of_new: Content
    """The content of the blocks that the host has not shown."""
    of_unframed: Content

    @property
    def known_by(self) -> Sequence[Block]:
        """The blocks of the text that the page is known by."""
        return self.new if word_sum(self.new) >= MIN_WORDS else self.main


def texts_of(
    page: ReadPage,
    times: Sequence[int] = (),
    headline: Headline = _NO_HEADLINE,
    around: Surroundings = _ALONE,
) -> PageTexts:
    """Return the texts that a page is judged by.

    `times` is how many earlier pages of its host have shown each block, of a plain text nothing.
    The headline of a plain text is its title, or else the short line that it begins with.
    """
    content = page.content
    if isinstance(content, Document):
        return _of_document(page, content)
    contents = contents_of(content, times)
    are_unframed = [shown < FRAME_TIMES for shown in times]
    own = " ".join(filter(None, compress(page.normal, are_unframed)))
    document = content.document(contents.known_by, own, contents.main)
    passages, chosen = _passages(page, content.blocks, times, contents)
    return PageTexts(document, passages, page.words.part(chosen), headline, around)


def contents_of(page: Page, times: Sequence[int]) -> Contents:
    """Choose the blocks of the three texts, finding the content of equal lists once.

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
    span = whole_content(blocks, of_all.main)
    return Contents(new, of_unframed.main, span, of_new, of_unframed)


def _of_document(page: ReadPage, document: Document) -> PageTexts:
    texts, kinds = text_blocks(document.text), page.kinds
    passages = [
        Passage(text, 0, kind, in_new=True, in_main=True, in_span=True)
        for text, kind in zip(texts, kinds, strict=True)
    ]
    begins_with_line = len(texts) > 1 and kinds[0] == "line" and not document.title
    first = texts[0][:MOST_OF_HEADLINE] if begins_with_line else ""
    headline = Headline(first, document.title)
    return PageTexts(document, passages, page.words, headline, Surroundings(is_plain=True))


def _passages(
    page: ReadPage, blocks: Sequence[Block], times: Sequence[int], contents: Contents
) -> tuple[list[Passage], BoolArray]:
    """Return the blocks that belong to the page or its three texts, and a mask of them.

    Columns of all blocks are made by numpy: to look at each block takes three times as long.
    """
    places = np.fromiter([block.position for block in blocks], np.intp, len(blocks))
    shown = np.array(times, np.intp)

    def are_in(text: Sequence[Block]) -> BoolArray:
        mask = np.zeros(blocks[-1].position + 1 if blocks else 0, np.bool_)
        mask[[block.position for block in text]] = True
        return mask[places]

    new, main, span = map(are_in, contents[:3])
    first, end = contents.of_unframed.body
    chosen = new | main | span
    if shown.any():
        chosen |= shown == 0
    columns = (
        new,
        main,
        span,
        (places < first) | (places >= end),
        (shown < FRAME_TIMES) & ~are_in(contents.of_unframed.candidates),
        (places < first_link(blocks)) & ~span,
    )
    numbers = np.flatnonzero(chosen).tolist()
    of_each = zip(numbers, *(column[chosen].tolist() for column in columns), strict=True)
    kinds = page.kinds
    passages = [
        Passage(
            (block := blocks[number]).text,
            times[number],
            kinds[number],
            *masks,
            has_links=block.link_words > 0,
        )
        for number, *masks in of_each
    ]
    return passages, chosen
