"""Crawlers of one index in any order, while answers, writes and leases are lost.

A. Of pages that are like each other at most one is kept, as long as nothing is lost.
B. Whatever is lost, no page is dropped unless one that it repeats was kept: by the index, or by a
   crawler that kept it as its call failed.
C. In the end all crawlers know the same, and the index is whole.
"""

import itertools
from collections import Counter
from contextlib import suppress

import pytest
from gate import slow
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from shared_crawlers import (
    K,
    Past,
    end_rest,
    let_lapse,
    let_unowned_lapse,
    like,
    lose_answer,
    require_agreement,
    stop,
)

from dedup_filter.errors import StoreAway, StoreError
from dedup_filter.filter import NearDuplicateFilter

WHO = st.integers(0, 2)
AWAY = object()
SCRIPTS = st.sampled_from(["claim", "commit", "release"])


class Crawlers(RuleBasedStateMachine):
    def __init__(self, server, client):
        super().__init__()
        server.flush()
        self.client = client
        self.crawlers = [NearDuplicateFilter.open(server.url, max_distance=K) for _ in range(3)]
        for pages in self.crawlers:  # a heartbeat at any moment would let no fault be repeated
            stop(pages)
        self.held = [[] for _ in self.crawlers]
        self.waiting = [[] for _ in self.crawlers]
        self.kept = {}
        self.serial = itertools.count()
        self.is_all_there = True
        self.past = None

    def attempt(self, call):
        """Return the answer to a call, or `AWAY`."""
        try:
            return call()
        except StoreAway:
            end_rest(*self.crawlers)
            return AWAY

    def settle(self, who, way):
        page, verdict = self.held[who].pop()
        if way == "commit":
            self.kept[page.url] = page
        while self.attempt(lambda: getattr(self.crawlers[who], way)(verdict)) is AWAY:
            pass

    def require_kept(self, verdict, page):
        assert verdict.original in self.kept, f"{page} was dropped for what was not kept"
        assert self.kept[verdict.original].shingles == page.shingles

    @rule(who=WHO, number=st.integers(1, 3), edits=st.integers(0, 2), way=st.sampled_from("sc"))
    def judge(self, who, number, edits, way):
        url = f"http://{who}.example/{next(self.serial)}"
        page = like(number, edits)._replace(url=url, shingles=number)
        judge = self.crawlers[who].see if way == "s" else self.crawlers[who].claim
        verdict = self.attempt(lambda: judge(url, text=page.text))
        if verdict is AWAY:
            self.kept[url] = page
        elif verdict.original_page is not None:
            if way == "s" and verdict.original_page not in self.crawlers[who].conductor._claims:
                self.require_kept(verdict, page)
            else:
                self.waiting[who].append((page, verdict))
        elif way == "c":
            self.held[who].append((page, verdict))
        elif verdict.page is not None:
            self.kept[url] = page

    @rule(who=WHO, way=st.sampled_from(["commit", "release"]))
    def end_a_claim(self, who, way):
        if self.held[who]:
            self.settle(who, way)

    @rule(who=WHO)
    def ask(self, who):
        """Ask for the fates of the pages that others repeat."""
        for page, verdict in self.waiting[who][:]:
            fate = self.attempt(
                lambda of=verdict.original_page: self.crawlers[who].conductor.fate(of)
            )
            if fate in ("kept", "gone"):
                self.waiting[who].remove((page, verdict))
            if fate == "kept":
                self.require_kept(verdict, page)
                while self.attempt(lambda of=verdict: self.crawlers[who].commit(of)) is AWAY:
                    pass

    @rule(who=WHO, script=SCRIPTS)
    def lose_an_answer(self, who, script):
        self.is_all_there = False
        lose_answer(self.crawlers[who], script)

    @rule(who=WHO)
    def lose_a_lease(self, who):
        self.is_all_there = False
        let_lapse(self.crawlers[who])

    @rule()
    def note_what_is_written(self):
        self.past = Past(self.client)

    @precondition(lambda self: self.past)
    @rule()
    def lose_what_was_written_since(self):
        self.is_all_there = False
        self.past.come_back()

    def teardown(self):
        for who, pages in enumerate(self.crawlers):
            vars(pages.conductor._process.connection).pop("ask_all", None)  # answers come again
            while self.held[who]:
                self.settle(who, "release")
        let_unowned_lapse(self.client, *self.crawlers)
        for who in range(3):
            self.ask(who)
        assert not any(self.waiting), "what a page waits for is pending for ever"
        require_agreement(*self.crawlers)
        if self.is_all_there:
            assert len(self.crawlers[0]) == len(self.kept)
            kept = Counter(page.shingles for page in self.kept.values())
            assert not kept or max(kept.values()) == 1, "two pages that are alike were kept"
        for pages in self.crawlers:
            with suppress(StoreError):
                pages.close()


@pytest.mark.parametrize(
    ("servers", "examples"),
    [
        ("redis_server", 12),
        ("redis_cluster", 4),
        slow("redis_server", 60),
        slow("redis_cluster", 25),
    ],
    indirect=["servers"],
)
@pytest.mark.usefixtures("crawler")
def test_no_page_is_lost_whatever_is(servers, examples, monkeypatch):
    monkeypatch.setattr("dedup_filter.shared_judge._LONGEST_WAIT", 0)
    client = servers.client()
    run_state_machine_as_test(
        lambda: Crawlers(servers, client),
        settings=settings(max_examples=examples, stateful_step_count=30, deadline=None),
    )
