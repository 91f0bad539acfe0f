"""Pages of one host that share a text and differ in values: which are lost, which copies are found.

    python benchmarks/same_text.py [FOLDER] [--seed 1] [--only KIND ...] [--quick] [--neutral]
        [--canonical] [--json] [-v]

FOLDER is that of `dynamic_pages`: texts are cut from its sets; without it they are made by rule.

Each case is a host with a filter of its own. Its pages share their headline and a text of 60 to 700
words. Each page has values that readers come for: a departure, a score, an answer, a command, the
rows of page 2. In half of the cases one value differs from page to page, in the others all do.
Kinds, phrases and markup are in `site_words.txt`. In half of the cases four articles come first, so
that the frame of the host is known. Half of the headlines are a story's; others, and those of rows,
name a thing. None of these pages may be lost.

In further cases such a page comes again under the ids of two sessions, on a host where one part is
new at each fetch, or none. These copies should be found.

    --neutral    addresses say nothing of their pages: each is some words and a number
    --canonical  each page names its own address as canonical, copies that of their original

--only takes beginnings of names of kinds. With --quick one of three cases is taken.
"""

import argparse
import html
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random

from changing_sites import PLACES, WORDS, Markup, Site, Texts, named, read_sentences
from museum.language import TEXTS
from side_by_side import Fetch, Tally, new_judges

PAGES = 4
LENGTHS = (60, 140, 330, 700)
AT = ("before", "between", "after")
FIRST = (90, 200, 120, 160)
"""Words of the articles by which a frame becomes known."""
FACTS = {language: named(phrases) for language, phrases in WORDS.FACTS.items()}
VALUES = named(WORDS.VALUES)
TABLES = {
    "results": "<table>{}</table>~<tr><td>{person}</td><td>{town}</td><td>{m}:{d}</td></tr>",
    "departures": "<ul>{}</ul>~<li>{time} <b>{town}</b> {m}</li>",
    "goods": '<div>{}</div>~<div class="t"><a href="/{n}">{word} {n}</a><b>{m}.90</b></div>',
    "members": "<p>{}</p>~{person}, {town}<br>",
}
"""Rows that are others on each page."""
ROWS = 9
LINES = ("sentence", "answer", "caption", "command")
KINDS = (*FACTS["en"], *LINES, *TABLES)
CHANGES = ("", "reads", "clock", "online", "related 5", "tags", "adverts", "quote")
"""Parts of the sites of copies that are new at each fetch."""
ZH_KINDS = (*FACTS["zh"], *LINES, *TABLES)
TOWNS = {"en": TEXTS.TOWNS, "zh": TEXTS.ZH_TOWNS}
ADDRESSES = ("/{kind}/{n}", "/{kind}?id={n}", "/{kind}/?page={n}", "/{n}-{kind}.html")

Groups = tuple[tuple[str, str], ...]
"""Tables and rows that a page counts in."""


def keyed(phrases: list[str], key: str) -> list[str]:
    """Return all phrases of a key."""
    return [each.partition(": ")[2] for each in phrases if each.startswith(f"{key}: ")]


@dataclass
class Case:
    """A host, and the pages that it is asked for."""

    kind: str
    site: Site
    words: int
    markup: str
    """The name of what stands around facts."""
    at: str
    is_known: bool
    is_story: bool
    """Whether the headline is a story's, and not a thing's name."""
    is_of_copies: bool

    def fetches(self) -> Iterator[Fetch]:
        """Make the pages in their order; the first of a text counts in no table."""
        texts, chance = self.site.texts, self.site.texts.chance
        for number, words in enumerate(FIRST if self.is_known else ()):
            first = texts.article(words)
            body = self.site.markup.body(first.paragraphs)
            yield self._fetch(f"/news/{number}", first.headline, body)
        article, is_all = texts.article(self.words), chance.random() < 0.5
        headline = article.headline if self.is_story else texts.title("PRODUCT")
        groups, address = self._groups(is_all=is_all), chance.choice(ADDRESSES)
        bodies = map(partial(self._body, article.paragraphs), self._values(is_all=is_all))
        own, body = address.format(kind=self.kind, n=1), next(bodies)
        yield self._fetch(own, headline, body)
        for number in range(2, PAGES + 1):
            if self.is_of_copies:
                url = f"{own}{'&' if '?' in own else '?'}session={chance.getrandbits(60):x}"
                yield self._fetch(url, headline, body, groups, own)
            else:
                url = address.format(kind=self.kind, n=number)
                yield self._fetch(url, headline, next(bodies), groups)

    def _groups(self, *, is_all: bool) -> Groups:
        groups: Groups = (
            ("words", str(self.words)),
            ("frame", "known" if self.is_known else "unknown"),
            ("headline", "a story's" if self.is_story else "a thing's"),
        )
        if self.is_of_copies:
            return ("all", "copies"), ("new beside it", self.site.part or "nothing"), *groups
        if self.kind in FACTS["en"]:
            groups = *groups, ("markup", self.markup)
        differs = ("differ in", "all values" if is_all else "one value")
        place = ("values stand", f"{self.at} the text")
        return ("all", "different pages"), ("kind", self.kind), place, differs, *groups

    def _fetch(
        self, path: str, headline: str, body: str, groups: Groups = (), own: str = ""
    ) -> Fetch:
        """Show a page; `own` is the path of its original."""
        host = f"https://{self.site.host}"
        return Fetch(host + path, self.site.page(headline, body), host + (own or path), groups)

    def _body(self, paragraphs: tuple[str, ...], values: str) -> str:
        cut = {"before": 0, "between": 1, "after": len(paragraphs)}[self.at]
        parts = paragraphs[:cut], paragraphs[cut:]
        return values.join(self.site.markup.body(each) if each else "" for each in parts)

    def _values(self, *, is_all: bool) -> Iterator[str]:
        """Write the values of page after page in HTML; no two are equal."""
        if self.kind in TABLES:
            around, row = TABLES[self.kind].split("~")
            return fresh(lambda: around.format("".join(self._fill(row) for _ in range(ROWS))))
        if self.kind not in LINES:
            return self._facts(is_all=is_all)
        texts, chance = self.site.texts, self.site.texts.chance
        phrases = keyed(WORDS.LINES[texts.language], self.kind)
        if not is_all:
            phrases = [chance.choice(phrases)]
        form = chance.choice(keyed(WORDS.SAID, self.kind)).replace("{}", "{line}")
        return fresh(lambda: self._fill(form, line=self._fill(chance.choice(phrases))))

    def _facts(self, *, is_all: bool) -> Iterator[str]:
        """Write labels and values: each page has others, all of them or one."""
        around, row = VALUES[self.markup].split("~")
        facts = [each.split("=") for each in FACTS[self.site.texts.language][self.kind].split("; ")]
        fixed = [self._fill(value) for _, value in facts]
        varied = self.site.texts.chance.randrange(len(facts))

        def write() -> str:
            new = [self._fill(value) for _, value in facts]
            shown = new if is_all else [*fixed[:varied], new[varied], *fixed[varied + 1 :]]
            named = zip((label for label, _ in facts), shown, strict=True)
            return around.format("".join(row.format(*each) for each in named))

        return fresh(write)

    def _fill(self, phrase: str, **slots: str) -> str:
        texts, chance = self.site.texts, self.site.texts.chance
        tags = chance.sample(WORDS.TAGS[texts.language], 3)
        words = dict(zip(("word", "word2", "word3"), tags, strict=True))
        town = chance.choice(TOWNS[texts.language])
        return texts.fill(phrase, d=str(chance.randrange(1, 10)), town=town, **words, **slots)


def fresh(write: Callable[[], str]) -> Iterator[str]:
    """Write again and again, and leave out what was written before."""
    written: set[str] = set()
    while True:
        if (one := write()) not in written:
            written.add(one)
            yield one


def cases(
    seed: int, sentences: dict[str, list[str]], kinds: Iterable[str] = KINDS
) -> Iterator[Case]:
    """Plan cases: of each kind two with each markup, and copies beside each part; some Chinese."""
    of_copies = [(change, True) for change in CHANGES]
    for kind in kinds:
        for number, (part, is_copy) in enumerate([("", False)] * (2 * len(VALUES)) + of_copies):
            chance = Random(f"{seed} {kind} {number}")
            language = "zh" if number % 4 == 3 and kind in ZH_KINDS else "en"
            texts = Texts(language, sentences[language], chance)
            site = Site(f"www.{kind}{number}.example", texts, Markup(chance, has_menu=True), part)
            site.place, site.town = (
                PLACES[number % len(PLACES)] if part else "",
                chance.choice(TOWNS[language]),
            )
            markup, words = [*VALUES][number % len(VALUES)], chance.choice(LENGTHS)
            is_known, is_story = number % 2 == 0, kind not in TABLES and chance.random() < 0.5
            at = chance.choice(AT)
            yield Case(kind, site, words, markup, at, is_known, is_story, is_copy)


def readdressed(fetch: Fetch, *, is_neutral: bool, names_canonical: bool) -> Fetch:
    """Change the addresses of a page: its own, and that of its original."""
    if is_neutral:
        fetch = fetch._replace(url=neutral(fetch.url), says=neutral(fetch.says))
    if not names_canonical:
        return fetch
    link = f'<head><link rel="canonical" href="{html.escape(fetch.says)}">'
    return fetch._replace(content=str(fetch.content).replace("<head>", link, 1))


def neutral(url: str) -> str:
    """Return an address on the same host that says nothing; always the same of one URL."""
    chance, host = Random(url), url.split("/")[2]
    words = "-".join(chance.sample(WORDS.TAGS["en"], 4))
    return f"https://{host}/{words}-{chance.randrange(10**5)}"


def main() -> None:
    """Judge, compare, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="labelled text sets")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[""], help="beginnings of names of kinds")
    parser.add_argument("--quick", action="store_true", help="one of three cases")
    parser.add_argument("--neutral", action="store_true", help="addresses say nothing")
    parser.add_argument("--canonical", action="store_true", help="pages name canonical addresses")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true", help="print misses and losses")
    options = parser.parse_args()
    kinds = [each for each in KINDS if each.startswith(tuple(options.only))]
    if not kinds:
        sys.exit(f"no kind begins with {' or '.join(options.only)}")
    tally, sentences = (
        Tally(is_verbose=options.verbose),
        read_sentences(options.folder, options.seed),
    )
    change = partial(readdressed, is_neutral=options.neutral, names_canonical=options.canonical)
    for case in islice(cases(options.seed, sentences, kinds), 0, None, 3 if options.quick else 1):
        tally.judge(map(change, case.fetches()), new_judges())
    tally.report(as_json=options.json)


if __name__ == "__main__":
    main()
