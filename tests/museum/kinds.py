"""A kind of site: different pages of one template, and how much each of them says by itself."""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Literal, NamedTuple

from museum.frames import Furniture, Layout, Site, divs, furniture, manual, semantic, tables

Amount = Literal["bytes", "line", "passage", "story", "wire"]
"""What each page says that no other does, and so which copies of it must be found
(counted in phrases of three words or Chinese signs, `own_phrases`):

bytes    nothing outside of scripts: only what has the same bytes must be found
line     up to a few dozen words: what has the same text in the same frame
passage  60 and more: print views and cached copies, too
story    200 and more: also in another frame, or with a sentence edited
wire     the same: also below another headline
"""
LEAST_OWN = {"bytes": 0, "line": 0, "passage": 60, "story": 200, "wire": 200}
LAYOUTS: dict[str, Layout] = {
    "semantic": semantic,
    "divs": divs,
    "tables": tables,
    "manual": manual,
}


class Page(NamedTuple):
    """What a page says by itself."""

    title: str
    body: str


Builder = Callable[[Random, int], Page]
Wrap = Callable[[Furniture, str, Layout], str]


def visible(of: Furniture, body: str, layout: Layout) -> str:
    """Show the text where the layout has its place."""
    return layout(of, body)


@dataclass(frozen=True)
class Kind:
    """Pages that look alike and are not the same."""

    name: str
    build: Builder
    pages: int
    layout: str
    amount: Amount
    notice: int
    """Sentences of the notice below every page."""
    language: str
    is_related: bool
    """Whether pages show the titles of others."""
    wrap: Wrap

    def contents(self) -> list[Page]:
        """All pages, without their frame; each has phrases that no other has."""
        made = [self.build(Random(f"{self.name} {n}"), n) for n in range(self.pages)]
        if not all(own_phrases(made)):
            raise ValueError(f"two pages of {self.name} say the same")
        return made

    def related(self, contents: list[Page], number: int) -> list[str]:
        """The titles of the three pages after this one."""
        others = contents[number + 1 :] + contents[:number]
        return [page.title for page in others[:3]] if self.is_related else []

    def markup(self, page: Page, site: Site, related: list[str], layout: Layout | None) -> str:
        """The page as a site serves it; without a layout in that of its kind."""
        surround = furniture(page.title, site.name, self.language, self.notice, related)
        return self.wrap(surround, page.body, layout or LAYOUTS[self.layout])


def kind(
    *,
    pages: int = 12,
    layout: str = "semantic",
    amount: Amount = "line",
    notice: int = 5,
    language: str = "en",
    related: bool = False,
    wrap: Wrap = visible,
) -> Callable[[Builder], Kind]:
    """Make a kind of a function that builds its pages by their numbers."""

    def of(build: Builder) -> Kind:
        return Kind(build.__name__, build, pages, layout, amount, notice, language, related, wrap)

    return of


def phrases(page: Page) -> Iterator[str]:
    """Three words in a row each, of the title and the text; of Chinese, three signs."""
    said = html.unescape(re.sub("<[^>]*>", " ", f"{page.title} | {page.body}"))
    words = re.findall(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+", said)
    return (" ".join(words[place : place + 3]) for place in range(len(words) - 2))


def own_phrases(pages: list[Page]) -> list[int]:
    """Count the phrases of each page that no other has."""
    of_pages = [set(phrases(page)) for page in pages]
    holders = Counter(phrase for of_page in of_pages for phrase in of_page)
    return [sum(holders[phrase] == 1 for phrase in of_page) for of_page in of_pages]
