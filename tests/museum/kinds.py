"""`kinds.txt` -> kinds of sites, their pages, and how much each of those says by itself."""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from museum import frames, language
from museum.frames import Furniture, Layout
from museum.language import TEXTS, Writer, shared

Amount = Literal["bytes", "line", "passage", "story", "wire"]
"""What each page says that no other does, and so which copies of it must be found
(counted in phrases of three words or Chinese signs, `own_phrases`):

bytes    nothing outside of scripts: only what has the same bytes must be found
line     up to a few dozen words: what has the same text in the same frame
passage  60 and more: print views and cached copies, too
story    200 and more: also in another frame, or with a sentence edited
wire     the same: also below another headline
"""
LEAST_OWN: dict[Amount, int] = {"bytes": 0, "line": 0, "passage": 60, "story": 200, "wire": 200}


class Page(NamedTuple):
    title: str
    body: str


def _visible(of: Furniture, body: str, layout: Layout) -> str:
    return layout(of, body)


@dataclass(eq=False)
class Kind:
    name: str
    template: list[str]
    names: dict[str, Any]
    """What the template may name."""
    pages: int
    title: str = ""
    """Of all pages, unless the template has one for each."""
    layout: Layout = frames.semantic
    amount: Amount = "line"
    notice: int = 5
    """Sentences of the notice below every page."""
    language: str = "en"
    is_related: bool = False
    """Whether pages show the titles of the three after them."""
    wrap: Callable[[Furniture, str, Layout], str] = _visible

    @cached_property
    def contents(self) -> list[Page]:
        """All pages, without their frame; each has phrases that no other has."""
        made = [self._page(number) for number in range(self.pages)]
        if not all(own_phrases(made)):
            raise ValueError(f"two pages of {self.name} say the same")
        return made

    def _page(self, number: int) -> Page:
        writer = Writer(f"{self.name} {number}", self.language)
        names = self.names | {each: getattr(writer, each) for each in dir(writer)}
        names |= {"number": number, "title": self.title}
        names["shared"] = partial(shared, language=self.language)
        body = ""
        for line in self.template:
            if re.match(r"[\w, ()\[\]]+ = ", line):
                exec(line, names)
                continue
            times, markup = re.fullmatch("(?:([0-9]+) x )?(.*)", line).groups()
            for n in range(int(times or 1)):
                body += eval(f"f'''{markup}'''", names | {"n": n})
        return Page(names["title"], body)

    def serve(
        self,
        number: int,
        site: str = "Home Gazette",
        layout: Layout | None = None,
        change: Callable[[Page], Page] = lambda page: page,
        session: str = "",
    ) -> str:
        """A page as a site of some name serves it; without a layout in that of its kind."""
        page = change(self.contents[number])
        others = self.contents[number + 1 :] + self.contents[:number]
        related = [other.title for other in others[:3]] if self.is_related else []
        around = Furniture(page.title, site, self.language, self.notice, related)
        return self.wrap(around, page.body, layout or self.layout).replace("{session}", session)


def _kinds() -> Iterator[Kind]:
    """Read the file, whose beginning tells how kinds are written."""
    names = {**vars(TEXTS), **vars(language), **vars(frames)}
    text = Path(__file__).with_name("kinds.txt").read_text(encoding="utf-8")
    for block in re.split(r"\n\n+", re.sub(r"(?m)^#.*\n", "", text).strip()):
        head, *template = map(str.strip, block.splitlines())
        if found := re.fullmatch("([a-z_]+): (.*)", head):
            yield Kind(found[1], template, names, **eval(f"dict({found[2]})", names))
        else:
            exec(block, names)


KINDS = list(_kinds())


def own_phrases(pages: list[Page]) -> list[int]:
    """Count the phrases of each page that no other has."""
    of_pages = [set(_phrases(page)) for page in pages]
    holders = Counter(phrase for of_page in of_pages for phrase in of_page)
    return [sum(holders[phrase] == 1 for phrase in of_page) for of_page in of_pages]


def _phrases(page: Page) -> Iterator[str]:
    """Three words in a row each, of the title and the text; of Chinese, three signs."""
    said = html.unescape(re.sub("<[^>]*>", " ", f"{page.title} | {page.body}"))
    words = re.findall(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+", said)
    return (" ".join(words[place : place + 3]) for place in range(len(words) - 2))
