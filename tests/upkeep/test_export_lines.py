"""Records to lines and back: nothing is lost, and nothing else gets in."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import fingerprints

from dedup_filter.fingerprints import sketch
from dedup_filter.frames import frame_bytes
from dedup_filter.frames.frame_bytes import EarlyNote, HostState
from dedup_filter.pages.directory.frame_store import EarlyForm, HostFrames, Lesson
from dedup_filter.pages.directory.records import Crawl, Judged, PageRecord
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.text import Headline
from dedup_filter.upkeep.export_lines import (
    FORMAT,
    frames_line,
    header_line,
    host_in,
    page_line,
    record_in,
    scheme_and_crawls_in,
)
from dedup_filter.upkeep.results import ExportedPage

# Half surrogates too: URLs on the web have them.
texts = st.text(st.characters(exclude_categories=()), max_size=20)
times = st.integers(0, 253_402_300_799)
numbers = st.integers(1, 2**63 - 1)
hashes = st.integers(0, 2**32 - 1)


@st.composite
def records(draw):
    page = draw(numbers)
    first_seen, last_seen = sorted([draw(times), draw(times)])
    outcome = draw(st.sampled_from(["new", "near", "exact", "revisit", "unjudged"]))
    originals = st.integers(0, page - 1)
    judged = Judged(
        outcome,
        draw(st.none() | texts),
        draw(originals if outcome in ("near", "exact") else st.none() | originals),
        draw(st.none() | st.integers(0, 64)),
        draw(st.none() | st.floats(0, 1)),
    )
    return PageRecord(
        page=page,
        url=draw(texts),
        host=draw(texts),
        digest=draw(st.binary(min_size=16, max_size=16)),
        fingerprint=draw(st.none() | fingerprints),
        sketch=sketch(np.unique(np.array(draw(st.lists(hashes)), np.uint32))),
        words=draw(st.integers(0, 2**40)),
        language=draw(st.none() | texts),
        first_seen=first_seen,
        last_seen=last_seen,
        first_crawl=draw(numbers),
        crawl=draw(numbers),
        is_pending=False,
        judged=judged,
        headline=Headline(draw(texts), draw(texts)),
    )


def through_json(line):
    written = json.dumps(line)
    assert "\n" not in written
    assert written.isascii()
    return json.loads(written)


@given(records(), st.none() | texts)
def test_a_record_comes_back_as_it_was(record, text):
    page = ExportedPage(record, "https://example.com/", text)
    assert record_in(through_json(page_line(page))) == (record, text)


@given(
    st.dictionaries(texts, texts),
    st.lists(st.builds(Crawl, numbers, st.none() | texts, times, st.none() | times)),
)
def test_a_header_comes_back_as_it_was(parts, crawls):
    scheme, found = scheme_and_crawls_in(through_json(header_line(Scheme(parts), crawls)))
    assert (dict(scheme.parts), found) == (parts, crawls)


blocks = st.lists(st.integers(0, 2**64 - 1), max_size=3)
counts = st.integers(0, 2**32 - 1)
states = blocks.map(lambda shown: HostState(9, shown, [7] * len(shown)).to_bytes())
lessons = st.builds(frame_bytes.Lesson, st.booleans(), blocks).map(lambda each: each.to_bytes())
notes = st.builds(EarlyNote, counts, blocks.map(frozenset)).map(lambda each: each.to_bytes())


@given(
    texts,
    st.none() | states,
    st.lists(st.builds(Lesson, st.integers(0, 2**63 - 1), lessons, st.booleans())),
    st.lists(st.tuples(numbers, st.binary(), notes)),
)
def test_frames_come_back_as_they_were(host, state, lessons, early):
    known = HostFrames(host, state, lessons, [EarlyForm(p, host, f, n) for p, f, n in early])
    assert host_in(through_json(frames_line(known))) == known


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


def refusal(read, line):
    """Read a line; return why it is refused, None if it is not."""
    try:
        read(line)
    except ValueError as why:
        return str(why)
    return None


@given(records(), st.data())
def test_a_line_with_a_strange_value_is_refused_or_was_a_record(record, data):
    line = page_line(ExportedPage(record))
    line[data.draw(st.sampled_from(sorted(line)))] = data.draw(values)
    why = refusal(record_in, line)
    if why is None:
        read = record_in(line)
        assert record_in(page_line(ExportedPage(read[0], None, read[1]))) == read
    else:
        assert why.startswith(("has ", "was "))
        assert len(why) < 200


@given(values, values, values)
def test_headers_and_frames_with_strange_values_are_refused_or_read(one, two, three):
    for read, line in (
        (
            scheme_and_crawls_in,
            {"dedup_filter_export": FORMAT, "scheme": one, "crawls": [two, three]},
        ),
        (scheme_and_crawls_in, {"dedup_filter_export": one, "scheme": {}, "crawls": two}),
        (host_in, {"frames_of": one, "state": two, "lessons": [], "early": []}),
        (host_in, {"frames_of": "a", "state": None, "lessons": [one], "early": [[1, two, three]]}),
    ):
        refusal(read, line)


@pytest.mark.parametrize("moment", ["2026-02-30T00:00:00Z", "2026-01-01 00:00:00", "2026", "Z", ""])
def test_a_moment_that_is_none_is_refused(moment):
    with pytest.raises(ValueError, match="has started"):
        scheme_and_crawls_in(
            {
                "dedup_filter_export": FORMAT,
                "scheme": {},
                "crawls": [{"crawl": 1, "name": None, "started": moment, "ended": None}],
            }
        )


@pytest.mark.parametrize("found", [0, 1, FORMAT + 1, None, "2", True])
def test_an_export_of_another_format_is_refused(found):
    with pytest.raises(ValueError, match=f"export of format {found!r}, .* format {FORMAT}"):
        scheme_and_crawls_in({"dedup_filter_export": found, "scheme": {}, "crawls": []})


@pytest.mark.parametrize("field", ["h1", "title"])
@given(record=records(), value=st.none() | st.integers() | st.lists(st.text(), max_size=2))
def test_a_headline_that_is_no_text_is_refused(field, record, value):
    line = page_line(ExportedPage(record))
    assert refusal(record_in, {**line, field: value}).startswith(f"has {field} ")
    del line[field]
    assert refusal(record_in, line) == f"has no {field}"
