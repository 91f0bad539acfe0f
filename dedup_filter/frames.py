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

Bounded: blocks by a total (the host not seen for longest is forgotten first) and by host
(its oldest blocks first); waiting pages by a total and by host, in the same ways.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

import xxhash

from dedup_filter.profile import PageProfile
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
    page: Page
    profile: PageProfile
    """What it was judged by last."""
    new: frozenset[int] = frozenset()
    """The blocks that its host had not shown before."""
    tellings: int = 0
    """How many later pages have shown some of these."""


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
        self._last: tuple[Sequence[Block], list[int]] = ((), [])

    def sightings(self, host: str, blocks: Sequence[Block]) -> list[int]:
        """Return on how many pages of the host each block was seen."""
        known = self._hosts.get(host)
        if known is None:
            return [0] * len(blocks)
        return [known.sightings.get(shown, 0) for shown in self._hashes(blocks)]

    def learn(self, host: str, page: EarlyPage) -> list[EarlyPage]:
        """Learn from a page that is kept; return earlier ones that should be judged again."""
        known = self._host(host)
        hashes = self._hashes(page.page.blocks)
        page.new = frozenset(shown for shown in hashes if shown not in known.sightings)
        # Of a host's first pages it is not known yet whether they have a template in common.
        due = self._due(host, None if known.pages <= _TELLING_PAGES else set(hashes))
        if _is_mostly_new(page, hashes):
            self._wait(host, page)
        elif known.pages < _TELLING_PAGES:
            page.tellings = known.pages
            self._wait(host, page)
        known.pages += 1
        self._show(known, hashes)
        return due

    def learn_from_duplicate(self, host: str, page: Page) -> None:
        """Learn from a page that is dropped: the blocks that its host had not shown before."""
        known = self._host(host)
        hashes = self._hashes(page.blocks)
        self._show(known, [shown for shown in hashes if shown not in known.sightings])

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

    def _hashes(self, blocks: Sequence[Block]) -> list[int]:
        """Return the hashes of a page's blocks; those of the last page are asked for twice."""
        if self._last[0] is not blocks:
            self._last = blocks, [block_hash(block) for block in blocks]
        return self._last[1]

    def _host(self, host: str) -> _Host:
        known = self._hosts.setdefault(host, _Host())
        self._hosts.move_to_end(host)
        return known

    def _show(self, known: _Host, blocks: Iterable[int]) -> None:
        sightings = known.sightings
        before = len(sightings)
        for shown in dict.fromkeys(blocks):
            # Taken out and put in again, a block that repeats is never the oldest.
            sightings[shown] = sightings.pop(shown, 0) + 1
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

    def _due(self, host: str, shown: set[int] | None) -> list[EarlyPage]:
        """Take the pages that one more page tells of: it has shown these blocks; None: of all."""
        waiting = self._early.get(host, [])
        due = [early for early in waiting if shown is None or _have_template(early, shown)]
        for early in due:
            early.tellings += 1
        still = [early for early in waiting if early.tellings < _TELLING_PAGES]
        self._waiting -= len(waiting) - len(still)
        if still:
            self._early[host] = still
        else:
            self._early.pop(host, None)
        return due

    def _wait(self, host: str, page: EarlyPage) -> None:
        waiting = self._early.setdefault(host, [])
        self._early.move_to_end(host)
        waiting.append(page)
        self._waiting += 1
        if len(waiting) > _MOST_WAITING_OF_HOST:
            del waiting[0]
            self._waiting -= 1
        while self._waiting > _MOST_WAITING:
            _, given_up = self._early.popitem(last=False)
            self._waiting -= len(given_up)


def _have_template(early: EarlyPage, shown: set[int]) -> bool:
    return len(early.new & shown) >= _SAME_TEMPLATE * len(early.new)


def _is_mostly_new(page: EarlyPage, hashes: Sequence[int]) -> bool:
    blocks = page.page.blocks
    new = [block for block, shown in zip(blocks, hashes, strict=True) if shown in page.new]
    new_words = word_sum(new)
    links = sum(block.link_words for block in new)
    return new_words >= _MOSTLY_NEW * word_sum(blocks) and links >= _MOSTLY_NEW * new_words


def block_hash(block: Block) -> int:
    """Return the 64 bits by which a block of text is known again."""
    return xxhash.xxh3_64_intdigest(block.text.encode("utf-8", "surrogatepass"))
