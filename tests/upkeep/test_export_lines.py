"""What an index holds to lines and back: nothing is lost, and nothing else gets in."""

import json
import tracemalloc
import zlib
from base64 import b64encode
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_pages import page
from strategies import fingerprints

from dedup_filter.fingerprints.profile import DIGEST_BYTES
from dedup_filter.fingerprints.sketch import sketch
from dedup_filter.frames.host_frames import Host, pack
from dedup_filter.store.protocol import KeptContent, Waiting
from dedup_filter.store.records import KEPT_AS_TEXT, Crawl, PageRecord, Scheme
from dedup_filter.text.page_bytes import pack_page
from dedup_filter.text.page_url import url_key
from dedup_filter.text.reading import Page
from dedup_filter.upkeep.lines import (
    FRAMES_KEY,
    exported,
    host_in,
    record_in,
    scheme_and_crawls_in,
)

# Half surrogates too: URLs on the web have them.
texts = st.text(st.characters(exclude_categories=()), max_size=20)
times = st.integers(0, 253_402_300_799)
numbers = st.integers(1, 2**63 - 1)
hashes = st.integers(0, 2**32 - 1)


judged = st.fixed_dictionaries(
    {
        "outcome": st.sampled_from(["new", "near", "exact", "revisit", "unjudged"]),
        "reason": st.none() | texts,
        "original": st.integers(0, 6),
        "distance": st.none() | st.integers(0, 64),
        "similarity": st.none() | st.floats(0, 1),
    }
)
records = st.builds(
    lambda judged, **drawn: PageRecord(**judged, **drawn, url_key=url_key(drawn["url"])),
    page=st.integers(7, 2**63 - 1),
    url=texts,
    host=texts,
    digest=st.binary(min_size=DIGEST_BYTES, max_size=DIGEST_BYTES),
    fingerprint=st.none() | fingerprints,
    sketch=st.sets(hashes).map(lambda shown: sketch(np.array(sorted(shown), np.uint32))),
    words=st.integers(0, 2**40),
    language=st.none() | texts,
    first_seen=st.integers(0, 2**30),
    last_seen=st.integers(2**30, 253_402_300_799),
    first_crawl=numbers,
    crawl=numbers,
    is_pending=st.just(False),
    judged=judged | st.just({"outcome": "new"}),
    h1=texts,
    title=texts,
)
blocks = st.lists(st.integers(0, 2**64 - 1), max_size=3)
counts = st.integers(0, 2**32 - 1)
frames = st.builds(Host, st.just("a"), counts, st.dictionaries(st.integers(0, 2**64 - 1), counts))
waiting = st.builds(
    Waiting,
    numbers,
    st.just("a"),
    counts,
    blocks.map(lambda shown: np.array(shown, np.uint64)),
    st.binary(),
)
hosts = st.tuples(frames, st.lists(waiting, max_size=2))
options = st.none() | st.fixed_dictionaries({"max_distance": st.integers(0, 12)})
crawls = st.builds(Crawl, numbers, st.none() | texts, times, st.none() | times, options)
forms = st.builds(
    lambda words, title: pack_page(Page([], title, "en", unread_words=words)),
    st.floats(0, 9) | st.just(inf),
    texts,
)
contents = st.tuples(st.none() | texts, st.none() | forms) | st.tuples(texts, st.just(KEPT_AS_TEXT))


class Held:
    """An index that holds this."""

    def __init__(self, scheme, crawls, record, hosts=(), content=KeptContent()):  # noqa: B008
        self.scheme = scheme
        self.crawls = lambda: crawls
        self.records = lambda: iter([record])
        self.hosts = lambda: [host for host, _ in hosts]
        waiting = iter([waiting for _, waiting in hosts])
        self.waiting = lambda _: next(waiting)
        self.content = lambda _: content


def lines_of(*held):
    written = [json.dumps(line) for line in exported(Held(*held))]
    assert all(line.isascii() and "\n" not in line for line in written)
    return map(json.loads, written)


@given(st.dictionaries(texts, texts), st.lists(crawls), records, contents, st.lists(hosts))
def test_what_an_index_holds_comes_back_as_it_was(parts, crawls, record, content, hosts):
    kept = KeptContent(*content, "https://example.com/")
    head, first, *rest = lines_of(Scheme(parts), crawls, record, hosts, kept)
    assert scheme_and_crawls_in(head) == (Scheme(parts), crawls)
    assert record_in(first) == (record, *content)
    for line, (host, waiting) in zip(rest, hosts, strict=True):
        found, pages = host_in(line)
        assert (found, [*found.sightings]) == (host, [*host.sightings])
        assert [fields(each) for each in pages] == [fields(each) for each in waiting]


def fields(waiting):
    return waiting.page, waiting.host, waiting.times, waiting.new.tolist(), waiting.form


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


@given(records, st.lists(crawls, max_size=1), hosts, st.data())
def test_a_line_with_a_strange_value_is_refused_or_read(record, crawls, host, data):
    kept = KeptContent("text", KEPT_AS_TEXT)
    written = lines_of(Scheme({}), crawls, record, [host], kept)
    readers = (scheme_and_crawls_in, record_in, host_in)
    line, read = data.draw(st.sampled_from(list(zip(written, readers, strict=True))))
    line[data.draw(st.sampled_from(sorted(line)))] = data.draw(values)
    why = refusal(read, line)
    if why is not None:
        assert why.startswith(("has ", "was ", "begins "))
        assert len(why) < 200
    elif read is record_in:
        found = read(line)
        _, again = lines_of(Scheme({}), [], found[0], (), KeptContent(*found[1:]))
        assert read(again) == found


@pytest.mark.slow
def test_a_line_that_unpacks_to_much_is_refused_before_it_takes_memory(monkeypatch):
    monkeypatch.setattr("dedup_filter.text.page_bytes._MOST_BYTES", 10**6)
    bomb = zlib.compress(b"[" + b" " * 10**8)
    record = page(7)
    for kept in (KeptContent("text", bomb), KeptContent(None, bomb)):
        _, line = lines_of(Scheme({}), [], record, (), kept)
        assert refusal(record_in, line).startswith("has form")
    frame = pack(2, [1, 2]) + zlib.compress(b"\0" * 10**8)
    line = {FRAMES_KEY: "a", "record": b64encode(frame).decode(), "provisional": []}
    tracemalloc.start()
    try:
        assert refusal(host_in, line).startswith("has record")
        assert tracemalloc.get_traced_memory()[1] < 10**7
    finally:
        tracemalloc.stop()
