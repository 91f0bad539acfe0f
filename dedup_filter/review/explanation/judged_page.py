"""A page that a user named -> its texts, features and profile, step by step.

The steps of a crawl are called one by one: nothing is chosen, counted or hashed here. If an index
has kept the blocks of a page, the page is judged like a page that is read now.
"""

from collections.abc import Callable
from dataclasses import dataclass

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import (
    AnalysedTexts,
    PageProfile,
    PageTexts,
    analysed_texts,
    profile,
)
from dedup_filter.fingerprints.read_page import Contents, ReadPage, Source, contents_of, texts_of
from dedup_filter.frames.host_frames import HostContext, no_context
from dedup_filter.model import Unjudged
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import Place
from dedup_filter.text.reading import Page, Shown

ContextOf = Callable[[str, Shown], HostContext]
"""The URL of a page, and the blocks that it shows -> the known frame of its host."""


@dataclass(frozen=True)
class Framed:
    """The parts that a page of HTML has and a plain text has not."""

    page: Page
    context: HostContext
    """The known frame of its host."""
    contents: Contents


@dataclass(frozen=True)
class JudgedPage:
    """A page, and the texts and features by which it would be judged."""

    place: Place
    config: FilterConfig
    page: ReadPage
    framed: Framed | None
    """None: it is a plain text."""
    texts: PageTexts
    analysed: AnalysedTexts
    profile: PageProfile
    source: PageText | None
    """The HTML or text that was read; None: an index has kept the page's blocks."""

    @property
    def reason(self) -> str | None:
        """Why the page would be unjudged, unless it equals a page; None: it is judged."""
        if self.profile.is_blank:
            return "no_text"
        return None if self.profile.texts else self.profile.reason

    @property
    def main_text(self) -> str:
        """The main text, without blocks that two earlier pages of the host had."""
        if self.framed is None:
            return self.texts.document.text
        return "\n".join(block.text for block in self.framed.contents.main)

    @property
    def text(self) -> str:
        """The text by which later pages find the page; `keep_text` keeps it."""
        return self.texts.document.text


def of_new_host(_: str, shown: Shown) -> HostContext:
    """Return the empty frame of a host without any page seen."""
    return no_context(shown)


def judged_page(
    url: str, source: PageText, config: FilterConfig, context_of: ContextOf = of_new_host
) -> JudgedPage | Unjudged:
    """Read and profile a page, given the known frame of its host."""
    page = Source.of(source, url, Place.of(url).host, config).read(config)
    return (
        page
        if isinstance(page, Unjudged)
        else judged_read_page(url, page, config, context_of, source)
    )


def judged_read_page(
    url: str,
    page: ReadPage,
    config: FilterConfig,
    context_of: ContextOf = of_new_host,
    source: PageText | None = None,
) -> JudgedPage:
    """Profile a page that was read before."""
    content, context = page.content, context_of(url, page.shown)
    times = context.times_shown().tolist()
    framed = None
    if isinstance(content, Page):
        framed = Framed(content, context, contents_of(content, times))
    texts = texts_of(page, times, context.headline, context.around)
    analysed, found = analysed_texts(texts, config), profile(texts, config)
    return JudgedPage(Place.of(url), config, page, framed, texts, analysed, found, source)
