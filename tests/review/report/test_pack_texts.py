"""Texts come out of their bundles as they were kept, with advertisements where they are."""

import json
import sys
import zlib
from base64 import b64decode
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_text import prose
from report_index import ADVERT

from dedup_filter import FilterConfig
from dedup_filter.review.report.collect import collect
from dedup_filter.review.report.pack_texts import LEFT_OUT, advertisements, pack_texts
from dedup_filter.store.records import PageRecord
from dedup_filter.store.sqlite_store import SqliteStore

MODULE = sys.modules[pack_texts.__module__]
SCRIPTS = st.sampled_from(
    [
        "abc ",
        "the of and ",
        "漢字かな",
        "ﬁ ",
        "e\u0301 ",
        "한국어 ",
        "ไทย",
        "\n",
        "😀 ",
        "\ud800",
        "ß,",
        "１２ ",
    ]
)


def record_of(language="en"):
    fields = dict.fromkeys(PageRecord._fields, 0)
    return PageRecord(**fields | {"language": language})


def unpacked(bundle):
    return json.loads(zlib.decompress(b64decode(bundle)))


@pytest.mark.parametrize("most", [10_000, 20, 1, 0])
def test_each_pair_finds_its_texts_in_its_bundle(index, most):
    with SqliteStore.open_to_read(index) as recorded:
        found = collect(recorded, recorded.records(), FilterConfig(), 1_000)
        texts = pack_texts(recorded, found, most)
        assert texts.pairs == min(most, len(found.pairs))
        sizes = Counter(pair.original for pair in found.pairs)
        packed, left_out = [], []
        for pair, bundle in zip(found.pairs, texts.of_pairs, strict=True):
            (left_out if bundle == LEFT_OUT else packed).append(sizes[pair.original])
        assert min(packed, default=99) >= max(left_out, default=0), "large clusters come first"
        for pair, bundle in zip(found.pairs, texts.of_pairs, strict=True):
            if bundle == LEFT_OUT:
                continue
            for page in pair[:2]:
                text, places, length = unpacked(texts.bundles[bundle])[str(page)]
                assert text == recorded.content(found.records[page]).text
                assert length == len(text)
                units = len(text.encode("utf-16-le", "surrogatepass")) // 2
                assert places == sorted(places)
                assert len(places) % 2 == 0
                assert all(0 <= place <= units for place in places)


def test_a_long_text_is_cut_and_many_are_left_out(index, monkeypatch):
    monkeypatch.setattr(MODULE, "_MOST_CHARACTERS", 100)
    with SqliteStore.open_to_read(index) as recorded:
        found = collect(recorded, recorded.records(), FilterConfig(), 1_000)
        texts = pack_texts(recorded, found, 1)
        ((text, _, length), *_) = unpacked(texts.bundles[0]).values()
        assert len(text) == 100 < length
        monkeypatch.setattr(MODULE, "_MOST_BYTES", 3_000)
        texts = pack_texts(recorded, found, 1_000)
        assert 0 < texts.pairs < len(found.pairs)
        assert LEFT_OUT in texts.of_pairs
        assert sum(len(b64decode(each)) for each in texts.bundles) <= 3_000


@pytest.mark.parametrize("before", ["", f"{prose(1)}\n", f"“{prose(1).upper()}” ﬁnally…\n"])
def test_an_advertisement_is_found_where_it_is(before):
    text = f"{before}{ADVERT * 2}\n{prose(2)}"
    places = advertisements(text, record_of())
    grey = [text[a:b] for a, b in zip(places[::2], places[1::2], strict=True)]
    assert len(grey) == 1
    # Words at its ends stand among function words of the sentences beside it.
    assert "laptops cameras watches today!" in grey[0]
    assert grey[0] in ADVERT * 2
    assert len(grey[0]) > 0.45 * len(ADVERT * 2)


def test_prose_has_none_and_a_list_of_nouns_is_one():
    assert advertisements(prose(1), record_of()) == []
    assert advertisements(ADVERT, record_of()) == [0, len(ADVERT)]


@given(st.lists(SCRIPTS, max_size=60), st.sampled_from(["en", "zh", "ja", None]))
def test_places_are_within_the_text_whatever_its_scripts(pieces, language):
    text = "".join(pieces)
    places = advertisements(text, record_of(language))
    assert places == sorted(places)
    assert len(places) % 2 == 0
    assert all(0 <= place <= len(text) for place in places)
    assert all(a < b for a, b in zip(places[::2], places[1::2], strict=True))
