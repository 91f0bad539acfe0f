"""The pages of a scan, and the index that has judged them -> the clean text of each page.

    page, counts of its host in the index -> text without the frame of the host (`text/clean_text`)

All pages are judged when outputs are written, so the frame of a host is also known for its first
pages. A page is read once more for its text, without its words.

Cost: 2 ms a page of 100 KB, in one process.
"""

from collections.abc import Sequence

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.read_page import content_of
from dedup_filter.frames.host_frames import no_context
from dedup_filter.host_cache import HostCache
from dedup_filter.model import Reason, Unjudged
from dedup_filter.store.protocol import Batch, Recorded
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import Place
from dedup_filter.text.reading import Page, clean_text


class OwnTexts:
    """The clean texts of judged pages; `recorded`: the index."""

    def __init__(self, recorded: Recorded, config: FilterConfig) -> None:
        self._config = config
        self._hosts = HostCache(recorded, Batch(), config.frame_memory)

    def of(self, place: Place, page: PageText | Reason) -> str | None:
        """Return the text of a page; None: the page cannot be read.

        Raises:
            StoreError: the index cannot be read.
        """
        if isinstance(page, str):
            return None
        content = content_of(page, place, self._config)
        if isinstance(content, Unjudged):
            return None
        return clean_text(content, self._times(place, content) if isinstance(content, Page) else ())

    def _times(self, place: Place, page: Page) -> Sequence[int]:
        """Return how many other pages of the host have shown each block."""
        if not (place.host and self._config.learn_frames):
            return no_context(page.shown).times
        # The page itself is counted, or an earlier fetch of it that it repeats.
        self._hosts.shrink()
        return self._hosts.context(place.host, page.shown, 1).times
