"""Values: records of pages, and the scheme of their fingerprints.

Fingerprints of different schemes cannot be compared. So an index stores its scheme, and a process
with another scheme is refused. A scheme has the recipe of features with its sizes and hash, the
sketch, and the versions of the text rules and their libraries. It omits options that may differ
between look-ups (`max_distance`, `min_similarity`, `scope`, `revisit`), and `learn_frames`: this
option selects the text of a page, but texts are compared in the same way with and without it.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from dedup_filter.comparison.visits import packed_visit
from dedup_filter.errors import SchemeMismatch
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.fingerprints.sketch import MOST_SKETCH_BYTES
from dedup_filter.model import REPEATS, Again, Outcome, Reason, Source, Verdict
from dedup_filter.text.headlines import Headline
from dedup_filter.text.page_url import Place, url_key

TEXT_VERSION = 8
"""Version of all rules in `text`, `features` and `fingerprints` that are no options: the choice of
blocks, the normal form, words, weights. Raise it with any change that gives some page another
fingerprint, digest or sketch; `tests/store/sqlite/test_scheme.py` checks some pages."""
KEPT_AS_TEXT = b""
"""The form of a page that was given as plain text: its stored text is the whole page. Other pages
have the form of `page_bytes`."""
_REMEDY = (
    "go back to what it was made with, or choose another folder and fill it with "
    "`dedup-filter see` from feeds or kept texts"
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
    """None: the crawl runs, or its process was killed."""
    options: dict[str, Any] | None = None
    """The options of its last process that shape verdicts and are not in the scheme. None: not
    known, as for a shared index."""


def crawls_to_json(crawls: Iterable[Crawl]) -> str:
    """Return crawls as JSON."""
    return json.dumps([each._asdict() for each in crawls], sort_keys=True)


def crawls_from_json(text: str | None) -> list[Crawl]:
    """Read the output of `crawls_to_json`; None: there are none."""
    return [Crawl(**each) for each in json.loads(text or "[]")]


class PageRecord(NamedTuple):
    """The record of a page."""

    page: int
    """The number of the page; 0: the page gets the next number."""
    url: str
    url_key: int
    """The key of the URL, the same for all spellings."""
    host: str
    digest: bytes
    """16 bytes, see `PageProfile`."""
    fingerprint: int | None
    """None: the page is too short for near duplicates."""
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
    reason: Reason | Source | Again | None = None
    original: int | None = None
    """The number of the page that this page repeats."""
    distance: int | None = None
    similarity: float | None = None
    h1: str = ""
    title: str = ""
    canonical_key: int | None = None
    """The key of the canonical URL that a kept page names, see `Verdict.canonical`."""
    keys: bytes = b""
    """Keys of the shingles of its texts, see `phrase_keys`; b"" if it is not found by keys."""
    visit: bytes = b""
    """What later visits are compared with beside the sketch: see `comparison.visits`."""

    @property
    def place(self) -> Place:
        """The URL of the page, its host and its key."""
        return Place(self.url, self.host, self.url_key)

    @property
    def headline(self) -> Headline:
        """The h1 and the title of the page."""
        return Headline(self.h1, self.title)

    @property
    def is_kept(self) -> bool:
        """Whether later pages are compared with this page."""
        return self.outcome not in REPEATS

    @classmethod
    def of(
        cls, place: Place, page: PageProfile, found: Verdict, moment: int, crawl: int
    ) -> "PageRecord":
        """Return the pending record of a page that was judged now."""
        named = None if found.is_duplicate else found.canonical
        return cls(
            page=0,
            url=place.url,
            url_key=place.key,
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
    """Return the fields of a record for comparisons; a dropped page has no keys."""
    return {
        "digest": page.digest,
        "fingerprint": page.fingerprint,
        "sketch": page.sketch,
        "keys": page.keys if is_kept else b"",
        "visit": packed_visit(page.blocks),
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
        """Return the scheme of this version of the package, with these options."""
        installed = {name: _installed(name) for name in ("jieba", "stopwordsiso", "justext")}
        sketch = f"fracminhash {MOST_SKETCH_BYTES}"
        parts = {"text": TEXT_VERSION, "fingerprint": "simhash 64", "sketch": sketch}
        return cls({name: str(value) for name, value in (parts | installed | options).items()})

    @classmethod
    def from_json(cls, text: str) -> "Scheme":
        """Read the output of `to_json`."""
        return cls(dict(json.loads(text)))

    def to_json(self) -> str:
        """Return the scheme as JSON."""
        return json.dumps(dict(self.parts), sort_keys=True)

    def require(self, stored: "Scheme", index: str, remedy: str = _REMEDY) -> None:
        """Refuse an index whose `stored` scheme differs.

        Raises:
            SchemeMismatch: the schemes differ; the message names the differences.
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


@cache  # 2 ms a package: its metadata is parsed
def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # the package is importable, but without its metadata
        return "unknown"
