"""Crawl made sites that change with every fetch: which copies are found, which other pages lost.

    python benchmarks/dynamic_pages.py [FOLDER] [--seed 1] [--quick] [--only NAME ...] [--ignore]
        [--json] [-v]

The folder holds labelled sets of the form that the head of `labelled_sets` describes; their texts
become articles. Without it, articles are made by rule. Another seed draws other markup, places,
texts and words. This library and, where they are installed, trafilatura + datasketch see the same
pages in the same order.

A crawl mixes some twenty sites of one volatile part each ("none": nothing changes). Each article
is shown again twice, 0, 3 or 30 pages of its site later: on its host, and on a mirror or elsewhere.

    sid, utm         another URL, the same frame, and all that is new at this fetch
    sid again        the same four times more, of a quarter of the articles
    amp, print       a reduced frame; a print view ends in its URL or begins with the site's name
    mirror           another host with the same frame
    elsewhere        another site: same, short or other headline; byline and credit; an edited
                     sentence; an opening sentence of its own
    text             a product's text, given as text= under another URL

Tables by part and place count copies in a whole frame: sid, utm and mirror. Pages that differ must
be kept: series on a site of their own (`DIFFERENT`), and all articles. In half of the series three
articles come first; "bare" ones have no menu. Some have a volatile part, too.

With --ignore this library is given, for each site, a CSS selector of the element that its volatile
part stands in (`DEDUP_IGNORE`).

--only takes beginnings of names of volatile parts, copies or series. -v prints each miss and each
loss with the rule that kept the page. A crawl of 1,150 pages takes some 15 s, most of it for
trafilatura; --quick is one of six.
"""

import argparse
import html
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from changing_sites import (
    LENGTHS,
    PARTS,
    PLACES,
    WORDS,
    Article,
    Markup,
    Site,
    Texts,
    named,
    read_sentences,
)
from museum.language import TEXTS
from side_by_side import Fetch, Tally, new_judges

CRAWLS = 6
CONTROLS = 3
"""Sites of each crawl on which nothing changes, and sites on which all does."""
NOWHERE = ("none", "cookies", "session", "all")
"""Parts that are at no place of their own."""
SAME_HOST = ("sid", "utm", "amp", "sid", "utm", "print foot", "sid", "utm", "print head")
ELSEWHERE = (
    *("same headline", "short headline", "other headline"),
    *("byline and credit", "edited sentence", "own opening"),
)
AGAIN = "sid again"
COPIES = (*dict.fromkeys(SAME_HOST), AGAIN, "mirror", *ELSEWHERE)
GAPS = (0, 3, 30)
AGAINS = 4
"""Fetches of an article under more session ids: what its host has shown often may be its frame."""
SERIES = 5
"""Pages of a series."""
GOODS = ("size", "price", "colour", "stock")
JOB = ("town", "hours", "contact")
NOTICE = ("date", "town", "contact")
LISTS, ROWS = named(WORDS.LISTS), named(WORDS.ROWS)
TOWNS = {"en": TEXTS.TOWNS, "zh": TEXTS.ZH_TOWNS}
SERIES_PARTS = (("", ""), ("", ""), ("related 3", "aside"), ("reads", "within"))


class SeriesPage(NamedTuple):
    """A page of a series, without what its site puts around it."""

    headline: str
    body: str = ""
    title: str = ""
    """Where it is not the headline."""
    text: str = ""
    """Given in place of HTML."""
    site: Site | None = None
    """Where it is not that of the series."""
    is_article: bool = False
    """Whether it is there only for the next page to differ from it."""


class Crawl:
    """Plans the pages of one crawl."""

    def __init__(self, seed: int, sentences: dict[str, list[str]]) -> None:
        self.chance = Random(seed)
        self.texts = {each: Texts(each, said, self.chance) for each, said in sentences.items()}
        self.ignore: dict[str, str] = {}
        """By host, CSS selectors of the elements in which it changes."""
        self._plan: list[tuple[float, Callable[[], Fetch]]] = []
        self._hosts = 0

    def fetches(self) -> Iterator[Fetch]:
        """Make the pages in the order of their times."""
        for _, fetch in sorted(self._plan, key=lambda planned: planned[0]):
            yield fetch()

    def add(self, time: float, fetch: Callable[..., Fetch], *given: object) -> None:
        """Plan a page that is fetched at some time between 0 and 1, or a little later."""
        self._plan.append((time, partial(fetch, *given)))

    def site(
        self, language: str, part: str = "", place: str = "", *, has_menu: bool = True
    ) -> Site:
        """Make a site with a host and markup of its own."""
        self._hosts += 1
        texts, markup = self.texts[language], Markup(self.chance, has_menu=has_menu)
        town = self.chance.choice(TOWNS[language])
        site = Site(f"www.site{self._hosts}.example", texts, markup, part, place, town)
        site.cookies_from = self.chance.randrange(8, 30)
        self.ignore[site.host] = site.changing
        return site

    def add_sites(self, sites: list[Site], copies: list[str]) -> None:
        """Plan twelve articles of each site, of each two copies, of some four more."""
        for site in sites:
            others = [each for each in sites if each.texts is site.texts and each is not site]
            mirror = replace(site, host=f"mirror.{site.host}")
            articles = [site.texts.article(length) for length in LENGTHS * 2]
            site.headlines.extend(each.headline for each in articles)
            for number, article in enumerate(self.chance.sample(articles, len(articles))):
                start = self.chance.random()
                self.add(start, self.show, site, article)
                away = "mirror" if number % 2 else ELSEWHERE[number // 2 % len(ELSEWHERE)]
                for kind in (SAME_HOST[number % len(SAME_HOST)], away):
                    place = mirror if kind == "mirror" else self.chance.choice(others)
                    host = site if kind in SAME_HOST else place
                    time = start + (self.chance.choice(GAPS) + 0.5) / (3 * len(articles))
                    if kind in copies:
                        self.add(time, self.copy, kind, site, host, article)
                for _ in range(AGAINS if AGAIN in copies and number % AGAINS == 0 else 0):
                    time = start + self.chance.random()
                    self.add(time, self.copy, AGAIN, site, site, article)

    def show(self, site: Site, article: Article) -> Fetch:
        """Publish an article."""
        page = site.page(article.headline, site.markup.body(article.paragraphs))
        groups = (("other pages", "articles"),)
        return Fetch(address(site, article), page, article.name, groups)

    def copy(self, kind: str, source: Site, host: Site, article: Article) -> Fetch:
        """Show an article again."""
        headline, paragraphs = edited(kind, article, source, self.chance)
        view = kind if kind in ("amp", "print foot", "print head") else ""
        own = address(source, article)
        body = host.markup.body(paragraphs)
        page = host.page(headline, body, view=view, url=own)
        mark = self.chance.getrandbits(40)
        urls = {
            "sid": f"{own}?sid={mark:x}",
            AGAIN: f"{own}?sid={mark:x}",
            "utm": f"{own}?utm_source=mail&utm_campaign={mark}",
            "amp": f"{own}/amp",
        }
        on_host = f"{own}?view=print" if host is source else address(host, article)
        groups = self._groups(kind, source, article)
        return Fetch(urls.get(kind, on_host), page, article.name, groups)

    @staticmethod
    def _groups(kind: str, site: Site, article: Article) -> tuple[tuple[str, str], ...]:
        is_away = kind in ELSEWHERE or kind == "mirror"
        where = "elsewhere" if kind in ELSEWHERE else kind if is_away else "same host"
        groups = [("where", "all copies"), ("where", where), ("kind of copy", kind)]
        if kind in ("sid", "utm", "mirror"):
            groups.append(("volatile part", site.part or "none"))
            if site.place:
                groups.append(("place", site.place))
        groups.append(("words", f"{where}, {article.length}"))
        groups.append(("language", f"{where}, {article.language}"))
        return tuple(groups)

    def add_series(self, name: str, language: str) -> None:
        """Plan a series of pages that all differ; articles may come first."""
        part, place = self.chance.choice(SERIES_PARTS)
        site = self.site(language, part, place, has_menu="bare" not in name)
        start = self.chance.random() * 0.7
        if self.chance.random() < 0.5:
            for number, length in enumerate((100, 150, 240)):
                time = start - 0.05 + number / 100
                self.add(time, self.show, site, site.texts.article(length))
        for number, page in enumerate(DIFFERENT[name](site, self)):
            at, time = page.site or site, start + number / 50
            fetch = Fetch(f"https://{at.host}/s/{number}", page.text, f"{site.host}/{number}", ())
            fetch = fetch._replace(groups=series_groups(name, page), is_text=bool(page.text))
            self.add(time, self._rendered, at, page, fetch)
            if page.text and number == 0:
                groups = (("where", "all copies"), ("where", "text"), ("kind of copy", "text"))
                again = fetch._replace(url=f"{fetch.url}?sid=1", groups=groups)
                self.add(time + 0.01, self._rendered, at, page, again)

    @staticmethod
    def _rendered(site: Site, page: SeriesPage, fetch: Fetch) -> Fetch:
        if fetch.is_text:
            return fetch
        return fetch._replace(content=site.page(page.headline, page.body, title=page.title))


def series_groups(name: str, page: SeriesPage) -> tuple[tuple[str, str], ...]:
    """Return the rows that a page of a series counts in."""
    if page.is_article:
        return (("other pages", "articles"),)
    return ("other pages", "series of different pages"), ("series of different pages", name)


def address(site: Site, article: Article) -> str:
    """Return the usual URL of an article."""
    return f"https://{site.host}/articles/{article.name}"


def edited(
    kind: str, article: Article, source: Site, chance: Random
) -> tuple[str, tuple[str, ...]]:
    """Return headline and paragraphs of a copy elsewhere; of other copies nothing is changed."""
    texts = source.texts
    headline, paragraphs = article.headline, list(article.paragraphs)
    if kind == "short headline":
        headline = texts.cut_headline(headline, 0.6)[0]
    elif kind == "other headline":
        headline = texts.copy("headline", tail=texts.cut_headline(headline, 0.5)[1])
    elif kind == "byline and credit":
        paragraphs = [texts.copy("byline"), *paragraphs, texts.copy("credit", host=source.host)]
    elif kind == "own opening":
        paragraphs.insert(0, texts.copy("opening", host=source.host))
    elif kind == "edited sentence":
        old = max(chance.choices(article.sentences, k=3), key=len).strip()
        new = texts.copy("edited", sentence=old.rstrip(".!?。！？"))
        paragraphs = [paragraph.replace(old, new) for paragraph in paragraphs]
    return headline, tuple(paragraphs)


def lists(shape: str, site: Site, crawl: Crawl) -> Iterator[SeriesPage]:
    """Cut a long list into pages, each under the same introduction."""
    chance, texts = crawl.chance, site.texts
    headline = texts.title("LIST")
    introduction = site.markup.body((texts.text(chance.choice((15, 40, 70, 120))),))
    is_numbered = chance.random() < 0.3
    around, entry = LISTS[shape].split("~")
    pager = " ".join(f'<a href="?page={n}">{n}</a>' for n in range(1, SERIES + 1))
    for number in range(1, SERIES + 1):
        body = f"{introduction}{around.format(site.entries(8, entry))}<p>{pager}</p>"
        yield SeriesPage(headline, body, f"{headline} ({number})" if is_numbered else "")


def variants(
    fields: tuple[str, ...], varied: tuple[str, ...], shape: str, site: Site, crawl: Crawl
) -> Iterator[SeriesPage]:
    """Describe things that differ in one line; `shape` is one of ROWS, "" for any."""
    chance, texts = crawl.chance, site.texts
    headline = texts.title("JOB" if fields is JOB else "NOTICE" if fields is NOTICE else "PRODUCT")
    paragraphs = texts.article(chance.choice(LENGTHS[:3])).paragraphs
    labels = {name: texts.fields[name].split(", ") for name in fields}
    line = chance.choice(varied)
    fixed = {name: chance.choice(values) for name, (_, *values) in labels.items()}
    shape = shape or chance.choice(list(ROWS))
    is_first = chance.random() < 0.3
    for value in chance.sample(labels[line][1:], SERIES):
        rows = [(labels[name][0], each) for name, each in (fixed | {line: value}).items()]
        if shape.startswith("text"):
            yield SeriesPage(headline, text=as_text(shape, headline, paragraphs, rows, value))
        else:
            yield SeriesPage(headline, described(shape, site, paragraphs, rows, is_first))


def described(
    shape: str, site: Site, paragraphs: tuple[str, ...], rows: list[tuple[str, str]], is_first: bool
) -> str:
    """Write a description, and rows before or after it."""
    around, row = ROWS[shape].split("~")
    listed = around.format("".join(row.format(*each) for each in rows))
    if shape in ("br", "span"):  # all of it in one element
        between, end = "<br><br>", "</div>"
        text, start = between.join(map(html.escape, paragraphs)), "<div>"
        return start + between.join([listed, text] if is_first else [text, listed]) + end
    text = site.markup.body(paragraphs)
    return listed + text if is_first else text + listed


def as_text(
    shape: str,
    headline: str,
    paragraphs: tuple[str, ...],
    rows: list[tuple[str, str]],
    value: str,
) -> str:
    """Write what a spider would extract: the value in the title, or in a line of its own."""
    if shape == "text title":
        return "\n\n".join([f"{headline}, {value}", *paragraphs])
    return "\n\n".join([headline, "\n".join(": ".join(each) for each in rows), *paragraphs])


def thread(site: Site, crawl: Crawl) -> Iterator[SeriesPage]:
    """Show the first post of a thread on each page, above other answers."""
    post = '<div class="post"><b>{person}</b><div>{said}</div></div>'
    texts, first = site.texts, site.texts.article(crawl.chance.choice(LENGTHS[:3]))
    opening = texts.fill(post, said=site.markup.body(first.paragraphs))
    for _ in range(SERIES):
        answers = (texts.text(crawl.chance.choice((8, 20, 40))) for _ in range(5))
        posts = "".join(texts.fill(post, said=html.escape(said)) for said in answers)
        yield SeriesPage(first.headline, opening + posts)


def updates(kind: str, site: Site, crawl: Crawl) -> Iterator[SeriesPage]:
    """Show articles, and each again with a new paragraph: its host, another one, a correction."""
    chance, texts = crawl.chance, site.texts
    other = crawl.site(texts.language) if kind == "elsewhere" else None
    for length in chance.sample(LENGTHS[1:5], 3):
        old = texts.article(length)
        yield SeriesPage(old.headline, site.markup.body(old.paragraphs), is_article=True)
        more = texts.text(15 if kind == "correction" else chance.choice((30, 40, 50)))
        if kind == "correction":
            more = texts.copy("correction", text=more)
        at = chance.choice((0, len(old.paragraphs) // 2, len(old.paragraphs), len(old.paragraphs)))
        new = (*old.paragraphs[:at], more, *old.paragraphs[at:])
        yield SeriesPage(old.headline, (other or site).markup.body(new), site=other)


DIFFERENT: dict[str, Callable[[Site, Crawl], Iterable[SeriesPage]]] = {
    **{f"list, {each}": partial(lists, each) for each in LISTS},
    **{f"list, {each}, bare": partial(lists, each) for each in LISTS},
    **{f"variant, {each}": partial(variants, GOODS, GOODS, each) for each in ROWS},
    "variant, text title": partial(variants, GOODS, GOODS, "text title"),
    "variant, text lines": partial(variants, GOODS, GOODS, "text lines"),
    "job by town": partial(variants, JOB, ("town",), ""),
    "notice by date": partial(variants, NOTICE, ("date",), ""),
    "thread": thread,
    "thread, bare": thread,
    "update": partial(updates, "update"),
    "update elsewhere": partial(updates, "elsewhere"),
    "correction": partial(updates, "correction"),
}
"""Makers of series, by name."""


def chosen(names: Iterable[str], only: list[str] | None) -> list[str]:
    """Return the names that begin with one of `only`; all if that is None."""
    return [each for each in names if only is None or each.startswith(tuple(only))]


def crawls(
    seed: int, count: int, sentences: dict[str, list[str]], only: list[str] | None
) -> Iterator[Crawl]:
    """Plan crawls. Each volatile part is at another place in each; a quarter of all is Chinese."""
    parts, copies, series = (chosen(names, only) for names in (("none", *PARTS), COPIES, DIFFERENT))
    if not (parts or copies or series):
        sys.exit(f"no volatile part, copy or series begins with {' or '.join(only or [])}")
    parts, copies = parts or (["none", *PARTS] if copies else []), copies or list(COPIES)
    for number in range(count):
        crawl = Crawl(seed * 1000 + number, sentences)
        sites = []
        for turn, part in enumerate(parts):
            for again in range(CONTROLS if part in ("none", "all") else 1):
                place = "" if part in NOWHERE else PLACES[(turn + number) % len(PLACES)]
                language = "zh" if (turn + number + again) % 4 == 3 else "en"
                sites.append(crawl.site(language, part.removeprefix("none"), place))
        languages = [site.texts.language for site in sites]
        sites += [
            crawl.site(each) for each in dict.fromkeys(languages) if languages.count(each) == 1
        ]
        crawl.add_sites(sites, copies)
        for turn, name in enumerate(series * 2):
            crawl.add_series(name, "zh" if (turn + number) % 4 == 3 else "en")
        yield crawl


def main() -> None:
    """Crawl, compare, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="labelled text sets")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="one crawl of six")
    parser.add_argument("--only", nargs="+", help="beginnings of names of parts, copies or series")
    parser.add_argument("--ignore", action="store_true", help="name what changes on each site")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true", help="print misses and losses")
    options = parser.parse_args()
    sentences = read_sentences(options.folder, options.seed)
    tally = Tally(is_verbose=options.verbose)
    for crawl in crawls(options.seed, 1 if options.quick else CRAWLS, sentences, options.only):
        given = {"ignore": crawl.ignore} if options.ignore else {}
        tally.judge(crawl.fetches(), new_judges(**given))
    tally.report(as_json=options.json)


if __name__ == "__main__":
    main()
