"""Pages to record, made of a number each, and what a store should say of them."""

from hashlib import blake2b

from made_profiles import hashes_of

from dedup_filter.fingerprints import sketch
from dedup_filter.pages.directory import (
    Judged,
    Measured,
    NewPage,
    PageStore,
    Place,
    Scheme,
)
from dedup_filter.pages.directory.index_entries import digest_head
from dedup_filter.pages.directory.url_key import url_key
from dedup_filter.text import Headline

SCHEME = Scheme.of(features="content", feature_hash="xxh3", shingle_size=3)
NOON = 1_700_000_000
NEW = Judged("new")


def measured(number, *, fingerprint=-1):
    """Measures that no other number has; fingerprints have all 64 bits in use."""
    seed = str(number).encode()
    fingerprint = (
        int.from_bytes(blake2b(seed, digest_size=8).digest(), "big")
        if fingerprint == -1
        else fingerprint
    )
    return Measured(
        blake2b(seed, digest_size=16).digest(),
        fingerprint,
        sketch(hashes_of(list(seed))),
        100,
        "en",
        Headline(f"Headline {number}", f"Title {number} - Site"),
    )


def new_page(number, judged=NEW, url=None, host="www.example.com", **fields):
    url = f"https://www.example.com/{number}" if url is None else url
    defaults = {
        "measured": measured(number),
        "place": Place(url, host, url_key(url)),
        "seen": NOON + number,
    }
    return NewPage(judged=judged, **{**defaults, **fields})


def near(original):
    return Judged("near", None, original, 3, 0.9)


def memory_store(crawl=None):
    store = PageStore.in_memory(SCHEME)
    store.crawls.start(NOON, crawl)
    return store


def folder_store(folder, crawl=None):
    store = PageStore.open(folder, SCHEME)
    store.crawls.start(NOON, crawl)
    return store


def kill(store):
    """Leave a store in a folder as a killed process does: nothing more is written."""
    store._transactions.connection.close()
    store._lock.release()


def index_of(store):
    """What an index holds that was filled from a store: entries, and those of digests marked."""
    fingerprints, digests = (
        zip(*(column.tolist() for column in found), strict=True)
        for found in (store.entries.fingerprints(), store.entries.digests())
    )
    return set(fingerprints) | {("digest", *entry) for entry in digests}


def as_held(entries):
    """What an index holds of entries, as `index_of` tells it."""
    return {(e.page, e.fingerprint, e.host) for e in entries if e.fingerprint is not None} | {
        ("digest", e.page, digest_head(e.digest), e.host) for e in entries
    }


def removed_by(change):
    return as_held(change.removed)


def added_by(change):
    return as_held(change.added)


def with_digest(store, digest):
    """The kept pages with a digest, as somebody finds them who looks at every page."""
    kept = (record for record in store.records() if record.judged.is_kept)
    return [record.page for record in kept if record.digest == digest]


class Follower:
    """An index as its owner keeps it: filled once, then changed as the store says."""

    def __init__(self, store):
        self.entries = index_of(store)

    def follow(self, change):
        assert removed_by(change) <= self.entries
        self.entries = (self.entries - removed_by(change)) | added_by(change)
