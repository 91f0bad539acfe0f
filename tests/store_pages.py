"""Pages to record, made of a number each, and stores to record them in."""

from hashlib import blake2b

from made_profiles import hashes_of

from dedup_filter.fingerprints.profile import DIGEST_BYTES
from dedup_filter.fingerprints.sketch import KEYS_BYTES, sketch
from dedup_filter.store.records import PageRecord, Scheme
from dedup_filter.store.sqlite.page_store import PageStore

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


def page(number, judged=NEW, is_pending=False, seen=None, **fields):
    """A page that was seen in the first crawl."""
    seen = NOON + number if seen is None else seen
    made = {
        "page": 0,
        "url": f"https://{HOST}/{number}",
        "host": HOST,
        "first_seen": seen,
        "last_seen": seen,
        "first_crawl": 1,
        "crawl": 1,
        "is_pending": is_pending,
    }
    return PageRecord(**made | judged | measures(number) | fields)


def near(original):
    return {"outcome": "near", "original": original, "distance": 3, "similarity": 0.9}


def revisit(original):
    return {"outcome": "revisit", "original": original, "distance": 2, "similarity": 0.95}


def memory_store(crawl=None):
    store = PageStore.in_memory(SCHEME)
    store.start_crawl(NOON, crawl)
    return store


def folder_store(folder, crawl=None):
    store = PageStore.open(folder, SCHEME)
    store.start_crawl(NOON, crawl)
    return store


def kill(store):
    """Leave a store in a folder as a killed process does: nothing more is written."""
    store.connection.close()
    store._lock.release()
