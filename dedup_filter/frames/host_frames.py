"""Pages of a host -> which of their blocks are the host's frame.

What repeats on a host is its frame: menus, sidebars, footers, notices. Nothing needs to be
known of languages or markup; it is enough to remember which blocks of text the kept pages of
a host have shown, and how often.

    block of an arriving page      not shown before    the page's own
                                   shown once          frame, or this page repeats an earlier one
                                   shown twice or more frame

A page that is dropped as a duplicate teaches only what its host had not shown before: a
mirror's pages are all dropped, and still its frame must be learnt. What was shown before is
not counted again; otherwise an article and its print views would teach that it is frame.

The first pages of a host come before its frame is known, and so does the first page of
another template in the middle of a crawl: most of it is new. Such pages wait until two more
have shown what repeats, and are judged again each time (`early_pages`).

What a page taught can be taken back, when it turns out that nobody has it.

Bounded: blocks by a total (the host not seen for longest is forgotten first) and by host
(its oldest blocks first).

Pure: what is known of a host goes out as plain bytes and comes back as such, a state and
lessons since, in the order in which they were learnt (`frame_bytes`).
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from itertools import islice

from dedup_filter.frames.early_pages import TELLING_PAGES, EarlyPage, EarlyPages
from dedup_filter.frames.frame_bytes import HostState, Lesson
from dedup_filter.text import Block, text_hash, word_sum

__all__ = ["Frames", "host_hash"]

_MOST_BLOCKS = 1_000_000
"""Of all hosts: about 100 MB."""
_MOST_BLOCKS_OF_HOST = 20_000
_MOSTLY_NEW = 1 / 3
"""Share of new words, and of links among them, from which a page may be the first of another
template. Without the links it may be a long article in a light frame."""


@dataclass(slots=True)
class _Host:
    pages: int = 0
    sightings: dict[int, int] = field(default_factory=dict)
    """By block hash, in the order in which blocks were last shown."""


class Frames:
    """What the pages of each host have shown.

    `early_are_stored`: see `EarlyPages`.
    """

    def __init__(self, most_blocks: int = _MOST_BLOCKS, *, early_are_stored: bool = False) -> None:
        self._most_blocks = most_blocks
        self._hosts: OrderedDict[str, _Host] = OrderedDict()
        self._blocks = 0
        self.early = EarlyPages(are_stored=early_are_stored)
        """Pages that wait until their frame is known."""
        self._forgotten: list[str] = []

    def sightings(self, host: str, hashes: Sequence[int]) -> list[int]:
        """Return on how many pages of the host each block, or part of a title, was seen."""
        known = self._hosts.get(host)
        if known is None:
            return [0] * len(hashes)
        times = known.sightings.get
        return [times(shown, 0) for shown in hashes]

    def knows_frame(self, host: str) -> bool:
        """Tell whether so many pages of a host were kept that its frame has shown."""
        return self.pages_of(host) >= TELLING_PAGES

    def pages_of(self, host: str) -> int:
        """Count the pages of a host that were kept."""
        return self._hosts.get(host, _NOTHING).pages

    def lesson(self, host: str, shown: Iterable[int], *, is_kept: bool) -> Lesson:
        """Tell what there is to learn from a page that has shown these blocks.

        From one that is dropped only what its host had not shown before.
        """
        hashes = dict.fromkeys(shown)
        if is_kept:
            return Lesson(is_kept, list(hashes))
        known = self._hosts.get(host, _NOTHING).sightings
        return Lesson(is_kept, [shown for shown in hashes if shown not in known])

    def learn(self, host: str, page: EarlyPage, lesson: Lesson) -> list[EarlyPage]:
        """Learn the lesson of a page that is kept; return earlier ones to be judged again."""
        assert page.page is not None
        known = self._hosts.get(host, _NOTHING)
        hashes = [block.hash for block in page.page.blocks]
        page.new = frozenset(hashes).difference(known.sightings)
        # Of a host's first pages it is not known yet whether they have a template in common.
        due = self.early.due(host, None if known.pages <= TELLING_PAGES else set(hashes))
        if _is_mostly_new(page.page.blocks, page.new, hashes):
            self.early.wait(host, page)
        elif known.pages < TELLING_PAGES:
            page.tellings = known.pages
            self.early.wait(host, page)
        self.take_lesson(host, lesson)
        return due

    def take_lesson(self, host: str, lesson: Lesson) -> None:
        """Learn what a page taught, now or before."""
        known = self._hosts.setdefault(host, _Host())
        self._hosts.move_to_end(host)
        known.pages += lesson.is_kept
        self._show(known, lesson.shown)

    def learn_of(self, host: str, lesson: Lesson) -> list[EarlyPage]:
        """Learn what a page taught that is not here; return earlier ones to judge again."""
        known = self._hosts.get(host, _NOTHING)
        if not lesson.is_kept:
            # Whoever dropped it may not have known what was known here.
            news = [shown for shown in lesson.shown if shown not in known.sightings]
            self.take_lesson(host, Lesson(lesson.is_kept, news))
            return []
        due = self.early.due(host, None if known.pages <= TELLING_PAGES else set(lesson.shown))
        self.take_lesson(host, lesson)
        return due

    def unlearn(self, host: str, lesson: Lesson) -> None:
        """Take back what a page taught."""
        known = self._hosts.get(host)
        if known is None:
            return
        known.pages = max(known.pages - lesson.is_kept, 0)
        for shown in lesson.shown:
            times = known.sightings.get(shown, 0)
            if times > 1:
                known.sightings[shown] = times - 1
            elif times:
                del known.sightings[shown]
                self._blocks -= 1

    def state(self, host: str) -> HostState:
        """Return what is known of a host."""
        known = self._hosts.get(host, _NOTHING)
        return HostState(known.pages, list(known.sightings), list(known.sightings.values()))

    def put_state(self, host: str, state: HostState) -> None:
        """Take what was known of a host; the one that was learnt of last comes last."""
        assert host not in self._hosts
        self._hosts[host] = _Host(state.pages, dict(zip(state.shown, state.times, strict=True)))
        self._blocks += len(self._hosts[host].sightings)

    def take_bounded(self) -> tuple[list[str], list[int]]:
        """Return the hosts forgotten and the pages given up since this was last asked."""
        forgotten, self._forgotten = self._forgotten, []
        return forgotten, self.early.take_given_up()

    def blocks_of(self, host: str) -> int:
        """Count the blocks remembered of a host."""
        return len(self._hosts.get(host, _NOTHING).sightings)

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
        self.early.check()

    def _show(self, known: _Host, blocks: Iterable[int]) -> None:
        sightings = known.sightings
        before, take_out = len(sightings), sightings.pop
        for shown in dict.fromkeys(blocks):
            # Taken out and put in again, a block that repeats is never the oldest.
            sightings[shown] = take_out(shown, 0) + 1
        # All at once: to find the first key anew each time is to pass over every deleted one.
        for oldest in list(islice(sightings, max(len(sightings) - _MOST_BLOCKS_OF_HOST, 0))):
            del sightings[oldest]
        self._blocks += len(sightings) - before
        self._forget()

    def _forget(self) -> None:
        while self._blocks > self._most_blocks and len(self._hosts) > 1:
            host, forgotten = self._hosts.popitem(last=False)
            self._blocks -= len(forgotten.sightings)
            self.early.forget(host)
            self._forgotten.append(host)


_NOTHING = _Host()


def host_hash(host: str) -> int:
    """Return the 64 bits by which it is known that a host is one of a site."""
    return text_hash(f"\0host\0{host}")


def _is_mostly_new(blocks: Sequence[Block], hashes_new: Set[int], hashes: Sequence[int]) -> bool:
    new = [block for block, shown in zip(blocks, hashes, strict=True) if shown in hashes_new]
    new_words = word_sum(new)
    if new_words < _MOSTLY_NEW * word_sum(blocks):
        return False
    return sum(block.link_words for block in new) >= _MOSTLY_NEW * new_words
