"""Crawlers that share an index: real processes, and pages whose measures are chosen.

    pages -> one process each, all at the same groups at the same moment -> what became of them

A page's text says what it is like ("DIGEST FINGERPRINT SHINGLES WORDS"), so that thousands of
groups of near-duplicates cost no time to read. What a crawler did it says at once, on a pipe that
outlives it: some are killed. Knows nothing of pytest.
"""

import contextlib
import multiprocessing
import os
import random
import re
import signal
import time
from collections import Counter
from typing import NamedTuple

import redis
from made_profiles import hashes_of, made_profile

from dedup_filter import NearDuplicateFilter
from dedup_filter.errors import StoreError
from dedup_filter.fingerprints.profile import profile

K = 3
PATIENCE = 300
_LIKE = re.compile(r"\d+ \d+ \d+ \d+")
# A copy of this process would share its clients. What all import is imported once, for all tests.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["dedup_filter.filter", "dedup_filter.pages.redis"])


class Like(NamedTuple):
    """A page to be."""

    url: str
    digest: int
    fingerprint: int
    shingles: int
    """What its shingles are made from."""
    words: int = 99

    @property
    def text(self):
        return f"{self.digest} {self.fingerprint} {self.shingles} {self.words}"

    @property
    def given(self):
        return {"text": self.text}


class Article(NamedTuple):
    """A page with a frame."""

    url: str
    html: str

    @property
    def given(self):
        return {"html": self.html}


def profile_of(texts, config):
    """What the text of a `Like` says, and of an `Article` what it is."""
    if not _LIKE.fullmatch(texts.document.text):
        return profile(texts, config)
    digest, fingerprint, shingles, words = map(int, texts.document.text.split())
    return made_profile(digest, fingerprint, hashes_of(shingles), words)


def patch(counts):
    """Let texts be read as `Like`s, and count what crawlers do to one another."""
    import dedup_filter.workers.measured
    from dedup_filter.pages.comparison import Overtaken
    from dedup_filter.pages.redis.redis_pages import RedisPages

    dedup_filter.workers.measured.profile = profile_of
    record, fate = RedisPages.record, RedisPages.fate

    def counted_record(self, *args, **options):
        try:
            return record(self, *args, **options)
        except Overtaken:
            counts["overtaken"] += 1
            raise

    def counted_fate(self, number):
        found = fate(self, number)
        counts[found] += 1
        return found

    RedisPages.record, RedisPages.fate = counted_record, counted_fate


class Crawler:
    """One of several. `ways`: "see" or "claim", how its pages are judged."""

    def __init__(self, name, url, way, pipe, lease, options):
        self.name, self.way, self.pipe = name, way, pipe
        self.counts = Counter()
        self.chance = random.Random(name)
        patch(self.counts)
        if lease is not None:
            shorten_leases(lease)
        self.pages = NearDuplicateFilter.open(url, max_distance=K, **options)
        self.held, self.kept = [], []

    def tell(self, like, became, original=None):
        self.pipe.send((self.name, like, became, original))

    def do(self, like):
        """Judge a page; while the server is away, keep what cannot be judged."""
        try:
            (self.see if self.way == "see" else self.claim)(like)
        except StoreError:
            self.counts["away"] += 1
            self.tell(like, "kept while away")
            time.sleep(0.02)  # so that there are pages left when it is back

    def see(self, like):
        verdict = self.pages.see(like.url, **like.given)
        if verdict.original_page is not None:
            self.tell(like, "dropped", verdict.original)
        elif verdict.outcome == "new" or verdict.reason == "too_short":
            self.tell(like, "kept")
        else:
            self.tell(like, "let through")

    def claim(self, like):
        verdict = self.pages.claim(like.url, **like.given)
        while verdict.original_page is not None:
            self.settle()  # whoever waits holds nothing
            while (fate := self.pages.fate(verdict.original_page)) == "pending":
                time.sleep(0.001)
            if fate == "kept":
                self.tell(like, "dropped", verdict.original)
                return
            verdict = self.pages.claim(like.url, **like.given)
        self.held.append((like, verdict))
        if len(self.held) > self.chance.randrange(4):
            self.settle()

    def settle(self):
        while self.held:
            like, verdict = self.held.pop()
            if self.chance.random() < 0.3:
                self.tell(like, "released")
                with contextlib.suppress(StoreError):  # then it is done with the next claim
                    self.pages.release(verdict)
            else:
                self.tell(like, "kept")  # first it is kept, and then that is recorded
                self.kept.append(verdict)
        while self.kept:
            self.pages.commit(self.kept[-1])
            self.kept.pop()

    def wait(self):
        """Settle what is held, whenever that can be done: others may wait for it."""
        for _ in range(10 * PATIENCE):
            with contextlib.suppress(StoreError):
                self.settle()
                return
            time.sleep(0.1)

    def end(self):
        with contextlib.suppress(StoreError):
            self.pages.close()
        self.pipe.send((self.name, None, dict(self.counts), None))


class Past:
    """The keys of servers as they were when this was made: what a replica that lags has."""

    def __init__(self, client):
        self.client = client
        self.keys = {key: client.dump(key) for key in client.scan_iter()}

    def come_back(self):
        self.client.flushall()
        for key, value in self.keys.items():
            self.client.restore(key, 0, value, replace=True)  # they give signs of life


def lose_answer(pages, script):
    """Let the next call of a script come through, and its answer not."""
    connection = pages._kept._process.connection
    run = type(connection).run

    def lost(called, *arguments, **options):
        answer = run(connection, called, *arguments, **options)
        if called != script:
            return answer
        del connection.run

        def fail(_):
            raise redis.TimeoutError("Timeout reading from socket")

        return connection.call(fail)

    connection.run = lost


def shorten_leases(seconds):
    """Let dead crawlers be given up sooner."""
    from dedup_filter.pages.redis import process, redis_pages

    process.LEASE = seconds
    redis_pages._LONGEST_WAIT = 4 * seconds


def crawl(crawler_is, options, rounds, barrier):
    """Be a crawler: all begin each round at the same time."""
    crawler = Crawler(*crawler_is, options)
    for likes in rounds:
        barrier.wait(PATIENCE)
        for like in likes:
            crawler.do(like)
        crawler.wait()
    crawler.end()


class Together:
    """Some crawlers at work: one process for each list of rounds."""

    def __init__(self, url, way, rounds_of_each, lease=None, **options):
        # It is gone when nobody here knows it any more.
        self._barrier = PROCESSES.Barrier(len(rounds_of_each))
        self.processes, self._pipes = [], []
        self.became, self.counts, self.ended = {}, Counter(), set()
        for number, rounds in enumerate(rounds_of_each):
            ours, theirs = PROCESSES.Pipe(duplex=False)
            crawler_is = (f"c{number}", url, way, theirs, lease)
            arguments = (crawler_is, options, rounds, self._barrier)
            process = PROCESSES.Process(target=crawl, args=arguments, daemon=True)
            process.start()
            theirs.close()
            self.processes.append(process)
            self._pipes.append(ours)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.is_alive():
                kill(process)
        for pipe in self._pipes:
            pipe.close()

    def listen(self, until=None):
        """Take note of what they say until so many pages are judged, or all have ended."""
        while self._pipes and (until is None or len(self.became) < until):
            ready = multiprocessing.connection.wait(self._pipes, PATIENCE)
            if not ready:
                raise TimeoutError("crawlers do not end")
            for pipe in ready:
                self._hear(pipe)

    def _hear(self, pipe):
        try:
            self._note(*pipe.recv())
        except EOFError:
            self._pipes.remove(pipe)
            pipe.close()

    def _note(self, name, like, what, original):
        if like is None:
            self.counts.update(what)
            self.ended.add(name)
        else:
            self.became[like] = what, original
            self.counts[name] += 1


def crawl_together(url, way, rounds_of_each, lease=None, **options):
    """Let crawlers work to their end; return them."""
    with Together(url, way, rounds_of_each, lease, **options) as crawlers:
        crawlers.listen()
        assert len(crawlers.ended) == len(rounds_of_each), "a crawler broke down"
        return crawlers


def kill(process):
    """Kill a process as no signal handler can prevent, unless it has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
    process.join(PATIENCE)
