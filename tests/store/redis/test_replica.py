"""A replica against a plain dict of what its log says, and the same log read in other pieces."""

from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from oracles import distance

from dedup_filter.store.key_table import MOST_OF_KEY
from dedup_filter.store.redis.replica import (
    EVENT_BYTES,
    GONE,
    LONG,
    SHORT,
    Entry,
    LoggedPages,
    decode,
)

K = 3
SMALL_CHUNK = 16
FINGERPRINTS = st.sampled_from([0, 0b1, 0b111, 0b111111, 0b1111 << 40, 2**64 - 1, 2**63])
KINDS = st.sampled_from([LONG, LONG, LONG, SHORT])
HOSTS = st.integers(1, 2)
# As little-endian numbers; keys that end in zeros lose none.
KEYS = st.sampled_from([0, 0, 5, 5 | 6 << 32, 6, 2**256 - 1, 0x0100_0000])


def event(value, number, kind, host, seen, keys=0):
    """Write an event by the format in words: 8, 32, 6, 1, 1, 4 and 4 bytes."""
    parts = [(value, 8), (keys, 32), (number, 6), (kind, 1), (7, 1), (host, 4), (seen, 4)]
    return b"".join(part.to_bytes(size, "little") for part, size in parts)


def packed(keys):
    return keys.to_bytes(32, "little")


def keys_in(keys):
    return {keys >> 32 * place & 2**32 - 1 for place in range(8)} - {0}


def test_events_are_read_as_the_format_says():
    one = event(2**64 - 2, 2**48 - 3, GONE, 2**32 - 4, 2**32 - 5, 2**256 - 6)
    assert len(one) == EVENT_BYTES
    numbers, found = decode(one)
    assert numbers.tolist() == [2**48 - 3]
    told = found[["value", "keys", "kind", "host", "seen"]].tolist()
    keys = (2**256 - 6).to_bytes(32, "little")
    assert told == [(2**64 - 2, keys, GONE, 2**32 - 4, 2**32 - 5)]


class ReplicaMachine(RuleBasedStateMachine):
    @initialize(by_host=st.booleans())
    def start(self, by_host):
        self.by_host = by_host
        self.replica = LoggedPages(K, by_host=by_host)
        self.log, self.pages, self.unread = [], {}, []
        self.trimmed = 0

    def write(self, number, value=0, kind=GONE, host=0, keys=0):
        """Append an event, not read yet."""
        place = self.trimmed + len(self.log) + 1
        number = number or place
        if kind == GONE:
            self.pages.pop(number, None)
        else:
            self.pages[number] = (value, kind, host, keys, place)
        self.log.append(event(value, number, kind, host, place, keys))
        self.unread.append(self.log[-1])

    def read(self, count):
        first = self.trimmed + len(self.log) - len(self.unread) + 1
        self.replica.follow(first, b"".join(self.unread[:count]))
        self.replica.settle()
        del self.unread[:count]

    @rule(count=st.sampled_from([1, 1, 1, 5, 70]), data=st.data())
    def add(self, count, data):
        for _ in range(count):
            self.write(0, *data.draw(st.tuples(FINGERPRINTS, KINDS, HOSTS, KEYS)))

    @precondition(lambda self: self.pages)
    @rule(data=st.data(), value=FINGERPRINTS, kind=KINDS, host=HOSTS, keys=KEYS)
    def replace(self, data, value, kind, host, keys):
        self.write(data.draw(st.sampled_from(sorted(self.pages))), value, kind, host, keys)

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
        assert list(replica) == sorted(self.pages)
        assert len(replica) == len(self.pages)
        for number, (value, kind, host, keys, _) in self.pages.items():
            assert number in replica
            assert replica.entry(number) == Entry(value, kind, host, packed(keys))
        assert self.trimmed + len(self.log) + 1 not in replica
        assert replica.entry(self.trimmed + len(self.log) + 1) is None
        by_place = sorted(self.pages, key=lambda number: self.pages[number][-1])
        assert replica.oldest(4) == by_place[:4]
        middle = (self.trimmed + len(self.log)) // 2
        earlier = [number for number in by_place if self.pages[number][-1] < middle]
        assert replica.oldest(1000, before=middle) == earlier
        assert replica.oldest(2, before=middle) == earlier[:2]
        assert replica.end == self.trimmed + len(self.log)
        assert replica.last == (self.log[-1] if self.log else b"")
        there = [self.pages[number] for number in sorted(self.pages)]
        for at, name in ((0, "value"), (1, "kind"), (2, "host"), (4, "seen")):
            assert replica.column(name).tolist() == [page[at] for page in there]
        some = self.log[-SMALL_CHUNK:]
        last_events = {place for *_, place in self.pages.values()}
        first = self.trimmed + len(self.log) - len(some) + 1
        standing = [each for place, each in enumerate(some, first) if place in last_events]
        assert replica.standing(b"".join(some)) == standing

    @rule(value=FINGERPRINTS, host=HOSTS, kind=KINDS)
    def search(self, value, host, kind):
        self.read(len(self.unread))
        if not self.log and self.trimmed:
            return
        near = {
            number
            for number, (other, its_kind, its_host, *_) in self.pages.items()
            if its_kind == kind
            and distance(other, value) <= (K if kind == LONG else 0)
            and (its_host == host or not self.by_host)
        }
        found = self.replica.near(Entry(value, kind, host, packed(0)), 10_000)
        assert {match.row for match in found} == near

    @rule(keys=KEYS, before=st.integers(1, 100))
    def search_by_phrases(self, keys, before):
        self.read(len(self.unread))
        if not self.log and self.trimmed:
            return
        earlier = {n: keys_in(page[3]) for n, page in self.pages.items() if n < before}
        owners = Counter(key for known in earlier.values() for key in known)
        rare = {key for key in keys_in(keys) if owners[key] <= MOST_OF_KEY}
        shared = {number: len(known & rare) for number, known in earlier.items() if known & rare}
        assert self.replica.sharing([packed(keys)], before) == shared

    def teardown(self):
        if hasattr(self, "replica"):
            self.it_says_what_the_log_says()


TestReplica = ReplicaMachine.TestCase
TestReplica.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)


def test_lost_events_are_counted_and_a_log_without_events_has_an_end():
    pages = LoggedPages()
    pages.follow(1, event(1, 1, LONG, 1, 1) + bytes(2 * EVENT_BYTES) + event(4, 4, LONG, 1, 1))
    pages.settle()
    assert (list(pages), pages.lost, pages.end) == ([1, 4], 2, 4)
    pages.follow(8_001, b"")
    assert (list(pages), pages.lost, pages.end, pages.last) == ([], 0, 8_000, b"")
