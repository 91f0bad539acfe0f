"""A table of phrases: what it finds, against a set of pairs that knows no order and no bound."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.fingerprints.sketch import KEYS, KEYS_BYTES, keys_of, smallest
from dedup_filter.store import phrase_table
from dedup_filter.store.phrase_table import MOST_OF_KEY, PhraseTable


def packed(*keys):
    return np.array(keys, "<u4").tobytes().ljust(KEYS_BYTES, b"\0")


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


@pytest.fixture(scope="module")
def small_buffers():
    patch = pytest.MonkeyPatch()
    patch.setattr(phrase_table, "_FRESH", 10)
    patch.setattr(phrase_table, "_BULK", 3)
    yield
    patch.undo()


@given(steps=STEPS, asked=st.lists(KEY_SETS, min_size=1, max_size=2), before=st.integers(0, 60))
def test_finds_what_an_oracle_finds_after_whatever_was_done(small_buffers, steps, asked, before):
    table, oracle = PhraseTable(), Oracle()
    for page, (step, chosen, keys) in enumerate(steps, 1):
        if step == "a":
            table.add(packed(*keys), page)
            oracle.pages[page] = keys
        elif step in "rs" and oracle.pages:
            # Some removed pages come again, with the same keys or others.
            known = sorted(oracle.pages)[chosen % len(oracle.pages)]
            table.remove(packed(*oracle.pages.pop(known)), known)
            if step == "s":
                again = keys if chosen % 2 else {1, 2, 3}
                table.add(packed(*again), known)
                oracle.pages[known] = again
        elif step == "m":
            # Some pages at once: new ones and, if there are any, some that were removed.
            some = {100 * page + n: keys if n % 2 else {n + 1} for n in range(chosen % 6)}
            known = sorted(oracle.pages)[: chosen % 3]
            some |= {each: oracle.pages.pop(each) for each in known}
            for each in known:
                table.remove(packed(*some[each]), each)
            table.add_many([packed(*each) if each else b"" for each in some.values()], [*some])
            oracle.pages |= some
        elif step == "l":
            table = PhraseTable(table.sealed())
    table.check()
    texts = [packed(*keys) for keys in asked]
    assert table.sharing(texts) == oracle.sharing(asked)
    assert table.sharing(texts, before) == oracle.sharing(asked, before)
    pairs = {(page, key) for page, keys in oracle.pages.items() for key in keys}
    assert len(table) == len(pairs)
    assert {*table.pairs.tolist()} == pairs


def test_a_key_that_half_of_all_pages_share_is_passed_over_and_their_others_are_not():
    table = PhraseTable()
    for page in range(1, 10_001):
        table.add(packed(7, 1_000 + page) if page % 2 else packed(1_000 + page), page)
    assert table.sharing([packed(7)]) == {}
    assert table.sharing([packed(7, 1_005)]) == {5: 1}
    for page in range(2 * MOST_OF_KEY + 1, 10_001, 2):
        table.remove(packed(7, 1_000 + page), page)
    assert set(table.sharing([packed(7)])) == set(range(1, 2 * MOST_OF_KEY, 2))
    table.check()


def test_ten_thousand_pages_with_one_text_take_no_more_than_others():
    table, others = PhraseTable(), PhraseTable()
    for page in range(1, 10_001):
        table.add(packed(*range(1, 9)), page)
        others.add(packed(*range(8 * page, 8 * page + 8)), page)
    assert table.sharing([packed(*range(1, 9))]) == {}
    assert table.sealed().nbytes == others.sealed().nbytes == 64 * 10_000


def test_removing_what_is_not_there_is_an_error_and_changes_nothing():
    table = PhraseTable()
    table.add(packed(1, 2), 1)
    table.sealed()
    table.remove(packed(1, 2), 1)
    for page in 1, 2:
        with pytest.raises(KeyError):
            table.remove(packed(1, 2), page)
    assert len(table) == 0
    assert not table.sharing([packed(1, 2)])


def test_a_page_with_a_number_of_more_than_32_bits_is_not_found():
    table = PhraseTable()
    table.add(packed(1, 2), 2**32)
    assert not table.sharing([packed(1)])
    table.remove(packed(1, 2), 2**32)
    table.check()


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=20), min_size=1, max_size=3))
def test_the_keys_of_a_page_are_those_of_its_smallest_hashes(texts):
    found = keys_of([smallest(np.array(text, np.uint64)) for text in texts])
    least = sorted({each for text in texts for each in text})[:KEYS]
    assert found == packed(*(each % 2**32 for each in least))
