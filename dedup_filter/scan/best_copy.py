"""The verdicts of a scan -> the same verdicts, with the best copy of each page kept, not the first.

    log                -> the pages that have copies
    inputs, log        -> a score for each copy               (dates and canonical links are read)
    index, scores      -> the best copy that contains the other copies, if it is not the first
    log, best copies   -> another log, from which outputs are written

A filter keeps the first copy of a page, as it cannot know which copies follow. Once all pages are
judged, all copies are known: the kept page, and the pages dropped for it. The copy with the highest
score is kept; of equal scores, the first in the input. It gets the verdict of the first copy, and
all other copies become its duplicates.

Each copy repeats the first or a part of it. So a copy replaces the first only if its sketch has
enough of the phrases of each other copy (`min_similarity`; on one host, and for a part of a larger
page, half as much may be missing). Else the next best copy is tried; after some tries the first
stays. Verdicts of an earlier scan of the same index do not change, and neither does an index.

Each time, everything is read from the beginning. Scores are in a file, so memory does not grow with
the input. Cost: 20 us a page, 0.3 ms a copy; for dates and canonical links the inputs are read once
more, and a copy with such a link takes 1 ms.
"""

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import date, datetime, timezone
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import repeat
from math import isfinite
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from dedup_filter.errors import DedupError
from dedup_filter.fingerprints.profile import are_equal
from dedup_filter.fingerprints.sketch import shared
from dedup_filter.model import REPEATS, Unjudged
from dedup_filter.scan.inputs import Format, Record, records_in
from dedup_filter.scan.streams import Stream
from dedup_filter.scan.verdict_log import Entry, VerdictLog, entries_in
from dedup_filter.store.records import PageRecord
from dedup_filter.store.sqlite.page_reader import PageReader, signed
from dedup_filter.text.decode import parse
from dedup_filter.text.page_fields import FieldNames, PageText
from dedup_filter.text.page_url import (
    Place,
    canonical_links,
    canonical_of,
    links_of_header,
    url_key,
)
from dedup_filter.text.reading import markup_of
from dedup_filter.thresholds import HALF

Policy = Literal["first", "longest", "newest", "shortest-url", "canonical"]
"""The best copy is the one with

    first         the first place in the input
    longest       the most words of main content (`Verdict.words`)
    newest        the latest date: of the item (`FieldNames.date`) or the WARC record; a copy
                  without a date is older than all copies with one, and newer than earlier such ones
    shortest-url  the shortest URL
    canonical     the URL that most of the others name as canonical; if none is named, the first
"""
POLICIES: tuple[Policy, ...] = get_args(Policy)

_MOST_TRIED = 8
"""Copies of a page that are tried in place of the first."""
_AT_ONCE = 256
"""Sketches that are compared at a time: 10 KB each."""
_MOST_RECORDS = 1_024
"""Records that are cached, 1 MB: copies are often close to one another."""
_MILLISECONDS = 1e11
"""A larger number is in milliseconds: in seconds it would be after the year 5138."""
_UNDATED = -1e15
_WITHOUT_URL = -1e9
_FRACTION = re.compile(r"\.(\d{1,6})\d*")
_DIGITS_OF_TIME = re.compile(r"\d{14}")
_CANONICAL = re.compile(rb"canonical", re.IGNORECASE)

_TABLES = """
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    PRAGMA cache_size = -65536;
    CREATE TABLE repeated (cluster INTEGER PRIMARY KEY);
    CREATE TABLE copies (
        cluster  INTEGER NOT NULL,   -- number of the page that was kept
        place    INTEGER NOT NULL,   -- in the log
        page     INTEGER NOT NULL,   -- its own number
        score    REAL NOT NULL,
        url      TEXT NOT NULL,      -- JSON, as half a surrogate pair has no UTF-8
        first    TEXT,               -- its entry in the log (`found`), if it is the first copy
        url_key  INTEGER,
        named    INTEGER             -- the key of the URL that it names as canonical
    );
    CREATE TABLE best (
        cluster  INTEGER PRIMARY KEY,
        place    INTEGER NOT NULL,
        page     INTEGER NOT NULL,
        url      TEXT NOT NULL,
        first    TEXT NOT NULL       -- `found` of the first copy
    );
"""
_NAMED = "CREATE INDEX named_in ON copies (cluster, named) WHERE named IS NOT NULL"
_COUNT_NAMED = """
    UPDATE copies SET score = (
        SELECT count(*) FROM copies AS other
        WHERE other.cluster = copies.cluster AND other.named = copies.url_key
            AND other.place != copies.place
    )
"""
_OWN = ("page", "words", "fingerprint")
"""Values of a page that do not depend on its original."""


class Scanned(NamedTuple):
    """A scan whose pages are all judged."""

    kind: Format
    inputs: Sequence[tuple[str, Path]]
    """Names of the files, and where they are."""
    names: FieldNames
    log: Path
    index_folder: Path
    min_similarity: float | None


@contextmanager
def best_copies(scanned: Scanned, policy: Policy, folder: Path) -> Iterator[Path]:
    """Yield the log with the best copies, in a folder that is made for it and removed afterwards.

    With the policy "first" it is the log of the scan itself.

    Raises:
        DedupError: a field with dates is named, and no copy has one; an input or the index cannot
            be read.
        OSError: the folder cannot be written to.
    """
    shutil.rmtree(folder, ignore_errors=True)  # left by a scan that was killed
    if policy == "first":
        yield scanned.log
        return
    folder.mkdir()
    connection = sqlite3.connect(folder / "copies.sqlite3", isolation_level=None)
    try:
        connection.executescript(_TABLES)
        with PageReader.open_to_read(scanned.index_folder) as index:
            copies = _Copies(scanned, policy, connection, index)
            copies.score()
            copies.choose()
            log = VerdictLog(folder / "verdicts.jsonl")
            try:
                for entry in copies.entries():
                    log.add(entry)
            finally:
                log.close()
        yield log.path
    except sqlite3.Error as error:
        raise OSError(f"{folder} cannot be written: {error}") from error
    finally:
        connection.close()
        shutil.rmtree(folder, ignore_errors=True)


class _Copies:
    """The pages of a scan that have copies, with their copies."""

    def __init__(
        self, scanned: Scanned, policy: Policy, connection: sqlite3.Connection, index: PageReader
    ) -> None:
        self._scanned = scanned
        self._policy = policy
        self._connection = connection
        self._record = lru_cache(_MOST_RECORDS)(index.record)
        self._has_dates = False

    def score(self) -> None:
        """Store all copies with their scores.

        Raises:
            DedupError: a field with dates is named, and no copy has one.
        """
        run, write = self._connection.execute, self._connection.executemany
        entries = entries_in(self._scanned.log)
        repeated = ((each.found["cluster"],) for each in entries if each.outcome in REPEATS)
        run("BEGIN")
        write("INSERT OR IGNORE INTO repeated VALUES (?)", repeated)
        write("INSERT INTO copies VALUES (?, ?, ?, ?, ?, ?, ?, ?)", self._copies())
        if self._policy == "canonical":
            run(_NAMED)
            run(_COUNT_NAMED)
        run("CREATE INDEX copy_score ON copies (cluster, score DESC, place)")
        run("COMMIT")
        field = self._scanned.names.date
        is_named = self._policy == "newest" and field is not None and self._scanned.kind != "warc"
        if is_named and not self._has_dates and run("SELECT 1 FROM copies").fetchone():
            raise DedupError(f"no page that has copies has a date in {field!r} (--date-field)")

    def choose(self) -> None:
        """Store the best copy of each page, unless it is the first."""
        run = self._connection.execute
        sql = "SELECT cluster, first FROM copies WHERE first IS NOT NULL ORDER BY place"
        for cluster, found_of_first in run(sql):
            best = run(
                """SELECT place, page, url, first FROM copies WHERE cluster = ?
                ORDER BY score DESC, place LIMIT ?""",
                (cluster, _MOST_TRIED),
            ).fetchall()
            for place, page, url, first in best:
                if first is not None:
                    break
                if self._has_all(page, cluster):
                    row = cluster, place, page, url, found_of_first
                    run("INSERT INTO best VALUES (?, ?, ?, ?, ?)", row)
                    break

    def entries(self) -> Iterator[Entry]:
        """Yield the entries of the log with the best copies in place of the first."""
        sql = "SELECT place, page, url, first FROM best WHERE cluster = ?"
        for place, entry in enumerate(entries_in(self._scanned.log)):
            best = self._connection.execute(sql, (_cluster(entry),)).fetchone()
            if best is None:
                yield entry
                continue
            best_place, best_page, url, first = best
            own = {name: entry.found.get(name) for name in _OWN}
            if place == best_place:
                found = {**json.loads(first), **own}
            else:
                page, kept = self._record(own["page"]), self._record(best_page)
                found = {**_repeat(page, kept), **own}
                found |= {"original": json.loads(url), "cluster": _cluster(entry)}
            yield entry._replace(found=found)

    def _copies(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of all copies."""
        is_read = self._policy in ("newest", "canonical")
        records: Iterator[Record | None] = self._records() if is_read else repeat(None)
        is_repeated = "SELECT 1 FROM repeated WHERE cluster = ?"
        entries = entries_in(self._scanned.log)
        for place, (entry, record) in enumerate(zip(entries, records, strict=False)):
            cluster = _cluster(entry)
            if self._connection.execute(is_repeated, (cluster,)).fetchone():
                url = entry.url or f"{self._scanned.inputs[entry.file][0]}:{entry.number}"
                first = None if entry.outcome in REPEATS else json.dumps(entry.found)
                row = cluster, place, entry.found["page"], *self._score(place, entry, record)
                yield *row[:4], json.dumps(url), first, *row[4:]

    def _score(
        self, place: int, entry: Entry, record: Record | None
    ) -> tuple[float, int | None, int | None]:
        """Return the score of a copy; for canonical links the keys of its URL and of its link."""
        if self._policy == "longest":
            return entry.found["words"], None, None
        if self._policy == "shortest-url":
            return -len(entry.url) if entry.url else _WITHOUT_URL, None, None
        assert record is not None, "the record is read for this policy"
        if self._policy == "newest":
            seconds = seconds_of(record.date)
            self._has_dates |= seconds is not None
            return _UNDATED + place if seconds is None else seconds, None, None
        place_of = Place.of(entry.url)
        links = canonical_links_of(record.page) if isinstance(record.page, PageText) else ()
        named = canonical_of(place_of, links)
        return 0, signed(place_of.key), None if named is None else signed(url_key(named))

    def _records(self) -> Iterator[Record]:
        kind, inputs, names, *_ = self._scanned
        for _, path in inputs:
            with Stream.open(path) if kind == "lines" else nullcontext() as stream:
                yield from records_in(str(path), stream, names)

    def _has_all(self, number: int, cluster: int) -> bool:
        """Return whether a copy has enough of the phrases of each other copy."""
        least = self._scanned.min_similarity
        if least is None:
            return True
        pages = self._connection.execute(
            "SELECT page FROM copies WHERE cluster = ? AND page != ?", (cluster, number)
        )
        try:
            copy = self._record(number)
            while rows := pages.fetchmany(_AT_ONCE):
                records = [self._record(page) for (page,) in rows]
                others = [each for each in records if not are_equal(each.digest, copy.digest)]
                sketches = [each.sketch for each in others]
                counts = shared(sketches, [copy.sketch] * len(others))
                for other, common, of_other, of_copy in zip(others, *counts, strict=True):
                    # On one host, or for a part of a larger page, half as much may be missing.
                    is_part = common < HALF * (of_other + of_copy - common)
                    is_halved = is_part or other.host == copy.host
                    if of_other - common > (1 - least) * (HALF if is_halved else 1) * of_other:
                        return False
        except KeyError:  # its record was evicted (`max_pages`)
            return False
        return True


def seconds_of(value: object) -> float | None:
    """Return the Unix seconds of a date; None: the value is not a date.

    A date is a number of seconds or milliseconds, a text in the form of ISO 8601, RFC 5322 (as in
    mails and feeds) or YYYYMMDDhhmmss, or a date of Parquet. Without a zone it is UTC.

    >>> seconds_of("2026-11-23T17:00:00Z") == seconds_of("Mon, 23 Nov 2026 18:00:00 +0100")
    True
    """
    try:
        if isinstance(value, str):
            value = _read_date(value.strip())
        if isinstance(value, date):
            if not isinstance(value, datetime):
                value = datetime(value.year, value.month, value.day)  # noqa: DTZ001 - below
            return value.replace(tzinfo=value.tzinfo or timezone.utc).timestamp()
        if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
            return value / 1000 if abs(value) >= _MILLISECONDS else float(value)
    except (ValueError, OverflowError, TypeError):
        pass
    return None


def canonical_links_of(page: PageText) -> tuple[str, ...]:
    """Return the URLs that a page or its header names as canonical. Cost: 1 ms if there are any."""
    links = links_of_header(page.link or "")
    if isinstance(page.html, str | bytes):
        markup = markup_of(page.html, page.content_type)
        if not isinstance(markup, Unjudged) and _CANONICAL.search(
            markup if isinstance(markup, bytes) else markup.encode("utf-8", "surrogatepass")
        ):
            root = parse(markup)
            links += () if root is None else canonical_links(root)
    return links


def _read_date(text: str) -> datetime | float:
    if _DIGITS_OF_TIME.fullmatch(text):
        return datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=timezone.utc)
    try:
        return float(text)
    except ValueError:
        pass
    try:
        # Python 3.10 does not read "Z", and only fractions of 3 or 6 digits.
        padded = _FRACTION.sub(lambda found: f".{found[1]:0<6}", text)
        return datetime.fromisoformat(re.sub("[Zz]$", "+00:00", padded))
    except ValueError:
        return parsedate_to_datetime(text)


def _cluster(entry: Entry) -> int | None:
    """Return the number of the page that a copy repeats; its own number if it was kept."""
    if entry.outcome in REPEATS:
        return int(entry.found["cluster"])
    # A revisit belongs to a page that an earlier scan has kept.
    return entry.found.get("page") if entry.outcome in ("new", "unjudged") else None


def _repeat(page: PageRecord, kept: PageRecord) -> dict[str, Any]:
    """Return outcome, distance and similarity of a page and the kept page that it repeats."""
    if are_equal(page.digest, kept.digest):
        return {"outcome": "exact", "distance": 0, "similarity": 1.0}
    common, of_page, _ = (int(each[0]) for each in shared([page.sketch], [kept.sketch]))
    one, other = page.fingerprint, kept.fingerprint
    distance = None if one is None or other is None else (one ^ other).bit_count()
    return {"outcome": "near", "distance": distance, "similarity": common / max(of_page, 1)}
