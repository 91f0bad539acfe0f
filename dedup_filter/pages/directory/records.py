"""Records of pages, and where those were found: values of Python <-> columns of SQLite.

A place is a URL, its host, and 64 bits that are equal for two spellings of one address. The
canonical form is w3lib's, which crawlers use to tell requests apart: arguments sorted, fragment
dropped, escapes unified. Its hash is stored with each page: never change it under an old index.

SQLite's integers are signed, so 64-bit values are stored as their two's complement. Its text is
UTF-8, which cannot hold half of a surrogate pair. URLs on the web have some: those are stored as
bytes.
"""

import re
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import xxhash
from w3lib.url import canonicalize_url

from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.model import Outcome, Verdict
from dedup_filter.text import Headline

__all__ = [
    "COLUMNS",
    "Crawl",
    "Judged",
    "PageRecord",
    "Place",
    "as_column",
    "canonical",
    "from_column",
    "host_of",
    "measures_of",
    "signed",
    "unsigned",
    "url_key",
]

_CANONICAL = re.compile(r"https?://[a-z0-9][a-z0-9.-]*/[A-Za-z0-9/_.~-]*")
"""Most URLs are in that form already, and to find that out takes 0.4 us instead of 6."""
_HOST = re.compile(r"(https?)://([a-z0-9._:-]+)(?=[/?#]|\Z)")
"""Of most URLs, found in a tenth of the time that it takes to split them."""
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}

COLUMNS = """id, url, host, digest, fingerprint, sketch, words, language, first_seen, last_seen,
    first_crawl, crawl, is_pending, outcome, reason, original, distance, similarity, h1, title"""
"""Those of a record, in the order of `PageRecord.row`; `host` is its number."""


def canonical(url: str) -> str:
    """Return the form in which two spellings of a URL are the same.

    >>> canonical("https://example.com/a?b=2&a=1#top")
    'https://example.com/a?a=1&b=2'
    """
    if _CANONICAL.fullmatch(url):
        return url
    try:
        return str(canonicalize_url(url))
    except ValueError:  # "http://[1/": such a URL has one spelling
        return url


def host_of(url: str) -> str:
    """Return the host of a URL, with its port if that is not the usual one; "" if it has none.

    >>> host_of("https://example.com:8080/a"), host_of("HTTPS://me:secret@Example.com:443/a")
    ('example.com:8080', 'example.com')
    """
    usual = _HOST.match(url)
    scheme, host = usual.groups() if usual else _split(url)
    return host.removesuffix(_DEFAULT_PORTS.get(scheme, ":"))


def _split(url: str) -> tuple[str, str]:
    try:
        split = urlsplit(url)
    except ValueError:  # "http://[1/"
        return "", ""
    return split.scheme, split.netloc.rpartition("@")[2].lower()


@lru_cache(maxsize=16)  # it is asked for when a page is judged, and when that is recorded
def url_key(url: str) -> int:
    """Hash the canonical form of a URL. Cost: 0.4 us, 15 if it is not canonical yet."""
    encoded = canonical(url).encode("utf-8", "surrogatepass")
    return xxhash.xxh3_64_intdigest(encoded)


class Place(NamedTuple):
    """Where a page was found."""

    url: str
    host: str
    key: int
    """The same for all spellings of the URL."""

    @classmethod
    def of(cls, url: str) -> "Place":
        """Read a URL."""
        return cls(url, host_of(url), url_key(url))


class Crawl(NamedTuple):
    """A crawl; times are Unix seconds."""

    number: int
    name: str | None
    started: int
    ended: int | None
    """None: it runs, or its process was killed."""


class Judged(NamedTuple):
    """What was said of a page."""

    outcome: Outcome
    reason: str | None = None
    original: int | None = None
    distance: int | None = None
    similarity: float | None = None

    @classmethod
    def of(cls, found: Verdict) -> "Judged":
        """Return what is recorded of a verdict."""
        return cls(
            found.outcome, found.reason, found.original_page, found.distance, found.similarity
        )

    @property
    def is_kept(self) -> bool:
        """Whether later pages are compared with it."""
        return self.outcome not in ("near", "exact")


class PageRecord(NamedTuple):
    """All that is recorded of a page."""

    page: int
    """Its number; 0: it gets the next one."""
    url: str
    host: str
    digest: bytes
    """16 bytes."""
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
    judged: Judged
    headline: Headline = Headline()

    @classmethod
    def of(cls, row: Any) -> "PageRecord":
        """Read a row of `COLUMNS`, with the name of the host in place of its number."""
        page, url, host, digest, fingerprint, *plain = row[:12]
        fingerprint = None if fingerprint is None else unsigned(fingerprint)
        names = from_column(url), from_column(host)
        headline = Headline(from_column(row[18]), from_column(row[19]))
        said = bool(row[12]), Judged(*row[13:18]), headline
        return cls._make((page, *names, digest, fingerprint, *plain, *said))

    def row(self, host: int) -> tuple[Any, ...]:
        """Write it as a row of `COLUMNS`, given the number of its host."""
        page, url, _, digest, fingerprint, *plain = self[:13]
        return (
            page or None,
            as_column(url),
            host,
            digest,
            None if fingerprint is None else signed(fingerprint),
            *plain,
            *self.judged,
            *map(as_column, self.headline),
        )


def measures_of(page: PageProfile) -> dict[str, Any]:
    """Return the fields of a record that later pages are compared with."""
    return {
        "digest": page.digest,
        "fingerprint": page.fingerprint,
        "sketch": page.sketch,
        "words": page.word_count,
        "language": page.language,
        "headline": page.headline,
    }


def signed(value: int) -> int:
    """Return the signed integer with the same 64 bits.

    >>> signed(2**64 - 1), signed(2**63 - 1) == 2**63 - 1
    (-1, True)
    """
    return value - (1 << 64) if value >> 63 else value


def unsigned(value: int) -> int:
    """Return the integer from 0 to 2**64-1 with the same 64 bits."""
    return value & 0xFFFF_FFFF_FFFF_FFFF


def as_column(text: str) -> str | bytes:
    """Return a text in the form in which SQLite takes it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def from_column(value: str | bytes) -> str:
    """Return the text that `as_column` was given."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")
