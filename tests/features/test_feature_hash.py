import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.features.feature_hash import FEATURE_HASHES, hash_shingles, hash_words

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


@given(st.lists(st.binary(max_size=30), max_size=20))
def test_many_words_at_once_are_hashed_like_one_by_one(words):
    def fnv1(word):
        value = 0xCBF29CE484222325
        for byte in word:
            value = value * 0x100000001B3 % 2**64 ^ byte
        return value

    def fnv1a(word):
        value = 0xCBF29CE484222325
        for byte in word:
            value = (value ^ byte) * 0x100000001B3 % 2**64
        return value

    assert FEATURE_HASHES["fnv1"](words).tolist() == [fnv1(word) for word in words]
    assert FEATURE_HASHES["fnv1a"](words).tolist() == [fnv1a(word) for word in words]


@pytest.mark.parametrize("name", ["fnv1", "fnv1a"])
@pytest.mark.parametrize("length", [63, 64, 65, 1000])
def test_an_overlong_word_is_hashed_like_a_short_one(name, length):
    word = bytes(range(1, 256)) * 4
    value = 0xCBF29CE484222325
    for byte in word[:length]:
        if name == "fnv1":
            value = value * 0x100000001B3 % 2**64 ^ byte
        else:
            value = (value ^ byte) * 0x100000001B3 % 2**64
    assert FEATURE_HASHES[name]([b"a", word[:length], b"b"]).tolist()[1] == value


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


def test_shingle_hashes_never_change():
    # They are in every stored sketch. Computed here one by one from the head note's formula.
    def finalise(value):
        for constant in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            value = (value ^ value >> 33) * constant % 2**64
        return value ^ value >> 33

    mixed = 0
    for word in (b"the", b"cat", b"sat"):
        mixed = (mixed * 0x9E3779B97F4A7C15 + xxhash.xxh3_64_intdigest(word)) % 2**64
    assert hash_shingles(hash_words(["the", "cat", "sat"]), 3).tolist() == [finalise(mixed)]


@pytest.mark.parametrize("name", FEATURE_HASHES)
@pytest.mark.parametrize("word", ["\ud800", "a\udfff", ""])
def test_any_string_has_a_hash(name, word):
    assert hash_words([word], name).shape == (1,)
    assert hash_words([], name).dtype == np.uint64
