"""Records of pages on servers: the head, which holds the state of a claim, and the measures.

    head     10 bytes: state, version, a random number of the claim, the process that wrote it
    fixed    104 bytes: see `_FIXED`, little-endian
    sketch, visit
    lines    deflated UTF-8: language, reason, number of a dropped page's original, canonical key in
             hexadecimal, h1, title, URL

The state of a record is what the state of a `Claim` is in one process:

    C  claiming: its keys are written, others are looked at; another page may overrule it
    P  pending: decided, and held by its process until it is committed or released
    K  kept
    D  dropped: a page that repeats another
    F  forwarded: a visit of an earlier page, which took its measures; its number is the rest
    T  never came: a reader met an entry before its record, and gives the number up

Never change the format of records without another format number (docs/formats.md).
"""

import secrets
import struct
import zlib
from typing import Final, NamedTuple, get_args

from dedup_filter.fingerprints.sketch import KEYS_BYTES, is_sketch
from dedup_filter.model import Outcome
from dedup_filter.store.records import PageRecord
from dedup_filter.text.page_url import host_of, url_key

FORMAT: Final = 6
TOKEN_BYTES: Final = 4
"""Of the random number of a claim, and of the name of a process."""
_HEAD = struct.Struct(f"<cB{TOKEN_BYTES}s{TOKEN_BYTES}s")
_FIXED = struct.Struct(f"<BBBBfIIIIIQ16s{KEYS_BYTES}sHH")
_SUMMARY = struct.Struct("<BBBBfIII")
"""The beginning of `_FIXED`, up to the time when the page was last seen."""
SUMMARY_BYTES = _HEAD.size + _SUMMARY.size
_STATES, _MARKS = (b"C", b"P", b"K", b"D"), (b"F", b"T")
_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_NONE = 255
HEAD_BYTES = _HEAD.size
TOMBSTONE = _HEAD.pack(b"T", 0, bytes(TOKEN_BYTES), bytes(TOKEN_BYTES))
_WINDOW, _LEAST_MEMORY = -9, 1
"""With more of both it takes 20 times as long, to set memory to zero."""
_WORDS = (
    b"categoryforum blog.php?id=.aspx.htm.net/www.org/articlenewsproduct/index.html"
    b".html.com/https://www.http://www.https://en\n\n\n\n\n"
)
"""What lines often have; the most frequent come last. Of 157 bytes of lines 103 are left."""


class Head(NamedTuple):
    """The head of a record, by which its state is compared and set."""

    state: bytes
    version: int
    nonce: bytes
    process: bytes

    @classmethod
    def of_claim(cls, state: bytes, process: bytes) -> "Head":
        """Make the head of a new claim of a process."""
        return cls(state, 0, secrets.token_bytes(TOKEN_BYTES), process)

    @classmethod
    def of(cls, value: bytes) -> "Head":
        """Read the head of a record. Raises ValueError for other bytes."""
        try:
            return cls._make(_HEAD.unpack_from(value))
        except struct.error:
            raise ValueError("it has no head") from None

    @property
    def packed(self) -> bytes:
        """The head as bytes."""
        return _HEAD.pack(*self)

    @property
    def is_undecided(self) -> bool:
        """Whether the page may still be kept or not."""
        return self.state in (b"C", b"P")

    @property
    def is_of_no_page(self) -> bool:
        """Whether the record is only a mark: see F and T. Raises ValueError: there is no state."""
        if self.state not in (*_STATES, *_MARKS):
            raise ValueError(f"it has a state {self.state!r}")
        return self.state in _MARKS

    def now(self, state: bytes) -> "Head":
        """Return the head with another state."""
        return self._replace(state=state)

    def revised(self, process: bytes | None = None) -> "Head":
        """Return the head of a page that has changed, by a process if it is not the page's own.

        A claiming page must look again.
        """
        version, process = (self.version + 1) % 256, self.process if process is None else process
        return self._replace(version=version, process=process)


def last_seen_in(value: bytes) -> int | None:
    """Read the first `SUMMARY_BYTES` of a record; None: it is none of a page."""
    if len(value) < SUMMARY_BYTES or value[:1] not in _STATES:
        return None
    *_, last_seen = _SUMMARY.unpack_from(value, _HEAD.size)
    return int(last_seen)


def pack_record(record: PageRecord) -> bytes:
    """Pack a record, without its head and the page's number.

    Raises:
        ValueError: a number or a time in the record exceeds its field.
    """
    distance = _NONE if record.distance is None else record.distance
    similarity = -1.0 if record.similarity is None else record.similarity
    judged = _OUTCOMES.index(record.outcome), distance, record.fingerprint is not None, similarity
    seen = record.first_seen, record.last_seen, record.first_crawl, record.crawl
    sizes = len(record.sketch), len(record.visit)
    measured = record.fingerprint or 0, record.digest, record.keys, *sizes
    try:
        fixed = _FIXED.pack(FORMAT, *judged, record.words, *seen, *measured)
    except struct.error:
        where = "for which an index on a server has no room"
        raise ValueError(f"has a number or a time {where}") from None
    is_of_none = record.is_kept or record.original is None
    original = "" if is_of_none else str(record.original)
    named = "" if record.canonical_key is None else f"{record.canonical_key:x}"
    # The URL comes last because it may contain line ends.
    lines = [record.language or "", record.reason or "", original, named]
    lines += [record.h1, record.title]
    text = "\n".join([*(line.replace("\n", " ") for line in lines), record.url])
    packer = zlib.compressobj(9, zlib.DEFLATED, _WINDOW, _LEAST_MEMORY, zdict=_WORDS)
    deflated = packer.compress(text.encode("utf-8", "surrogatepass")) + packer.flush()
    return fixed + record.sketch + record.visit + deflated


def unpack_record(page: int, packed: bytes, *, is_pending: bool) -> PageRecord:
    """Unpack a record that `pack_record` packed. Its `visit` is checked when it is read.

    Raises:
        ValueError: the bytes are damaged or of another version.
    """
    try:
        version, outcome, distance, is_long, similarity, words, *seen = _FIXED.unpack_from(packed)
        *seen, value, digest, keys, of_sketch, of_visit = seen
        rest = packed[_FIXED.size :]
        sketch, visit = rest[:of_sketch], rest[of_sketch : of_sketch + of_visit]
        unpacker = zlib.decompressobj(_WINDOW, _WORDS)
        lines = unpacker.decompress(rest[of_sketch + of_visit :]).decode("utf-8", "surrogatepass")
        language, reason, number, named, h1, title, url = lines.split("\n", 6)
        original = int(number) if number else None
        canonical_key = int(named, 16) if named else None
        judged = _OUTCOMES[outcome], reason or None, original
        is_whole = unpacker.eof and is_sketch(sketch)
    except (struct.error, zlib.error, IndexError, ValueError) as error:
        raise ValueError(f"the record of page {page} is damaged") from error
    if version != FORMAT or not is_whole:
        raise ValueError(f"the record of page {page} is damaged, or of version {version}")
    measured = digest, value if is_long else None, sketch, words, language or None
    compared = None if distance == _NONE else distance, None if similarity < 0 else similarity
    rest_of_fields = is_pending, *judged, *compared, h1, title, canonical_key
    keys = keys if any(keys) else b""
    return PageRecord._make(
        (page, url, url_key(url), host_of(url), *measured, *seen, *rest_of_fields, keys, visit)
    )
