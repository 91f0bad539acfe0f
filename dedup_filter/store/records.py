"""Values: records of pages, and how their fingerprints were made (the scheme).

Fingerprints made in different ways cannot be compared, so an index says how its own were made (its
scheme) and is refused to who makes them otherwise. The scheme has the recipe of features with its
sizes and hash, the sketch, and the versions of what texts are read with. It does not have what may
differ from one look-up to the next (`max_distance`, `min_similarity`, `scope`, `revisit`), nor
`learn_frames`, which chooses what of a page is its text: texts are then compared as ever.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from dedup_filter.errors import SchemeMismatch
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.fingerprints.sketch import MOST_SKETCH_BYTES
from dedup_filter.model import REPEATS, Outcome, Verdict
from dedup_filter.text.headlines import Headline
from dedup_filter.text.page_url import Place, url_key

TEXT_VERSION = 6
"""Of everything in `text`, `features` and `fingerprints` that is no option: which blocks are
content, the normal form, words, weights. Raise it with any change after which some page gets
another fingerprint, digest or sketch; `tests/store/sqlite/test_scheme.py` watches some."""
KEPT_AS_TEXT = b""
"""The form of a page that was given as text: its text is all of it. Others are those of
`page_bytes`."""
_REMEDY = (
    "go back to what it was made with, make its fingerprints anew with "
    "`dedup-filter index migrate`, or choose another folder"
)
_WHY = {
    "text": "the way that texts are read",
    "jieba": "the Chinese dictionary jieba",
    "stopwordsiso": "the stopword lists stopwordsiso",
    "justext": "the lists of frequent words of justext",
}


class Crawl(NamedTuple):
    """A crawl; times are Unix seconds."""

    number: int
    name: str | None
    started: int
    ended: int | None
    """None: it runs, or its process was killed."""
    options: dict[str, Any] | None = None
    """By which its pages were judged, as far as the scheme does not tell; those of its last
    process. None: not known, as of a shared index."""


class PageRecord(NamedTuple):
    """All that is recorded of a page."""

    page: int
    """Its number; 0: it gets the next one."""
    url: str
    host: str
    digest: bytes
    """24 bytes, see `PageProfile`."""
    fingerprint: int | None
    """None: the page is too short to be near another."""
    sketch: bytes
    words: int
    language: str | None
    first_seen: int
    """Unix seconds."""
    last_seen: int
    first_crawl: int
    crawl: int
    is_pending: bool
    outcome: Outcome
    reason: str | None = None
    original: int | None = None
    """The number of the page that it repeats."""
    distance: int | None = None
    similarity: float | None = None
    h1: str = ""
    title: str = ""
    canonical_key: int | None = None
    """The key of the URL that a page which is kept names as its canonical one, see
    `Verdict.canonical`; not recorded on servers."""
    keys: bytes = b""
    """Of the shingles of its texts, see `phrase_keys`; b"" if it is not found by them."""

    @property
    def place(self) -> Place:
        """Where its page was found."""
        return Place(self.url, self.host, url_key(self.url))

    @property
    def url_key(self) -> int:
        """The same for all spellings of its URL."""
        return url_key(self.url)

    @property
    def headline(self) -> Headline:
        """What its page is headed by."""
        return Headline(self.h1, self.title)

    @property
    def is_kept(self) -> bool:
        """Whether later pages are compared with it."""
        return self.outcome not in REPEATS

    @classmethod
    def of(
        cls, place: Place, page: PageProfile, found: Verdict, moment: int, crawl: int
    ) -> "PageRecord":
        """Return the record of a page that was judged now, pending."""
        named = None if found.is_duplicate else found.canonical
        return cls(
            page=0,
            url=place.url,
            host=place.host,
            **measures_of(page, is_kept=not found.is_duplicate),
            first_seen=moment,
            last_seen=moment,
            first_crawl=crawl,
            crawl=crawl,
            is_pending=True,
            outcome=found.outcome,
            reason=found.reason,
            original=found.original_page,
            distance=found.distance,
            similarity=found.similarity,
            canonical_key=None if named is None else url_key(named),
        )


def measures_of(page: PageProfile, *, is_kept: bool = True) -> dict[str, Any]:
    """Return the fields of a record that later pages are compared with, if it is kept."""
    return {
        "digest": page.digest,
        "fingerprint": page.fingerprint,
        "sketch": page.sketch,
        "keys": page.keys if is_kept else b"",
        "words": page.word_count,
        "language": page.language,
        **page.headline._asdict(),
    }


@dataclass(frozen=True)
class Scheme:
    """Everything that shapes a fingerprint: name -> version or value, all of them strings."""

    parts: Mapping[str, str]

    @classmethod
    def of(cls, **options: object) -> "Scheme":
        """Name the scheme of this version of the package, with these options."""
        installed = {name: _installed(name) for name in ("jieba", "stopwordsiso", "justext")}
        sketch = f"fracminhash {MOST_SKETCH_BYTES}"
        parts = {"text": TEXT_VERSION, "fingerprint": "simhash 64", "sketch": sketch}
        return cls({name: str(value) for name, value in (parts | installed | options).items()})

    @classmethod
    def from_json(cls, text: str) -> "Scheme":
        """Read what `to_json` wrote."""
        return cls(dict(json.loads(text)))

    def to_json(self) -> str:
        """Write it down."""
        return json.dumps(dict(self.parts), sort_keys=True)

    def require(self, stored: "Scheme", index: str, remedy: str = _REMEDY) -> None:
        """Refuse an index of this name whose scheme is another.

        Raises:
            SchemeMismatch: naming what differs.
        """
        differences = [
            f"{_WHY.get(name, name)} ({there} there, {here} here)"
            for name in sorted({*self.parts, *stored.parts})
            if (there := stored.parts.get(name, "none")) != (here := self.parts.get(name, "none"))
        ]
        if differences:
            raise SchemeMismatch(
                f"the fingerprints in index {index} were made in another way: "
                f"{', '.join(differences)}; {remedy}"
            )


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # the dictionary is there all the same, if in another way
        return "unknown"
