"""Hashes of words and shingles against computations by hand, and what is kept of each word."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

from dedup_filter.features.vocabulary import (
    FEATURE_HASHES,
    Vocabulary,
    hash_of_kind,
    hash_shingles,
    hash_words,
)

# From the reference implementation's test_fnv.c (64-bit vectors without a trailing NUL).
FNV_VECTORS = [
    (b"", 0xCBF29CE484222325, 0xCBF29CE484222325),
    (b"a", 0xAF63BD4C8601B7BE, 0xAF63DC4C8601EC8C),
    (b"b", 0xAF63BD4C8601B7BD, 0xAF63DF4C8601F1A5),
    (b"foo", 0xD8CBC7186BA13533, 0xDCB27518FED9D577),
    (b"foobar", 0x340D8765A4DDA9C2, 0x85944171F73967E8),
]


@pytest.mark.parametrize(("word", "fnv1", "fnv1a"), FNV_VECTORS)
def test_fnv_gives_the_reference_vectors(word, fnv1, fnv1a):
    assert FEATURE_HASHES["fnv1"]([word]).tolist() == [fnv1]
    assert FEATURE_HASHES["fnv1a"]([word]).tolist() == [fnv1a]


def fnv(name, word):
    value = 0xCBF29CE484222325
    for byte in word:
        if name == "fnv1":
            value = value * 0x100000001B3 % 2**64 ^ byte
        else:
            value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


OVERLONG = bytes(range(1, 256)) * 4


@pytest.mark.parametrize("name", ["fnv1", "fnv1a"])
@given(words=st.lists(st.binary(max_size=30), max_size=20))
@example(words=[b"a", *(OVERLONG[:length] for length in (63, 64, 65, 1000)), b"b"])
def test_many_words_at_once_are_hashed_like_one_by_one(name, words):
    assert FEATURE_HASHES[name](words).tolist() == [fnv(name, word) for word in words]


def test_one_word_of_a_million_bytes_takes_no_room_beside_many_short_ones():
    # Padded to one length, these would be 160 GB.
    words = [b"x" * 10**6, *(str(number).encode() for number in range(20_000))]
    assert len(set(FEATURE_HASHES["fnv1a"](words).tolist())) == 20_001


def test_a_word_is_hashed_by_xxh3_of_its_utf8_bytes():
    assert hash_words(["cat", "猫", "cat"]).tolist() == [
        xxhash.xxh3_64_intdigest(b"cat"),
        xxhash.xxh3_64_intdigest("猫".encode()),
        xxhash.xxh3_64_intdigest(b"cat"),
    ]


def finalised(value):
    for constant in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ value >> 33) * constant % 2**64
    return value ^ value >> 33


def test_shingle_hashes_never_change():
    # They are in every stored sketch. Computed here one by one from the head note's formula.
    mixed = 0
    for word in (b"the", b"cat", b"sat"):
        mixed = (mixed * 0x9E3779B97F4A7C15 + xxhash.xxh3_64_intdigest(word)) % 2**64
    assert hash_shingles(hash_words(["the", "cat", "sat"]), 3).tolist() == [finalised(mixed)]


@pytest.mark.parametrize("kind", ["title", "heading", "image"])
@pytest.mark.parametrize("feature", [0, 1, 0x0123456789ABCDEF, 2**64 - 1])
def test_hashes_of_a_kind_never_change(feature, kind):
    mixed = feature * 0x9E3779B97F4A7C15 + xxhash.xxh3_64_intdigest(kind.encode())
    hashes = hash_of_kind(np.array([feature], np.uint64), kind)
    assert hashes.tolist() == [finalised(mixed % 2**64)]


@pytest.mark.parametrize("name", FEATURE_HASHES)
@pytest.mark.parametrize("word", ["\ud800", "a\udfff", ""])
def test_any_string_has_a_hash(name, word):
    assert hash_words([word], name).shape == (1,)
    assert hash_words([], name).dtype == np.uint64


texts = st.lists(st.sampled_from("the cat sat on a mat 猫 \ud800".split(" ")), max_size=12)


def lengths(words):
    return np.array([len(word) for word in words], np.int64)


def initials(words):
    return np.array([word[0] == "c" for word in words], np.bool_)


@given(st.lists(texts, max_size=8), st.integers(1, 20))
def test_values_are_those_of_the_functions_however_often_words_are_forgotten(pages, most_words):
    vocabulary = Vocabulary(most_words)
    for words in pages:
        length, initial = vocabulary.look_up(words, {"length": lengths, "initial": initials})
        assert length.tolist() == [len(word) for word in words]
        assert initial.tolist() == [word[0] == "c" for word in words]


def test_a_column_asked_for_later_knows_the_words_met_before():
    vocabulary = Vocabulary()
    vocabulary.look_up(["cat", "mouse"], {"length": lengths})
    vocabulary.look_up(["dog"], {"length": lengths})
    (initial,) = vocabulary.look_up(["dog", "cat"], {"initial": initials})
    assert initial.tolist() == [False, True]


def test_values_are_computed_once_a_word():
    computed = []

    def recorded(words):
        computed.extend(words)
        return lengths(words)

    vocabulary = Vocabulary()
    for words in (["a", "b", "a"], [], ["b", "c"]):
        vocabulary.look_up(words, {"length": recorded})
    assert computed == ["a", "b", "c"]


def test_remembered_words_are_bounded():
    vocabulary = Vocabulary(100)
    for start in range(0, 1000, 30):
        vocabulary.look_up([f"w{number}" for number in range(start, start + 30)], {"l": lengths})
        assert len(vocabulary) <= 100


def test_remembered_words_are_bounded_by_their_length_too():
    vocabulary = Vocabulary()
    for number in range(20):
        words = [f"{number}" + "x" * 1_000_000, "cat"]
        (length,) = vocabulary.look_up(words, {"length": lengths})
        assert length.tolist() == list(map(len, words))
        assert len(vocabulary) <= 7


def test_a_page_of_more_words_than_are_remembered_has_its_values():
    words = [f"w{number}" for number in range(1000)]
    (length,) = Vocabulary(100).look_up(words, {"length": lengths})
    assert length.tolist() == [len(word) for word in words]


def test_threads_that_share_it_do_not_mix_up_words():
    vocabulary = Vocabulary(500)

    def look_up(start):
        words = [f"{number}" * (number % 7 + 1) for number in range(start, start + 50)]
        (length,) = vocabulary.look_up(words, {"length": lengths})
        return length.tolist() == [len(word) for word in words]

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(look_up, range(0, 4000, 7)))
