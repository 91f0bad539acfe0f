"""A page and the record of an earlier visit at its URL -> is it still this page; what changed.

    blocks of both, in page order -> came, went
    phrases in both directions, headlines -> still this page, or another one

Other pages are asked whether text of the page would be lost (`rule`); an earlier visit is asked
whether it is this page. Half of the page's own text must be there, with any numbers, and a third of
the earlier text still be here, or three quarters of the page's own text.

What changes by itself was masked when the page was read, or stands in a learnt slot (`slots`). A
new line or lone link of the main part is a change of the page. Other links, items of links (without
an element `main` also short ones, but prices) and elements that HTML names as beside are no change.
But on a list, a page with more words in links than outside, the links are the text. A new block
beside the text is a change, unless another text went from the same slot: a further paragraph is a
change, another teaser is none. If a block differs from that text by a number alone (a price), it is
a change, also in a slot whose text is learnt. In a slot whose number is learnt, only other words
are a change. A line that stands beside other lines than before is new, as in `rule`. If a page has
little text of its own, blocks outside its `main` element stand beside it.

A record has three columns, compressed to 30 to 100 bytes in all:

    words   1 byte for each block of its row (`sketch`): the number of words, at most 127; 128 more
            if it may be told that it went; 0 for a block that is neither told nor in a slot
    rest    2 bytes for each block with words: a hash of its text without numbers; 0: it has none
    slot    2 bytes for each of these blocks: a hash of its kind of place, see `Places.slots`

Knows no index and no store. Cost: 0.1 ms, linear in the number of blocks.
"""

import re
import zlib
from collections.abc import Mapping
from itertools import compress
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from dedup_filter.comparison.candidates import Stored
from dedup_filter.errors import StoreCorrupt
from dedup_filter.fingerprints.block_columns import NUMBER, BlockColumns, Shares
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.fingerprints.sketch import (
    MOST_BLOCKS,
    BoolArray,
    contained,
    row_in,
    row_of,
)
from dedup_filter.frames.slots import Learnt, SlotChange
from dedup_filter.model import Again, Reason, Source
from dedup_filter.text.blocks import text_hash
from dedup_filter.text.headlines import is_headed_alike
from dedup_filter.thresholds import HALF, MIN_WORDS, MOST, THIRD

_CURRENCIES = (
    "eur usd gbp chf cny rmb jpy krw inr pln czk huf ron sek nok dkk rub uah try brl aud cad "
    "euros? dollars? pounds? francs? yuan rupees? kr zł kč ft lei лв грн руб rs rp"
)
_IS_PRICE = re.compile(
    r"\d[.,](?:\d\d?(?!\d)|[-–])|[$¢-¥₠-⃏＄￠￡￥￦元円圆圓원]"
    rf"|(?<![^\W\d_])(?:{_CURRENCIES.replace(' ', '|')})(?![^\W\d_])",
    re.IGNORECASE,
)
"""A number with decimals, or a currency."""
_BLOCK = np.dtype([("row", "<u2"), ("words", np.uint8), ("rest", "<u2"), ("slot", "<u2")])
_MOST_WORDS, _IS_TOLD = 127, 128
_NO_ROWS = np.empty(0, _BLOCK)


class Earlier(Stored, Protocol):
    """The fields of a record that a later visit of its page is compared with."""

    @property
    def is_kept(self) -> bool:
        """Whether the page was kept."""

    @property
    def original(self) -> int | None:
        """The number of the page that it repeats."""

    @property
    def reason(self) -> Reason | Source | Again | None:
        """How its original was found."""

    @property
    def similarity(self) -> float | None:
        """Share of its words that its original has; None: it repeats none."""


class Visit(NamedTuple):
    """A page compared with its earlier visit."""

    is_same: bool
    """Whether it is still this page."""
    share: float
    """Share of its own text that was there."""
    change: float
    """Share of the words that came or went, 0 to 1: see `Verdict.change`."""
    came: BoolArray
    """Which blocks came, (n,)."""
    told: BoolArray
    """Which of these are a change of the page, (n,)."""
    went: frozenset[int]
    """16 bits of each block of the earlier visit that went, and is a change of the page."""
    slots: Mapping[int, SlotChange]
    """Slot -> what its text did; empty if the other text has not stayed."""


def packed_visit(blocks: BlockColumns) -> bytes:
    """Return what a record has of the blocks of a page beside their row."""
    size, places = min(len(blocks.hashes), MOST_BLOCKS), blocks.places
    links = _links_beside(blocks)
    is_told = _are_told(blocks, links) | (places.are_texts & ~links)
    is_slot = places.has_slot & (places.is_learnt | ~places.are_known)
    words = np.diff(blocks.ends).clip(max=_MOST_WORDS) + _IS_TOLD * is_told
    words = np.where(is_told | is_slot, words, 0).astype(np.uint8)[:size]
    stored = words > 0
    columns = (words, _rests(blocks, stored), places.slots[:size][stored].astype("<u2"))
    # A small window takes 7 us. The default window takes 0.2 ms, for the memory alone.
    packer = zlib.compressobj(9, zlib.DEFLATED, -9, 1)
    packed = packer.compress(b"".join(each.tobytes() for each in columns))
    return packed + packer.flush() if size else b""


def is_visit(packed: bytes, sketch: bytes) -> bool:
    """Return whether some bytes have the format of `packed_visit`, for the blocks of a sketch."""
    try:
        _unpacked(packed, row_in(sketch))
    except (ValueError, zlib.error):
        return False
    return True


def _unpacked(packed: bytes, row: npt.NDArray[np.uint16]) -> npt.NDArray[np.void]:
    """Return what a record has of the n blocks of its row, (n,); (0,) if it has nothing.

    Raises ValueError or zlib.error: `packed` is nothing that `packed_visit` returns for such a row.
    """
    if not packed:
        return _NO_ROWS
    unpacker, size = zlib.decompressobj(-9), len(row)
    columns = unpacker.decompress(packed, size * _BLOCK.itemsize)
    rows = np.zeros(size, _BLOCK)
    rows["row"], rows["words"] = row, np.frombuffer(columns, np.uint8, size)
    known = rows["words"] > 0
    if len(columns) != size + 4 * known.sum() or not unpacker.eof or unpacker.unused_data:
        raise ValueError("columns of other blocks, or parts of columns")
    rows["rest"][known], rows["slot"][known] = np.frombuffer(columns[size:], "<u2").reshape(2, -1)
    return rows


def visit_of(page: PageProfile, earlier: Stored) -> Visit:
    """Compare a page with the record of an earlier visit.

    Raises:
        StoreCorrupt: what the record has of its blocks is damaged.
    """
    blocks, nothing = page.blocks, np.zeros(len(page.blocks.hashes), np.bool_)
    if page.digest == earlier.digest:
        slots = _slots(blocks, nothing, _NO_ROWS, nothing)
        return Visit(True, 1.0, 0.0, nothing, nothing, frozenset(), slots)
    places, shares, row = blocks.places, blocks.shares_in(earlier.sketch), row_in(earlier.sketch)
    came: BoolArray = ~shares.is_there
    try:
        rows = _unpacked(earlier.visit, row)
    except (ValueError, zlib.error):
        raise StoreCorrupt(f"the record of page {earlier.page} is damaged: its blocks") from None
    gone = rows[(rows["words"] > 0) & ~np.isin(rows["row"], row_of(blocks.all_hashes))]
    links, are_values = _links_beside(blocks), _values(blocks, came, gone)
    told, text = _are_told(blocks, links), places.are_own & ~links
    main = text & (places.in_main | places.in_new)
    own = main if shares.words[main].sum() >= MIN_WORDS else text
    words = float(shares.words[own].sum())
    missing = float(shares.missing[own & ~are_values].sum())
    share = 1 - missing / words if words else 1.0
    there, _, size = (
        int(each[0]) for each in contained(np.unique(blocks.shingles), [earlier.sketch])
    )
    back = there / size if size else 1.0
    is_same = (
        share >= HALF
        and (back >= THIRD or share >= MOST)
        and is_headed_alike(page.headline, earlier.headline, page.counts)
    )
    is_usual = np.where(are_values, places.learnt & Learnt.NUMBER, places.learnt & Learnt.TEXT) > 0
    told = told | (came & places.is_learnt & ~(is_usual | places.is_masked | links))
    are_new = came & ~links & ~np.isin(row_of(blocks.hashes), row)
    told_came, went, change = _change(blocks, shares, are_new, told, are_values, gone)
    slots = _slots(blocks, came, gone, are_values) if is_same else {}
    return Visit(is_same, share, change, came, told_came, went, slots)


def own_row(earlier: Stored) -> frozenset[int]:
    """Return 16 bits of each block that an earlier visit has shown and that was not frame."""
    return frozenset(row_in(earlier.sketch).tolist())


def _change(
    blocks: BlockColumns,
    shares: Shares,
    are_new: BoolArray,
    told: BoolArray,
    are_values: BoolArray,
    gone: npt.NDArray[np.void],
) -> tuple[BoolArray, frozenset[int], float]:
    """Return what came and what went that is a change of the page, and its share of the words.

    `are_new`: which of the blocks that came stood nowhere on the earlier page, without short links
    beside the text.
    """
    places, words = blocks.places, shares.words
    came, missing, lines = ~shares.is_there, shares.missing, places.are_main_lines
    is_value = are_values & (lines | (places.is_line & ~places.is_outside))
    is_text = ~_links_beside(blocks) & (lines | ~np.isin(places.slots, gone["slot"]))
    told_came = came & (told | (places.are_texts & (is_value | is_text)))
    is_edited = told_came & places.is_prose & (missing < words)
    new = np.where(is_edited, np.maximum(missing, 1), words)
    came_words = float(new[told_came].sum())
    # If the text that came to a slot is no change, the text that went from this slot is none.
    by_itself = are_new & places.has_slot & ~told_came
    known = np.concatenate([blocks.learnt_slots, places.slots[by_itself]])
    were_told = gone[(gone["words"] >= _IS_TOLD) & ~np.isin(gone["slot"], known)]
    went_words = float((were_told["words"] & _MOST_WORDS).sum())
    went_words = max(went_words - float((words - missing)[is_edited].sum()), 0.0)
    is_shown = told | told_came | (places.in_span & ~places.has_links)
    in_all = float(words[is_shown].sum()) + went_words
    went = frozenset(were_told["row"].tolist())
    return told_came, went, min((came_words + went_words) / max(in_all, 1), 1.0)


def _slots(
    blocks: BlockColumns, came: BoolArray, gone: npt.NDArray[np.void], are_values: BoolArray
) -> dict[int, SlotChange]:
    """Return what the text of each slot of a page did; without slots whose text changed in part.

    A slot with half of the text of the page is its text.
    """
    places, words = blocks.places, np.diff(blocks.ends)
    is_text = places.has_slot & (came | ~places.are_known)
    went, found = {*gone["slot"].tolist()}, dict[int, SlotChange]()
    in_all = float(words[is_text].sum())
    for slot in {*places.slots[is_text].tolist()}:
        there = is_text & (places.slots == slot)
        numbers, of_slot = there & are_values, float(words[there].sum())
        new = float(words[there & came].sum())
        if any(map(_IS_PRICE.search, compress(blocks.texts, numbers.tolist()))):
            found[slot] = "value"
        elif of_slot > HALF * in_all:
            continue
        elif not new:
            found[slot] = "stay"
        elif numbers.any():
            if new == of_slot:
                found[slot] = "number" if numbers[there].all() else "both"
        elif new >= HALF * of_slot and came[there].mean() >= MOST and slot in went:
            found[slot] = "change"
    changed = np.isin(places.slots, [slot for slot, change in found.items() if change != "stay"])
    others = is_text & ~changed
    stayed = float(words[others & ~came].sum())
    has_stayed = stayed >= MOST * float(words[others].sum())
    return {slot: change for slot, change in found.items() if has_stayed or change == "value"}


def _values(blocks: BlockColumns, came: BoolArray, gone: npt.NDArray[np.void]) -> BoolArray:
    """Return the blocks that came and differ by a number alone from one that went, (n,)."""
    values: BoolArray = came.copy()
    rests = _rests(blocks, came)
    placed = blocks.places.slots[came].astype(np.uint32) << 16 | rests
    went = gone["slot"].astype(np.uint32) << 16 | gone["rest"]
    values[came] = (rests > 0) & np.isin(placed, went)
    return values


def _rests(blocks: BlockColumns, chosen: BoolArray) -> npt.NDArray[np.uint16]:
    """Return 16 bits of the texts of some blocks without their numbers; 0: a text has none."""
    parts = (NUMBER.subn("", text) for text in compress(blocks.texts, chosen.tolist()))
    rests = [text_hash(rest) % 0xFFFF + 1 if numbers else 0 for rest, numbers in parts]
    return np.array(rests, "<u2")


def _links_beside(blocks: BlockColumns) -> BoolArray:
    """Return which blocks are short links of a list beside the text, and no prices.

    If an element `main` names the main part, such links in it may be values: brands, tags.
    """
    places = blocks.places
    are_links = places.is_item & places.is_link & ~(places.in_span | places.is_outside.any())
    texts = compress(blocks.texts, are_links.tolist())
    are_links[are_links] = [_IS_PRICE.search(text) is None for text in texts]
    return are_links


def _are_told(blocks: BlockColumns, links: BoolArray) -> BoolArray:
    """Return which blocks are the page's own text, and values; of a list the links, too.

    `links`: the short links beside the text, which are no text of it.
    """
    places, words = blocks.places, np.diff(blocks.ends)
    text, within = places.are_own & ~links, ~places.is_outside
    inside: BoolArray = ~(places.is_framed | places.is_beside | places.are_known)
    has_text = (within & ~places.is_link).any()
    if has_text and words[text & within].sum() < MIN_WORDS:
        text, inside = text & within, inside & within
    is_list = words[inside & places.has_links].sum() > HALF * words[inside].sum()
    return text | inside if is_list else text
