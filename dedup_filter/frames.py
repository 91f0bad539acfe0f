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
have shown what repeats, and are judged again each time.

What a page taught can be taken back, when it turns out that nobody has it.

Bounded: blocks by a total (the host not seen for longest is forgotten first) and by host
(its oldest blocks first); waiting pages by a total and by host, the earliest first.

Pure: what is known of a host goes out as plain bytes and comes back as such, a state and
lessons since, in the order in which they were learnt (`frame_bytes`).
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter

from dedup_filter.frame_bytes import HostState, Lesson
from dedup_filter.text import Block, Page, word_sum

__all__ = ["EarlyPage", "Frames"]

_MOST_BLOCKS = 1_000_000
"""Of all hosts: about 100 MB."""
_MOST_BLOCKS_OF_HOST = 20_000
_TELLING_PAGES = 2
"""A frame is known when so many more pages have shown it: one may have a block in common with
another by chance, and what varies (a list of headlines) needs a third to be seen through."""
_MOSTLY_NEW = 1 / 3
"""Share of new words, and of links among them, from which a page may be the first of another
template. Without the links it may be a long article in a light frame."""
_SAME_TEMPLATE = 0.25
"""Of the blocks that were new on such a page, the share that another page of its template shows:
headlines vary, and so does what the page is about."""
_MOST_WAITING = 1_000
_MOST_WAITING_OF_HOST = 16
"""Pages that wait are kept in memory; few hosts have more templates."""
_WAITING_PAGE_BYTES = 80_000
"""Measured on pages of 100 to 130 KB (200 blocks in 400 containers): 73 to 81 thousand."""


@dataclass(slots=True)
class EarlyPage:
    """A page that was judged before its frame was known."""

    row: int
    """Its number."""
    page: Page | None
    """None: whoever brought it back has put it away somewhere."""
    new: frozenset[int] = frozenset()
    """The blocks that its host had not shown before."""
    tellings: int = 0
    """How many later pages have shown some of these."""

    @property
    def is_waiting(self) -> bool:
        """Whether it is to be judged again later."""
        return self.tellings < _TELLING_PAGES


@dataclass(slots=True)
class _Host:
    pages: int = 0
    sightings: dict[int, int] = field(default_factory=dict)
    """By block hash, in the order in which blocks were last shown."""


class Frames:
    """What the pages of each host have shown."""

    def __init__(self, most_blocks: int = _MOST_BLOCKS) -> None:
        self._most_blocks = most_blocks
        self._hosts: OrderedDict[str, _Host] = OrderedDict()
        self._blocks = 0
        self._early: OrderedDict[str, list[EarlyPage]] = OrderedDict()
        self._waiting = 0
        self._forgotten: list[str] = []
        self._given_up: list[int] = []

    def sightings(self, host: str, blocks: Sequence[Block]) -> list[int]:
        """Return on how many pages of the host each block was seen."""
        known = self._hosts.get(host)
        if known is None:
            return [0] * len(blocks)
        times = known.sightings.get
        return [times(block.hash, 0) for block in blocks]

    def lesson(self, host: str, page: Page, *, is_kept: bool) -> Lesson:
        """Tell what there is to learn from a page.

        From one that is dropped only the blocks that its host had not shown before.
        """
        hashes = dict.fromkeys(map(block_hash, page.blocks))
        if is_kept:
            return Lesson(is_kept, list(hashes))
        known = self._hosts.get(host, _NOTHING).sightings
        return Lesson(is_kept, [shown for shown in hashes if shown not in known])

    def learn(self, host: str, page: EarlyPage) -> list[EarlyPage]:
        """Learn from a page that is kept; return earlier ones that should be judged again."""
        assert page.page is not None
        known = self._hosts.get(host, _NOTHING)
        hashes = list(map(block_hash, page.page.blocks))
        page.new = frozenset(hashes).difference(known.sightings)
        # Of a host's first pages it is not known yet whether they have a template in common.
        due = self._due(host, None if known.pages <= _TELLING_PAGES else set(hashes))
        if _is_mostly_new(page.page.blocks, page.new, hashes):
            self._wait(host, page)
        elif known.pages < _TELLING_PAGES:
            page.tellings = known.pages
            self._wait(host, page)
        self.take_lesson(host, self.lesson(host, page.page, is_kept=True))
        return due

    def learn_from_duplicate(self, host: str, page: Page) -> None:
        """Learn from a page that is dropped."""
        self.take_lesson(host, self.lesson(host, page, is_kept=False))

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
        due = self._due(host, None if known.pages <= _TELLING_PAGES else set(lesson.shown))
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

    def put_early(self, host: str, page: EarlyPage) -> None:
        """Let a page wait that waited before; the earliest comes first."""
        self._wait(host, page)

    def let_go(self, pages: Iterable[int]) -> None:
        """Let pages wait no more: they are gone, or cannot be judged again."""
        gone = set(pages)
        hosts = [host for host, early in self._early.items() if any(e.row in gone for e in early)]
        for host in hosts:
            self._keep_waiting(host, [e for e in self._early[host] if e.row not in gone])

    def take_bounded(self) -> tuple[list[str], list[int]]:
        """Return the hosts forgotten and the pages given up since this was last asked."""
        taken = self._forgotten, self._given_up
        self._forgotten, self._given_up = [], []
        return taken

    def waits(self, host: str, page: int) -> bool:
        """Tell whether a page is to be judged again later."""
        return any(early.row == page for early in self._early.get(host, ()))

    def waiting(self) -> dict[int, int]:
        """Return the pages that wait, and how many have told of each."""
        return {early.row: early.tellings for waiting in self._early.values() for early in waiting}

    def blocks_of(self, host: str) -> int:
        """Count the blocks remembered of a host."""
        return len(self._hosts.get(host, _NOTHING).sightings)

    def __len__(self) -> int:
        """Count the blocks remembered."""
        return self._blocks

    @property
    def nbytes(self) -> int:
        """Estimated memory in bytes: an entry for each block, and the pages that wait."""
        return self._blocks * 100 + len(self._hosts) * 400 + self._waiting * _WAITING_PAGE_BYTES

    def check(self) -> None:
        """Verify the counters and the bounds."""
        assert self._blocks == sum(len(host.sightings) for host in self._hosts.values())
        assert self._blocks <= max(self._most_blocks, _MOST_BLOCKS_OF_HOST)
        assert self._waiting == sum(map(len, self._early.values())) <= _MOST_WAITING
        assert max(map(len, self._early.values()), default=0) <= _MOST_WAITING_OF_HOST

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
            self._waiting -= len(self._early.pop(host, ()))
            self._forgotten.append(host)

    def _due(self, host: str, shown: set[int] | None) -> list[EarlyPage]:
        """Take the pages that one more page tells of: it has shown these blocks; None: of all."""
        waiting = self._early.get(host, [])
        due = [early for early in waiting if shown is None or _have_template(early, shown)]
        for early in due:
            early.tellings += 1
        self._keep_waiting(host, [early for early in waiting if early.is_waiting])
        return due

    def _keep_waiting(self, host: str, still: list[EarlyPage]) -> None:
        """Let all other pages of a host go."""
        self._waiting += len(still) - len(self._early.pop(host, ()))
        if still:
            self._early[host] = still

    def _wait(self, host: str, page: EarlyPage) -> None:
        waiting = self._early.setdefault(host, [])
        waiting.append(page)
        self._waiting += 1
        if len(waiting) > _MOST_WAITING_OF_HOST:
            self._give_up(host)
        while self._waiting > _MOST_WAITING:
            self._give_up(min(self._early, key=lambda each: self._early[each][0].row))

    def _give_up(self, host: str) -> None:
        """Let the earliest waiting page of a host go."""
        first, *still = self._early[host]
        self._keep_waiting(host, still)
        self._given_up.append(first.row)


_NOTHING = _Host()


def _have_template(early: EarlyPage, shown: set[int]) -> bool:
    return len(early.new & shown) >= _SAME_TEMPLATE * len(early.new)


def _is_mostly_new(blocks: Sequence[Block], hashes_new: Set[int], hashes: Sequence[int]) -> bool:
    new = [block for block, shown in zip(blocks, hashes, strict=True) if shown in hashes_new]
    new_words = word_sum(new)
    if new_words < _MOSTLY_NEW * word_sum(blocks):
        return False
    return sum(block.link_words for block in new) >= _MOSTLY_NEW * new_words


block_hash = attrgetter("hash")
"""Returns the 64 bits by which a block of text is known again."""
