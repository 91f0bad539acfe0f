"""Pages of blocks whose words occur once, and what is measured of them."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from dedup_filter.config import FilterConfig
from dedup_filter.features.analysis import words_of
from dedup_filter.fingerprints import profile
from dedup_filter.fingerprints.block_columns import BlockColumns
from dedup_filter.fingerprints.places import BlockKind, Places
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.frames.slots import Learnt
from dedup_filter.model import Document
from dedup_filter.text.blocks import text_hash
from dedup_filter.text.headlines import Counts, Headline, part_hash
from dedup_filter.text.masks import masked
from dedup_filter.text.plain_text import normalize
from dedup_filter.thresholds import LINE_WORDS

NO_HEADLINE = Headline()
NEVER: Mapping[str, int] = {}


def words(name: str, count: int) -> str:
    """A text of words that occur once: of n words it has n - 2 shingles."""
    return " ".join(f"{name}{number}" for number in range(count))


class Made(NamedTuple):
    """A block, and where it stands: a row of `Places`."""

    text: str
    kind: BlockKind
    times: int = 0
    in_new: bool = False
    in_main: bool = False
    in_span: bool = True
    is_frame: bool = False
    is_beside: bool = False
    is_framed: bool = False
    is_outside: bool = False
    is_apart: bool = False
    is_above: bool = False
    is_item: bool = False
    is_lone_link: bool = False
    is_row: bool = False
    is_masked: bool = False
    has_links: bool = False
    learnt: Learnt = Learnt.NOTHING
    slots: int = 0

    @property
    def is_prose(self) -> bool:
        return self.kind == "prose"

    @property
    def is_line(self) -> bool:
        return self.kind == "line"


def _kind(text: str) -> BlockKind:
    return "line" if len(text.split()) <= LINE_WORDS else "prose"


def new(text: str) -> Made:
    """A block that the host has not shown."""
    return Made(text, _kind(text), in_new=True, in_main=True)


def shown_once(text: str) -> Made:
    return Made(text, _kind(text), 1, in_main=True)


def links(text: str) -> Made:
    """A new block of links within the main content."""
    return new(text)._replace(kind="link", has_links=True)


def frame(text: str) -> Made:
    return Made(text, _kind(text), 2, is_frame=True)


class Alone(NamedTuple):
    """The context of a page of a host that no other host has the menus of."""

    headline: Headline = NO_HEADLINE
    counts: Counts = ()
    times: Sequence[int] = ()
    are_frame: Sequence[bool] = ()
    learnt: Sequence[Learnt] = ()
    site_counts: Counts = ()
    is_frame_known: bool = False
    is_view: bool = False


def measured(
    *blocks: Made,
    headline: Headline = NO_HEADLINE,
    unread: float = 0,
    waiting: float = 0,
    headed: Mapping[str, int] = NEVER,
    is_frame_known: bool = False,
    is_view: bool = False,
    is_paged: bool = False,
) -> PageProfile:
    """The profile of a page of these blocks, which hides `unread` words.

    Of these `waiting` wait for a script. `headed`: how many pages were headed by each text.
    """
    text = "\n".join(block.text for block in blocks)
    document = Document(
        text,
        whole_text=text,
        unread_words=unread,
        unread_hash=int(unread),
        waiting_words=waiting,
        waiting_hash=int(waiting),
        is_paged=is_paged,
    )
    counts = [{part_hash(text): times for text, times in headed.items()}]
    compared = [masked(block.text) if block.is_line else block.text for block in blocks]
    names = [each.name for each in fields(Places)]
    dtypes = {"times": np.intp, "learnt": np.uint8, "slots": np.uint16}
    columns = (
        np.array([getattr(block, name) for block in blocks], dtypes.get(name, np.bool_))
        for name in names
    )
    blocks_compared = BlockColumns(
        [block.text for block in blocks],
        words_of([normalize(each) for each in compared]),
        Places(*columns),
        np.array(list(map(text_hash, compared)), np.uint64),
        np.ones(len(blocks), np.bool_),
        np.empty(0, np.uint16),
    )
    context = Alone(headline, counts, is_frame_known=is_frame_known, is_view=is_view)
    return profile.measured(document, blocks_compared, headline, context, FilterConfig())
