"""Pages one by one -> verdicts: the filter joins text, frames, fingerprint, index and store.

    page -> blocks -> own text -> features -> fingerprint (+ sketch) -> index -> verdict

What it promises, and tests cite by number:

1. The first page of its kind is new. Only pages that were kept become originals.
2. Nothing beyond `max_distance` bits, and nothing below `min_similarity`, is a near-duplicate.
3. Every stored page within `max_distance` bits is compared.
4. A page with too little text repeats another only if everything on them is equal.
5. What cannot be judged is "unjudged" with a reason, never an error.

Look-up and insert are one step without a gap. A filter belongs to one thread.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError
from dedup_filter.fingerprint import similarities
from dedup_filter.frames import EarlyPage, Frames
from dedup_filter.index import HammingIndex
from dedup_filter.model import Document, Match, Verdict
from dedup_filter.profile import PageProfile, is_long_enough, profile
from dedup_filter.reading import Html, read
from dedup_filter.store import MemoryStore
from dedup_filter.text import Block, Page, main_content, own_content, word_sum

__all__ = ["NearDuplicateFilter"]

_LEFT_OUT = 0.1
"""Of what is compared in a second look, how much may be new on the page and not be in it."""


class NearDuplicateFilter:
    """Tell of each page whether its like was seen before.

    >>> with NearDuplicateFilter.open() as pages:
    ...     text = "A crawler that meets the same article again has no need of it. " * 8
    ...     pages.see("https://example.com/a", text=text).outcome
    ...     pages.see("https://example.org/b", text=text.upper()).original
    'new'
    'https://example.com/a'
    """

    def __init__(self, config: FilterConfig | None = None) -> None:
        self.config = config or FilterConfig()
        self._index = HammingIndex(self.config.max_distance)
        self._store = MemoryStore()
        self._frames = Frames()

    @classmethod
    def open(cls, location: str = "memory:", **options: Any) -> "NearDuplicateFilter":
        """Open a filter; the options are the fields of `FilterConfig`.

        Raises:
            ConfigError: an option is unknown or out of range, or the location is none.
        """
        if location != "memory:":
            raise ConfigError(f'the index can only be at "memory:" so far, not at {location!r}')
        return cls(FilterConfig.of(options))

    def see(
        self,
        url: str,
        *,
        html: Html | None = None,
        text: str | None = None,
        content_type: str | None = None,
    ) -> Verdict:
        """Judge a page and remember it if it is new.

        Give either `html` (str, bytes or a parsed tree, which is not changed) or `text`;
        `content_type` is the HTTP header, it helps to decode bytes. The host in the URL is
        what frames are learnt by.

        Cost: 2 to 5 ms for a page of 100 KB, half of it parsing.
        """
        page = read(html, text, content_type)
        if isinstance(page, str):
            return Verdict("unjudged", reason=page)
        if isinstance(page, Document):
            return self._judge(url, profile(page, self.config))
        return self._see_page(url, page)

    def is_long_enough(self, text: str) -> bool:
        """Tell whether a text has enough words for a near-duplicate verdict."""
        return is_long_enough(text)

    def __len__(self) -> int:
        return len(self._store)

    @property
    def nbytes(self) -> int:
        """Memory of the index, of what is kept of each page and of frames, in bytes."""
        return self._index.nbytes + self._store.nbytes + self._frames.nbytes

    def check(self) -> None:
        """Verify the invariants of index, store and frames."""
        self._index.check()
        self._store.check()
        self._frames.check()
        assert len(self._index) <= len(self._store)

    def close(self) -> None:
        """Give up the index. An index in memory is gone with it."""

    def __enter__(self) -> "NearDuplicateFilter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _see_page(self, url: str, page: Page) -> Verdict:
        host = _host(url) if self.config.learn_frames else ""
        if not host:
            return self._judge(url, self._profile(page, main_content(page.blocks)))
        sightings = self._frames.sightings(host, page.blocks)
        own = _shown_less_than(1, page.blocks, sightings)
        mine = self._profile(page, own_content(own) if any(sightings) else main_content(own))
        verdict = self._compare(mine)
        if not verdict.is_duplicate and any(sightings):
            verdict = self._look_again(page, sightings) or verdict
        if verdict.is_duplicate:
            self._frames.learn_from_duplicate(host, page)
        elif verdict.reason != "no_text":
            early = EarlyPage(self._remember(url, mine), page, mine)
            for earlier in self._frames.learn(host, early):
                self._judge_again(host, earlier)
        return verdict

    def _look_again(self, page: Page, sightings: Sequence[int]) -> Verdict | None:
        """Compare a page once more, forgiving that its text was shown once before on its host.

        What one earlier page has shown may be frame, or may be the very text that this page
        repeats: a print view, another session. Whatever is new on it must be in the text that
        is compared; a caption above a notice that all pages share is not repeated by it.
        """
        own = _shown_less_than(1, page.blocks, sightings)
        content = main_content(_shown_less_than(2, page.blocks, sightings))
        compared = set(map(id, content))
        left_out = word_sum(block for block in own if id(block) not in compared)
        if left_out > _LEFT_OUT * word_sum(content):
            return None
        verdict = self._compare(self._profile(page, content))
        return verdict if verdict.is_duplicate else None

    def _judge_again(self, host: str, early: EarlyPage) -> None:
        """Replace the fingerprint of a page that was taken with its host's frame."""
        sightings = self._frames.sightings(host, early.page.blocks)
        own = _shown_less_than(2, early.page.blocks, sightings)
        before, early.profile = early.profile, self._profile(early.page, main_content(own))
        self._store.replace(early.row, before.digest, early.profile.digest, early.profile.sketch)
        if before.is_long_enough:
            self._index.remove(before.fingerprint, early.row)
        if early.profile.is_long_enough:
            self._index.add(early.profile.fingerprint, early.row)

    def _profile(self, page: Page, content: Iterable[Block]) -> PageProfile:
        return profile(page.document(content), self.config)

    def _judge(self, url: str, page: PageProfile) -> Verdict:
        verdict = self._compare(page)
        if not verdict.is_duplicate and verdict.reason != "no_text":
            self._remember(url, page)
        return verdict

    def _remember(self, url: str, page: PageProfile) -> int:
        row = self._store.add(url, page.digest, page.sketch)
        if page.is_long_enough:
            self._index.add(page.fingerprint, row)
        return row

    def _compare(self, page: PageProfile) -> Verdict:
        about = Verdict(
            "new",
            language=page.language,
            shingles=page.shingles,
            shingles_without_stopword=page.shingles_without_stopword,
        )
        if page.is_blank:
            return replace(about, outcome="unjudged", reason="no_text")
        row = self._store.row_of_digest(page.digest)
        if row is not None:
            original = self._store.url(row)
            return replace(about, outcome="exact", original=original, distance=0, similarity=1.0)
        if not page.is_long_enough:
            return replace(about, outcome="unjudged", reason="too_short")
        candidates = self._index.within(page.fingerprint)
        about = replace(about, candidates=len(candidates))
        match, similarity = self._most_similar(page, candidates)
        if match is None:
            return about
        original = self._store.url(match.row)
        return replace(
            about,
            outcome="near",
            original=original,
            distance=match.distance,
            similarity=similarity,
        )

    def _most_similar(
        self, page: PageProfile, candidates: Sequence[Match]
    ) -> tuple[Match | None, float]:
        """Confirm the candidates; of equally similar ones the nearest, then the earliest."""
        if not candidates:
            return None, 0.0
        estimates = similarities(page.sketch, self._store.sketches([m.row for m in candidates]))
        least = self.config.min_similarity
        if least is None:
            return candidates[0], float(estimates[0])
        best = int(estimates.argmax())  # the first maximum: candidates come nearest first
        if estimates[best] < least:
            return None, 0.0
        return candidates[best], float(estimates[best])


def _shown_less_than(times: int, blocks: Sequence[Block], sightings: Sequence[int]) -> list[Block]:
    return [block for block, shown in zip(blocks, sightings, strict=True) if shown < times]


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc
    except ValueError:  # "http://[1/": no host that could have a frame
        return ""
