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

Bounded: a number of blocks in all (the host not learnt of for longest is forgotten first) and of a
host (its oldest blocks first).

All that is stored is a number and hashes of blocks as bytes, little-endian. Never change a meaning,
raise the format, which is the first byte:

    lesson       whether a page was kept, and what it showed: what it adds to what is known
    state        the number of pages, and all blocks in the order in which they were last shown;
                 then how many pages have shown each
    early page   how many later pages have told of it, and its new blocks
"""

import struct
import zlib
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
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
_MOST_BLOCKS = 1_000_000
"""Of all hosts together: about 100 MB."""
_MOST_BLOCKS_OF_HOST = 20_000


@dataclass(slots=True)
class Host:
    """What the pages of a host, or of a site, have shown."""

    name: str
    pages: int = 0
    """How many pages were kept."""
    sightings: dict[int, int] = field(default_factory=dict)
    """How many pages have shown each block, by hash, in the order in which they were last shown."""
    early: dict[int, EarlyPage] = field(default_factory=dict)
    """Its pages that wait until their frame is known, by number."""

    @property
    def is_frame_known(self) -> bool:
        """Whether enough pages were kept."""
        return self.pages >= FRAME_TIMES

    def to_bytes(self) -> bytes:
        """Return it as bytes. Most counts are 1, so compressed they take next to nothing."""
        times = np.array(list(self.sightings.values()), "<u4").tobytes()
        return pack(self.pages, self.sightings) + zlib.compress(times, 1)

    @classmethod
    def from_bytes(cls, name: str, packed: bytes) -> "Host":
        """Read what `to_bytes` returned. Raises ValueError for other bytes."""
        pages, shown, rest = unpack(packed)
        times = np.frombuffer(zlib.decompress(rest), "<u4").tolist()
        return cls(name, pages, dict(zip(shown, times, strict=True)))


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


class FrameTimes(NamedTuple):
    """What is known of the frame around a page."""

    times: bytes
    """How many earlier pages have shown each of its blocks, at most `FRAME_TIMES`: it is frame."""
    is_frame_known: bool = False


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

    @cached_property
    def frame_times(self) -> FrameTimes:
        """How often each block was shown; a site's frame may be another on its other hosts."""
        others = np.minimum(self.times_shown(), FRAME_TIMES)
        return FrameTimes(others.astype(np.uint8).tobytes(), self.host.is_frame_known)

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
    def new(self) -> frozenset[int]:
        """Hashes of the blocks that the host has not shown."""
        known = self.host.sightings
        return frozenset([block for block in self.shown.blocks if block not in known])

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


class Frames:
    """What the pages of each host have shown.

    `early_are_stored`: see `EarlyPages`.
    """

    def __init__(self, most_blocks: int = _MOST_BLOCKS, *, early_are_stored: bool = False) -> None:
        self._most_blocks = most_blocks
        self._hosts: OrderedDict[str, Host] = OrderedDict()
        self._blocks = 0
        self.early = EarlyPages(are_stored=early_are_stored)
        """Pages that wait until their frame is known."""
        self.forgotten: list[str] = []
        """Hosts that the bounds removed; for the owner to take note of, and to clear."""
        self._latest: Known | None = None
        """What was asked for last, if nothing was learnt since."""

    def of(self, host: str) -> Host:
        """Return what is known of a host; of one that nothing was learnt of, a new empty value."""
        return self._hosts.get(host) or Host(host)

    def known(self, host: str, shown: Shown, seen_itself: int = 0) -> Known:
        """Return what is known of the host of a page that shows this, and of its sites."""
        latest, asked = self._latest, (id(shown), host, seen_itself)
        if latest is not None and (id(latest.shown), latest.host.name, latest.seen_itself) == asked:
            return latest
        known = self.of(host)
        sisters = [self.of(f"menu {menu:016x}") for menu in shown.menus]
        self._latest = Known(shown, known, seen_itself, sisters)
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
        elif known.early:
            # Whether the first pages of a host have one template is not known yet.
            due = self.early.due(known.early, None if known.pages <= FRAME_TIMES else set(taught))
        if early is not None:
            self.early.wait(known.early, early)
        self._hosts[host] = known
        self._hosts.move_to_end(host)
        known.pages += is_kept
        self._show(known.sightings, taught)
        return Lesson(is_kept, taught), due

    def unlearn(self, host: str, lesson: Lesson) -> None:
        """Take back what a page taught."""
        self._latest = None
        known = self.of(host)
        known.pages = max(known.pages - lesson.is_kept, 0)
        for shown in lesson.shown:
            times = known.sightings.get(shown, 0)
            if times > 1:
                known.sightings[shown] = times - 1
            elif times:
                del known.sightings[shown]
                self._blocks -= 1

    def put(self, host: Host) -> None:
        """Restore what was known of a host.

        Requires: hosts are restored in the order in which they were last learnt of.
        """
        self._latest = None
        assert host.name not in self._hosts
        self._hosts[host.name] = host
        self._blocks += len(host.sightings)

    def __len__(self) -> int:
        """Count the blocks remembered."""
        return self._blocks

    @property
    def nbytes(self) -> int:
        """Estimated memory in bytes: an entry for each block, and the pages that wait."""
        return self._blocks * 100 + len(self._hosts) * 400 + self.early.nbytes

    def check(self) -> None:
        """Verify the counters and the bounds."""
        assert self._blocks == sum(len(host.sightings) for host in self._hosts.values())
        assert self._blocks <= max(self._most_blocks, _MOST_BLOCKS_OF_HOST)
        self.early.check(host.early for host in self._hosts.values())

    def _show(self, sightings: dict[int, int], blocks: Sequence[int]) -> None:
        """Count some blocks, each given once; forget hosts if there are too many."""
        before, take_out = len(sightings), sightings.pop
        for shown in blocks:
            # A block that is shown again moves to the end, so it is not the oldest.
            sightings[shown] = take_out(shown, 0) + 1
        # All at once: each search for the first key would pass over every deleted one.
        for oldest in list(islice(sightings, max(len(sightings) - _MOST_BLOCKS_OF_HOST, 0))):
            del sightings[oldest]
        self._blocks += len(sightings) - before
        while self._blocks > self._most_blocks and len(self._hosts) > 1:
            host, forgotten = self._hosts.popitem(last=False)
            self._blocks -= len(forgotten.sightings)
            self.early.let_go(forgotten.early)
            self.forgotten.append(host)


def host_hash(host: str) -> int:
    """Return 64 bits that stand for a host among what a site has shown."""
    return text_hash(f"\0host\0{host}")


def pack(number: int, hashes: Collection[int]) -> bytes:
    """Return a number of 32 bits, and hashes of 64, as bytes."""
    return _HEAD.pack(_FORMAT, number, len(hashes)) + np.array(list(hashes), "<u8").tobytes()


def unpack(packed: bytes) -> tuple[int, list[int], bytes]:
    """Return what was packed, and the bytes after it. Raises ValueError for other bytes."""
    if len(packed) < _HEAD.size or packed[0] != _FORMAT:
        raise ValueError(f"these bytes are no frame data in format {_FORMAT}")
    _, number, count = _HEAD.unpack_from(packed)
    hashes = np.frombuffer(packed, "<u8", count, _HEAD.size)
    return number, hashes.tolist(), packed[_HEAD.size + 8 * count :]
