"""A page, the known frame of its host -> the texts by which it would be judged; its record.

The steps of a crawl are called one by one: nothing is chosen, counted or hashed here. A page that
an index has kept is explained like a page that is read now. If an index has only the record of a
page, the record is all that is known.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from lxml import etree

from dedup_filter.comparison.look_ups import verdict_on
from dedup_filter.config import FilterConfig
from dedup_filter.features.analysis import Analysis
from dedup_filter.fingerprints.block_columns import TextName
from dedup_filter.fingerprints.places import Contents, contents_of
from dedup_filter.fingerprints.profile import PageProfile, profile_of
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.fingerprints.sketch import BoolArray
from dedup_filter.frames.host_frames import HostContext
from dedup_filter.model import Unjudged
from dedup_filter.store.protocol import KeptContent
from dedup_filter.store.records import PageRecord
from dedup_filter.text.decode import parse
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import Place
from dedup_filter.text.reading import Page, clean_text, markup_of


def tree_of(source: PageText | None) -> etree._Element | None:
    """Parse a page as it is read; None: it is no HTML, or only its blocks were kept."""
    if source is None or not isinstance(source.html, str | bytes):
        return None
    markup = markup_of(source.html, source.content_type)
    return None if isinstance(markup, Unjudged) else parse(markup)


class JudgedText(NamedTuple):
    """One of the texts that a page is looked up by, or its span."""

    name: str
    """"new", "main", "span": see the terminology; equal texts have all their names."""
    words: int
    fingerprint: int | None
    """None: no page is looked up by it."""


@dataclass(frozen=True)
class ExplainedPage:
    """A page, and the texts and features by which it would be judged."""

    place: Place
    config: FilterConfig
    page: ReadPage
    context: HostContext
    """The known frame of its host; empty for a plain text."""
    source: PageText | None
    """The HTML or text that was read; None: an index has kept the page's blocks."""

    @cached_property
    def profile(self) -> PageProfile:
        """Its profile, given that frame."""
        return profile_of(self.page, self.context, self.config)

    @property
    def reason(self) -> str | None:
        """Why the page would be unjudged, unless it equals a page; None: it is judged."""
        if self.profile.is_blank:
            return "no_text"
        return None if self.profile.texts else self.profile.reason

    @property
    def are_compared(self) -> BoolArray:
        """Which blocks of its profile another page must have, (n,).

        These are the main text, and the lines and paragraphs around it that are no frame, do not
        change by themselves, and belong to no link.
        """
        places = self.profile.blocks.places
        return places.in_main | places.are_texts

    @property
    def compared_text(self) -> str:
        """The text of these blocks, one a line."""
        return "\n".join(compress(self.profile.blocks.texts, self.are_compared.tolist()))

    @property
    def compared_words(self) -> int:
        """The words of these blocks."""
        return int(np.diff(self.profile.blocks.ends)[self.are_compared].sum())

    @property
    def compared_positions(self) -> set[int]:
        """The positions of these blocks on the page; empty for a plain text."""
        content, blocks = self.page.content, self.profile.blocks
        if not isinstance(content, Page):
            return set()
        chosen = compress(content.blocks, blocks.chosen.tolist())
        return {each.position for each in compress(chosen, self.are_compared.tolist())}

    @property
    def known_by(self) -> Analysis:
        """The words and the shingles of its stored text."""
        return self.profile.blocks.by_text[self.profile.known_by]

    @cached_property
    def contents(self) -> Contents | None:
        """The blocks of its texts; None: it is a plain text."""
        content = self.page.content
        if not isinstance(content, Page):
            return None
        return contents_of(content, self.context.times)

    @property
    def judged_texts(self) -> list[JudgedText]:
        """Its texts, equal texts once."""
        names = defaultdict[Analysis, list[TextName]](list)
        for name, text in self.profile.blocks.by_text.items():
            names[text].append(name)
        found_by = {text.name: text.fingerprint for text in self.profile.texts}
        return [
            JudgedText(", ".join(same), text.words.count, found_by.get(same[0]))
            for text, same in names.items()
        ]

    @property
    def advertisements(self) -> list[str]:
        """The words, in rows, whose shingles belong to no sentence.

        They give no features, unless hardly any shingle belongs to a sentence.
        """
        words = zip(self.known_by.tokens, self.known_by.in_sentence.tolist(), strict=True)
        rows = groupby(words, key=itemgetter(1))
        return [" ".join(word for word, _ in row) for is_in, row in rows if not is_in]


class NamedPage(NamedTuple):
    """A page that a user named: judged now, or as an index has recorded it."""

    name: str
    """As the user gave it."""
    url: str
    """"" for a file without URL."""
    page: ExplainedPage | Unjudged | None
    """None: the page is recorded, but too little was kept to judge it again."""
    record: PageRecord | None = None
    """None: the page is not recorded."""
    kept: KeptContent = KeptContent()

    @property
    def host(self) -> str:
        """The host of its URL; "" for none."""
        return Place.of(self.url).host

    @property
    def explained(self) -> ExplainedPage | None:
        """The page as it would be judged now; None: it would not."""
        return self.page if isinstance(self.page, ExplainedPage) else None

    @property
    def reason(self) -> str | None:
        """Why the page is unjudged; None: it is judged, or repeats a page."""
        if self.page is not None:
            return self.page.reason
        return self.record.reason if self.record is not None and self.record.is_kept else None

    @property
    def measures(self) -> PageRecord | None:
        """The record that the page would have now; else the record that it has."""
        page = self.explained
        if page is None:
            return self.record
        return PageRecord.of(page.place, page.profile, verdict_on(page.profile, "new"), 0, 1)

    @property
    def clean_text(self) -> str | None:
        """Its text for output, or the text that an index has kept; None: it is not known."""
        page = self.explained
        if page is None:
            return self.kept.text
        return clean_text(page.page.content, page.context.times)

    @property
    def compared_text(self) -> str | None:
        """Its text that is compared, or the text that an index has kept; None: it is not known."""
        return self.kept.text if self.explained is None else self.explained.compared_text

    @property
    def words(self) -> int:
        """The words of its text that is compared, or of the text that an index has recorded."""
        if self.explained is not None:
            return self.explained.compared_words
        return self.record.words if self.record is not None else 0
