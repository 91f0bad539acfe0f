"""A replica against a plain dict of what its log says, and the same log read in other pieces."""

import itertools

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from oracles import distance

from dedup_filter.pages.redis import replica as module
from dedup_filter.pages.redis.formats import (
    EVENT_BYTES,
    GONE,
    LONG,
    SHORT,
    Entry,
    News,
    decode,
    numbers,
)
from dedup_filter.pages.redis.replica import Replica

K = 3
SMALL_CHUNK = 16
SMALL_BLOCK = 8
FINGERPRINTS = st.sampled_from([0, 0b1, 0b111, 0b111111, 0b1111 << 40, 2**64 - 1, 2**63])
KINDS = st.sampled_from([LONG, LONG, LONG, SHORT])
HOSTS = st.integers(1, 2)


def event(value, number, kind, host, seen):
    """Write an event by the format in words: 8, 6, 1, 1, 4 and 4 bytes."""
    parts = [(value, 8), (number, 6), (kind, 1), (7, 1), (host, 4), (seen, 4)]
    return b"".join(part.to_bytes(size, "little") for part, size in parts)


def test_events_are_read_as_the_format_says():
    one = event(2**64 - 2, 2**48 - 3, GONE, 2**32 - 4, 2**32 - 5)
    assert len(one) == EVENT_BYTES
    found = decode(one)
    assert int(found["value"][0]) == 2**64 - 2
    assert numbers(found).tolist() == [2**48 - 3]
    assert found["kind"].tolist() == [GONE]
    assert int(found["host"][0]) == 2**32 - 4
    assert int(found["seen"][0]) == 2**32 - 5


class ReplicaMachine(RuleBasedStateMachine):
    @initialize(by_host=st.booleans())
    def start(self, by_host):
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(module, "CHUNK", SMALL_CHUNK)
        self.patch.setattr(module, "_BLOCK", SMALL_BLOCK)
        self.by_host = by_host
        self.replica = Replica(K, by_host=by_host)
        self.log, self.pages, self.unread = [], {}, []
        self.trimmed = 0

    def write(self, number, value=0, kind=GONE, host=0):
        """Append an event, not read yet."""
        place = self.trimmed + len(self.log) + 1
        number = number or place
        if kind == GONE:
            self.pages.pop(number, None)
        else:
            self.pages[number] = (value, kind, host, place)
        self.log.append(event(value, number, kind, host, place))
        self.unread.append(self.log[-1])

    def read(self, count):
        first = self.trimmed + len(self.log) - len(self.unread) + 1
        self.replica.follow(News(first, b"".join(self.unread[:count])))
        del self.unread[:count]

    @rule(count=st.sampled_from([1, 1, 1, 5, 70]), data=st.data())
    def add(self, count, data):
        for _ in range(count):
            value, kind, host = data.draw(st.tuples(FINGERPRINTS, KINDS, HOSTS))
            self.write(0, value, kind, host)

    @precondition(lambda self: self.pages)
    @rule(data=st.data(), value=FINGERPRINTS, kind=KINDS, host=HOSTS)
    def replace(self, data, value, kind, host):
        self.write(data.draw(st.sampled_from(sorted(self.pages))), value, kind, host)

    @precondition(lambda self: self.pages)
    @rule(data=st.data(), count=st.sampled_from([1, 1, 10, 80]))
    def remove(self, data, count):
        oldest = sorted(self.pages)[: count + 5]
        for number in oldest[:count] if count > 1 else [data.draw(st.sampled_from(oldest))]:
            self.write(number)

    @rule(number=st.integers(1, 10**6))
    def remove_what_is_not_there(self, number):
        if number not in self.pages:
            self.write(number)

    @rule()
    def lose_an_event_of_nothing(self):
        self.log.append(bytes(EVENT_BYTES))
        self.unread.append(self.log[-1])

    @rule(count=st.sampled_from([1, 3, 64, 65, 1000]))
    def follow(self, count):
        self.read(count)

    @rule()
    def be_cleared_and_read_anew(self):
        self.replica.clear()
        self.unread = list(self.log)

    @rule()
    def trim_as_another_process_does(self):
        """Delete what tells of nothing any more; who has not read it never will."""
        places = [place for *_, place in self.pages.values()]
        end = self.trimmed + len(self.log)
        keep_from = ((min(places) - 1 if places else end) // SMALL_CHUNK) * SMALL_CHUNK
        del self.log[: max(keep_from - self.trimmed, 0)]
        self.trimmed = max(self.trimmed, keep_from)
        self.unread = self.unread[-len(self.log) :] if self.log else []

    @rule()
    def it_says_what_the_log_says(self):
        self.read(len(self.unread))
        replica = self.replica
        if not self.log and self.trimmed:
            return  # it cannot know yet what was deleted
        replica.check()
        assert sorted(itertools.chain(*replica.pages())) == sorted(self.pages)
        assert len(replica) == len(self.pages)
        for number, (value, kind, host, _) in self.pages.items():
            assert number in replica
            assert replica.entry(number) == Entry(value, kind, host)
        assert self.trimmed + len(self.log) + 1 not in replica
        assert replica.entry(self.trimmed + len(self.log) + 1) is None
        by_place = sorted(self.pages, key=lambda number: self.pages[number][3])
        assert replica.oldest(4) == by_place[:4]
        middle = (self.trimmed + len(self.log)) // 2
        earlier = [number for number in by_place if self.pages[number][3] < middle]
        assert replica.oldest(1000, before=middle) == earlier
        assert replica.oldest(2, before=middle) == earlier[:2]
        assert replica.end == self.trimmed + len(self.log)
        first = min((place for *_, place in self.pages.values()), default=replica.end + 1)
        assert replica.first_chunk == (first - 1) // SMALL_CHUNK
        told = {page[0]: page[1:] for page in replica.told_by(replica.first_chunk)}
        assert told == {
            number: (value.to_bytes(8, "little"), kind, host, place)
            for number, (value, kind, host, place) in self.pages.items()
            if (place - 1) // SMALL_CHUNK == replica.first_chunk
        }

    @rule(value=FINGERPRINTS, host=HOSTS, after=st.integers(0, 200), but=st.integers(0, 200))
    def search(self, value, host, after, but):
        self.read(len(self.unread))
        if not self.log and self.trimmed:
            return
        if not self.by_host:
            wanted = self.pages
        else:
            wanted = {n: page for n, page in self.pages.items() if page[2] == host}
        near = {
            n for n, page in wanted.items() if page[1] == LONG and distance(page[0], value) <= K
        }
        assert set(self.replica.neighbours(value, host, 10_000).rows.tolist()) == near
        same = sorted(n for n, page in wanted.items() if page[1] == SHORT and page[0] == value)
        assert self.replica.with_digest(value, host, 10_000) == same
        like = any(wanted[n][3] > after and n != but for n in near)
        assert self.replica.has_like(Entry(value, LONG, host), after, but) == like

    def teardown(self):
        if hasattr(self, "patch"):
            self.it_says_what_the_log_says()
            self.patch.undo()


TestReplica = ReplicaMachine.TestCase
TestReplica.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def test_blocks_without_pages_are_forgotten():
    replica = Replica(K)
    count = 3 * module.CHUNK
    added = b"".join(event(at << 8, at, LONG, 1, at) for at in range(1, count + 1))
    replica.follow(News(1, added))
    before = replica.nbytes
    removed = b"".join(event(0, at, GONE, 0, 0) for at in range(1, count + 1))
    replica.follow(News(count + 1, removed))
    replica.check()
    assert (len(replica), replica.first_chunk) == (0, 6)
    assert replica.nbytes < before
    assert list(replica.pages()) == []
