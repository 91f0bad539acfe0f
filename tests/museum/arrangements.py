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
from functools import partial
from itertools import cycle, repeat
from random import Random
from typing import NamedTuple

from museum.frames import other_paper, print_view
from museum.kinds import LEAST_OWN, Amount, Kind, Page
from museum.language import TEXTS, Writer

from dedup_filter import NearDuplicateFilter, Verdict

ORDERS = (1, 2)
COPIED = 5
"""Pages of a kind of which copies are made."""


class Shown(NamedTuple):
    url: str
    markup: str
    original: str | None = None
    """The URL of what it is a copy of."""
    is_looked_at: bool = True
    """Not where it is there to be copied: whether it is kept is asked on its host alone."""


class Seen(NamedTuple):
    shown: Shown
    verdict: Verdict

    @property
    def is_wrong(self) -> bool:
        """Whether a page of its own was dropped, or a copy was kept or taken for another's."""
        if self.shown.original is None:
            return self.verdict.is_duplicate and self.shown.is_looked_at
        return not self.verdict.is_duplicate or self.verdict.original != self.shown.original


def address(number: int, host: str = "www.home.example") -> str:
    return f"https://{host}/show?id={number}&lang=en"


def on_one_host(kind: Kind) -> list[Shown]:
    return [Shown(address(n), kind.serve(n)) for n in range(kind.pages)]


def on_many_hosts(kind: Kind, names: Iterator[str]) -> list[Shown]:
    """Each page on a host of its own, under one of the names."""
    hosts = [f"www.host{n}.example" for n in range(kind.pages)]
    return [Shown(address(n, host), kind.serve(n, next(names))) for n, host in enumerate(hosts)]


PLACES: dict[str, Callable[[Kind], list[Shown]]] = {
    "host": on_one_host,
    "hosts": lambda kind: on_many_hosts(kind, repeat("Home Gazette")),
    "names": lambda kind: on_many_hosts(kind, (f"{town} Gazette" for town in cycle(TEXTS.TOWNS))),
}
"""Arrangements of which no page may be dropped."""

COPIES: dict[str, Amount] = {
    **dict.fromkeys(("mirror", "tracking", "parameters"), "bytes"),
    "session": "line",
    **dict.fromkeys(("printed", "cached"), "passage"),
    **dict.fromkeys(("syndicated", "edited"), "story"),
    "retitled": "wire",
}
"""Sorts of copies, each with the least that a page must say by itself for them to be found."""


def copies_of(kind: Kind, number: int) -> dict[str, Shown]:
    serve, original = partial(kind.serve, number), address(number)
    mark = f";jsessionid={Random(number).randbytes(8).hex()}"
    line = f"This is a copy of {original} as it was some days ago. It may have changed."
    courier = partial(serve, "The Courier", other_paper)
    title = Writer(f"retitled {number}").headline()
    return {
        # The same bytes on another host.
        "mirror": Shown(f"https://mirror.example/{number}", serve()),
        # An address that tells where the reader came from.
        "tracking": Shown(f"{original}&utm_source=mail&gclid=x{number}", serve()),
        # Its arguments in another order, and a letter of its path in another case.
        "parameters": Shown(f"https://www.home.example/Show?lang=en&id={number}", serve()),
        # A session's number in the URL and in all links.
        "session": Shown(f"https://www.home.example/show{mark}?id={number}", serve(session=mark)),
        # A view without menus on the same host.
        "printed": Shown(f"{original}&print=1", serve(layout=print_view)),
        # Below a line of who keeps the copy, on their host.
        "cached": Shown(
            f"https://cache.example/{number}", serve().replace("<body>", f"<body><div>{line}</div>")
        ),
        # The text on another host, in a quite different frame.
        "syndicated": Shown(address(number, "courier.example"), courier()),
        # On another host, with a sentence of its longest paragraph edited.
        "edited": Shown(f"https://edition.example/{number}", serve(change=edited)),
        # As syndicated, and below a headline of that paper.
        "retitled": Shown(
            address(number, "courier.example"), courier(change=partial(retitled, title))
        ),
    }


def edited(page: Page) -> Page:
    """Put two other words into the middle of the longest piece of text."""
    longest = max(re.findall("[^<>]+", page.body), key=len)
    blank, other = (" ", ["rather", "slowly"]) if longest.isascii() else ("", ["慢", "慢"])
    words = longest.split(" ") if blank else list(longest)
    words[len(words) // 2 : len(words) // 2 + 2] = other
    return page._replace(body=page.body.replace(longest, blank.join(words)))


def retitled(title: str, page: Page) -> Page:
    return Page(title, re.sub("(<h1>).*?(</h1>)", rf"\g<1>{title}\2", page.body))


def arrangements(kind: Kind) -> list[str]:
    amounts = list(LEAST_OWN)
    found = amounts[: amounts.index(kind.amount) + 1]
    return [*PLACES, *(name for name, least in COPIES.items() if least in found), "together"]


def streams(
    kind: Kind,
    arrangement: str,
    *,
    are_originals_looked_at: bool = False,
    copied: int = COPIED,
    orders: int = len(ORDERS),
) -> Iterator[list[Shown]]:
    """What crawls meet; pages of which none may be dropped in several orders.

    `copied`: of how many pages there are copies.
    """
    if arrangement in PLACES:
        for seed in ORDERS[:orders]:
            yield shuffled(PLACES[arrangement](kind), seed)
        return
    sorts = arrangements(kind)[len(PLACES) : -1] if arrangement == "together" else [arrangement]
    numbers = Random(kind.name).sample(range(kind.pages), copied)
    copies = [
        copies_of(kind, number)[sort]._replace(original=address(number))
        for sort in sorts
        for number in numbers
    ]
    looked_at = are_originals_looked_at
    originals = [page._replace(is_looked_at=looked_at) for page in on_one_host(kind)]
    yield shuffled(originals, 1) + shuffled(copies, 2)


def shuffled(pages: list[Shown], seed: int) -> list[Shown]:
    return Random(seed).sample(pages, len(pages))


def judged(stream: list[Shown]) -> list[Seen]:
    with NearDuplicateFilter.open() as pages:
        seen = [Seen(shown, pages.see(shown.url, html=shown.markup)) for shown in stream]
        pages.check()
    return seen
