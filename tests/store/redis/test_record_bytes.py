"""Records as they are written to servers, and bytes that are none."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.fingerprints.profile import DIGEST_BYTES
from dedup_filter.fingerprints.sketch import KEYS_BYTES, sketch
from dedup_filter.model import Outcome
from dedup_filter.store.records import PageRecord
from dedup_filter.store.redis.records import FORMAT, pack_record, unpack_record
from dedup_filter.text.page_url import host_of, url_key

# Half surrogates too: that is how bytes of a URL that are no text come out of a header.
text = st.text(st.characters(exclude_categories=()))
urls = st.one_of(text, text.map("http://a.example/{}".format), st.just("http://a/\n\udcff\0\n"))
lines = text.map(lambda drawn: drawn.replace("\n", " "))
uint32 = st.integers(0, 2**32 - 1)
words = st.one_of(st.none(), st.from_regex(r"[a-z_]{1,12}", fullmatch=True))
# What a float of 4 bytes can hold.
similarities = st.one_of(st.none(), st.floats(0, 1, width=32))


records = st.builds(
    lambda url, **drawn: PageRecord(url=url, host=host_of(url), url_key=url_key(url), **drawn),
    url=urls,
    keys=st.sampled_from([b"", bytes(range(KEYS_BYTES))]),
    page=st.integers(1, 2**48),
    digest=st.binary(min_size=DIGEST_BYTES, max_size=DIGEST_BYTES),
    fingerprint=st.one_of(st.none(), st.integers(0, 2**64 - 1)),
    sketch=st.lists(uint32).map(lambda drawn: sketch(np.unique(np.array(drawn, np.uint32)))),
    words=uint32,
    language=words,
    **dict.fromkeys(["first_seen", "last_seen", "first_crawl", "crawl"], uint32),
    is_pending=st.booleans(),
    outcome=st.sampled_from(get_args(Outcome)),
    reason=words,
    distance=st.one_of(st.none(), st.integers(0, 64)),
    similarity=similarities,
    h1=lines,
    title=lines,
    original=st.one_of(st.none(), st.integers(1, 2**48)),
    canonical_key=st.one_of(st.none(), st.integers(0, 2**64 - 1)),
).map(lambda drawn: drawn._replace(original=None) if drawn.is_kept else drawn)


@given(records, text, text)
def test_a_record_is_read_as_it_was_written(record, h1, title):
    packed = pack_record(record)
    assert unpack_record(record.page, packed, is_pending=record.is_pending) == record
    # Of a block or a title white space has become single spaces; a line end changes nothing else.
    packed = pack_record(record._replace(h1=h1, title=title))
    found = unpack_record(record.page, packed, is_pending=record.is_pending)
    assert found.headline == (h1.replace("\n", " "), title.replace("\n", " "))
    assert found._replace(h1=record.h1, title=record.title) == record


@given(records, st.data(), st.integers(0, 255).filter(lambda version: version != FORMAT))
def test_a_record_that_was_cut_off_or_is_of_another_version_is_refused(record, data, version):
    packed = pack_record(record)
    cut = packed[: data.draw(st.integers(0, len(packed) - 1))]
    with pytest.raises(ValueError, match=f"the record of page {record.page} is damaged"):
        unpack_record(record.page, cut, is_pending=False)
    other = bytes([version]) + packed[1:]
    with pytest.raises(ValueError, match=f"or of version {version}$"):
        unpack_record(record.page, other, is_pending=False)


@given(st.binary(max_size=500))
def test_any_other_bytes_are_refused_or_read_but_never_an_error_of_another_kind(packed):
    try:
        unpack_record(1, packed, is_pending=False)
    except ValueError as error:
        assert "the record of page 1 is" in str(error)  # noqa: PT017
