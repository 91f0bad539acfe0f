"""A seed -> the pages of made sites that change with every fetch, in the order of a crawl.

A site has markup of its own, drawn from `site_words.txt`, and at most one volatile part: something
that is new at each fetch, at one of six places. Articles are cut from real sentences
where labelled sets are given, else from sentences made by rule (`tests/museum/language.py`). No two
articles share a sentence, so a page that repeats none of them is a page of its own.
"""

import html
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from labelled_sets import read_sets

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from museum.language import TEXTS, Writer, read_texts

__all__ = ["LENGTHS", "PARTS", "PLACES", "Article", "Site", "Texts", "read_sentences"]

WORDS = read_texts(Path(__file__).with_name("site_words.txt"))
LENGTHS = (65, 100, 150, 240, 450, 900)
"""Words of an article."""
CHARACTERS = 1.7
"""Of a Chinese word."""
POOL = 300_000
"""Words that are read of the sets for each language: a crawl takes up to 80,000."""
PAGE = (
    '<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}</title></head>'
    "<body>{content}</body></html>"
)
LINKS = {"related 3": 3, "related 5": 5, "related 10": 10, "snippets": 4, "latest": 8}
PARTS = (
    *("reads", "comments", "clock", "online", "greeting", "quote"),
    *LINKS,
    *("tags", "adverts", "promotion", "cookies", "session", "all"),
)
"""What may be new at each fetch. "cookies" appears once, after some fetches, and stays."""
PLACES = ("header", "within", "after", "nav", "aside", "footer")
ALL = {
    "reads": "header",
    "comments": "within",
    "related 5": "aside",
    "latest": "after",
    "promotion": "footer",
    "greeting": "nav",
    "session": "",
}
"""Parts of a site of which everything changes, and their places."""

_ENGLISH = re.compile(r"(?:^|(?<=[.!?] ))[A-Z][\w ,;'’“”\"()/-]{30,300}[.!?](?= |$)", re.MULTILINE)
_CHINESE = re.compile(r"(?:^|(?<=[。！？]))[^。！？\n]{12,120}[。！？]", re.MULTILINE)
_HAN = re.compile(r"[\u4e00-\u9fff]")


def word_count(text: str, language: str) -> float:
    """Return about how many words a text has."""
    return len(text) / CHARACTERS if language == "zh" else len(text.split())


def read_sentences(folder: Path | None, seed: int) -> dict[str, list[str]]:
    """Read sentences of each language, in texts of which no two are alike; [] where there are none.

    A sentence half of whose 4-grams are in an earlier one is left out.
    """
    found: dict[str, list[str]] = {"en": [], "zh": []}
    if folder is None:
        return found
    names = [path.name.partition(".")[0] for path in folder.glob("*.docs.jsonl.gz")]
    texts = [
        row["text"]
        for name in sorted(names)
        for each in read_sets(folder, [name])
        for row in each.rows
    ]
    if not texts:
        sys.exit(f"{folder}: no text sets (NAME.docs.jsonl.gz and NAME.pairs.tsv.gz) are here")
    Random(seed).shuffle(texts)
    seen: set[int] = set()
    words = dict.fromkeys(found, 0.0)
    for text in texts:
        language = "zh" if len(_HAN.findall(text[:500])) > 100 else "en"
        for sentence in _prose(text[:40_000], language) if words[language] < POOL else ():
            units = list(sentence) if language == "zh" else sentence.lower().split()
            grams = {hash(tuple(units[i : i + 4])) for i in range(len(units) - 3)}
            if len(grams & seen) * 2 < len(grams):
                found[language].append(sentence)
                words[language] += word_count(sentence, language)
            seen |= grams
    return found


def _prose(text: str, language: str) -> list[str]:
    if language == "en":
        return [each for each in _ENGLISH.findall(text) if 6 < len(each.split()) < 50]
    found = map(str.strip, _CHINESE.findall(text))
    return [each for each in found if len(_HAN.findall(each)) > len(each) * 0.75]


def named(phrases: list[str]) -> dict[str, str]:
    """Return phrases that have a key by their keys; the last of a key counts."""
    return {key: phrase for key, _, phrase in (each.partition(": ") for each in phrases)}


@dataclass(frozen=True)
class Article:
    """A text under a headline."""

    name: str
    headline: str
    paragraphs: tuple[str, ...]
    length: int
    language: str

    @property
    def sentences(self) -> list[str]:
        """The sentences of all paragraphs, with blanks between them lost."""
        return [s for p in self.paragraphs for s in re.findall(r"[^.!?。！？]+[.!?。！？]+", p)]


class Texts:
    """What is written on the sites of one crawl in one language."""

    def __init__(self, language: str, sentences: list[str], chance: Random) -> None:
        self.language, self.chance = language, chance
        self.blank = "" if language == "zh" else " "
        self.fields = named(WORDS.FIELDS[language])
        self._parts, self._copy = named(WORDS.PARTS[language]), named(WORDS.COPY[language])
        self._writer = Writer(f"{language} {chance.random()}", language)
        start = chance.randrange(len(sentences) or 1)
        self._sentences = iter(sentences[start:] + sentences[:start])
        self._is_made = not sentences
        self._articles = 0

    def sentence(self) -> str:
        """Return a sentence that no other text of the crawl has."""
        said = self._writer.sentence() if self._is_made else next(self._sentences, None)
        if said is None:
            sys.exit(f"the sets have too few sentences in {self.language}: give more, or none")
        return str(said)

    def text(self, words: float) -> str:
        """Return sentences of so many words."""
        said: list[str] = []
        while word_count(self.blank.join(said), self.language) < words:
            said.append(self.sentence())
        return self.blank.join(said)

    def article(self, length: int) -> Article:
        """Return an article of about so many words."""
        self._articles += 1
        paragraphs: list[str] = []
        left: float = length
        while left > 5:
            paragraphs.append(self.text(min(left, self.chance.choice((20, 45, 70, 90)))))
            left -= word_count(paragraphs[-1], self.language)
        name = f"{self.language}{self._articles}"
        return Article(name, self.headline(), tuple(paragraphs), length, self.language)

    def headline(self) -> str:
        """Return a headline."""
        return str(self._writer.headline())

    def cut_headline(self, headline: str, share: float) -> tuple[str, str]:
        """Return the first words of a headline, and the others."""
        units = list(headline) if self.language == "zh" else headline.split()
        cut = round(len(units) * share)
        return self.blank.join(units[:cut]), self.blank.join(units[cut:])

    def title(self, kind: str) -> str:
        """Return a title of a page of a kind."""
        return str(self.chance.choice(getattr(WORDS, kind)[self.language]))

    def part(self, name: str, **slots: str) -> str:
        """Return what a volatile part says."""
        return self.fill(self._parts[name], **slots)

    def copy(self, name: str, **slots: str) -> str:
        """Return what a copy of an article says besides."""
        return self.fill(self._copy[name], **slots)

    def fill(self, phrase: str, **slots: str) -> str:
        """Fill the slots of a phrase with what is new each time."""
        chance, is_zh = self.chance, self.language == "zh"
        day, month, year = (chance.randrange(*each) for each in ((1, 29), (1, 13), (2015, 2027)))
        date = WORDS.DATE[self.language][0].format(day=day, month=month, year=year)
        drawn = {
            "n": str(chance.randrange(3, 9000)),
            "m": str(chance.randrange(2, 80)),
            "date": date,
            "time": f"{chance.randrange(24)}:{chance.randrange(60):02}",
            "person": chance.choice(TEXTS.ZH_NAMES) if is_zh else self._writer.person(),
            "href": f"/{chance.randrange(10**7)}.html",
            "file": f"release-{chance.randrange(9)}.{chance.randrange(99)}.tar.xz",
        }
        if "{text}" in phrase:
            drawn["text"] = html.escape(self.sentence())
        return phrase.format(**{**drawn, **slots})


class Markup:
    """How a site writes its pages."""

    def __init__(self, chance: Random, *, has_menu: bool) -> None:
        self.order = chance.choice(WORDS.ORDERS).split()
        self.heading = chance.choice(WORDS.HEADINGS)
        self.menu = chance.choice(WORDS.MENUS).split("~") if has_menu else None
        self.links: list[str] = chance.choice(WORDS.LINKS).split("~")
        self._paragraphs: list[str] = chance.choice(WORDS.PARAGRAPHS).split("~")
        # Of several forms with one key the last in a random order is taken.
        forms = named(chance.sample(WORDS.AROUND, len(WORDS.AROUND)))
        names = {key: chance.choice(each.split()) for key, each in named(WORDS.CLASSES).items()}
        self._around = {key: form.replace("{name}", names[key]) for key, form in forms.items()}

    def selector(self, region: str) -> str:
        """Return a CSS selector of the element around what stands in a region."""
        tag, kind, name = re.findall(r'<(\w+)(?: (class|id)="([\w-]+)")?', self._around[region])[0]
        return {"class": ".", "id": "#"}[kind] + name if name else str(tag)

    def put(self, region: str, content: str) -> str:
        """Put what stands in a region into its elements; nothing where it is empty."""
        return self._around[region].format(content) if content else ""

    def body(self, paragraphs: tuple[str, ...]) -> str:
        """Write paragraphs."""
        before, between, after = self._paragraphs
        return before + between.join(map(html.escape, paragraphs)) + after


@dataclass
class Site:
    """A host that writes its pages anew at each fetch."""

    host: str
    texts: Texts
    markup: Markup
    part: str = ""
    place: str = ""
    town: str = ""
    """It is in the name of the site."""
    headlines: list[str] = field(default_factory=list)
    """Of its articles: links to them are among its volatile parts."""
    cookies_from: int = 0
    """The fetch from which it shows a notice of cookies, if that is its part."""
    fetches: int = 0
    menu: list[str] = field(default_factory=list)
    """Titles in its menu; [] for the usual ones of its language."""
    notices: list[str] = field(default_factory=list)
    """Paragraphs of its footer, besides the usual one."""

    @property
    def changing(self) -> str:
        """CSS selectors of the elements in which it changes; "" for none."""
        places = ALL.values() if self.part == "all" else [self.place]
        return ", ".join(self.markup.selector(place) for place in places if place)

    def page(
        self, headline: str, body: str, *, view: str = "", title: str = "", url: str = ""
    ) -> str:
        """Write a page as this fetch shows it.

        `view` is "amp", "print foot", "print head" or ""; `url` is what a print view names.
        """
        self.fetches += 1
        parts = ALL if self.part == "all" else {self.part: self.place}
        shown = dict.fromkeys((*self.markup.order, *PLACES), "")
        for part, place in parts.items():
            if place and (not view or (view == "amp" and place in ("header", "within"))):
                shown[place] += self._volatile(part)
        heading = self.markup.heading.format(html.escape(headline)) + "\n"
        header, within = (self.markup.put(each, shown[each]) for each in ("header", "within"))
        name = WORDS.SITE[self.texts.language][0].format(town=self.town)
        shown["main"] = heading + header + body + within
        if view.startswith("print"):
            ends = [f"<p>{name}</p>", f"<hr><p>{self.texts.copy('printed', url=url)}</p>"]
            ends[view == "print head"] = ""
            content = shown["main"].join(ends)
        else:
            content = self._framed(shown, name, has_menu=not view)
        if "session" in parts:
            mark = f"{self.texts.chance.getrandbits(60):x}"
            content = re.sub(r'href="(/[^"]*)"', rf'href="\1?session={mark}"', content)
        title = f"{html.escape(title or headline)} - {name}"
        return PAGE.format(title=title, content=content)

    def _framed(self, shown: dict[str, str], name: str, *, has_menu: bool) -> str:
        language, markup = self.texts.language, self.markup
        shown["top"] = name
        publisher = WORDS.FOOTER[language][0].format(town=self.town)
        shown["footer"] += "".join(f"<p>{each}</p>" for each in (publisher, *self.notices))
        if markup.menu and has_menu:
            around, entry = markup.menu
            titles = enumerate(self.menu or TEXTS.MENUS[language])
            shown["menu"] = around.format("".join(entry.format(n=n, title=t) for n, t in titles))
        is_told = self.part == "cookies" and self.fetches > self.cookies_from
        notice = f"<div>{WORDS.COOKIES[language][0]}</div>" if is_told else ""
        return notice + "\n".join(markup.put(each, shown[each]) for each in markup.order)

    def _volatile(self, part: str) -> str:
        texts, chance, language = self.texts, self.texts.chance, self.texts.language
        if part == "adverts":
            return "".join(
                f"<div>{each}</div>" for each in chance.sample(WORDS.ADVERTS[language], 3)
            )
        if part == "promotion":
            return f"<p>{chance.choice(WORDS.PROMOTIONS[language])}</p>"
        said = texts.part(part.partition(" ")[0])
        over, around, entry = self.markup.links
        if part == "tags":
            tags = enumerate(chance.sample(WORDS.TAGS[language], 8))
            return over.format(said) + " ".join(f'<a href="/t/{n}">{tag}</a>' for n, tag in tags)
        if part not in LINKS:
            return said
        if part == "snippets":
            entry = entry.replace("</a>", "</a><p>{text}</p>")
        return over.format(said) + around.format(self.entries(LINKS[part], entry))

    def entries(self, count: int, entry: str) -> str:
        """Write links to articles, half of them of this site."""
        titles = []
        for _ in range(count):
            is_own = self.headlines and self.texts.chance.random() < 0.5
            own = self.texts.chance.choice(self.headlines) if is_own else self.texts.headline()
            titles.append(html.escape(own))
        return "".join(self.texts.fill(entry, title=title) for title in titles)
