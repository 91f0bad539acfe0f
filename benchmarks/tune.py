"""Let `tune` suggest a setting for labelled texts, and compare it with the best that there is.

    python benchmarks/tune.py FOLDER [--sets NAME ...] [--json]
    python benchmarks/tune.py --made 100000

The folder holds sets of the form that the head of `labelled_sets` describes; only text sets are
used. No label is shown to `tune`. Each setting (k from 0 to 12, every `min_similarity` that is
tried) is scored by what records tell (`review/tuning/record_pairs.py`); then the suggested one, the
defaults and the best few are judged by the filter itself, and those figures are printed. A set of
3,000 texts takes some 30 s.

With --made, `tune` is timed on an index of so many made pages: in families of four, each some bits
from the first, and with chance matches as fingerprints of real texts have.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from judgement import WHERE
from labelled_sets import LabelledSet, read_sets
from store import SCHEME, START, pages
from stream_score import score

from dedup_filter.crawl_filter import CrawlFilter
from dedup_filter.filter import PlacedPage
from dedup_filter.fingerprints.sketch import sketch
from dedup_filter.review.tuning.record_pairs import Pages, Pairs, originals_at, pages_of, pairs_of
from dedup_filter.review.tuning.tune import SHARES, Tuning, tune
from dedup_filter.store.records import PageRecord
from dedup_filter.store.sqlite.page_reader import Snapshot
from dedup_filter.store.sqlite.page_store import PageStore

DISTANCES = range(13)
FAMILY = 4
"""Made pages that are versions of one another."""
FINALISTS = 5
"""Best settings by records that the filter judges, as those tell a little less than it."""

Setting = tuple[int, float]


class Seen(NamedTuple):
    """A set, as an index tells of it."""

    pages: Pages
    pairs: Pairs
    names: list[str]
    """The id of each page."""
    tuning: Tuning
    seconds: float
    """What `tune` took."""
    read: list[PlacedPage]
    """The texts, measured: no setting that is tried changes that."""


def seen(labelled: LabelledSet) -> Seen:
    """Judge a set by the defaults, and let `tune` look at the index."""
    with TemporaryDirectory() as folder:
        with CrawlFilter.open(folder) as index:
            read = [index.read(row["id"], text=row["text"]) for row in labelled.rows]
            for each in read:
                index.commit(index.claim_read(each))
        with Snapshot.open_to_read(folder) as snapshot:
            start = time.process_time()
            there = pages_of(snapshot)
            pairs = pairs_of(snapshot, there)
            tuning = tune(there, pairs)
            seconds = time.process_time() - start
            names = [record.url for record in snapshot.records()]
    return Seen(there, pairs, names, tuning, seconds, read)


def f1_of(labelled: LabelledSet, originals: Mapping[str, str]) -> float:
    """Score the originals that pages were given."""
    return score([row["id"] for row in labelled.rows], labelled.labels, originals).f1


def by_records(labelled: LabelledSet, of: Seen, setting: Setting) -> float:
    """Score a setting by what records tell."""
    originals = originals_at(of.pages, of.pairs, *setting).tolist()
    named = {
        of.names[page]: of.names[original]
        for page, original in enumerate(originals)
        if original >= 0
    }
    return f1_of(labelled, named)


def by_filter(labelled: LabelledSet, of: Seen, setting: Setting) -> float:
    """Score a setting by the filter's own verdicts."""
    named = {}
    with CrawlFilter.open(max_distance=setting[0], min_similarity=setting[1]) as index:
        for each in of.read:
            verdict = index.claim_read(each)
            index.commit(verdict)
            if verdict.original is not None:
                named[each.place.url] = verdict.original
    return f1_of(labelled, named)


def compared(labelled: LabelledSet) -> dict[str, Any]:
    """Compare the suggested setting of a set with the best one, and with the defaults."""
    of = seen(labelled)
    suggested: Setting = of.tuning.suggested[:2]
    every = {setting: by_records(labelled, of, setting) for setting in product(DISTANCES, SHARES)}
    best = sorted(every, key=lambda setting: -every[setting])[:FINALISTS]
    judged = {each: by_filter(labelled, of, each) for each in {suggested, (12, 0.8), *best}}
    most = max(judged, key=lambda setting: judged[setting])
    return {
        "set": labelled.name,
        "pages": len(labelled.rows),
        "suggested": suggested,
        "f1": judged[suggested],
        "f1_defaults": judged[12, 0.8],
        "best": most,
        "f1_best": judged[most],
        "of_best": judged[suggested] / judged[most],
        "most_by_records": max(every.values()),
        "worst": min(every.values()),
        "seconds": of.seconds,
        "reasons": of.tuning.suggested.reasons,
    }


def made(count: int) -> Iterator[PageRecord]:
    """Make the records of pages."""
    chance, family, hashes = random.Random(1), 0, np.empty(0, np.uint32)
    for number, record in zip(range(count), pages(1), strict=False):
        if number % FAMILY == 0:
            # Bits lean to 1, so more unrelated pages are near by chance than if they were fair.
            family = chance.getrandbits(64) | (chance.getrandbits(64) & chance.getrandbits(64))
            hashes = np.unique(np.frombuffer(chance.randbytes(4 * 640), np.uint32))
        flipped = sum(1 << bit for bit in chance.sample(range(64), chance.randrange(7)))
        changed = hashes.copy()
        changed[:: chance.choice((4, 10, 50))] ^= np.uint32(chance.getrandbits(32))
        yield record._replace(
            fingerprint=family ^ flipped,
            sketch=sketch(np.unique(changed)),
            h1=f"Family {number // FAMILY}",
            title="",
            outcome="new",
            original=None,
            distance=None,
            similarity=None,
        )


def time_made(count: int) -> None:
    """Time `tune` on so many pages."""
    with TemporaryDirectory() as folder:
        with PageStore.open(folder, SCHEME) as store:
            store.start_crawl(START)
            with store.transaction():
                for record in made(count):
                    store.insert(record)
        with Snapshot.open_to_read(folder) as snapshot:
            start = time.process_time()
            there = pages_of(snapshot)
            pairs = pairs_of(snapshot, there)
            between = time.process_time()
            tune(there, pairs)
            end = time.process_time()
    print(
        f"{count:,} made pages, {len(pairs.later):,} pairs: {between - start:.1f} s to find and"
        f" compare them, {end - between:.1f} s for the rest"
    )


def main() -> None:
    """Read, tune, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], epilog=WHERE)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--made", type=int, help="only: time an index of so many made pages")
    parser.add_argument("--sets", nargs="+", default=[], help="only the sets of these names")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.made:
        time_made(options.made)
        return
    if options.folder is None:
        sys.exit(WHERE)
    least = 1.0
    for labelled in read_sets(options.folder, options.sets):
        if labelled.is_pages:
            continue
        row = compared(labelled)
        least = min(least, row["of_best"])
        if options.json:
            print(json.dumps(row))
            continue
        print(
            "{set}: {pages:,} pages; suggested {suggested} F1 {f1:.4f}, defaults {f1_defaults:.4f},"
            " best {best} {f1_best:.4f} ({of_best:.1%} of it), worst {worst:.4f}; tune took"
            " {seconds:.1f} s".format(**row)
        )
        for reason in row["reasons"]:
            print(f"    {reason}")
    if least < 0.98:
        sys.exit(f"a suggestion reaches only {least:.1%} of the best")


if __name__ == "__main__":
    main()
