"""Pages of a host -> which of their blocks are the host's frame.

Blocks that repeat on a host are its frame: menus, sidebars, footers, notices. The rule needs no
language and no markup, only how many kept pages of the host have shown each block:

    block of a new page        not shown before    the page's own
                               shown once          frame, or the page repeats an earlier one
                               shown twice or more frame

These counts choose the text of a page. Text that a page shows beyond its original is left out of
the comparison only if most pages of the host show it, or if two pages showed it beyond pages
that they repeat otherwise: a notice that is new on all pages of a site. Such a block is marked once
and stays frame, because records hold no block that was frame when they were made.

If a page is dropped as a duplicate, only blocks count that its host had not shown before. All
pages of a mirror are dropped, and its frame must be known nevertheless. But blocks shown before
do not count again: otherwise the print views of an article would make a frame of it.

A page is counted once, when it is kept for good, and is never subtracted.

Thin pages have next to no text beside the frame. With the option `same_template`, kept thin pages
with the same menus are counted like pages that show a block.

Sites. Hosts whose pages have the same menus form one site, such as shops run with the same
software. A host whose own frame is not known yet borrows the frame of its sites: blocks that two
pages of any of their hosts have shown. A site is kept like a host, under the name of its menu.

The first pages of a host come before its frame is known, and so does the first page of another
template in the middle of a crawl: most of it is new. Such pages wait, and are judged again after
each of the next two pages of their template (`judge`).

Each host is bounded in blocks: its oldest go first. `host_cache` bounds the hosts.

A number and hashes of blocks are stored as bytes, little-endian. Never change a meaning, raise the
format, which is the first byte:

    update   whether a page was kept, and its blocks that count (on servers, see `store.redis`)
    host     the number of pages, and all blocks in the order in which they were last shown; then
             how many pages have shown each block

Cost: to open or to pack a host takes 0.1 us a block.
"""

import struct
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import compress, islice, repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.frames.slots import Learnt, learnt_of
from dedup_filter.text.blocks import text_hash
from dedup_filter.text.content import ANY_MENU
from dedup_filter.text.headlines import (
    MOST_OF_HEADLINE,
    Counts,
    Headline,
    shares_words,
    times_headed,
)
from dedup_filter.text.reading import Shown
from dedup_filter.thresholds import FRAME_TIMES, HALF, MIN_WORDS, NEARLY_ALL, THIRD

_FORMAT = 1
_HEAD = struct.Struct("<BII")
_MOST_BLOCKS_OF_HOST = 20_000
SITE = "menu "
"""Prefix of the names of sites; no host's name has it."""


class FrameUpdate(NamedTuple):
    """The counts that one page adds to a host or a site."""

    is_kept: bool
    shown: list[int]
    """Hashes of its blocks that count, each once."""


@dataclass(slots=True)
class Host:
    """The blocks that the pages of a host or a site have shown."""

    name: str
    pages: int = 0
    """How many pages were kept."""
    sightings: dict[int, int] = field(default_factory=dict)
    """How many pages have shown each block, by hash, in the order in which they were last shown."""

    @property
    def is_frame_known(self) -> bool:
        """Whether enough pages were kept."""
        return self.pages >= FRAME_TIMES

    def update_of(self, shown: Collection[int], *, is_kept: bool) -> FrameUpdate:
        """Return the update of a page with these hashes; a dropped page adds only new hashes."""
        found = dict.fromkeys(shown)
        if is_kept:
            return FrameUpdate(is_kept, [*found])
        return FrameUpdate(is_kept, [block for block in found if block not in self.sightings])

    def add_page(self, update: FrameUpdate) -> None:
        """Count a page."""
        self.pages += update.is_kept
        sightings, take_out = self.sightings, self.sightings.pop
        # A block that is shown again moves to the end, so it is not the oldest.
        times = [take_out(shown, 0) + 1 for shown in update.shown]
        sightings.update(zip(update.shown, times, strict=True))
        if update.is_kept and self.pages > FRAME_TIMES:
            least = HALF * self.pages
            marks = [
                frame_mark(block)
                for block, seen in zip(update.shown, times, strict=True)
                if seen > least or sightings.get(frame_mark(block), 0) >= FRAME_TIMES
            ]
            for mark in marks:
                take_out(mark, 0)
            sightings.update(dict.fromkeys(marks, FRAME_TIMES))
        # All at once: each search for the first key would skip every deleted key again.
        for oldest in list(islice(sightings, max(len(sightings) - _MOST_BLOCKS_OF_HOST, 0))):
            del sightings[oldest]

    def with_pages(self, *updates: FrameUpdate) -> "Host":
        """Return a copy with more pages counted. Cost: 10 us for 1,000 blocks, old or new."""
        copy = Host(self.name, self.pages, self.sightings.copy())
        for update in updates:
            copy.add_page(update)
        return copy

    def to_bytes(self) -> bytes:
        """Return it as bytes. Most counts are 1, so compressed they take next to nothing."""
        times = np.fromiter(self.sightings.values(), "<u4", len(self.sightings)).tobytes()
        return pack(self.pages, self.sightings) + zlib.compress(times, 1)

    @classmethod
    def from_bytes(cls, name: str, packed: bytes) -> "Host":
        """Read the bytes of `to_bytes`. Raises ValueError for other bytes."""
        pages, shown, rest = unpack(packed)
        counts = zlib.decompressobj().decompress(rest, 4 * len(shown) + 1)
        times = np.frombuffer(counts, "<u4").tolist()
        return cls(name, pages, dict(zip(shown, times, strict=True)))


@dataclass(frozen=True)
class HostContext:
    """A page, its host and its sites; valid until another page is counted."""

    shown: Shown
    host: Host
    own_count: int = 0
    """1 if this page is among the counted pages."""
    learns_changes: bool = True
    """Whether learnt slots are left out."""
    own: frozenset[int] | None = None
    """With `own_count`: the last 16 bits of the hashes of the blocks that it has shown; None: all
    of its blocks."""
    sisters: Sequence[Host] = ()
    """The sites whose pages have the menus of this page."""

    @property
    def sites(self) -> Sequence[Host]:
        """The sites whose frame is borrowed: none once the frame of the host is known."""
        return () if self.host.is_frame_known else self.sisters

    @property
    def frame_times(self) -> tuple[bytes, bool]:
        """How often each block was shown, at most `FRAME_TIMES`; whether the frame is known.

        For a block that is marked as frame, one more than `FRAME_TIMES`.
        """
        shown = zip(self.times, self.are_frame, strict=True)
        counts = [FRAME_TIMES + 1 if is_frame else min(n, FRAME_TIMES) for n, is_frame in shown]
        return bytes(counts), self.host.is_frame_known

    @property
    def measured(self) -> tuple[object, ...]:
        """All by which a profile depends on it, but `counts` and `site_counts`."""
        return self.frame_times, self.learnt, self.headline, self.is_view

    @cached_property
    def times(self) -> list[int]:
        """How many other pages have shown each of its blocks."""
        times = self._times(self.shown.blocks, [self.host, *self.sites])
        if not self.own_count:
            return times
        # A block that the page itself has shown may have been evicted since.
        return [
            max(each - 1, 0) if self.own is None or block & 0xFFFF in self.own else each
            for block, each in zip(self.shown.blocks, times, strict=True)
        ]

    @cached_property
    def are_frame(self) -> list[bool]:
        """Whether each of its blocks is marked as frame of the host."""
        marks = [frame_mark(block) for block in self.shown.blocks]
        return [each >= FRAME_TIMES for each in self._times(marks, [self.host, *self.sites])]

    @cached_property
    def learnt(self) -> list[Learnt]:
        """What is learnt of the slot of each of its blocks, see `slots`."""
        if not self.learns_changes:
            return [Learnt.NOTHING] * len(self.shown.blocks)
        return learnt_of(self.host.sightings, self.shown.slots)

    @cached_property
    def pages_of_template(self) -> int:
        """Number of earlier pages with this page's template.

        Below `FRAME_TIMES` the page is provisional.

        It is 0 if the page is mostly new: then it is the first page of another template.
        """
        shown, known = self.shown, self.host.sightings
        are_new = [block not in known for block in shown.blocks]
        new_words = sum(compress(shown.words, are_new))
        new_links = sum(compress(shown.link_words, are_new))
        is_new = new_words >= THIRD * sum(shown.words)
        return 0 if is_new and new_links >= THIRD * new_words else self.host.pages

    @cached_property
    def is_thin(self) -> bool:
        """Whether fewer than `MIN_WORDS` words of the page are not frame of its host."""
        own = compress(self.shown.words, [times < FRAME_TIMES for times in self.times])
        return self.host.is_frame_known and sum(own) < MIN_WORDS

    @property
    def thin_pages(self) -> int:
        """How many thin pages of the host with the menus of this page were counted."""
        return self.host.sightings.get(self._thin_hash, 0)

    @property
    def _thin_hash(self) -> int:
        """64 bits under which thin pages are counted among the blocks of the host."""
        times = self.host.sightings.get
        menus = [menu for menu in self.shown.menus if times(menu, 0) >= FRAME_TIMES]
        return text_hash(f"\0thin\0{menus}")

    def updates(
        self, *, is_kept: bool, counts_thin: bool = False, evidence: Collection[int] = ()
    ) -> list[tuple[Host, FrameUpdate]]:
        """Return the updates of the page: for its host, which comes first, and for sites.

        `evidence`: further hashes that count: the marks of blocks that it shows beyond a page that
        it repeats otherwise, and the canonical URL that it names.

        Only the first page of a host is counted for sites, because blocks of sites and hosts share
        the same memory. With `counts_thin` the page is counted among the thin pages, if it is one.
        """
        host, shown = self.host, self.shown.hashes
        sites = () if host.sightings else self.sites
        of_sites = [*shown, host_hash(host.name)]
        of_host = host.update_of(shown, is_kept=is_kept)
        of_host.shown.extend(evidence)
        if counts_thin and self.is_thin:
            of_host.shown.append(self._thin_hash)
        return [
            (host, of_host),
            *((site, site.update_of(of_sites, is_kept=is_kept)) for site in sites),
        ]

    @property
    def new(self) -> npt.NDArray[np.uint64]:
        """Hashes of the blocks that the host has not shown, ascending."""
        known = self.host.sightings
        return np.unique(
            np.array([block for block in self.shown.blocks if block not in known], np.uint64)
        )

    @property
    def is_frame_known(self) -> bool:
        """Whether the frame of the host is known."""
        return self.host.is_frame_known

    @property
    def counts(self) -> Counts:
        """How many pages of the host and of its sites have shown each h1 and each part of a title.

        The same dictionaries count blocks, by other hashes.
        """
        return [host.sightings for host in (self.host, *self.sites) if host.sightings]

    @property
    def site_counts(self) -> Counts:
        """The counts of all sites whose pages have the menus of this page, and of their hosts."""
        return [site.sightings for site in self.sisters]

    @property
    def headline(self) -> Headline:
        """The title, and the last h1 that fewer than `FRAME_TIMES` other pages of the host show."""
        counts, most = self.counts, FRAME_TIMES + self.own_count
        own = [text for text in self.shown.h1 if times_headed(text, counts) < most]
        own = [text for text in own if shares_words(text, self.shown.title)] or own
        return Headline((own or [""])[-1][:MOST_OF_HEADLINE], self.shown.title[:MOST_OF_HEADLINE])

    @property
    def is_view(self) -> bool:
        """Return whether nearly all other kept pages of the host have menus, and this one has none.

        If no page of the host was kept, one dropped page must have menus.
        """
        times, own, menus = self.host.sightings, self.own_count, self.shown.menus
        others = max(self.host.pages - own, 1)
        with_menus = times.get(ANY_MENU, 0) - (own if menus else 0)
        return with_menus >= NEARLY_ALL * others and all(
            times.get(menu, 0) <= own for menu in menus
        )

    @staticmethod
    def _times(hashes: Sequence[int], hosts: Sequence[Host]) -> list[int]:
        """Return how many pages of a host have shown each; for several hosts the largest count."""
        known = [host.sightings for host in hosts if host.sightings]
        each = [list(map(sightings.get, hashes, repeat(0))) for sightings in known]
        return list(map(max, *each)) if len(each) > 1 else each[0] if each else [0] * len(hashes)


def no_context(shown: Shown) -> HostContext:
    """Return the empty context of a page whose frames are not counted."""
    return HostContext(shown, Host(""))


def frame_mark(block: int) -> int:
    """Return 64 bits that count how often a block, by its hash, was found to be frame."""
    return block ^ 0x6672616D65  # any constant


def visit_mark(block: int, page: int) -> int:
    """Return 64 bits that say that a block came to a page, given by any number."""
    return block ^ page * 0x9E3779B97F4A7C15 & 2**64 - 1


@lru_cache(maxsize=1024)
def host_hash(host: str) -> int:
    """Return 64 bits that stand for a host among the hashes of a site."""
    return text_hash(f"\0host\0{host}")


def pack(number: int, hashes: Collection[int]) -> bytes:
    """Return a number of 32 bits, and hashes of 64, as bytes."""
    packed = np.fromiter(hashes, "<u8", len(hashes)).tobytes()
    return _HEAD.pack(_FORMAT, number, len(hashes)) + packed


def unpack(packed: bytes) -> tuple[int, list[int], bytes]:
    """Return the packed number and hashes, and the rest. Raises ValueError for other bytes."""
    if len(packed) < _HEAD.size or packed[0] != _FORMAT:
        raise ValueError(f"these bytes are no frame data in format {_FORMAT}")
    _, number, count = _HEAD.unpack_from(packed)
    hashes = np.frombuffer(packed, "<u8", count, _HEAD.size)
    return number, hashes.tolist(), packed[_HEAD.size + 8 * count :]
