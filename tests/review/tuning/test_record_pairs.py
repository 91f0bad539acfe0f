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
from dedup_filter.review.tuning import record_pairs
from dedup_filter.review.tuning.record_pairs import NEVER, originals_at, pages_of, pairs_of
from dedup_filter.store.sqlite.page_reader import Snapshot

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


def oracle(there, pairs, bits, share, by_phrases):
    """Judge pages one by one, each against the kept ones before it."""
    found = []
    known = {
        (later, earlier): (distance, limit, -similarity)
        for later, earlier, distance, similarity, limit in zip(
            *(column.tolist() for column in pairs[:5]), strict=True
        )
        # Sketches of so few phrases are whole: phrases find what has three quarters of them.
        if distance <= bits or (by_phrases and share is not None and similarity >= 0.75)
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
            if (place, earlier) in known and (share is None or known[place, earlier][1] >= share)
        ]
        found.append(min(candidates)[2] if candidates else -1)
    return found


@settings(max_examples=60)
@given(
    st.lists(st.tuples(PRINTS, st.integers(0, 9), st.integers(0, 1), st.just(0)), max_size=14),
    st.integers(0, 12),
    st.none() | st.sampled_from([0.5, 1.0]),
    st.booleans(),
)
def test_a_page_repeats_the_nearest_that_is_kept(pages, bits, share, by_phrases):
    with stored(pages) as store:
        there = pages_of(store, by_phrases=by_phrases)
        pairs = pairs_of(store, there)
    expected = oracle(there, pairs, bits, share, by_phrases)
    assert originals_at(there, pairs, bits, share).tolist() == expected


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


@pytest.mark.parametrize("by_phrases", [False, True])
@pytest.mark.parametrize("bits", [0, 3, 7, 12])
@pytest.mark.parametrize("share", [0.5, 0.8, 0.9, 0.95])
def test_of_texts_a_setting_makes_what_a_filter_makes(texts, tmp_path, bits, share, by_phrases):
    options = {"shared_phrases": by_phrases}
    with NearDuplicateFilter.open(tmp_path, **options) as pages:
        for each in texts:
            pages.see(**each)
    with Snapshot.open_to_read(tmp_path) as snapshot:
        there = pages_of(snapshot, by_phrases=by_phrases)
        pairs = pairs_of(snapshot, there, watch=lambda them, _: nullcontext(them))
    originals = originals_at(there, pairs, bits, share).tolist()
    found = [None if original < 0 else texts[original]["url"] for original in originals]
    with NearDuplicateFilter.open(max_distance=bits, min_similarity=share, **options) as pages:
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


@pytest.mark.parametrize("by_host", [False, True])
def test_pages_that_share_keys_are_pairs_at_any_distance(by_host):
    """If the sketch of the earlier page has three quarters of 64 phrases, or of all."""
    hashes, few, others = hashes_of(1, 200), hashes_of(2, 40), hashes_of(3, 4_000)
    pages = {  # what the later page says; what the earlier page says; other fields of that
        "all of it": (hashes, hashes, {}),
        "three quarters": (hashes, np.concatenate([hashes[:150], others[:50]]), {}),
        "less": (hashes, np.concatenate([hashes[:140], others[:60]]), {}),
        "few phrases": (few, np.concatenate([few, others[:100]]), {}),
        "few that are sampled": (few, np.concatenate([few, others]), {}),
        "other keys": (hashes, hashes, {"keys": bytes(range(32))}),
        "dropped": (hashes, hashes, {"keys": b""}),
        "another host": (hashes, hashes, {"host": "other.example"}),
    }
    with memory_store() as store:
        for number, (later, earlier, fields) in enumerate(pages.values()):
            keys = bytes([number + 100]) * 32
            for at, said in enumerate((earlier, later)):
                given = {"keys": keys, "h1": "", "title": "", "sketch": sketch(np.unique(said))}
                fingerprint = number * 0x9E37_79B9_7F4A_7C15 % 2**64 ^ 0xFFFF * at
                given |= {"fingerprint": fingerprint} | ({} if at else fields)
                store.insert(page(2 * number + at, **given))
        there = pages_of(store)
        pairs = pairs_of(store, there, by_host=by_host)
        none = pairs_of(store, pages_of(store, by_phrases=False), by_host=by_host)
    found = pairs.are_found(12, 0.5)
    assert (pairs.later == pairs.earlier + 1).all()
    names = [list(pages)[place // 2] for place in pairs.earlier[found].tolist()]
    assert names == ["all of it", "three quarters", "few phrases"] + ["another host"] * (
        not by_host
    )
    assert (pairs.limits[~found] == NEVER).all()
    assert not pairs.are_found(12, None).any()
    assert len(none.later) == 0


def test_an_index_without_pages_has_no_pairs():
    with stored([]) as store:
        there = pages_of(store)
        pairs = pairs_of(store, there)
    assert (there.size, len(pairs.later)) == (0, 0)
    assert originals_at(there, pairs, 12, 0.8).tolist() == []
