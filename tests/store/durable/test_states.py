"""An index in a directory against a list of pages that is scanned end to end.

Pages are made of a digest, a fingerprint, a text and a URL each, so that everything meets
everything. Two texts have no phrase in common.
Closing, killing, opening and faults of the disk happen anywhere in between. After a kill the
directory has the pages that were settled at the last write, and nothing else.
"""

import copy
import itertools
import random
from contextlib import suppress

import pytest
from gate import slow
from made_profiles import profile_of_said
from oracles import distance
from store_pages import kill

from dedup_filter.errors import StoreError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.judge import Judge
from dedup_filter.store.sqlite_store import SqliteStore

K = 3
URLS = [f"http://{host}.example/{page}" for host in "ab" for page in range(2)]
FINGERPRINTS = [0, 0b111, 0b111111, 0b1111 << 40, 2**64 - 1, 2**63]


class Oracle:
    """Plain lists of what there should be, by the rules in words."""

    def __init__(self):
        self.pages = {}
        self.crawl = 0

    def earlier(self, url):
        """Return the number of the page that an earlier crawl met at a URL; None: none did."""
        there = {number: page for number, page in self.pages.items() if page["url"] == url}
        if not there or any(page["crawl"] == self.crawl for page in there.values()):
            return None
        latest = max(there, key=lambda number: (there[number]["crawl"], number))
        original = there[latest]["original"]
        return original if original in there else latest

    def judge(self, page, by_host):
        """Return the outcome and the number of the original, and how much of the page that has."""
        before = self.pages.get(self.earlier(page["url"]))
        is_equal = before is not None and before["digest"] == page["digest"]
        is_same = is_equal or (before is not None and before["text"] == page["text"])
        if is_same and before["kept"]:
            return "revisit", self.earlier(page["url"]), 1
        original = None if before is None else self.pages.get(before["original"])
        if original is not None and by_host and host(original["url"]) != host(page["url"]):
            original = None
        if is_equal and not before["kept"] and original is not None:
            share = float(page["text"] == original["text"])
            if share >= before["share"]:  # its original holds as much of it as before
                is_exact = page["digest"] == original["digest"]
                return "exact" if is_exact else "near", before["original"], share
        outcome, number, share = self.compare(page, by_host)
        if outcome == "near" and is_same and not is_equal and not before["kept"] and not share:
            return "new", None, None  # it has changed, and its original has not
        return outcome, number, share

    def compare(self, page, by_host):
        """Return the same by all kept pages, whatever an earlier crawl met at the URL."""
        kept = {
            number: other
            for number, other in self.pages.items()
            if other["kept"] and (not by_host or host(other["url"]) == host(page["url"]))
        }
        shares = {number: float(other["text"] == page["text"]) for number, other in kept.items()}
        matches = [number for number, other in kept.items() if other["digest"] == page["digest"]]
        outcome = "exact"
        if matches:
            shares = dict.fromkeys(matches, 1.0)
        else:
            if not page["long"]:
                return "unjudged", None, None
            outcome = "near"
            apart = {n: distance(kept[n]["fingerprint"], page["fingerprint"]) for n in kept}
            near = [number for number in kept if kept[number]["long"] and apart[number] <= K]
            matches = sorted(near, key=lambda number: (apart[number], -shares[number], number))
        ours = [number for number in matches if kept[number]["crawl"] == self.crawl]
        revisited = [number for number in matches if kept[number]["url"] == page["url"]]
        if not matches:
            return "new", None, None
        if not ours and revisited:
            return "revisit", revisited[0], shares[revisited[0]]
        [number, *_] = ours or matches
        return outcome, number, shares[number]

    def claim(self, number, found, page):
        outcome, original, share = found
        self.pages[number] = {
            **page,
            "crawl": self.crawl,
            "kept": outcome not in ("near", "exact"),
            "original": original,
            "outcome": outcome,
            "share": share,
            "earlier": self.earlier(page["url"]),
            "pending": True,
        }

    def commit(self, number):
        self.pages[number]["pending"] = False
        if not self.waits(number):
            repeats = [n for n, page in self.pages.items() if page["original"] == number]
            self.settle(number)
            for each in repeats:
                if not self.pages[each]["pending"]:
                    self.settle(each)

    def waits(self, number):
        """Whether a page repeats a pending one, whose fate decides its own."""
        page = self.pages[number]
        original = self.pages.get(page["original"], page)
        return not page["kept"] and original["pending"]

    def settle(self, number):
        """Let a page take the place of what an earlier crawl recorded of it."""
        page = self.pages[number]
        if page["outcome"] != "revisit":
            self.pages.pop(page["earlier"], None)
        elif page["original"] in self.pages:
            old = self.pages[page["original"]]
            for name in ("digest", "fingerprint", "text", "long", "crawl", "outcome"):
                old[name] = page[name]
            old["seen"] = max(old["seen"], page["seen"])
            del self.pages[number]
            for other in self.pages.values():
                if other["original"] == number:
                    other["original"] = page["original"]
            old["original"] = None  # it repeats no page

    def release(self, number):
        for other in [n for n, p in self.pages.items() if p["original"] == number]:
            if not self.pages[other]["kept"]:
                del self.pages[other]
        del self.pages[number]

    def release_all(self, numbers):
        for number in numbers:
            if number in self.pages and self.pages[number]["pending"]:
                self.release(number)

    def settled(self):
        """The pages that are neither pending nor dropped for a pending page."""
        return {
            number: page
            for number, page in self.pages.items()
            if not page["pending"] and not self.waits(number)
        }

    def writes(self, most):
        """Yield at each write of a flush; from then on pages beyond the bound are gone."""
        yield
        for is_kept in (True, False) if most is not None else ():
            there = {n: page for n, page in self.settled().items() if page["kept"] == is_kept}
            by_age = sorted(there, key=lambda number: (there[number]["seen"], number))
            if gone := by_age[: max(len(there) - most, 0)]:
                for number in gone:
                    del self.pages[number]
                yield


def host(url):
    return url.split("/")[2]


class Walk:
    """An index and an oracle; the steps are drawn by a seed."""

    def __init__(self, seed, folder, patch):
        self.chance = random.Random(seed)
        self.folder, self.by_host = folder / "index", False
        self.oracle, self.crawls, self.unnamed = Oracle(), {}, itertools.count(100)
        self.most, self.clock = self.chance.choice([None, None, 3]), 1_000
        self.written, self.left, self.pending = {}, None, {}
        patch.setattr("dedup_filter.store.sqlite_store._ENTRIES_AT_ONCE", 3)
        patch.setattr("dedup_filter.judge.FULL_BATCH", 4)
        patch.setattr("dedup_filter.judge.profile_of", profile_of_said)
        patch.setattr("dedup_filter.judge.now", lambda: self.clock)
        flush, write = Judge.flush, SqliteStore.write

        def noted_flush(judge):
            self.writes = self.oracle.writes(self.most)
            flush(judge)
            assert next(self.writes, "all") == "all", "a page beyond a bound stayed"

        def noted_write(store, batch):
            next(self.writes, None)  # a close writes once more: that its entries are saved
            if self.left is not None:
                if not self.left:
                    raise StoreError("the disk is full")
                self.left -= 1
            for _ in range(2):  # to write a batch twice is to write it once
                write(store, batch)
            self.written = copy.deepcopy(self.oracle.settled())

        patch.setattr(Judge, "flush", noted_flush)
        patch.setattr(SqliteStore, "write", noted_write)
        self.open()

    def open(self):
        crawl, self.pending = self.chance.choice([None, "one", "two"]), {}
        self.by_host = self.chance.random() < 0.3
        self.oracle.pages = copy.deepcopy(self.written)
        self.oracle.crawl = self.crawls.setdefault(crawl or next(self.unnamed), len(self.crawls))
        self.index = NearDuplicateFilter.open(
            self.folder,
            crawl=crawl,
            max_distance=K,
            min_similarity=None,
            scope="host" if self.by_host else "all",
            max_pages=self.most,
        )

    def step(self):
        weights = {
            self.judge: 10,
            self.settle_one: 6,
            self.forget: 1,
            self.flush: 1,
            self.fill_disk: 1,
            self.close_and_open: 0.5,
            self.kill_and_open: 0.5,
        }
        [step] = self.chance.choices([*weights], [*weights.values()])
        step()
        self.require_whole()

    def insist(self, work):
        """Do something again if the disk is full; until then nothing of it has happened."""
        self.clock += 1
        while True:
            last = self.index.conductor._last_page
            try:
                return work()
            except StoreError:
                self.left = None
                self.require_whole()
                assert self.index.conductor._last_page == last

    def fill_disk(self):
        """Let the disk be full after some writes, until an error was seen."""
        self.left = self.chance.randrange(3)

    def judge(self):
        url, digest = self.chance.choice(URLS), self.chance.randrange(8)
        fingerprint, is_long = self.chance.choice(FINGERPRINTS), self.chance.random() < 0.8
        end = self.chance.choice(["see", "commit", "release", "wait", "wait", "wait"])
        text = self.chance.choice([7, 8])
        said = f"{digest} {fingerprint} {text} {99 if is_long else 9}"
        way = self.index.see if end == "see" else self.index.claim
        verdict = self.insist(lambda: way(url, text=said))
        # Bounds were applied before, if a batch was full.
        page = {"url": url, "digest": digest, "fingerprint": fingerprint, "long": is_long}
        page |= {"text": text, "seen": self.clock}
        expected = self.oracle.judge(page, self.by_host)
        assert (verdict.outcome, verdict.original_page) == expected[:2]
        if expected[1] is not None:
            assert verdict.original == self.oracle.pages[expected[1]]["url"]
        number = self.index.conductor._last_page
        self.oracle.claim(number, expected, page)
        if end == "see":
            self.oracle.commit(number)
            assert verdict.page == (expected[1] if expected[0] == "revisit" else number)
        elif end != "wait":
            self.settle(verdict, end)
        else:
            self.pending[number] = verdict

    def settle_one(self):
        if self.pending:
            verdict = self.pending.pop(self.chance.choice(sorted(self.pending)))
            self.settle(verdict, self.chance.choice(["commit", "commit", "release"]))
            if self.chance.random() < 0.3:
                self.index.release(verdict)
                self.index.commit(verdict)

    def settle(self, verdict, end):
        if verdict.page in self.oracle.pages:
            getattr(self.oracle, end)(verdict.page)
        getattr(self.index, end)(verdict)
        assert self.index.conductor.fate(verdict.page) != "pending"

    def forget(self):
        url = self.chance.choice(URLS)
        gone = [number for number, page in self.oracle.pages.items() if page["url"] == url]
        self.oracle.release_all(gone)
        for number in gone:
            self.oracle.pages.pop(number, None)
        assert self.index.forget(url) == len(gone)

    def flush(self):
        self.insist(self.index.flush)
        with SqliteStore.open_to_read(self.folder) as index:
            index.check()
            found = {
                each.page: (each.url, each.outcome, each.original, each.last_seen, each.crawl - 1)
                for each in index.records()
            }
        names = ("url", "outcome", "original", "seen", "crawl")
        settled = self.oracle.settled().items()
        assert found == {n: tuple(page[name] for name in names) for n, page in settled}

    def close_and_open(self):
        self.oracle.release_all(sorted(self.pending))
        with suppress(StoreError):
            self.index.close()
            assert self.written == self.oracle.pages
        self.left = None
        self.open()

    def kill_and_open(self):
        kill(self.index.conductor.store)
        self.left = None
        self.open()

    def require_whole(self):
        self.index.check()
        pages = self.oracle.pages
        assert len(self.index) == sum(page["kept"] for page in pages.values())
        for number, page in pages.items():
            assert (self.index.conductor.fate(number) == "pending") == page["pending"]
        assert not any(
            self.index.conductor.fate(number) == "pending"
            for number in self.pending.keys() - pages.keys()
        )


@pytest.mark.parametrize("seed", [*range(6), *(slow(n) for n in range(6, 30))])
def test_an_index_is_what_the_oracle_says(seed, tmp_path, monkeypatch):
    walk = Walk(seed, tmp_path, monkeypatch)
    for _ in range(80):
        walk.step()
    walk.left = None
    walk.index.close()
