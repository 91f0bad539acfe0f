"""Crawl millions of pages of made sites: what a page costs and what is found as an index grows.

    python benchmarks/crawl_of_millions.py [--pages 2000000] [--sites 3000] [--place DIRECTORY]
        [--seed 1] [--verbose]

The index is in memory, or in a new directory. A line is printed as each tenth of the crawl ends;
the last lines count the copies of each kind. --verbose prints what was lost or misnamed, and its
original. 2 million pages take some hours.

Each site has markup, a menu and a footer of its own (`changing_sites`), and every other one has a
part that is new at each fetch. Sites take turns at random, the largest sixteen times as often as
the smallest. A page has 60 to 3,000 words by a Zipf law over 60,000 made words: 2 to 30 KB of HTML.
Of all pages

    65 %   are articles
    10 %   are goods that differ from another page of their site in one value: none may be dropped
    25 %   are copies of an earlier page, half of them of one of the last 5,000 pages:
           session    at another URL of the site
           print      without menu and footer
           mirror     on another host with the same frame
           elsewhere  in the frame of another site

Goods are copied on their own site alone: elsewhere a value may differ by the filter's rule.

"CPU" is the process time of `see`, without the making of pages; "lxml" is the time that lxml takes
to parse a page, measured on every twentieth. Other work on the machine stretches both, so their
ratio is steadier than either. "Memory" is the growth of the whole process, with 11 bytes a page for
the truth. "Found" is the share of copies that were dropped for a page that says the same, and
"misnamed" are copies that were dropped for another page. "Lost" are other pages that were dropped.
Linux only.
"""

import argparse
import sys
import time
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, islice
from pathlib import Path
from random import Random
from typing import NamedTuple

import lxml.html
import numpy as np
from changing_sites import PARTS, PLACES, Markup, Site, Texts
from dynamic_pages import GOODS, ROWS, SERIES, TOWNS, described
from made_words import Words
from stopwatch import resident

from dedup_filter import NearDuplicateFilter
from dedup_filter.store.location import MEMORY

SHARES = {"article": 65, "goods": 10, "session": 10, "print": 4, "mirror": 5, "elsewhere": 6}
COPIES = ("session", "print", "mirror", "elsewhere")
AWAY = ("mirror", "elsewhere")
LAST = 5_000
"""Half of all copies are of one of so many pages before them."""
PARTS_OF_A_SITE = [each for each in PARTS if each not in ("all", "cookies", "session")]
VOCABULARY = 60_000
FEWEST, MOST, MOST_OF_GOODS = 60, 3_000, 300
"""Words of a page."""
PARSED = 20
"""One of so many pages is parsed by lxml alone."""


@dataclass
class Pages:
    """What each page of the crawl was made from, by its number."""

    sites: "array[int]" = field(default_factory=lambda: array("H"))
    says: "array[int]" = field(default_factory=lambda: array("I"))
    """The page that it copies; its own number where it copies none."""
    texts: "array[int]" = field(default_factory=lambda: array("I"))
    """The page whose text it has: the first of its goods."""
    variants: "array[int]" = field(default_factory=lambda: array("b"))
    """Of goods, from 0; -1 are articles."""

    def add(self, site: int, says: int, text: int, variant: int) -> None:
        """Note the next page."""
        self.sites.append(site)
        self.says.append(says)
        self.texts.append(text)
        self.variants.append(variant)


class Fetched(NamedTuple):
    """A page as a crawler gets it."""

    number: int
    kind: str
    url: str
    html: bytes


class Crawl:
    """Makes the pages of a crawl one after the other.

    Equal seeds and numbers of sites and pages make equal pages.
    """

    def __init__(self, sites: int, seed: int) -> None:
        self._chance, self._seed, self._words = Random(seed), seed, Words(VOCABULARY)
        self._sites = [self._site(number) for number in range(sites)]
        self._weights = [*accumulate(1 / (number + sites / 15) for number in range(sites))]
        self._next_goods: dict[int, tuple[int, int]] = {}
        """By site, the first page of its goods, and the variant that comes next."""
        self.pages = Pages()

    def fetch(self, count: int) -> Iterator[Fetched]:
        """Make so many pages."""
        kinds = self._chance.choices([*SHARES], [*SHARES.values()], k=count)
        for number, kind in enumerate(kinds):
            if kind in ("article", "goods") or number == 0:
                yield self._original(number, kind)
            else:
                yield self._copy(number, kind)

    def says(self, url: str) -> int:
        """Return what the page at a URL says."""
        return self.pages.says[int(url.partition("?")[0].rpartition("/")[2])]

    def _site(self, number: int) -> Site:
        chance = Random(f"{self._seed} {number}")
        words, line = np.random.default_rng((self._seed, number)), self._words.line
        part = chance.choice(PARTS_OF_A_SITE) if number % 2 else ""
        return Site(
            f"www.site{number}.example",
            Texts("en", [], chance),
            Markup(chance, has_menu=True),
            part,
            place=chance.choice(PLACES) if part else "",
            town=chance.choice(TOWNS["en"]),
            menu=[line(words, chance.choice((1, 2, 3))) for _ in range(chance.randrange(8, 60))],
            notices=[line(words, chance.randrange(4, 40)) for _ in range(chance.randrange(1, 9))],
        )

    def _drawn_site(self) -> int:
        return self._chance.choices(range(len(self._sites)), cum_weights=self._weights)[0]

    def _original(self, number: int, kind: str) -> Fetched:
        site, text, variant = self._drawn_site(), number, -1
        if kind == "goods":
            text, variant = self._next_goods.pop(site, (number, 0))
            if variant + 1 < SERIES:
                self._next_goods[site] = (text, variant + 1)
        self.pages.add(site, number, text, variant)
        return Fetched(number, kind, self._address(site, number), self._html(number, site, ""))

    def _copy(self, number: int, kind: str) -> Fetched:
        first = max(0, number - LAST) if self._chance.random() < 0.5 else 0
        says = self.pages.says[self._chance.randrange(first, number)]
        if kind in AWAY and self.pages.variants[says] >= 0:
            kind = "session"
        of, site = self.pages.sites[says], self.pages.sites[says]
        if kind == "elsewhere":
            site = (of + self._chance.randrange(1, len(self._sites))) % len(self._sites)
        self.pages.add(site, says, self.pages.texts[says], self.pages.variants[says])
        url = {
            "session": f"{self._address(of, says)}?session={number:09x}",
            "print": f"{self._address(of, says)}?view=print&n={number}",
            "mirror": self._address(of, number).replace("www.", "mirror.", 1),
            "elsewhere": self._address(site, number),
        }[kind]
        return Fetched(
            number, kind, url, self._html(says, site, "print foot" if kind == "print" else "", url)
        )

    @staticmethod
    def _address(site: int, number: int) -> str:
        return f"https://www.site{site}.example/{number % 7}/{number}"

    def _html(self, says: int, at: int, view: str, url: str = "") -> bytes:
        """Write what a page says as a site shows it at this fetch."""
        text, variant, site = self.pages.texts[says], self.pages.variants[says], self._sites[at]
        chance = np.random.default_rng((self._seed, 1, text))
        if variant < 0:
            words = int(FEWEST * (MOST / FEWEST) ** chance.random())
            headline = self._words.line(chance, int(chance.integers(4, 11)))
            body = site.markup.body(self._words.paragraphs(chance, words))
        else:
            headline = self._words.line(chance, 2)
            paragraphs = self._words.paragraphs(chance, int(chance.integers(FEWEST, MOST_OF_GOODS)))
            body = self._goods_described(text, variant, paragraphs, site)
        return site.page(headline, body, view=view, url=url).encode()

    def _goods_described(
        self, text: int, variant: int, paragraphs: tuple[str, ...], site: Site
    ) -> str:
        """Describe goods whose pages differ in one value."""
        chance = Random(f"{self._seed} {text}")
        fields = {name: site.texts.fields[name].split(", ") for name in GOODS}
        values = {name: chance.choice(rest) for name, (_, *rest) in fields.items()}
        differing = chance.choice(GOODS)
        values[differing] = fields[differing][1 + variant]
        rows = [(fields[name][0], value) for name, value in values.items()]
        return described(chance.choice([*ROWS]), site, paragraphs, rows, chance.random() < 0.3)


@dataclass
class Tally:
    """What was judged in a part of a crawl; times are in seconds."""

    wall: float = 0
    cpu: float = 0
    lxml: float = 0
    """Of lxml alone, for the `parsed` pages."""
    parsed: int = 0
    pages: Counter[str] = field(default_factory=Counter)
    """By kind."""
    found: Counter[str] = field(default_factory=Counter)
    """Copies that were dropped for a page that says the same, by kind."""
    lost: int = 0
    misnamed: int = 0
    """Copies that were dropped for a page that says something else."""

    def row(self) -> Iterator[tuple[str, float]]:
        """Yield names and values of a table."""
        pages, cpu = self.pages.total(), self.cpu / self.pages.total() * 1e3
        yield "pages/s", pages / self.wall
        yield "CPU ms", cpu
        yield "times lxml", cpu / (self.lxml / self.parsed * 1e3)
        yield "found", self.found.total() / sum(self.pages[each] for each in COPIES)
        yield "misnamed", self.misnamed
        yield "lost", self.lost


def judge(
    crawl: Crawl, pages: Iterable[Fetched], index: NearDuplicateFilter, *, is_verbose: bool
) -> Tally:
    """Judge pages, and compare each verdict with the truth."""
    tally = Tally()
    for page in pages:
        if page.number % PARSED == 0:
            started = time.process_time()
            lxml.html.document_fromstring(page.html)
            tally.lxml += time.process_time() - started
            tally.parsed += 1
        began, started = time.perf_counter(), time.process_time()
        verdict = index.see(page.url, html=page.html)
        tally.cpu += time.process_time() - started
        tally.wall += time.perf_counter() - began
        tally.pages[page.kind] += 1
        if not verdict.is_duplicate:
            continue
        says_the_same = crawl.says(str(verdict.original)) == crawl.pages.says[page.number]
        is_copy = page.kind in COPIES
        tally.found[page.kind] += says_the_same
        tally.misnamed += is_copy and not says_the_same
        tally.lost += not is_copy
        if is_verbose and not says_the_same:
            print(f"{page.kind} {page.url} dropped for {verdict.original}", file=sys.stderr)
    return tally


def size_of(place: Path | None) -> int:
    """Return the bytes of all files of an index."""
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file()) if place else 0


def main() -> None:
    """Crawl, judge, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=2_000_000)
    parser.add_argument("--sites", type=int, default=3_000)
    parser.add_argument("--place", type=Path, help="a new directory for the index; else memory")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    crawl, pages, found = Crawl(options.sites, options.seed), Counter[str](), Counter[str]()
    fetched = crawl.fetch(options.pages)
    started, before = time.perf_counter(), resident()
    with NearDuplicateFilter.open(options.place or MEMORY) as index:
        for tenth in range(1, 11):
            until = options.pages * tenth // 10
            tally = judge(
                crawl, islice(fetched, until - pages.total()), index, is_verbose=options.verbose
            )
            pages.update(tally.pages)
            found.update(tally.found)
            figures = {
                "pages": until,
                "minutes": (time.perf_counter() - started) / 60,
                **dict(tally.row()),
                "memory MB": (resident() - before) / 1e6,
                "disk MB": size_of(options.place) / 1e6,
                "hosts forgotten": index.conductor.forgotten,
            }
            if tenth == 1:
                print(f"| {' | '.join(figures)} |\n{'|---' * len(figures)}|")
            print("|", " | ".join(f"{each:.4g}" for each in figures.values()), "|", flush=True)
    for kind in COPIES:
        print(f"{kind}: {found[kind] / pages[kind]:.3f} of {pages[kind]} copies found")


if __name__ == "__main__":
    main()
