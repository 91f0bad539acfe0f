"""Crawlers that share an index: real processes, and pages whose measures are chosen.

    pages -> one process each, all at the same groups at the same moment -> what became of them

A page's text says what it is like ("DIGEST FINGERPRINT SHINGLES WORDS"; a fifth
word: no keys), so that thousands of
groups of near-duplicates cost no time to read. What a crawler did it says at once, on a pipe that
outlives it: some are killed. Knows nothing of pytest.
"""

import contextlib
import itertools
import multiprocessing.connection
import os
import random
import re
import signal
import time
from collections import Counter
from typing import NamedTuple

import redis
from made_profiles import said_profile
from patience import PATIENCE, PROCESSES

from dedup_filter import judge, shared_judge
from dedup_filter.errors import StoreError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.fingerprints import profile
from dedup_filter.store.redis import connection, process
from dedup_filter.store.redis import pages as shared_pages
from dedup_filter.store.redis.records import Head
from dedup_filter.text.page_fields import PageText

K = 3
_LIKE = re.compile(r"\d+ \d+ \d+ \d+( 0)?")


class Like(NamedTuple):
    """A page to be."""

    url: str
    digest: int
    fingerprint: int
    shingles: int
    """What its shingles are made from."""
    words: int = 99
    has_keys: bool = True
    """Whether its phrases find it, and lead it to others."""

    @property
    def text(self):
        said = f"{self.digest} {self.fingerprint} {self.shingles} {self.words}"
        return said if self.has_keys else f"{said} 0"

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


def like(number, edits=0, site="a"):
    """Make a page: those of one number are near-duplicates of each other, and of no other."""
    fingerprint = number * 0x9E37_79B9_7F4A_7C15 % 2**64 ^ edits
    digest = number << 64 | fingerprint
    return Like(f"http://{site}.example/{number}/{edits}", digest, fingerprint, number)


def see(pages, page):
    return pages.see(page.url, **page.given)


def claim(pages, page):
    return pages.claim(page.url, **page.given)


def profile_of(page, context, config):
    """What the text of a `Like` says, and of an `Article` what it is."""
    if not (page.is_plain and _LIKE.fullmatch(page.content.text)):
        return profile.profile_of(page, context, config)
    return said_profile(page.content.text)


class Past:
    """The keys of servers as they were when this was made: what a replica that lags has."""

    def __init__(self, client):
        self.client = client
        self.keys = {key: client.dump(key) for key in client.scan_iter()}
        self._lives = {key: max(client.pttl(key), 0) for key in self.keys}

    def come_back(self):
        self.client.flushall()
        for key, value in self.keys.items():
            self.client.restore(key, self._lives[key], value, replace=True)


def lose_answer(pages, done):
    """Let the next call that does something come through, and its answer not.

    `done`: "commit", "release" or "claim".
    """
    servers, state = pages.conductor._process.connection, {"commit": b"K", "release": b""}.get(done)
    ask_all = servers.ask_all

    def is_it(command):
        if state is None:
            return command[0] == "SET" and ":r:" in command[1] and command[2][:1] == b"C"
        return command[0] == "EVALSHA" and len(command) == 8 and command[5][:1] == state

    def lost(commands):
        answers = ask_all(commands)
        if not any(map(is_it, commands)):
            return answers
        del servers.ask_all

        def fail(_):
            raise redis.TimeoutError("Timeout reading from socket")

        return servers.call(fail)

    servers.ask_all = lost


def let_lapse(pages):
    """Let the lease of a crawler, and of the pages that it has pending, be over."""
    process, its_pages = pages.conductor._process, pages.conductor._pages
    process.renewals = list
    names = [process.connection.key(f"process:{process.name.hex()}")]
    names += [its_pages.name(page) for page in its_pages.held()]
    process.connection.ask_all([("UNLINK", name) for name in names])


def stop(pages):
    """Let a crawler stop as if it were killed this moment: no lease is renewed any more."""
    pages.conductor._process._rest()


def let_unowned_lapse(client, *crawlers):
    """Let the leases be over of undecided pages that no crawler holds: lost writes left them."""
    held = {
        (pages.conductor._pages.name(number), held.head.nonce)
        for pages in crawlers
        for number, held in pages.conductor._pages._held.items()
    }
    for key in client.scan_iter("dedup:*:r:*"):
        head = Head.of(client.get(key))
        if head.is_undecided and (key.decode(), head.nonce) not in held:
            client.delete(key)


def end_rest(*crawlers):
    """Let crawlers ask their servers again, which they leave alone after a failure."""
    for pages in crawlers:
        pages.conductor._process.connection._rests_until = 0.0


def require_agreement(*crawlers):
    """Require that all know the same pages, and that the index is whole."""
    for pages in crawlers:
        pages.check()
        assert len(pages) == len(crawlers[0])


class Crawler:
    """One of several. `ways`: "see" or "claim", how its pages are judged.

    Every second one reads ahead.
    """

    def __init__(self, name, url, way, pipe):
        self.name, self.pipe = name, pipe
        self.counts = Counter()
        self.chance = random.Random(name)
        self.judge = self.see if way == "see" else self.claim
        self.pages = NearDuplicateFilter.open(url, max_distance=K, min_similarity=0.7)
        self.held, self.kept = [], []
        self.read = {}
        """Page -> its place and its content."""

    def crawl(self, pages):
        for at, page in enumerate(pages):
            if self.name % 2:
                with contextlib.suppress(StoreError):
                    self.pages.conductor.read_ahead(map(self.opened, pages[at:]))
            self.do(page)

    def opened(self, page):
        if page not in self.read:
            self.read[page] = self.pages._read(page.url, PageText(**page.given))
        return self.read[page]

    def tell(self, page, became, original=None):
        self.pipe.send((self.name, page, became, original))

    def do(self, page):
        """Judge a page; while the server is away, keep what cannot be judged."""
        try:
            self.judge(page)
        except StoreError:
            self.counts["away"] += 1
            self.tell(page, "kept while away")
            time.sleep(0.02)  # so that there are pages left when it is back

    def see(self, page):
        verdict = self.pages.conductor.see(*self.opened(page))
        if verdict.original_page is not None:
            self.tell(page, "dropped", verdict.original)
        elif verdict.outcome == "new" or verdict.reason == "too_short":
            self.tell(page, "kept")
        else:
            self.tell(page, "let through")

    def claim(self, page):
        verdict = self.pages.conductor.claim(*self.opened(page)).verdict
        while verdict.original_page is not None:
            self.settle()  # whoever waits holds nothing
            while (fate := self.pages.conductor.fate(verdict.original_page)) == "pending":
                self.counts["met"] += 1
                time.sleep(0.001)
            if fate == "kept":
                self.tell(page, "dropped", verdict.original)
                return
            verdict = self.pages.conductor.claim(*self.opened(page)).verdict
        self.held.append((page, verdict))
        if len(self.held) > self.chance.randrange(4):
            self.settle()

    def settle(self):
        while self.held:
            page, verdict = self.held.pop()
            if self.chance.random() < 0.3:
                self.tell(page, "released")
                with contextlib.suppress(StoreError):  # then it is done with the next claim
                    self.pages.release(verdict)
            else:
                self.tell(page, "kept")  # first it is kept, and then that is recorded
                self.kept.append(verdict)
        while self.kept:
            self.pages.commit(self.kept[-1])
            self.kept.pop()

    def wait(self):
        """Settle what is held, whenever that can be done: others may wait for it."""
        for _ in range(int(10 * PATIENCE)):
            with contextlib.suppress(StoreError):
                self.settle()
                return
            time.sleep(0.1)


def die_in_call(number):
    """Let this process die in a call of the servers: of one before it is sent, of one after."""
    ask_all, calls = connection.Connection.ask_all, itertools.count()

    def ask_all_or_die(servers, commands):
        is_last = next(calls) == number
        if is_last and number % 2:
            os.kill(os.getpid(), signal.SIGKILL)
        answers = ask_all(servers, commands)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return answers

    connection.Connection.ask_all = ask_all_or_die


def kept_on(url):
    """Return the URLs of the pages that are kept on servers."""
    with contextlib.closing(NearDuplicateFilter.open(url, max_distance=K)) as opened:
        there = opened.conductor._pages
        views = there.views(there.numbers()).values()
        return {view.record.url for view in views if view and view.head.state == b"K"}


def crawl(crawler_is, lease, timeout, rounds, barrier, dies_in):
    """Be a crawler: all begin each round at the same time."""
    if dies_in is not None:
        die_in_call(dies_in)
    judge.profile_of = profile_of
    connection.TIMEOUT = timeout
    if lease is not None:  # the dead are given up sooner
        process.LEASE = shared_pages.LEASE = lease
        shared_judge._LONGEST_WAIT = 4 * lease
    crawler = Crawler(*crawler_is)
    look = shared_pages.SharedPages._look

    def counted_look(*args, **options):
        try:
            return look(*args, **options)
        except shared_pages.Overtaken:
            crawler.counts["met"] += 1
            raise

    shared_pages.SharedPages._look = counted_look
    for pages_of_round in rounds:
        barrier.wait(PATIENCE)
        crawler.crawl(pages_of_round)
        crawler.wait()
    with contextlib.suppress(StoreError):
        crawler.pages.close()
    crawler.pipe.send((crawler.name, None, dict(crawler.counts), None))


class Together:
    """Some crawlers at work: one process for each list of rounds.

    `timeout`: seconds that a call to the servers may take. `dying`: which crawlers die, each in the
    call of this number.
    """

    def __init__(self, url, way, rounds_of_each, lease=None, timeout=connection.TIMEOUT, dying=()):
        # It is gone when nobody here knows it any more.
        self._barrier = PROCESSES.Barrier(len(rounds_of_each))
        self.processes, self._pipes = [], []
        self.became, self.counts, self.ended, self._killed = {}, Counter(), set(), {*dying}
        for number, rounds in enumerate(rounds_of_each):
            ours, theirs = PROCESSES.Pipe(duplex=False)
            dies_in = dict(dying).get(number)
            arguments = ((number, url, way, theirs), lease, timeout, rounds, self._barrier, dies_in)
            self.processes.append(PROCESSES.Process(target=crawl, args=arguments, daemon=True))
            self.processes[-1].start()
            theirs.close()
            self._pipes.append(ours)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for number in range(len(self.processes)):
            self.kill(number)
        for pipe in self._pipes:
            pipe.close()

    def kill(self, number):
        """Kill a crawler as no signal handler can prevent, unless it has ended."""
        self._killed.add(number)
        self.processes[number].kill()
        self.processes[number].join(PATIENCE)

    def whats(self):
        """Count what became of pages."""
        return Counter(what for what, _ in self.became.values())

    def listen(self, until=None):
        """Take note of what they say until so many pages are judged, or all have ended."""
        while self._pipes and (until is None or len(self.became) < until):
            ready = multiprocessing.connection.wait(self._pipes, PATIENCE)
            if not ready:
                raise TimeoutError("crawlers do not end")
            for pipe in ready:
                try:
                    name, page, what, original = pipe.recv()
                except EOFError:
                    self._pipes.remove(pipe)
                    pipe.close()
                    continue
                if page is None:
                    self.counts.update(what)
                    self.ended.add(name)
                else:
                    self.became[page] = what, original
        at_end = self.ended | self._killed
        assert self._pipes or len(at_end) == len(self.processes), "a crawler broke down"
