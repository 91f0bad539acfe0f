"""Pairs of recorded pages, against every pair compared one by one; settings against a filter."""

import random
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_profiles import hashes_of
from store_pages import folder_store, memory_store, page

from dedup_filter import NearDuplicateFilter
from dedup_filter.fingerprints.sketch import sketch
from dedup_filter.pages.directory.page_reader import Snapshot
from dedup_filter.review.tuning import record_pairs
from dedup_filter.review.tuning.record_pairs import NEVER, originals_at, pages_of, pairs_of

PRINTS = st.sampled_from([0, 1, 0b111, 2**64 - 1, 0xFFF << 40, 0x1FFF << 40])


def stored(pages):
    """Pages by (fingerprint, digest number, sketch number, host number)."""
    store = memory_store()
    for number, (fingerprint, digest, hashes, host) in enumerate(pages):
        store.insert(
            page(
                number,
                fingerprint=fingerprint,
                # What is frame of its host does not make it another page.
                digest=digest.to_bytes(16, "big") + number.to_bytes(8, "big"),
                sketch=sketch(hashes_of(hashes)),
                host=f"h{host}",
                h1="",
                title="",
            )
        )
    return store


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.none() | PRINTS, st.integers(0, 9), st.integers(0, 3), st.integers(0, 1)),
        max_size=14,
    ),
    st.booleans(),
)
def test_pairs_are_all_within_12_bits_but_for_exact_copies(pages, by_host):
    expected = {}
    for later, (one, digest, hashes, host) in enumerate(pages):
        for earlier, (other, other_digest, other_hashes, other_host) in enumerate(pages[:later]):
            are_first = all(
                pages[place][1] not in [each[1] for each in pages[:place]]
                for place in (later, earlier)
            )
            if one is None or other is None or not are_first or (by_host and host != other_host):
                continue
            assert digest != other_digest
            if (bits := (one ^ other).bit_count()) <= 12:
                share = 1.0 if hashes == other_hashes else 0.0
                expected[later, earlier] = (bits, share)
    with stored(pages) as store:
        there = pages_of(store)
        pairs = pairs_of(store, there, by_host=by_host)
    found = zip(*(column.tolist() for column in pairs[:4]), strict=True)
    assert {(later, earlier): rest for later, earlier, *rest in found} == {
        pair: list(rest) for pair, rest in expected.items()
    }
    order = list(zip(pairs.later.tolist(), pairs.distances.tolist(), strict=True))
    assert order == sorted(order)


def test_of_a_crowd_the_nearest_and_earliest_64_are_compared(monkeypatch):
    pages = [(1 << (number % 3), number, 0, 0) for number in range(200)]
    with stored(pages) as store:
        there = pages_of(store)
        pairs = pairs_of(store, there)
        last = pairs.later == 199
        same = [place for place in range(199) if place % 3 == 199 % 3]
        assert pairs.earlier[last].tolist() == same[:64]
        assert pairs.most_of_page == 64
        monkeypatch.setattr(record_pairs, "MOST_PAIRS", 2_000)
        few = pairs_of(store, there)
        assert len(few.later) <= 2_000
        assert few.most_of_page == 8
        monkeypatch.setattr(record_pairs, "_MOST_WAITING", 100)
        monkeypatch.setattr(record_pairs, "MOST_PAIRS", 300_000)
        again = pairs_of(store, there)
    for one, other in zip(pairs[:5], again[:5], strict=True):
        assert one.tolist() == other.tolist()


def oracle(there, pairs, bits, share):
    """Judge pages one by one, each against the kept ones before it."""
    found = []
    known = {
        (later, earlier): (distance, limit, -similarity)
        for later, earlier, distance, similarity, limit in zip(
            *(column.tolist() for column in pairs[:5]), strict=True
        )
    }
    for place in range(there.size):
        twin = int(there.twins[place])
        if twin != place:
            found.append(twin if found[twin] < 0 else found[twin])
            continue
        kept = [earlier for earlier in range(place) if found[earlier] < 0]
        candidates = [
            (known[place, earlier][0], known[place, earlier][2], earlier)
            for earlier in kept
            if (place, earlier) in known
            and known[place, earlier][0] <= bits
            and (share is None or known[place, earlier][1] >= share)
        ]
        found.append(min(candidates)[2] if candidates else -1)
    return found


@settings(max_examples=60)
@given(
    st.lists(st.tuples(PRINTS, st.integers(0, 9), st.integers(0, 1), st.just(0)), max_size=14),
    st.integers(0, 12),
    st.none() | st.sampled_from([0.5, 1.0]),
)
def test_a_page_repeats_the_nearest_that_is_kept(pages, bits, share):
    with stored(pages) as store:
        there = pages_of(store)
        pairs = pairs_of(store, there)
    assert originals_at(there, pairs, bits, share).tolist() == oracle(there, pairs, bits, share)


@pytest.fixture(scope="module")
def texts():
    """Versions of texts in which more and more words are replaced, in any order.

    No phrase is there twice: a filter counts phrases, and sketches distinct ones.
    """
    chance = random.Random(4)
    made = []
    for number in range(12):
        words = " ".join(f"r{number}x{place} of the" for place in range(70)).split()
        for edition in range(4):
            edited = [
                f"w{number}x{edition}x{place}" if chance.random() < edition / 25 else word
                for place, word in enumerate(words)
            ]
            made.append((f"https://{number}.example/{edition}", " ".join(edited)))
    chance.shuffle(made)
    return [{"url": url, "text": text} for url, text in made]


@pytest.mark.parametrize("bits", [0, 3, 7, 12])
@pytest.mark.parametrize("share", [0.5, 0.8, 0.9, 0.95])
def test_of_texts_a_setting_makes_what_a_filter_makes(texts, tmp_path, bits, share):
    with NearDuplicateFilter.open(tmp_path) as pages:
        for each in texts:
            pages.see(**each)
    with Snapshot.open_to_read(tmp_path) as snapshot:
        there = pages_of(snapshot)
        pairs = pairs_of(snapshot, there, watch=lambda them, _: nullcontext(them))
    originals = originals_at(there, pairs, bits, share).tolist()
    found = [None if original < 0 else texts[original]["url"] for original in originals]
    with NearDuplicateFilter.open(max_distance=bits, min_similarity=share) as pages:
        assert found == [pages.see(**each).original for each in texts]


def test_headlines_hosts_and_sizes_decide_as_in_a_crawl(tmp_path):
    elsewhere, other_headline = {"host": "other.example"}, {"h1": "One"}
    pages = {  # fields; how many of the first page's 200 phrases it has, and how many others
        "same host, other headline": (other_headline, 190, 0),
        "other host, other headline": (elsewhere | other_headline, 190, 0),
        "same host, nothing is missing": ({}, 180, 0),
        "same host, a tenth is missing": ({}, 180, 20),
        "other host, a tenth is missing": (elsewhere, 180, 20),
        "other host, part of a larger page": (elsewhere, 72, 8),
    }
    first, others = np.split(hashes_of(1, 220), [200])
    with folder_store(tmp_path) as store:
        store.insert(page(0, fingerprint=1, h1="Headline", title="", sketch=sketch(first)))
        for number, (fields, shared, missing) in enumerate(pages.values(), 1):
            hashes = np.concatenate([first[:shared], others[:missing]])
            given = {"h1": "Headline", "title": "", "sketch": sketch(hashes), **fields}
            store.insert(page(number, fingerprint=1, **given))
        pairs = pairs_of(store, pages_of(store))
    limits = dict(zip(pages, pairs.limits[pairs.earlier == 0].tolist(), strict=True))
    assert limits == {
        "same host, other headline": NEVER,
        "other host, other headline": NEVER,
        "same host, nothing is missing": 1.0,
        "same host, a tenth is missing": pytest.approx(0.8),
        "other host, a tenth is missing": pytest.approx(0.9),
        "other host, part of a larger page": pytest.approx(0.8),
    }


def test_an_index_without_pages_has_no_pairs():
    with stored([]) as store:
        there = pages_of(store)
        pairs = pairs_of(store, there)
    assert (there.size, len(pairs.later)) == (0, 0)
    assert originals_at(there, pairs, 12, 0.8).tolist() == []
