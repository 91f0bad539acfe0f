"""What a log says at its end, against a dictionary that follows it event by event."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.pages.redis.formats import GONE, LONG, SHORT, Entry, News
from dedup_filter.pages.redis.replica import LoggedPages

KINDS = [LONG, SHORT, GONE, 0]

events = st.lists(
    st.tuples(st.integers(0, 2**64 - 1), st.integers(1, 6), st.sampled_from(KINDS)), max_size=30
)


def packed(value, number, kind, place):
    """An event as a server writes it, or the zeros in the place of a lost one."""
    if kind == 0:
        return bytes(24)
    number = number if kind == GONE else place
    return struct.pack("<QIHBBII", value, number, 0, kind, 7, value % 5, value % 99)


def followed(*log):
    pages = LoggedPages()
    for news in log:
        pages.follow(news)
    pages.check()
    return pages


@given(events, st.integers(0, 3), st.lists(st.integers(0, 30), max_size=3))
def test_the_last_that_is_said_of_a_page_counts(said, first, cuts):
    there, lost = {}, 0
    log = []
    for place, (value, number, kind) in enumerate(said, first * 1000 + 1):
        log.append(packed(value, number + first * 1000, kind, place))
        if kind == GONE:
            there.pop(number + first * 1000, None)
        elif kind == 0:
            lost += 1
        else:
            there[place] = Entry(value, kind, value % 5)
    parts, begin = [], 0
    for cut in sorted({*cuts, len(log)}):
        parts.append(News(first * 1000 + begin + 1, b"".join(log[begin:cut])))
        begin = max(begin, min(cut, len(log)))
    end = first * 1000 + len(log)
    found = followed(*parts, News(end + 1, b""))
    assert list(found) == sorted(there)
    assert len(found) == len(there)
    assert found.told("value").tolist() == [there[page].value for page in sorted(there)]
    assert [found.entry(page) for page in sorted(there)] == [there[p] for p in sorted(there)]
    assert found.entry(10_000) is None
    assert found.lost == lost
    assert found.end == end
    assert found.last == (log[-1] if log else b"")
    assert 10_000 not in found
    assert found.first_chunk == (min([*there, end + 1]) - 1) // 4_000


def test_a_page_with_other_measures_is_where_it_was_told_of_last():
    events = [packed(1, 0, LONG, 1), packed(2, 0, LONG, 2)]
    moved = struct.pack("<QIHBBII", 9, 1, 0, SHORT, 7, 3, 4)
    found = followed(News(1, b"".join([*events, moved])))
    assert list(found) == [1, 2]
    assert found.entry(1) == Entry(9, SHORT, 3)
    assert found.told("place").tolist() == [3, 2]


def test_a_log_without_events_has_an_end():
    found = followed(News(8_001, b""))
    assert (found.end, found.last, len(found)) == (8_000, b"", 0)
    assert found.first_chunk == 2
