"""Records made of a number each, and stores to write them to."""

from hashlib import blake2b

from made_profiles import hashes_of

from dedup_filter.fingerprints.profile import DIGEST_BYTES
from dedup_filter.fingerprints.sketch import KEYS_BYTES, sketch
from dedup_filter.store.protocol import LAST_PAGE, Batch
from dedup_filter.store.records import PageRecord, Scheme
from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.text.page_url import url_key

SCHEME = Scheme.of(features="content", feature_hash="xxh3", shingle_size=3)
NOON = 1_700_000_000
HOST = "www.example.com"
NEW = {"outcome": "new"}


def measures(number, **fields):
    """Measures that no other number has; fingerprints have all 64 bits in use."""
    seed = str(number).encode()
    made = {
        "digest": blake2b(seed, digest_size=DIGEST_BYTES).digest(),
        "fingerprint": int.from_bytes(blake2b(seed, digest_size=8).digest(), "big"),
        "sketch": sketch(hashes_of(list(seed))),
        "keys": blake2b(seed, digest_size=KEYS_BYTES).digest(),
        "words": 100,
        "language": "en",
        "h1": f"Headline {number}",
        "title": f"Title {number} - Site",
    }
    return made | fields


def page(number, judged=NEW, seen=None, **fields):
    """The record of a page that was seen in the first crawl."""
    seen = NOON + number if seen is None else seen
    url = fields.get("url", f"https://{HOST}/{number}")
    made = {
        "page": number,
        "url": url,
        "url_key": url_key(url),
        "host": HOST,
        "first_seen": seen,
        "last_seen": seen,
        "first_crawl": 1,
        "crawl": 1,
        "is_pending": False,
    }
    return PageRecord(**made | judged | measures(number) | fields)


def near(original):
    return {"outcome": "near", "original": original, "distance": 3, "similarity": 0.9}


def memory_store():
    return SqliteStore.in_memory(SCHEME)


def folder_store(folder):
    return SqliteStore.open(folder, SCHEME)


def batch(*records, gone=(), **facts):
    """A batch of records, of numbers of deleted pages, and of other facts."""
    pages = {record.page: record for record in records} | dict.fromkeys(gone)
    notes = {LAST_PAGE: str(max(pages))} if pages else {}
    return Batch(pages, **{"notes": notes, **facts})


def kill(store):
    """Leave a store in a folder as a killed process does: nothing more is written."""
    store._connection.close()
    store._lock.release()
    store._is_closed = True
