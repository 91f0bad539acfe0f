"""A kind of site -> what a crawl sees of it, and what the filter must say of each page.

host       all pages on one host, in several orders: none may be dropped
hosts      each on a host of its own, made with the same software under the same site name
names      the same, under another name each
mirror ... the pages of one host, then copies of some of them: each must be dropped, and name its
           original
together   all of these copies in one crawl

Every stream has a filter of its own.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import cycle, repeat
from random import Random
from typing import NamedTuple

from museum.frames import Layout, Site, other_paper, print_view
from museum.kinds import Amount, Kind, Page
from museum.language import TOWNS, headline

from dedup_filter import NearDuplicateFilter, Verdict

HOME = Site("www.home.example", "Home Gazette")
ORDERS = (1, 2, 3)
COPIED = 5
"""Pages of a kind of which copies are made."""


class Shown(NamedTuple):
    """A page that a crawl meets."""

    url: str
    markup: str
    original: str | None = None
    """The URL of what it is a copy of."""
    is_looked_at: bool = True
    """Not where it is there to be copied: whether it is kept is asked on its host alone."""


class Seen(NamedTuple):
    """A page, and what the filter said."""

    shown: Shown
    verdict: Verdict

    @property
    def is_wrong(self) -> bool:
        """Whether a page of its own was dropped, or a copy was kept or taken for another's."""
        if self.shown.original is None:
            return self.verdict.is_duplicate and self.shown.is_looked_at
        return not self.verdict.is_duplicate or self.verdict.original != self.shown.original


def address(site: Site, number: int) -> str:
    """The URL of a page."""
    return f"https://{site.host}/show?id={number}&lang=en"


class Museum:
    """The pages of a kind, served in any frame."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.pages = kind.contents()

    def serve(
        self,
        number: int,
        site: Site = HOME,
        layout: Layout | None = None,
        change: Callable[[Page], Page] = lambda page: page,
        session: str = "",
    ) -> str:
        """One page as markup."""
        page = change(self.pages[number])
        markup = self.kind.markup(page, site, self.kind.related(self.pages, number), layout)
        return markup.replace("{session}", session)

    def originals(self) -> list[Shown]:
        """All pages on one host."""
        return [Shown(address(HOME, n), self.serve(n)) for n in range(self.kind.pages)]

    def elsewhere(self, names: Iterator[str]) -> list[Shown]:
        """Each page on a host of its own, under one of the names."""
        sites = [Site(f"www.host{n}.example", next(names)) for n in range(self.kind.pages)]
        return [Shown(address(site, n), self.serve(n, site)) for n, site in enumerate(sites)]


@cache
def museum_of(kind: Kind) -> Museum:
    """The museum of a kind, whose pages are built once."""
    return Museum(kind)


PLACES: dict[str, Callable[[Museum], list[Shown]]] = {
    "host": Museum.originals,
    "hosts": lambda museum: museum.elsewhere(repeat(HOME.name)),
    "names": lambda museum: museum.elsewhere(f"{town} Gazette" for town in cycle(TOWNS)),
}
"""Arrangements of which no page may be dropped."""

Copy = Callable[[Museum, int], Shown]


def mirror(museum: Museum, number: int) -> Shown:
    """The same bytes on another host."""
    return Shown(f"https://mirror.example/{number}", museum.serve(number))


def session(museum: Museum, number: int) -> Shown:
    """A session's number in the URL and in all links."""
    mark = f";jsessionid={Random(number).randbytes(8).hex()}"
    return Shown(f"https://{HOME.host}/show{mark}?id={number}", museum.serve(number, session=mark))


def tracking(museum: Museum, number: int) -> Shown:
    """An address that tells where the reader came from."""
    return Shown(f"{address(HOME, number)}&utm_source=mail&gclid=x{number}", museum.serve(number))


def parameters(museum: Museum, number: int) -> Shown:
    """The arguments of the address in another order, and a letter of its path in another case."""
    return Shown(f"https://{HOME.host}/Show?lang=en&id={number}", museum.serve(number))


def printed(museum: Museum, number: int) -> Shown:
    """A view without menus on the same host."""
    return Shown(f"{address(HOME, number)}&print=1", museum.serve(number, layout=print_view))


def cached(museum: Museum, number: int) -> Shown:
    """The page below a line of who keeps the copy, on their host."""
    line = (
        f"This is a copy of {address(HOME, number)} as it was some days ago. It may have changed."
    )
    markup = museum.serve(number).replace("<body>", f"<body><div>{line}</div>")
    return Shown(f"https://cache.example/{number}", markup)


def syndicated(museum: Museum, number: int) -> Shown:
    """The text on another host, in a quite different frame."""
    courier = Site("courier.example", "The Courier")
    return Shown(address(courier, number), museum.serve(number, courier, other_paper))


def edited(museum: Museum, number: int) -> Shown:
    """The same page on another host, with a sentence of its longest paragraph edited."""
    markup = museum.serve(number, change=lambda page: Page(page.title, edit(page.body)))
    return Shown(f"https://edition.example/{number}", markup)


def retitled(museum: Museum, number: int) -> Shown:
    """The text on another host, in another frame and below a headline of that paper."""
    courier = Site("courier.example", "The Courier")
    other = headline(Random(f"retitled {number}"))
    markup = museum.serve(
        number,
        courier,
        other_paper,
        lambda page: Page(other, re.sub("(<h1>).*?(</h1>)", rf"\g<1>{other}\2", page.body)),
    )
    return Shown(address(courier, number), markup)


def edit(body: str) -> str:
    """Put two other words into the middle of the longest piece of text."""
    longest = max(re.findall("[^<>]+", body), key=len)
    if longest.isascii():
        words = longest.split(" ")
        words[len(words) // 2 : len(words) // 2 + 2] = ["rather", "slowly"]
        return body.replace(longest, " ".join(words))
    middle = len(longest) // 2
    return body.replace(longest, f"{longest[:middle]}慢慢{longest[middle + 2 :]}")


_SAME_BYTES: dict[str, Copy] = {"mirror": mirror, "tracking": tracking, "parameters": parameters}
_SAME_TEXT: dict[str, Copy] = {**_SAME_BYTES, "session": session}
_SAME_MAIN: dict[str, Copy] = {**_SAME_TEXT, "printed": printed, "cached": cached}
_ELSEWHERE: dict[str, Copy] = {**_SAME_MAIN, "syndicated": syndicated, "edited": edited}
COPIES: dict[Amount, dict[str, Copy]] = {
    "bytes": _SAME_BYTES,
    "line": _SAME_TEXT,
    "passage": _SAME_MAIN,
    "story": _ELSEWHERE,
    "wire": {**_ELSEWHERE, "retitled": retitled},
}


def arrangements(kind: Kind) -> list[str]:
    """The names of all arrangements that make sense of a kind."""
    return [*PLACES, *COPIES[kind.amount], "together"]


def streams(
    kind: Kind, arrangement: str, orders: tuple[int, ...] = ORDERS
) -> Iterator[list[Shown]]:
    """What crawls meet; pages of which none may be dropped in several orders."""
    museum = museum_of(kind)
    if arrangement in PLACES:
        for seed in orders:
            yield shuffled(PLACES[arrangement](museum), seed)
    else:
        ways = COPIES[kind.amount]
        chosen = ways.values() if arrangement == "together" else [ways[arrangement]]
        originals = [page._replace(is_looked_at=False) for page in museum.originals()]
        copied = [each for way in chosen for each in copies(museum, way)]
        yield shuffled(originals, 1) + shuffled(copied, 2)


def shuffled(pages: list[Shown], seed: int) -> list[Shown]:
    """The same pages in another order."""
    return Random(seed).sample(pages, len(pages))


def copies(museum: Museum, copy: Copy) -> list[Shown]:
    """Copies of some pages, each with its original."""
    numbers = Random(museum.kind.name).sample(range(museum.kind.pages), COPIED)
    return [copy(museum, n)._replace(original=address(HOME, n)) for n in numbers]


def judged(stream: list[Shown]) -> list[Seen]:
    """Show the pages to a filter with its defaults."""
    with NearDuplicateFilter.open() as pages:
        seen = [Seen(shown, pages.see(shown.url, html=shown.markup)) for shown in stream]
        pages.check()
    return seen
