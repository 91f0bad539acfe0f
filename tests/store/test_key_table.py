"""A table of keys: what it finds, against a set of pairs that knows no order and no bound."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.fingerprints.sketch import KEYS, KEYS_BYTES, keys_in, keys_of, smallest
from dedup_filter.store import key_table
from dedup_filter.store.key_table import MOST_OF_KEY, KeyTable, phrase_keys, sharing


def packed(*keys):
    return b"".join(key.to_bytes(6, "little") for key in keys).ljust(KEYS_BYTES, b"\0")


KEY_SETS = st.sets(st.integers(1, 30) | st.just(2**32 - 1), max_size=KEYS)
STEPS = st.lists(st.tuples(st.sampled_from("aaaarslm"), st.integers(0, 10**6), KEY_SETS))


class Oracle:
    """The keys of each page, all of which are looked through."""

    def __init__(self):
        self.pages = {}

    def sharing(self, texts, before=2**70):
        pages = {page: keys for page, keys in self.pages.items() if page < before}
        owners = Counter(key for keys in pages.values() for key in keys)
        rare = {key for key, count in owners.items() if count <= MOST_OF_KEY}
        shared = {
            page: max(len(keys & text & rare) for text in texts) for page, keys in pages.items()
        }
        return {page: count for page, count in shared.items() if count}

    def pages_of(self, wanted):
        found = {key: {page for page, keys in self.pages.items() if key in keys} for key in wanted}
        return {key: pages for key, pages in found.items() if pages}


@pytest.fixture(scope="module")
def small_buffers():
    patch = pytest.MonkeyPatch()
    patch.setattr(key_table, "_FRESH", 10)
    patch.setattr(key_table, "_BULK", 3)
    yield
    patch.undo()


@given(steps=STEPS, asked=st.lists(KEY_SETS, min_size=1, max_size=2), before=st.integers(0, 60))
def test_finds_what_an_oracle_finds_after_whatever_was_done(small_buffers, steps, asked, before):
    table, oracle = KeyTable(), Oracle()
    for page, (step, chosen, keys) in enumerate(steps, 1):
        if step == "a":
            table.add(keys, page)
            oracle.pages[page] = keys
        elif step in "rs" and oracle.pages:
            # Some removed pages come again, with the same keys or others.
            known = sorted(oracle.pages)[chosen % len(oracle.pages)]
            table.remove(oracle.pages.pop(known), known)
            if step == "s":
                again = keys if chosen % 2 else {1, 2, 3}
                table.add(again, known)
                oracle.pages[known] = again
        elif step == "m":
            # Some pages at once: new ones and, if there are any, some that were removed.
            some = {100 * page + n: keys if n % 2 else {n + 1} for n in range(chosen % 6)}
            known = sorted(oracle.pages)[: chosen % 3]
            some |= {each: oracle.pages.pop(each) for each in known}
            for each in known:
                table.remove(some[each], each)
            rows = [[*each] + [0] * (KEYS - len(each)) for each in some.values()]
            columns = np.array(rows, np.uint32).reshape(-1, KEYS)
            table.add_many(columns, np.array([*some], np.int64))
            oracle.pages |= some
        elif step == "l":
            assert len(table.pairs) == len(table)  # merges all entries
    table.check()
    texts = [packed(*keys) for keys in asked]
    assert sharing(table, texts) == oracle.sharing(asked)
    assert sharing(table, texts, before) == oracle.sharing(asked, before)
    for keys in asked:
        found = table.pages_of([*keys])
        assert all(len({*pages}) == len(pages) for pages in found.values())
        assert {key: {*pages} for key, pages in found.items()} == oracle.pages_of(keys)
        for key in keys:
            there = sorted(oracle.pages_of([key]).get(key, ()))
            ends = table.ends_of(key, 3)
            assert ends == sorted({*ends} & {*there})
            assert len(ends) >= min(len(there), 3)
            assert ends == there or len(there) > 3
    pairs = {(page, key) for page, keys in oracle.pages.items() for key in keys}
    assert len(table) == len(pairs)
    assert {*table.pairs.tolist()} == pairs


def test_of_many_pages_with_a_key_the_ends_are_read():
    table = KeyTable()
    for page in range(1, 40_001):
        table.add([7 if page % 2 else 8], page)
    for page in (1, 39_999):
        table.remove([7], page)
    assert table.ends_of(7, 2) == [3, 5, 39_995, 39_997]
    assert table.ends_of(8, 1) == [2, 40_000]
    assert table.ends_of(9, 1) == []


def test_a_key_that_half_of_all_pages_share_is_skipped_and_their_others_are_not():
    table = KeyTable()
    for page in range(1, 10_001):
        table.add([7, 1_000 + page] if page % 2 else [1_000 + page], page)
    assert sharing(table, [packed(7)]) == {}
    assert sharing(table, [packed(7, 1_005)]) == {5: 1}
    for page in range(2 * MOST_OF_KEY + 1, 10_001, 2):
        table.remove([7, 1_000 + page], page)
    assert set(sharing(table, [packed(7)])) == set(range(1, 2 * MOST_OF_KEY, 2))
    table.check()


def test_ten_thousand_pages_with_one_text_take_no_more_memory_than_others():
    table, others = KeyTable(), KeyTable()
    for page in range(1, 10_001):
        table.add(range(1, 9), page)
        others.add(range(8 * page, 8 * page + 8), page)
    assert sharing(table, [packed(*range(1, 9))]) == {}
    assert len(table.pairs) == len(others.pairs) == 80_000
    assert table.nbytes == others.nbytes == 64 * 10_000


def test_removing_an_absent_entry_is_an_error_and_changes_nothing():
    table = KeyTable()
    table.add([1, 2], 1)
    assert len(table.pairs) == 2
    table.remove([1, 2], 1)
    for page in 1, 2:
        with pytest.raises(KeyError):
            table.remove([1, 2], page)
    assert len(table) == 0
    assert not sharing(table, [packed(1, 2)])


def test_a_page_with_a_number_of_more_than_32_bits_is_not_found():
    table = KeyTable()
    table.add([1, 2], 2**32)
    assert not table.pages_of([1])
    table.remove([1, 2], 2**32)
    table.check()


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=20), min_size=1, max_size=3))
def test_the_keys_of_a_page_are_those_of_its_smallest_hashes(texts):
    found = keys_of([smallest(np.array(text, np.uint64)) for text in texts])
    least = sorted({each for text in texts for each in text})[:KEYS]
    assert found == packed(*(each % 2**48 for each in least))
    assert keys_in(found).tolist()[: len(least)] == [each % 2**48 for each in least]
    assert phrase_keys(found) == [*dict.fromkeys(n % 2**32 for n in least if n % 2**32)]
