"""Pages of a host -> which of their blocks are the host's frame.

What repeats on a host is its frame: menus, sidebars, footers, notices. No language and no markup
has to be known, only which blocks the kept pages of a host have shown, and how often:

    block of a new page        not shown before    the page's own
                               shown once          frame, or the page repeats an earlier one
                               shown twice or more frame

A page that is dropped as a duplicate teaches only what its host had not shown before. All pages of
a mirror are dropped, and its frame must be learnt nevertheless. But what was shown before is not
counted again: otherwise the print views of an article would teach that it is frame.

Sites. Hosts whose pages have the same menus form one site, such as shops run with the same
software. A host whose own frame is not known yet borrows that of its sites: blocks that two pages
of any of their hosts have shown. A site is kept like a host, under the name of its menu.

The first pages of a host come before its frame is known, and so does the first page of another
template in the middle of a crawl: most of it is new. Such pages wait, and are judged again when
each of the next two has shown what repeats (`early_pages`).

Memory is bounded in bytes, and of each host in blocks (its oldest go first). A host that was used
lately is a dictionary, at most a quarter of the memory; others are packed, 8 bytes a block. Beyond
the bound, hosts not used for longest go from memory:

    host -> open -> packed -> forgotten, and counted; or, if there is a store, loaded from it again

All that is stored is a number and hashes of blocks as bytes, little-endian. Never change a meaning,
raise the format, which is the first byte:

    lesson       whether a page was kept, and what it showed: what it adds to what is known
    state        the number of pages, and all blocks in the order in which they were last shown;
                 then how many pages have shown each
    early page   how many later pages have told of it, and its new blocks

Cost: to open a packed host, or to pack it, takes 0.1 us a block.
"""

import struct
import zlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress, islice, repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.fingerprints.profile import Surroundings
from dedup_filter.frames.early_pages import EarlyPage, EarlyPages
from dedup_filter.text.blocks import text_hash
from dedup_filter.text.content import ANY_MENU
from dedup_filter.text.headlines import Headline, shares_words
from dedup_filter.text.reading import MOST_OF_HEADLINE, Shown, part_hash
from dedup_filter.thresholds import FRAME_TIMES, MENU_SHARE, THIRD

_FORMAT = 1
_HEAD = struct.Struct("<BII")
_MOST_BLOCKS_OF_HOST = 20_000
_OPEN_BYTES, _OPEN_BLOCK_BYTES, _PACKED_BYTES = 400, 100, 400
"""Memory of an open host, of each of its blocks, and of a packed host besides its bytes."""
_OPEN, _EARLY = 1 / 4, 1 / 2
"""Shares of the memory that open hosts, and pages that wait, may take."""
SITE = "menu "
"""What the names of sites begin with; no host's name does."""


class Lesson(NamedTuple):
    """What one page taught of its host."""

    is_kept: bool
    shown: list[int]
    """Hashes of its blocks, each once."""

    def to_bytes(self) -> bytes:
        """Return it as bytes."""
        return pack(int(self.is_kept), self.shown)

    @classmethod
    def from_bytes(cls, packed: bytes) -> "Lesson":
        """Read what `to_bytes` returned. Raises ValueError for other bytes."""
        is_kept, shown, _ = unpack(packed)
        return cls(bool(is_kept), shown)


@dataclass(slots=True)
class Host:
    """What the pages of a host, or of a site, have shown."""

    name: str
    pages: int = 0
    """How many pages were kept."""
    sightings: dict[int, int] = field(default_factory=dict)
    """How many pages have shown each block, by hash, in the order in which they were last shown."""

    @property
    def is_frame_known(self) -> bool:
        """Whether enough pages were kept."""
        return self.pages >= FRAME_TIMES

    def learn(self, lesson: Lesson) -> None:
        """Add what a page taught."""
        self.pages += lesson.is_kept
        sightings, take_out = self.sightings, self.sightings.pop
        for shown in lesson.shown:
            # A block that is shown again moves to the end, so it is not the oldest.
            sightings[shown] = take_out(shown, 0) + 1
        # All at once: each search for the first key would pass over every deleted one.
        for oldest in list(islice(sightings, max(len(sightings) - _MOST_BLOCKS_OF_HOST, 0))):
            del sightings[oldest]

    def unlearn(self, lesson: Lesson) -> None:
        """Take back what a page taught."""
        self.pages = max(self.pages - lesson.is_kept, 0)
        for shown in lesson.shown:
            times = self.sightings.get(shown, 0)
            if times > 1:
                self.sightings[shown] = times - 1
            elif times:
                del self.sightings[shown]

    def to_bytes(self) -> bytes:
        """Return it as bytes. Most counts are 1, so compressed they take next to nothing."""
        times = np.fromiter(self.sightings.values(), "<u4", len(self.sightings)).tobytes()
        return pack(self.pages, self.sightings) + zlib.compress(times, 1)

    @classmethod
    def from_bytes(cls, name: str, packed: bytes) -> "Host":
        """Read what `to_bytes` returned. Raises ValueError for other bytes."""
        pages, shown, rest = unpack(packed)
        times = np.frombuffer(zlib.decompress(rest), "<u4").tolist()
        return cls(name, pages, dict(zip(shown, times, strict=True)))


@dataclass(frozen=True)
class Known:
    """What is known of a page's host and its sites; it holds until more is learnt."""

    shown: Shown
    host: Host
    seen_itself: int = 0
    """1 if the host has learnt from this page already."""
    sisters: Sequence[Host] = ()
    """The sites whose pages have the menus of this page."""

    @property
    def sites(self) -> Sequence[Host]:
        """Those whose frame is borrowed: none once the frame of the host is known."""
        return () if self.host.is_frame_known else self.sisters

    def times_shown(self) -> npt.NDArray[np.intp]:
        """Return how many other pages have shown each of its blocks, (blocks,)."""
        times = self._times(self.shown.blocks, [self.host, *self.sites])
        # A block that the page itself has shown may have been evicted since.
        return np.maximum(np.subtract(times, self.seen_itself), 0)

    @property
    def tellings(self) -> int:
        """Number of earlier pages with this page's template; below `FRAME_TIMES` the page is early.

        It is 0 if the page is mostly new: then it is the first of another template.
        """
        shown, known = self.shown, self.host.sightings
        are_new = [block not in known for block in shown.blocks]
        new_words = sum(compress(shown.words, are_new))
        new_links = sum(compress(shown.link_words, are_new))
        is_new = new_words >= THIRD * sum(shown.words)
        return 0 if is_new and new_links >= THIRD * new_words else self.host.pages

    @property
    def teaches(self) -> list[tuple[str, Collection[int]]]:
        """The names of its host and of the sites that learn from the page, and what each learns.

        Sites learn from the first page of a host only, because blocks learnt of sites take the room
        of those of hosts.
        """
        host, shown = self.host.name, self.shown.hashes
        sites = () if self.host.sightings else self.sites
        return [(host, shown), *((site.name, [*shown, host_hash(host)]) for site in sites)]

    @property
    def new(self) -> npt.NDArray[np.uint64]:
        """Hashes of the blocks that the host has not shown, ascending."""
        known = self.host.sightings
        return np.unique(
            np.array([block for block in self.shown.blocks if block not in known], np.uint64)
        )

    @property
    def around(self) -> Surroundings:
        """What the page is compared by besides its own texts."""
        return Surroundings(
            self.times_headed,
            self.host.is_frame_known,
            self._is_view(),
            self._is_of_site if self.sisters else None,
        )

    @property
    def headline(self) -> Headline:
        """The title, and the last h1 that fewer than `FRAME_TIMES` other pages of the host show."""
        times, most = self.times_headed, FRAME_TIMES + self.seen_itself
        own = [text for text in self.shown.h1 if times(text) < most]
        own = [text for text in own if shares_words(text, self.shown.title)] or own
        return Headline((own or [""])[-1][:MOST_OF_HEADLINE], self.shown.title[:MOST_OF_HEADLINE])

    def times_headed(self, part: str) -> int:
        """Count the pages of the host that were headed by an h1, or by a part of a title."""
        return self._times([part_hash(part)], [self.host, *self.sites])[0]

    def _is_of_site(self, other: str) -> bool:
        """Tell whether a page of another host was seen that is of one of these sites."""
        return self._times([host_hash(other)], self.sisters)[0] > 0

    def _is_view(self) -> bool:
        """Tell whether nearly all other kept pages of the host have menus, and this one has none.

        If no page of the host was kept, one dropped page must have menus.
        """
        times, own, menus = self.host.sightings, self.seen_itself, self.shown.menus
        others = max(self.host.pages - own, 1)
        with_menus = times.get(ANY_MENU, 0) - (own if menus else 0)
        return with_menus >= MENU_SHARE * others and all(
            times.get(menu, 0) <= own for menu in menus
        )

    @staticmethod
    def _times(hashes: Sequence[int], hosts: Sequence[Host]) -> list[int]:
        """Return how many pages of a host have shown each; of several hosts the largest count."""
        each = [list(map(host.sightings.get, hashes, repeat(0))) for host in hosts]
        return each[0] if len(each) == 1 else list(map(max, *each))


Stored = tuple[Host, Sequence[EarlyPage]]
"""A host as a store has it, and its pages that wait."""


class Frames:
    """What the pages of each host have shown.

    `load` returns what a store knows of a host, None if that is nothing: then memory is a cache of
    the store, which whoever learns must write to as well.
    """

    def __init__(
        self, most_bytes: float, load: Callable[[str], Stored | None] | None = None
    ) -> None:
        self._most_bytes = most_bytes
        self._load = load
        self._open: OrderedDict[str, Host] = OrderedDict()
        self._packed: OrderedDict[str, bytes] = OrderedDict()
        self._open_blocks = self._packed_bytes = 0
        self.early = EarlyPages(are_stored=load is not None)
        """Pages that wait until their frame is known."""
        self.forgotten: list[str] = []
        """Hosts that are no longer in memory; for the owner to take note of, and to clear."""
        self._latest: Known | None = None
        """What was asked for last, if nothing was learnt since."""

    def of(self, host: str) -> Host:
        """Return what is known of a host; of one that nothing was learnt of, a new empty value.

        It holds until another is asked for.
        """
        known = self._open.get(host)
        if known is not None:
            self._open.move_to_end(host)
            return known
        packed = self._packed.pop(host, None)
        if packed is not None:
            self._packed_bytes -= _packed_nbytes(host, packed)
            return self._opened(Host.from_bytes(host, packed))
        known, waiting = (self._load and self._load(host)) or (None, ())
        for early in waiting:
            self.early.wait(early)
        return Host(host) if known is None else self._opened(known)

    def known(self, host: str, shown: Shown, seen_itself: int = 0) -> Known:
        """Return what is known of the host of a page that shows this, and of its sites."""
        latest, asked = self._latest, (id(shown), host, seen_itself)
        if latest is not None and (id(latest.shown), latest.host.name, latest.seen_itself) == asked:
            return latest
        sisters = [self.of(f"{SITE}{menu:016x}") for menu in shown.menus]
        self._latest = Known(shown, self.of(host), seen_itself, sisters)
        return self._latest

    def learn(
        self, host: str, shown: Collection[int], *, is_kept: bool, early: EarlyPage | None = None
    ) -> tuple[Lesson, list[EarlyPage]]:
        """Learn from a page; return its lesson, and earlier pages that are to be judged again.

        `early`: the page itself, if it is to wait.
        """
        self._latest = None
        known, due = self.of(host), []
        taught = list(dict.fromkeys(shown))
        if not is_kept:
            taught = [block for block in taught if block not in known.sightings]
        elif self.early.of(host):
            # Whether the first pages of a host have one template is not known yet.
            due = self.early.due(host, None if known.pages <= FRAME_TIMES else set(taught))
        if early is not None:
            self.early.wait(early)
        lesson = Lesson(is_kept, taught)
        self._open_blocks -= len(known.sightings) if host in self._open else 0
        known.learn(lesson)
        self._opened(known)
        return lesson, due

    def unlearn(self, host: str, lesson: Lesson) -> None:
        """Take back what a page taught. From a host that is not in memory, a store has taken it."""
        self._latest = None
        if host in self._open or host in self._packed:
            known = self.of(host)
            before = len(known.sightings)
            known.unlearn(lesson)
            self._open_blocks += len(known.sightings) - before

    def __iter__(self) -> Iterator[Host]:
        """Yield the hosts in memory."""
        yield from self._open.values()
        yield from (Host.from_bytes(*each) for each in self._packed.items())

    @property
    def nbytes(self) -> int:
        """Estimated memory in bytes: of open and packed hosts, and of the pages that wait."""
        return self._open_nbytes + self._packed_bytes + self.early.nbytes

    @property
    def _open_nbytes(self) -> int:
        return self._open_blocks * _OPEN_BLOCK_BYTES + len(self._open) * _OPEN_BYTES

    def check(self) -> None:
        """Verify the counters and the bounds."""
        assert self._open_blocks == sum(len(host.sightings) for host in self._open.values())
        packed = sum(_packed_nbytes(*each) for each in self._packed.items())
        assert self._packed_bytes == packed
        assert not self._open.keys() & self._packed.keys(), "a host is open and packed"
        assert len(self._open) + len(self._packed) <= 1 or self.nbytes <= self._most_bytes
        self.early.check()

    def _opened(self, host: Host) -> Host:
        """Let a host be the one used last, whose blocks are to be counted, and make room for it."""
        self._open[host.name] = host
        self._open.move_to_end(host.name)
        self._open_blocks += len(host.sightings)
        while self._open_nbytes > self._most_bytes * _OPEN and len(self._open) > 1:
            name, oldest = self._open.popitem(last=False)
            self._open_blocks -= len(oldest.sightings)
            self._packed[name] = oldest.to_bytes()
            self._packed_bytes += _packed_nbytes(name, self._packed[name])
        self.early.shrink(int(self._most_bytes * _EARLY))
        while self.nbytes > self._most_bytes and len(self._open) + len(self._packed) > 1:
            self._forget_oldest()
        return host

    def _forget_oldest(self) -> None:
        if self._packed:
            name, packed = self._packed.popitem(last=False)
            self._packed_bytes -= _packed_nbytes(name, packed)
        else:
            name, host = self._open.popitem(last=False)
            self._open_blocks -= len(host.sightings)
        self.early.let_go([early.row for early in self.early.of(name)])
        self.forgotten.append(name)


def _packed_nbytes(name: str, packed: bytes) -> int:
    return _PACKED_BYTES + len(name) + len(packed)


def host_hash(host: str) -> int:
    """Return 64 bits that stand for a host among what a site has shown."""
    return text_hash(f"\0host\0{host}")


def pack(number: int, hashes: Collection[int]) -> bytes:
    """Return a number of 32 bits, and hashes of 64, as bytes."""
    packed = np.fromiter(hashes, "<u8", len(hashes)).tobytes()
    return _HEAD.pack(_FORMAT, number, len(hashes)) + packed


def unpack(packed: bytes) -> tuple[int, list[int], bytes]:
    """Return what was packed, and the bytes after it. Raises ValueError for other bytes."""
    if len(packed) < _HEAD.size or packed[0] != _FORMAT:
        raise ValueError(f"these bytes are no frame data in format {_FORMAT}")
    _, number, count = _HEAD.unpack_from(packed)
    hashes = np.frombuffer(packed, "<u8", count, _HEAD.size)
    return number, hashes.tolist(), packed[_HEAD.size + 8 * count :]
