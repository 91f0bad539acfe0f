"""Deal pages to crawlers that share an index of kept pages, and learn frames alone or together.

    pages of a stream -> dealt -> each judged by what its crawler knows of its host,
                                  and compared with all that any of them kept -> scores

Dealt by "page": any crawler gets it. By "host": all pages of a host go to one crawler. A shuffle is
another dealing of the same stream, so that figures differ by what frames were known, and by
nothing else. All is in one process and one index in memory, and so are the lists by which frames
are exchanged: crawlers do not race.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from stream_score import Labels, Score, score

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.frames.host_frames import Frames, FrameUpdate
from dedup_filter.judging import FramedPages
from dedup_filter.model import Verdict
from dedup_filter.store.location import MEMORY, open_store
from dedup_filter.store.redis.frame_exchange import MOST_UPDATES, FrameExchange, UpdateLists
from dedup_filter.store.sqlite.sqlite_pages import SqlitePages
from dedup_filter.text.page_url import Place
from dedup_filter.text.reading import Page, read

__all__ = ["DealtStream", "Traffic", "middle"]

DEALINGS = ("page", "host")
FEW = 8
"""Pages of a host in the stream: with so few, crawlers that share it hardly know its frame."""
MENTIONS = 2
"""Pages that have shown a block; how many more there are is never asked (`judging`)."""
ALL = "all"
FEW_PAGES = f"hosts of 1 to {FEW}"
MANY_PAGES = "hosts of more"
OWN_HOST = "repeats on a host"
_GROUPS = (ALL, FEW_PAGES, MANY_PAGES, OWN_HOST)


class _PlacedPage(NamedTuple):
    id: str
    place: Place
    page: Page


@dataclass
class Traffic:
    """What crawlers asked of the lists by which they exchange frames."""

    pages: int = 0
    reads: int = 0
    updates_read: int = 0
    bytes_read: int = 0
    adds: int = 0
    bytes_added: int = 0
    """What stays there, too."""


@dataclass
class _Lists(UpdateLists):
    """Stands for lists on servers, as one crawler reads and writes them."""

    process: bytes
    lists: dict[str, list[bytes]]
    traffic: Traffic = field(default_factory=Traffic)

    def read(self, host: str, first: int) -> list[bytes]:
        found = self.lists.get(host, [])[first:]
        self.traffic.reads += 1
        self.traffic.updates_read += len(found)
        self.traffic.bytes_read += sum(map(len, found))
        return found

    def add(self, host: str, update: bytes) -> int:
        there = self.lists.setdefault(host, [])
        self.traffic.adds += 1
        if len(there) < MOST_UPDATES:
            self.traffic.bytes_added += len(update)
            there.append(update)
        return len(there)


class DealtStream:
    """A stream of labelled pages, taken apart once for all ways to deal it."""

    def __init__(
        self,
        rows: Sequence[Mapping[str, str]],
        labels: Labels,
        config: FilterConfig,
        *,
        shares_frames: bool = False,
    ) -> None:
        self._labels, self._config = labels, config
        self._shares_frames = shares_frames
        self.traffic = Traffic()
        self._pages = [
            _PlacedPage(row["id"], Place.of(row["url"]), _read(row["html"])) for row in rows
        ]
        self._ids = {row["url"]: row["id"] for row in rows}
        self._groups = self._grouped()

    def scores(
        self, counts: Iterable[int], shuffles: int
    ) -> Iterator[tuple[str, dict[str, list[Score]]]]:
        """Yield each case, and for each group of pages its scores in all shuffles.

        After each, `traffic` is that of all its shuffles.
        """
        stream = [page.id for page in self._pages]
        for crawlers in counts:
            for dealing in DEALINGS:
                self.traffic = Traffic()
                runs = [self._originals(crawlers, dealing, number) for number in range(shuffles)]
                yield (
                    f"crawlers={crawlers} by {dealing}",
                    {
                        name: [score(stream, self._labels, run, group) for run in runs]
                        for name, group in self._groups.items()
                    },
                )

    def update_sizes(self) -> dict[str, list[int]]:
        """Return the bytes of what each page adds: all of it, and without blocks shown twice.

        The latter is what crawlers would have to send.
        """
        frames, whole, sent = Frames(inf), [], []
        verdicts = self._judge([0] * len(self._pages))
        for (_, place, page), verdict in zip(self._pages, verdicts, strict=True):
            host = frames.of(place.host)
            seen = dict(host.sightings)
            update = host.update_of(page.shown.hashes, is_kept=verdict.original is None)
            frames.add_page(host, update)
            shown = [block for block in update.shown if seen.get(block, 0) < MENTIONS]
            whole.append(len(update.to_bytes()))
            sent.append(len(FrameUpdate(update.is_kept, shown).to_bytes()))
        return {"update of a page": whole, "less blocks shown twice": sent}

    def _originals(self, crawlers: int, dealing: str, shuffle: int) -> dict[str, str]:
        hosts = [page.place.host for page in self._pages]
        verdicts = self._judge(_dealt(hosts, crawlers, dealing, shuffle))
        return {
            page.id: self._ids[verdict.original]
            for page, verdict in zip(self._pages, verdicts, strict=True)
            if verdict.original is not None
        }

    def _judge(self, dealt: Sequence[int]) -> Iterator[Verdict]:
        kept, crawlers = SqlitePages(self._config, open_store(MEMORY, self._config, None)), []
        lists: dict[str, list[bytes]] = {}
        for number in range(max(dealt) + 1):
            if self._shares_frames:
                process = number.to_bytes(8, "little")
                kept.exchange = FrameExchange(_Lists(process, lists, self.traffic))
            crawlers.append(FramedPages(self._config, kept))
        for (_, place, page), crawler in zip(self._pages, dealt, strict=True):
            self.traffic.pages += 1
            content = ReadPage.of(page, self._config)
            yield crawlers[crawler].claim(place, content, is_pending=False)
        kept.close()

    def _grouped(self) -> dict[str, list[str]]:
        """Group the pages: all; by pages of their host; those that repeat a page of their host."""
        host_of = {page.id: page.place.host for page in self._pages}
        sizes = Counter(host_of.values())
        groups: dict[str, list[str]] = {name: [] for name in _GROUPS}
        seen: set[str] = set()
        for page, host in host_of.items():
            groups[ALL].append(page)
            groups[FEW_PAGES if sizes[host] <= FEW else MANY_PAGES].append(page)
            alike = self._labels.duplicates(page)
            if any(other in seen and host_of[other] == host for other in alike):
                groups[OWN_HOST].append(page)
            seen.add(page)
        return {name: pages for name, pages in groups.items() if pages}


def middle(scores: Sequence[Score]) -> Score:
    """Return the score with the median F1."""
    return sorted(scores, key=lambda each: each.f1)[len(scores) // 2]


def _dealt(hosts: Sequence[str], crawlers: int, dealing: str, shuffle: int) -> list[int]:
    """Return for each page, given by its host, the crawler that gets it."""
    chance = random.Random(f"{dealing} {crawlers} {shuffle}")
    if dealing == "page":
        return [chance.randrange(crawlers) for _ in hosts]
    owners = {host: chance.randrange(crawlers) for host in dict.fromkeys(hosts)}
    return [owners[host] for host in hosts]


def _read(html: str) -> Page:
    page = read(html, None, None)
    assert isinstance(page, Page), "a labelled page can be read"
    return page
