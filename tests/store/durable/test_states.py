"""A directory filter against a list of pages that is scanned end to end.

Pages are made of a digest, a fingerprint and a URL each, so that everything meets everything.
Closing, killing and opening again happen anywhere in between; what was flushed must be there
then, and nothing else.
"""

import copy
import itertools
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from made_profiles import said_profile
from oracles import distance
from store_pages import kill

from dedup_filter.crawl_filter import CrawlFilter

K = 3
URLS = [f"http://{host}.example/{page}" for host in "ab" for page in range(3)]
FINGERPRINTS = [0, 0b111, 0b111111, 0b1111 << 40, 2**64 - 1, 2**63]


class Oracle:
    """Plain lists of what there should be, by the rules in words."""

    def __init__(self):
        self.pages = {}
        self.crawl = 0

    def judge(self, url, digest, fingerprint, is_long, by_host):
        """Return the outcome and the number of the original."""
        kept = {
            number: page
            for number, page in self.pages.items()
            if page["kept"] and (not by_host or host(page["url"]) == host(url))
        }
        matches = [number for number, page in kept.items() if page["digest"] == digest]
        outcome = "exact"
        if not matches:
            if not is_long:
                return "unjudged", None
            outcome = "near"
            near = [
                (distance(page["fingerprint"], fingerprint), number)
                for number, page in kept.items()
                if page["long"] and distance(page["fingerprint"], fingerprint) <= K
            ]
            matches = [number for _, number in sorted(near)]
        for number in matches:
            if kept[number]["crawl"] == self.crawl:
                return outcome, number
        for number in matches:
            if kept[number]["url"] == url:
                return "revisit", number
        return (outcome, matches[0]) if matches else ("new", None)

    def claim(self, number, found, page):
        outcome, original = found
        self.pages[number] = {
            **page,
            "crawl": self.crawl,
            "kept": outcome not in ("near", "exact"),
            "original": original,
            "outcome": outcome,
            "pending": True,
        }

    def commit(self, number):
        page = self.pages[number]
        if page["outcome"] == "revisit" and page["original"] in self.pages:
            old = self.pages[page["original"]]
            for name in ("digest", "fingerprint", "long", "crawl", "outcome"):
                old[name] = page[name]
            del self.pages[number]
            for other in self.pages.values():
                if other["original"] == number:
                    other["original"] = page["original"]
        else:
            page["pending"] = False

    def release(self, number):
        for other in [n for n, p in self.pages.items() if p["original"] == number]:
            if not self.pages[other]["kept"]:
                del self.pages[other]
        del self.pages[number]

    def release_all(self):
        for number in sorted(self.pages):
            if number in self.pages and self.pages[number]["pending"]:
                self.release(number)


def host(url):
    return url.split("/")[2]


class DirectoryMachine(RuleBasedStateMachine):
    @initialize(at_once=st.sampled_from([3, 1_000]))
    def start(self, at_once):
        self.folder = Path(tempfile.mkdtemp())
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr("dedup_filter.store.sqlite.page_reader._ENTRIES_AT_ONCE", at_once)
        self.patch.setattr("dedup_filter.judging.profile", said_profile)
        self.oracle = Oracle()
        self.crawls = {}
        self.unnamed = itertools.count(100)
        self.by_host = False
        self.pending = {}
        self.index = None
        self.open(None, False)

    def open(self, crawl, by_host):
        self.by_host = by_host
        self.index = CrawlFilter.open(
            self.folder / "index",
            crawl=crawl,
            max_distance=K,
            min_similarity=None,
            scope="host" if by_host else "all",
        )
        self.oracle.release_all()
        self.oracle.crawl = self.crawls.setdefault(crawl or next(self.unnamed), len(self.crawls))
        self.pending = {}
        self.flushed = copy.deepcopy(self.oracle.pages)
        self.changes = 0

    @rule(
        url=st.sampled_from(URLS),
        digest=st.integers(0, 12),
        fingerprint=st.sampled_from(FINGERPRINTS),
        is_long=st.sampled_from([True, True, True, False]),
        end=st.sampled_from(["see", "commit", "release", "wait"]),
    )
    def judge(self, url, digest, fingerprint, is_long, end):
        expected = self.oracle.judge(url, digest, fingerprint, is_long, self.by_host)
        text = f"{digest} {fingerprint} 7 {99 if is_long else 9}"
        way = self.index.see if end == "see" else self.index.claim
        verdict = way(url, text=text)
        assert (verdict.outcome, verdict.original_page) == expected
        if expected[1] is not None:
            assert verdict.original == self.oracle.pages[expected[1]]["url"]
        number = self.index._kept.store.last_page
        page = {"url": url, "digest": digest, "fingerprint": fingerprint, "long": is_long}
        self.oracle.claim(number, expected, page)
        self.changes += 3
        if end == "see":
            self.oracle.commit(number)
            assert verdict.page == (expected[1] if expected[0] == "revisit" else number)
        elif end != "wait":
            self.settle(verdict, end)
        else:
            self.pending[number] = verdict

    @precondition(lambda self: self.pending)
    @rule(data=st.data(), end=st.sampled_from(["commit", "release"]))
    def settle_one(self, data, end):
        number = data.draw(st.sampled_from(sorted(self.pending)))
        self.settle(self.pending.pop(number), end)

    def settle(self, verdict, end):
        if verdict.page in self.oracle.pages:
            getattr(self.oracle, end)(verdict.page)
        getattr(self.index, end)(verdict)
        assert self.index.fate(verdict.page) != "pending"
        self.changes += 1

    @rule(url=st.sampled_from(URLS))
    def forget(self, url):
        gone = [number for number, page in self.oracle.pages.items() if page["url"] == url]
        for number in gone:
            del self.oracle.pages[number]
        assert self.index.forget(url) == len(gone)
        self.changes += 1

    @rule()
    def flush(self):
        self.index.flush()
        self.flushed = copy.deepcopy(self.oracle.pages)
        self.changes = 0

    @rule(crawl=st.sampled_from([None, "one", "two"]), by_host=st.booleans())
    def close_and_open(self, crawl, by_host):
        self.index.close()
        self.open(crawl, by_host)

    # With more changes a group may have been written by itself.
    @precondition(lambda self: self.changes < 50)
    @rule(crawl=st.sampled_from([None, "one", "two"]), by_host=st.booleans(), late=st.booleans())
    def kill_and_open(self, crawl, by_host, late):
        if late:
            self.flush()
        kill(self.index._kept.store)
        self.oracle.pages = self.flushed
        self.open(crawl, by_host)

    @invariant()
    def all_is_as_it_should_be(self):
        if self.index is None:
            return
        self.index.check()
        kept = sum(page["kept"] for page in self.oracle.pages.values())
        assert len(self.index) == kept
        recorded = {
            record.page: (record.url, record.is_pending, record.outcome)
            for record in self.index._kept.store.records()
        }
        assert recorded == {
            number: (page["url"], page["pending"], page["outcome"])
            for number, page in self.oracle.pages.items()
        }

    def teardown(self):
        if self.index is not None:
            self.index.close()
            self.patch.undo()
            shutil.rmtree(self.folder)


TestDirectory = DirectoryMachine.TestCase
TestDirectory.settings = settings(max_examples=20, stateful_step_count=30, deadline=None)
