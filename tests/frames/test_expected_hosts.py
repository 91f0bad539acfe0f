"""Hosts as they are expected, against counts of what is committed and what is pending."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.frames.expected_hosts import ExpectedHosts
from dedup_filter.frames.host_frames import Frames
from dedup_filter.text.reading import Page

SHOWN_NOTHING = Page(()).shown
HOSTS = st.sampled_from("ab")
MOST_BLOCK = 5
SHOWN = st.lists(st.integers(0, MOST_BLOCK), max_size=4)
STEPS = st.lists(
    st.tuples(
        HOSTS,
        SHOWN,
        st.sampled_from(["claim", "claim", "commit", "commit", "release", "drop", "forget"]),
        st.integers(0, 9),
    ),
    max_size=40,
)


class Hosts:
    """Frames, what is expected of them, and plain lists of what pages have shown."""

    def __init__(self):
        self.frames, self.expected = Frames(10**6), ExpectedHosts()
        self.counted = {"a": [], "b": []}
        self.pending = {}

    def claim(self, number, host, shown):
        update = self.context(host).host.update_of(shown, is_kept=True)
        self.expected.add(number, {host: update})
        self.pending[number] = host, set(shown)

    def commit(self, number):
        host, shown = self.pending.pop(number)
        self.count(host, shown, number, is_kept=True)
        self.counted[host].append(shown)

    def drop(self, host, shown):
        self.count(host, shown, 0, is_kept=False)
        self.counted[host].append(set(shown) - set().union(*self.counted[host]))

    def count(self, name, shown, number, *, is_kept):
        host = self.frames.of(name)
        update = host.update_of(shown, is_kept=is_kept)
        self.expected.settle(number, {name: update})
        self.frames.add_page(host, update)

    def context(self, host):
        return self.expected.context(self.counts(host))

    def counts(self, host):
        return self.frames.context(host, SHOWN_NOTHING)


@given(STEPS)
def test_are_what_is_counted_and_what_is_pending(steps):
    hosts = Hosts()
    for number, (host, shown, action, at) in enumerate(steps, 1):
        some = [*hosts.pending][at : at + 1]
        if action == "claim":
            hosts.claim(number, host, shown)
        elif action == "drop":
            hosts.drop(host, shown)
        elif action == "forget":
            hosts.expected.forget(host)
        elif some and action == "commit":
            hosts.commit(*some)
        elif some:
            hosts.expected.settle(*some)
            del hosts.pending[some[0]]
        for name, counted in hosts.counted.items():
            pages = [*counted, *(shown for each, shown in hosts.pending.values() if each == name)]
            expected = hosts.context(name).host.sightings
            # Marks of blocks that are frame are counted beside them: see `test_frame_marks`.
            found = {block: times for block, times in expected.items() if block <= MOST_BLOCK}
            assert found == Counter(block for page in pages for block in page)
    for number in [*hosts.pending]:
        hosts.commit(number)
    for name in "ab":
        counts = hosts.counts(name)
        assert hosts.expected.context(counts) is counts
