"""Words of a text: their hashes, what is known of them, and the shingles that they make."""

import string
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from unicodedata import category

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.features.analysis import (
    FEATURE_HASHES,
    Vocabulary,
    analyse,
    hash_of_kind,
    hash_shingles,
    hash_words,
)
from dedup_filter.features.languages import function_words, stopwords
from dedup_filter.text.plain_text import normalize

# From the reference implementation's test_fnv.c (64-bit vectors without a trailing NUL).
FNV_VECTORS = [
    (b"", 0xCBF29CE484222325, 0xCBF29CE484222325),
    (b"foo", 0xD8CBC7186BA13533, 0xDCB27518FED9D577),
    (b"foobar", 0x340D8765A4DDA9C2, 0x85944171F73967E8),
]

WORDS = "the of a buy home order cat dog sat 猫 狗".split()
"""Function words of English, other stopwords of it, and words that are neither."""
STOPWORDS = "the of a buy home order is".split()
word_lists = st.lists(st.sampled_from(WORDS), max_size=60)
sizes = st.integers(1, 6)


def has_no_sign(text: str) -> bool:
    """Return whether a text has no sign: a sign at the end of a part may count, one within not."""
    return not any(each in string.punctuation or category(each)[0] in "SP" for each in text)


class TestHashes:
    @pytest.mark.parametrize(("word", "fnv1", "fnv1a"), FNV_VECTORS)
    def test_fnv_gives_the_reference_vectors(self, word, fnv1, fnv1a):
        assert (FEATURE_HASHES["fnv1"](word), FEATURE_HASHES["fnv1a"](word)) == (fnv1, fnv1a)

    def test_of_words_are_xxh3_of_their_utf8_bytes(self):
        expected = [xxhash.xxh3_64_intdigest(word) for word in (b"cat", "猫".encode(), b"cat")]
        assert hash_words(["cat", "猫", "cat"]).tolist() == expected

    def test_of_shingles_never_change(self):
        # They are in every stored sketch. Computed here one by one from the head note's formula.
        mixed = 0
        for word in (b"the", b"cat", b"sat"):
            mixed = (mixed * 0x9E3779B97F4A7C15 + xxhash.xxh3_64_intdigest(word)) % 2**64
        assert hash_shingles(hash_words(["the", "cat", "sat"]), 3).tolist() == [finalised(mixed)]

    @pytest.mark.parametrize("kind", ["title", "heading", "image"])
    @pytest.mark.parametrize("feature", [0, 1, 0x0123456789ABCDEF, 2**64 - 1])
    def test_of_a_kind_never_change(self, feature, kind):
        mixed = feature * 0x9E3779B97F4A7C15 + xxhash.xxh3_64_intdigest(kind.encode())
        hashes = hash_of_kind(np.array([feature], np.uint64), kind)
        assert hashes.tolist() == [finalised(mixed % 2**64)]

    @pytest.mark.parametrize("name", FEATURE_HASHES)
    def test_are_there_of_any_string(self, name):
        assert hash_words(["\ud800", "a\udfff", ""], name).shape == (3,)
        assert hash_words([], name).dtype == np.uint64


def finalised(value):
    for constant in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ value >> 33) * constant % 2**64
    return value ^ value >> 33


class TestVocabulary:
    @given(
        st.lists(st.lists(st.sampled_from([*WORDS, "\ud800", "été"]), max_size=12), max_size=8),
        st.integers(1, 20),
        st.sampled_from(["en", "zh", None]),
    )
    def test_gives_the_values_of_words_however_often_it_forgets_some_to_stay_bounded(
        self, pages, most_words, language
    ):
        vocabulary = Vocabulary(language, most_words=most_words)
        for words in pages:
            assert_known(vocabulary.look_up(words), words, language)
            assert len(vocabulary) <= max(most_words, len(set(words)))

    def test_is_bounded_by_the_length_of_words(self):
        vocabulary = Vocabulary("en")
        for number in range(20):
            words = [f"{number}" + "x" * 200_000, "the"]
            assert_known(vocabulary.look_up(words), words, "en")
            assert len(vocabulary) <= 7

    def test_does_not_mix_up_the_words_of_threads(self):
        vocabulary = Vocabulary("en", most_words=500)

        def look_up(start):
            words = [f"{number}" for number in range(start, start + 50)]
            return vocabulary.look_up(words).hashes.tolist() == hash_words(words).tolist()

        with ThreadPoolExecutor(8) as threads:
            assert all(threads.map(look_up, range(0, 4000, 7)))


def assert_known(values, words, language):
    """Assert that what is known of words is what hashes and lists say."""
    assert values.hashes.tolist() == hash_words(words).tolist()
    assert values.is_stopword.tolist() == [word in stopwords(language) for word in words]
    assert values.is_function_word.tolist() == [word in function_words(language) for word in words]


class TestShingles:
    @given(word_lists, sizes)
    def test_have_equal_hashes_if_and_only_if_they_are_equal(self, words, size):
        runs = windows(words, size)
        hashes = hash_shingles(hash_words(words), size).tolist()
        assert len(set(hashes)) == len(set(runs))
        assert len(set(zip(runs, hashes, strict=True))) == len(set(runs))

    @given(word_lists, sizes)
    def test_are_a_sentences_if_a_fifth_of_the_words_around_are_function_words(self, words, size):
        analysis = analyse([" ".join(words)], declared_language="en", shingle_size=size)
        known = function_words(analysis.words.language)
        covered, sentences = set(), []
        for start, run in enumerate(windows(words, size)):
            around = words[max(start - 8, 0) : start + len(run) + 8]
            share = Fraction(sum(word in known for word in around), len(around))
            sentences.append(share >= Fraction(1, 5))
            if sentences[-1]:
                covered.update(range(start, start + len(run)))
        assert analysis.is_sentence.tolist() == sentences
        assert set(np.flatnonzero(analysis.in_sentence).tolist()) == covered

    @given(word_lists, sizes)
    def test_are_a_sentences_if_they_have_a_stopword_or_all_are_by_other_rules(self, words, size):
        found = {
            ads: analyse([" ".join(words)], declared_language="en", shingle_size=size, ads=ads)
            for ads in ("shingle", "off")
        }
        known = stopwords(found["shingle"].words.language)
        runs = windows(words, size)
        assert found["shingle"].is_sentence.tolist() == [bool(known & {*run}) for run in runs]
        assert found["off"].is_sentence.tolist() == [True] * len(runs)


def windows(words, size):
    """Runs of `size` words; a shorter text is one run, an empty one none."""
    if len(words) < size:
        return [tuple(words)] if words else []
    return [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]


class TestParts:
    @given(
        st.lists(
            st.text(max_size=30).map(normalize).filter(has_no_sign)
            | st.text("the cat 在网上 わかりました 한국어 ภาษาไทย 。'", max_size=30).map(normalize),
            max_size=6,
        ),
        st.sampled_from([None, "en", "zh", "xx"]),
        st.integers(1, 4),
    )
    def test_are_analysed_as_the_text_that_they_make(self, texts, declared, size):
        options = {"declared_language": declared, "shingle_size": size}
        analysis, expected = analyse(texts, **options), analyse([" ".join(texts)], **options)
        assert_same(analysis, expected)
        assert analysis.text == expected.text
        # The words of each part are rounded to a whole number by themselves.
        number = sum(
            analysis.words.part(np.arange(len(texts)) == n).count for n in range(len(texts))
        )
        assert abs(number - analysis.words.count) <= 0.5 * (len(texts) + 1)

    @given(
        st.lists(st.tuples(st.lists(st.sampled_from(STOPWORDS), max_size=8), st.booleans())),
        st.integers(1, 4),
    )
    def test_are_analysed_as_they_alone_would_be(self, parts, size):
        options = {"declared_language": "en", "shingle_size": size}
        texts = [" ".join(words) for words, _ in parts]
        chosen = np.array([is_chosen for _, is_chosen in parts], np.bool_)
        whole = analyse(texts, **options)
        part = replace(whole, words=whole.words.part(chosen), is_part=True)
        alone = " ".join(
            text for text, (_, is_chosen) in zip(texts, parts, strict=True) if is_chosen
        )
        assert_same(part, analyse([alone], **options))
        assert part.text.split() == alone.split()


def assert_same(analysis, expected):
    """Assert that two analyses know the same of the same words."""
    assert analysis.tokens == expected.tokens
    assert analysis.words.count == expected.words.count
    assert not analysis.tokens or analysis.words.language == expected.words.language
    for name in ("hashes", "is_sentence", "in_sentence"):
        assert np.array_equal(getattr(analysis, name), getattr(expected, name)), name
    for values, wanted in zip(analysis.words.values, expected.words.values, strict=True):
        assert np.array_equal(values, wanted)
