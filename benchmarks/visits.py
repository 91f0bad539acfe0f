"""Crawl made sites several times into one index: which pages are known again, which changes told.

    python benchmarks/visits.py [FOLDER] [--seed 1] [--crawls 5] [-v]

Sites and FOLDER are those of `dynamic_pages.py`. A third of the articles has a copy on a mirror.
Each volatile part has one site that shows it in `nav`, `aside` or `footer`, and one that shows it
in another element. From the second crawl on one page in twelve changes in each crawl, and stays so
(`CHANGES`). Per crawl and kind of place:

    known again    unchanged pages: a revisit, or a copy that was dropped before, too
    false change   unchanged revisits with a `change` above 0
    told           changed pages, in the crawl in which they change: new, or `change` is above 0
    dropped        pages that were kept before

Then product pages whose prices change in every crawl: prices that were told, by markup.
"""

import argparse
import html
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import cycle, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from changing_sites import LENGTHS, PARTS, PLACES, Article, Site, read_sentences
from dynamic_pages import NOWHERE, ROWS, Crawl, address, described

from dedup_filter import NearDuplicateFilter, Verdict

ONE_IN = 12
PRODUCTS = 10  # of each markup
TABLE = "<table><tr><td>Price</td><td>{}</td></tr></table>"
DIV = '<div class="price">{}</div>'
LINE = "<p>Tickets at the door: EUR 9.50</p>"
SPECIAL, SPOTS = ("", "cookies", "session", "all"), ("in nav, aside, footer", "in other elements")
COLUMNS = ("unchanged", "known again", "false change", "changed", "told", "dropped")
CHANGES = (
    *("a paragraph within the text", "a paragraph after the text", "a paragraph below the rest"),
    *("a price in a table", "a price in a div", "a line less"),
)


class Page(NamedTuple):
    """A page of a site; a paragraph that may come; its change, and the crawl of that (0: never)."""

    site: Site
    article: Article
    place: str
    more: str
    change: str = ""
    at: int = 0

    def fetch(self, crawl: int) -> str:
        """Show the page as it is in a crawl."""
        site, change, is_later = self.site, self.change, 0 < self.at <= crawl
        paragraphs, half = self.article.paragraphs, len(self.article.paragraphs) // 2
        more = f"<p>{html.escape(self.more)}</p>"
        new = (self.more,) if change == CHANGES[0] and is_later else ()
        body = site.markup.body((*paragraphs[:half], *new, *paragraphs[half:]))
        if change == CHANGES[1] and is_later:
            body += more
        elif change in CHANGES[3:5]:
            price = "EUR 77.50" if is_later else "EUR 70.50"
            body = (TABLE if change == CHANGES[3] else DIV).format(price) + body
        elif change == CHANGES[5] and not is_later:
            body = LINE + body
        page = site.page(self.article.headline, body)
        if change == CHANGES[2] and is_later:
            page = page.replace("</body>", f"{more}</body>")
        return page


def placed(crawl: Crawl, part: str, language: str, *, is_framed: bool) -> Site:
    """Make a site that shows a part in an element that HTML names as beside, or in another one."""
    while True:
        site = crawl.site(language, part, crawl.chance.choice(PLACES))
        if (site.markup.selector(site.place) in ("nav", "aside", "footer")) == is_framed:
            return site


def plan(crawl: Crawl, crawls: int) -> list[Page]:
    """Plan the pages of one crawl in the order in which each crawl fetches them."""
    languages = cycle(("en", "en", "en", "zh", "en"))
    sites = [(crawl.site(next(languages), part), f"part: {part or 'none'}") for part in SPECIAL]
    for part, place in product([each for each in PARTS if each not in NOWHERE], SPOTS):
        sites.append((placed(crawl, part, next(languages), is_framed=place == SPOTS[0]), place))
    pages: list[Page] = []
    for site, place in sites:
        articles = [site.texts.article(length) for length in LENGTHS * 2]
        site.headlines.extend(each.headline for each in articles)
        mirror = replace(site, host=f"mirror.{site.host}")
        for number, article in enumerate(articles):
            hosts = (site, mirror) if number % 3 == 0 else (site,)
            pages += [Page(at, article, place, site.texts.text(45)) for at in hosts]
    pages, each = crawl.chance.sample(pages, len(pages)), len(pages) // ONE_IN
    for at in range(each * (crawls - 1)):
        pages[at] = pages[at]._replace(change=CHANGES[at % len(CHANGES)], at=2 + at // each)
    return crawl.chance.sample(pages, len(pages))


def is_told(verdict: Verdict) -> bool:
    """Tell whether a verdict says that its page has changed."""
    return verdict.outcome == "new" or (verdict.change or 0) > 0


def crawled(
    folder: str, fetches: Iterable[tuple[str, Callable[[], str]]]
) -> tuple[list[Verdict], str]:
    """Crawl pages into a directory; return verdicts, and what the index has then."""
    with NearDuplicateFilter.open(Path(folder) / "index") as index:
        found = [index.see(url, html=fetch()) for url, fetch in fetches]
        return found, f"{len(index)} pages in the index, {index.conductor.learnt} slots learnt"


def fates_of(page: Page, verdict: Verdict, crawl: int, *, was_kept: bool) -> list[str]:
    """Return the columns that a page counts in."""
    is_again, told = verdict.outcome == "revisit", is_told(verdict)
    if page.at == crawl:
        fates = {"changed": True, "told": told}
    else:
        is_known = is_again or (verdict.is_duplicate and not was_kept)
        fates = {"unchanged": True, "known again": is_known, "false change": is_again and told}
    fates["dropped"] = was_kept and verdict.is_duplicate
    return [fate for fate, is_so in fates.items() if is_so]


def visit(pages: list[Page], crawls: int, *, is_verbose: bool) -> None:
    """Crawl, count, print."""
    kept, of_changes = set[int](), Counter[tuple[str, str]]()
    print(f"| crawl | place | {' | '.join(COLUMNS)} |\n{'|---' * (2 + len(COLUMNS))}|")
    urls = [address(page.site, page.article) for page in pages]
    with TemporaryDirectory() as folder:
        for number in range(1, crawls + 1):
            shown = (partial(page.fetch, number) for page in pages)
            found, facts = crawled(folder, zip(urls, shown, strict=True))
            counts = Counter[tuple[str, str]]()
            for at, (page, verdict) in enumerate(zip(pages, found, strict=True) if kept else ()):
                fates = fates_of(page, verdict, number, was_kept=at in kept)
                counts.update(product(("all", page.place), fates))
                of_changes.update(product([page.change], fates))
                if is_verbose and fates not in (["changed", "told"], ["unchanged", "known again"]):
                    print(urls[at], page.site.part, page.site.place, page.change, fates, verdict)
            kept |= {at for at, verdict in enumerate(found) if not verdict.is_duplicate}
            for place in sorted({place for place, _ in counts}):
                row = (str(counts[place, column]) for column in COLUMNS)
                print(f"| {number} | {place} | {' | '.join(row)} |")
            print(f"crawl {number}: {facts}")
    for change in CHANGES:
        print(f"{change}: told {of_changes[change, 'told']} of {of_changes[change, 'changed']}")


def prices(crawl: Crawl, crawls: int) -> None:
    """Crawl product pages with other prices each time; print how many were told."""
    goods = [
        (shape, site, site.texts.article(LENGTHS[number % 3]), number % 2 == 0)
        for turn, shape in enumerate((*ROWS, "div"))
        for site in [crawl.site("zh" if turn == 1 else "en")]
        for number in range(PRODUCTS)
    ]
    told = Counter[str]()

    def goods_page(shape: str, site: Site, article: Article, is_first: bool) -> str:
        price, text = f"EUR {crawl.chance.randrange(1000, 90_000) / 100:.2f}", article.paragraphs
        if shape == "div":
            parts = DIV.format(price), site.markup.body(text)
            body = "".join(parts if is_first else parts[::-1])
        else:
            body = described(shape, site, text, [("Price", price), ("Weight", "4 kg")], is_first)
        return site.page(article.headline, body)

    with TemporaryDirectory() as folder:
        for number in range(crawls):
            fetches = [(address(*each[1:3]), partial(goods_page, *each)) for each in goods]
            found, facts = crawled(folder, fetches)
            for (shape, *_), verdict in zip(goods, found, strict=True) if number else ():
                told[shape] += is_told(verdict)
                told["known again"] += verdict.outcome == "revisit"
    print(f"prices told, of {PRODUCTS * (crawls - 1)} each: {dict(told)}; {facts}")


def main() -> None:
    """Plan, crawl, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="labelled text sets")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--crawls", type=int, default=5)
    parser.add_argument("-v", "--verbose", action="store_true", help="print wrong verdicts")
    options = parser.parse_args()
    crawl = Crawl(options.seed, read_sentences(options.folder, options.seed))
    visit(plan(crawl, options.crawls), options.crawls, is_verbose=options.verbose)
    prices(crawl, options.crawls)


if __name__ == "__main__":
    main()
