"""A page, and how often its host has shown each block -> the page's own text, for output.

    blocks -> without the frame of the host -> without data of scripts -> main content
           -> with the sentences between its blocks -> one block a line

Blocks that two earlier pages of the host have shown are left out before the main content is
chosen, as for judging (`fingerprints/read_page`). While the frame of the host is not known, the
shape of the page alone decides. Two things differ from the text that is judged:

- The data of scripts is no text of a page that shows an article.
- A sentence between the blocks of the main content is part of it, also with many links or in an
  element whose class name is the name of a frame (a quoted post).

`benchmarks/clean_text.py` measures the text.

Cost: 0.1 ms for 200 blocks.
"""

from collections.abc import Sequence
from itertools import compress

from dedup_filter.model import Document
from dedup_filter.text.blocks import Block
from dedup_filter.text.content import Content, find_content, word_sum
from dedup_filter.text.reading import Page
from dedup_filter.thresholds import ARTICLE_WORDS, FRAME_TIMES, LINE_WORDS

_MOST_LINKS = 2 / 3
"""Share of links from which a sentence between others is a teaser."""


def clean_text(page: Page | Document, times: Sequence[int]) -> str:
    """Return the main text of a page, headings included: its blocks in page order, one a line.

    `times` is how many other pages of its host have shown each block. A plain text is returned as
    it was given.
    """
    if isinstance(page, Document):
        return page.text
    own = list(compress(page.blocks, [shown < FRAME_TIMES for shown in times]))
    content = find_content(_shown(own))
    if word_sum(content.main) < ARTICLE_WORDS:
        content = find_content(own)
    return "\n".join(block.text for block in _with_sentences(own, content))


def _shown(blocks: Sequence[Block]) -> Sequence[Block]:
    """Return the blocks of the markup: data of scripts stands after the first outer container."""
    ends = blocks[0].containers.ends[1:2] if blocks else []
    return [block for block in blocks if block.position < ends[0]] if ends else blocks


def _with_sentences(blocks: Sequence[Block], content: Content) -> Sequence[Block]:
    """Add the sentences from the first to the last block of a content."""
    if not content.stretch:
        return content.main
    first, last = content.stretch[0].position, content.stretch[-1].position
    main = {block.position for block in content.main}
    return [
        block
        for block in blocks
        if block.position in main
        or (
            first < block.position < last
            and block.words > LINE_WORDS
            and block.link_words <= _MOST_LINKS * block.words
        )
    ]
