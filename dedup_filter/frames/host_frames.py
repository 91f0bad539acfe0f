"""Pages of a host -> which of their blocks are the host's frame.

What repeats on a host is its frame: menus, sidebars, footers, notices. No language and no markup
has to be known, only which blocks the kept pages of a host have shown, and how often:

    block of a new page        not shown before    the page's own
                               shown once          frame, or the page repeats an earlier one
                               shown twice or more frame

A page that is dropped as a duplicate teaches only what its host had not shown before. All pages of
a mirror are dropped, and its frame must be learnt nevertheless. But what was shown before is not
counted again: otherwise the print views of an article would teach that it is frame.

The first pages of a host come before its frame is known, and so does the first page of another
template in the middle of a crawl: most of it is new. Such pages wait, and are judged again when
each of the next two has shown what repeats (`early_pages`).

What a page taught can be taken back, if it turns out that the page is not kept.

Bounded: a number of blocks in all (the host not learnt of for longest is forgotten first) and of a
host (its oldest blocks first).

Pure: what is known of a host is plain data (`frame_bytes`): a state, and the lessons since, in the
order in which they were learnt.
"""

from collections import OrderedDict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress, islice

from dedup_filter.frames.early_pages import TELLING_PAGES, EarlyPage, EarlyPages
from dedup_filter.frames.frame_bytes import HostState, Lesson
from dedup_filter.text import Shown, text_hash

__all__ = ["Frames", "Host", "host_hash", "times_shown"]

_MOST_BLOCKS = 1_000_000
"""Of all hosts together: about 100 MB."""
_MOST_BLOCKS_OF_HOST = 20_000
_MOSTLY_NEW = 1 / 3
"""Share of new words, and of links among these, from which a page may be the first of another
template. With fewer links it may be a long article in a light frame."""


@dataclass(slots=True)
class Host:
    """What the pages of a host have shown."""

    name: str
    pages: int = 0
    """How many pages were kept."""
    sightings: dict[int, int] = field(default_factory=dict)
    """How many pages have shown each block, by hash, in the order in which they were last shown."""

    @property
    def is_frame_known(self) -> bool:
        """Whether enough pages were kept for the frame to be known."""
        return self.pages >= TELLING_PAGES


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
        self._forgotten: list[str] = []

    def of(self, host: str) -> Host:
        """Return what is known of a host. It follows what is learnt, unless that is the first."""
        return self._hosts.get(host) or Host(host)

    def lesson(self, host: str, shown: Iterable[int], *, is_kept: bool) -> Lesson:
        """Return the lesson of a page that has shown these blocks.

        A dropped page teaches only what its host had not shown before.
        """
        hashes = dict.fromkeys(shown)
        if is_kept:
            return Lesson(is_kept, list(hashes))
        known = self.of(host).sightings
        return Lesson(is_kept, [shown for shown in hashes if shown not in known])

    def is_early(self, host: str, shown: Shown) -> bool:
        """Tell whether a page comes before the frame of its host, or of its template, is known."""
        known = self.of(host)
        return not known.is_frame_known or _is_mostly_new(shown, known.sightings)

    def learn(
        self, host: str, shown: Shown, lesson: Lesson, early: EarlyPage | None
    ) -> list[EarlyPage]:
        """Learn the lesson of a page that is kept; return earlier ones to be judged again.

        `early` is the page itself if it `is_early`: it waits.
        """
        known = self.of(host)
        hashes = frozenset(shown.blocks)
        # Whether the first pages of a host have one template is not known yet.
        due = self.early.due(host, None if known.pages <= TELLING_PAGES else hashes)
        if early is not None:
            early.new = hashes.difference(known.sightings)
            early.tellings = 0 if _is_mostly_new(shown, known.sightings) else known.pages
            self.early.wait(host, early)
        self.take_lesson(host, lesson)
        return due

    def take_lesson(self, host: str, lesson: Lesson) -> None:
        """Add a lesson to what is known of a host."""
        known = self._hosts[host] = self.of(host)
        self._hosts.move_to_end(host)
        known.pages += lesson.is_kept
        self._show(known, lesson.shown)

    def learn_of(self, host: str, lesson: Lesson) -> list[EarlyPage]:
        """Learn the lesson of another process; return earlier pages to be judged again."""
        known = self.of(host)
        if not lesson.is_kept:
            # The process that dropped the page may not have known all blocks that are known here.
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
        known = self.of(host)
        return HostState(known.pages, list(known.sightings), list(known.sightings.values()))

    def put_state(self, host: str, state: HostState) -> None:
        """Restore what was known of a host.

        Requires: hosts are restored in the order in which they were last learnt of.
        """
        assert host not in self._hosts
        self._hosts[host] = Host(
            host, state.pages, dict(zip(state.shown, state.times, strict=True))
        )
        self._blocks += len(self._hosts[host].sightings)

    def take_bounded(self) -> tuple[list[str], list[int]]:
        """Return the hosts and the early pages that the bounds removed since the last call."""
        forgotten, self._forgotten = self._forgotten, []
        return forgotten, self.early.take_given_up()

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

    def _show(self, known: Host, blocks: Iterable[int]) -> None:
        """Count some blocks, each given once."""
        sightings = known.sightings
        before, take_out = len(sightings), sightings.pop
        for shown in blocks:
            # A block that is shown again moves to the end, so it is not the oldest.
            sightings[shown] = take_out(shown, 0) + 1
        # All at once: each search for the first key would pass over every deleted one.
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


def times_shown(hosts: Sequence[Host], hashes: Sequence[int]) -> list[int]:
    """Return how many pages of a host have shown each block, or part of a title.

    Given several hosts: the largest count.
    """
    each = [[host.sightings.get(shown, 0) for shown in hashes] for host in hosts]
    return each[0] if len(each) == 1 else list(map(max, *each))


def host_hash(host: str) -> int:
    """Return 64 bits that stand for a host among what a site has shown."""
    return text_hash(f"\0host\0{host}")


def _is_mostly_new(shown: Shown, known: Container[int]) -> bool:
    are_new = [block not in known for block in shown.blocks]
    new_words = sum(compress(shown.words, are_new))
    if new_words < _MOSTLY_NEW * sum(shown.words):
        return False
    return sum(compress(shown.link_words, are_new)) >= _MOSTLY_NEW * new_words
