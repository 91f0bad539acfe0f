"""Figures and pairs are those of the records, whatever is left out; texts are as they were kept."""

import json
import sys
import zlib
from base64 import b64decode
from collections import Counter

import pytest
from report_index import made_index

from dedup_filter import FilterConfig, NearDuplicateFilter
from dedup_filter.review.report.collect import collect
from dedup_filter.store.sqlite_store import SqliteStore

collect_module = sys.modules[collect.__module__]


@pytest.fixture(scope="module")
def records(index):
    with SqliteStore.open_to_read(index) as recorded:
        return list(recorded.records())


def gather(index, most=1_000, texts=0):
    with SqliteStore.open_to_read(index) as recorded:
        return collect(recorded, recorded.records(), FilterConfig(), most, texts)


def unpacked(text):
    return json.loads(zlib.decompress(b64decode(text)))


@pytest.mark.parametrize("most", [1_000, 7, 0])
def test_figures_are_of_all_pages_and_pairs_of_the_last(index, records, most):
    found = gather(index, most)
    dropped = [record for record in records if not record.is_kept]
    assert found.duplicates == len(dropped)
    assert found.pages == len(records)
    assert [pair.page for pair in found.pairs] == [r.page for r in dropped[-most:] if most]
    for pair in found.pairs:
        record = next(each for each in dropped if each.page == pair.page)
        assert pair == record._replace(sketch=b"", visit=b"")
        assert {pair.page, pair.original} <= {*found.records}
    assert found.clusters == len({record.original for record in dropped})
    assert found.reasons == {"too_short": 1}


def test_long_urls_shorten_the_list(index, records, monkeypatch):
    dropped = [record for record in records if not record.is_kept]
    monkeypatch.setattr(collect_module, "_MOST_OF_URLS", 10_200)
    pairs = gather(index).pairs
    assert pairs
    assert sum(len(record.url) for record in dropped[-len(pairs) :]) <= 10_200
    assert sum(len(record.url) for record in dropped[-len(pairs) - 1 :]) > 10_200


def test_a_forgotten_original_leaves_its_duplicate_without_one(tmp_path):
    index = made_index(tmp_path / "index", keep_text=False)
    with NearDuplicateFilter.open(index) as pages:
        pages.forget("https://shop.example/1")
    found = gather(index)
    (pair,) = [pair for pair in found.pairs if pair.host == "shop.example"]
    assert (pair.original, pair.outcome) == (None, "exact")


@pytest.mark.parametrize("most", [10_000, 20, 1, 0])
def test_each_pair_has_its_texts_those_of_large_clusters_first(index, most):
    found = gather(index, texts=most)
    assert found.shown_texts == min(most, len(found.pairs))
    sizes = Counter(pair.original for pair in found.pairs)
    packed, left_out = [], []
    for pair in found.pairs:
        (packed if pair.page in found.texts else left_out).append(sizes[pair.original])
        assert pair.page not in found.texts or pair.original in found.texts
    assert min(packed, default=99) >= max(left_out, default=0)
    with SqliteStore.open_to_read(index) as recorded:
        for page, text in found.texts.items():
            whole = recorded.content(found.records[page]).text
            assert unpacked(text) == [whole, len(whole)]


def test_a_long_text_is_cut_and_many_are_left_out(index, monkeypatch):
    monkeypatch.setattr(collect_module, "_MOST_OF_TEXT", 100)
    for packed in gather(index, texts=1).texts.values():
        text, length = unpacked(packed)
        assert len(text) == 100 < length
    monkeypatch.setattr(collect_module, "_MOST_BYTES", 3_000)
    found = gather(index, texts=1_000)
    assert 0 < found.shown_texts < len(found.pairs)
    assert sum(map(len, found.texts.values())) <= 3_000
