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
from dedup_filter.frames.host_frames import HostContext, no_context
from dedup_filter.model import Document, Unjudged
from dedup_filter.pages.directory.records import Place
from dedup_filter.pages.framed_pages import measured
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.reading import Page, Shown, read
from dedup_filter.workers.measured import Contents, Measured, PageHere, contents_of, texts_of

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
    content: Page | Document
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
    def measurable(self) -> PageHere | Measured:
        """The page in the form that a filter claims."""
        if isinstance(self.content, Page):
            return PageHere(self.content, self.config)
        return Measured(self.profile, None)

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
    html, text, content_type, _, title = source
    images_of = url if config.part_weights.image else None
    selectors = config.selectors.of(Place.of(url).host)
    content = read(html, text, content_type, images_of, title, selectors)
    if isinstance(content, Unjudged):
        return content
    return judged_content(url, content, config, context_of, source)


def judged_content(
    url: str,
    content: Page | Document,
    config: FilterConfig,
    context_of: ContextOf = of_new_host,
    source: PageText | None = None,
) -> JudgedPage:
    """Profile a page that was read before."""
    place = Place.of(url)
    framed = None
    if isinstance(content, Page):
        page, context = PageHere(content, config), context_of(url, content.shown)
        framed = Framed(content, context, contents_of(content, context.frame_times.times))
        texts = texts_of(content, context.frame_times)
        found = measured(page, context).profile
    else:
        texts = PageTexts.of(content)
        found = profile(texts, config)
    analysed = analysed_texts(texts, config)
    return JudgedPage(place, config, content, framed, texts, analysed, found, source)
