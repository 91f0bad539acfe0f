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

Bounded: blocks by a total (the host not seen for longest is forgotten first) and by host
(its oldest blocks first); pages that are kept for a second look by their number.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import xxhash

from dedup_filter.profile import PageProfile
from dedup_filter.text import Block, Page

__all__ = ["EarlyPage", "Frames"]

_MOST_BLOCKS = 1_000_000
"""Of all hosts: about 100 MB."""
_MOST_BLOCKS_OF_HOST = 20_000
_TELLING_PAGES = 3
"""A host's frame is known when so many of its pages are kept: two may have a block in common
by chance, and the pages before carry their frame in their fingerprints."""
_MOST_WAITING_HOSTS = 1_000
"""Hosts with fewer pages than that whose pages are kept in memory, of 20 KB each."""


@dataclass(slots=True)
class EarlyPage:
    """A page that was judged before its host's frame was known."""

    row: int
    page: Page
    profile: PageProfile
    """What it was judged by last."""


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

    def sightings(self, host: str, blocks: Sequence[Block]) -> list[int]:
        """Return on how many pages of the host each block was seen."""
        known = self._hosts.get(host)
        if known is None:
            return [0] * len(blocks)
        return [known.sightings.get(block_hash(block), 0) for block in blocks]

    def learn(self, host: str, page: EarlyPage) -> list[EarlyPage]:
        """Learn from a page that is kept; return earlier ones that should be judged again.

        A host's first pages were judged with their frame. When its second and its third page
        have shown what repeats, those before them are due.
        """
        known = self._host(host)
        known.pages += 1
        self._show(known, map(block_hash, page.page.blocks))
        return self._due(host, known.pages, page)

    def learn_from_duplicate(self, host: str, page: Page) -> None:
        """Learn from a page that is dropped: the blocks that its host had not shown before."""
        known = self._host(host)
        self._show(known, (b for b in map(block_hash, page.blocks) if b not in known.sightings))

    def __len__(self) -> int:
        """Count the blocks remembered."""
        return self._blocks

    @property
    def nbytes(self) -> int:
        """Estimated memory in bytes: a dict entry and a hash for each block."""
        return self._blocks * 100 + len(self._hosts) * 400

    def check(self) -> None:
        """Verify the counters and the bounds."""
        assert self._blocks == sum(len(host.sightings) for host in self._hosts.values())
        assert self._blocks <= max(self._most_blocks, _MOST_BLOCKS_OF_HOST)
        assert len(self._early) <= _MOST_WAITING_HOSTS

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
        while len(sightings) > _MOST_BLOCKS_OF_HOST:
            del sightings[next(iter(sightings))]
        self._blocks += len(sightings) - before
        self._forget()

    def _forget(self) -> None:
        while self._blocks > self._most_blocks and len(self._hosts) > 1:
            host, forgotten = self._hosts.popitem(last=False)
            self._blocks -= len(forgotten.sightings)
            self._early.pop(host, None)

    def _due(self, host: str, pages: int, page: EarlyPage) -> list[EarlyPage]:
        if pages > _TELLING_PAGES:
            return []
        if pages == _TELLING_PAGES:
            return self._early.pop(host, [])
        earlier = self._early.setdefault(host, [])
        due = list(earlier)
        earlier.append(page)
        self._early.move_to_end(host)
        if len(self._early) > _MOST_WAITING_HOSTS:
            self._early.popitem(last=False)
        return due


def block_hash(block: Block) -> int:
    """Return the 64 bits by which a block of text is known again."""
    return xxhash.xxh3_64_intdigest(block.text.encode("utf-8", "surrogatepass"))
