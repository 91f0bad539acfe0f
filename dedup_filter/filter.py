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

from collections.abc import Mapping
from types import TracebackType
from typing import Any

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError, DedupError
from dedup_filter.framed_pages import FramedPages
from dedup_filter.kept_pages import KeptPages
from dedup_filter.model import Document, Verdict
from dedup_filter.profile import is_long_enough, profile
from dedup_filter.reading import Html, read
from dedup_filter.text import NO_PARTS, ImageSource, WantedParts

__all__ = ["NearDuplicateFilter"]


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
        self._kept = KeptPages(self.config)
        self._framed = FramedPages(self.config, self._kept)
        self._is_closed = False

    @classmethod
    def open(cls, location: str = "memory:", **options: Any) -> "NearDuplicateFilter":
        """Open a filter; the options are the fields of `FilterConfig`.

        Raises:
            ConfigError: an option is unknown or out of range, or the location is none.
        """
        return cls(cls.check_options(location, **options))

    @classmethod
    def check_options(cls, location: str = "memory:", **options: Any) -> FilterConfig:
        """Refuse what `open` would refuse, without opening anything; return the configuration.

        Raises:
            ConfigError: an option is unknown or out of range, or the location is none. The
                message begins with the name of the argument at fault.
        """
        if location != "memory:":
            raise ConfigError(f'location must be "memory:" in this release, not {location!r}')
        return FilterConfig.of(options)

    def see(
        self,
        url: str,
        *,
        html: Html | None = None,
        text: str | None = None,
        content_type: str | None = None,
        images: Mapping[str, bytes] | None = None,
    ) -> Verdict:
        """Judge a page and remember it if it is new.

        Give either `html` (str, bytes or a parsed tree, which is not changed) or `text`;
        `content_type` is the HTTP header, it helps to decode bytes. The host in the URL is
        what frames are learnt by. `images` gives the bytes of some of the page's images by their
        URL (absolute, or as the page has it); others are known by their URL alone. They count
        with `image_weight`, and only where they stand in the main content.

        Cost: 3 to 5 ms for a page of 100 KB, a third of it parsing.

        Raises:
            TypeError: an argument is of a type that cannot be meant.
            DedupError: the filter is closed.
        """
        if self._is_closed:
            raise DedupError("the filter is closed; open another one")
        if not isinstance(url, str):
            raise TypeError(f"a URL is a str, not {type(url).__name__}")
        page = read(html, text, content_type, self._wanted(url, images))
        if isinstance(page, str):
            return Verdict("unjudged", reason=page)
        if isinstance(page, Document):
            return self._kept.see(url, profile(page, self.config))
        return self._framed.see(url, page)

    def _wanted(self, url: str, images: Mapping[str, bytes] | None) -> WantedParts:
        """Say what of a page is to be read besides its text."""
        images = {} if images is None else images
        if not isinstance(images, Mapping) or not all(map(_is_image, images.items())):
            raise TypeError("images maps URLs (str) to contents (bytes)")
        weights = self.config.part_weights
        if not (weights.heading or weights.image):
            return NO_PARTS
        source = ImageSource(url, images) if weights.image else None
        return WantedParts(bool(weights.heading), source)

    def is_long_enough(self, text: str) -> bool:
        """Tell whether a text has enough words for a near-duplicate verdict."""
        return is_long_enough(text)

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def nbytes(self) -> int:
        """Memory of the index, of what is kept of each page and of frames, in bytes."""
        return self._kept.nbytes + self._framed.nbytes

    def check(self) -> None:
        """Verify the invariants of index, store and frames."""
        self._kept.check()
        self._framed.check()

    def close(self) -> None:
        """Take no more pages. An index in memory is of no use then; closing twice is no error."""
        self._is_closed = True

    def __enter__(self) -> "NearDuplicateFilter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _is_image(given: tuple[object, object]) -> bool:
    address, content = given
    return isinstance(address, str) and isinstance(content, bytes)
