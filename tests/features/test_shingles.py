from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.features.shingles import Shingles, WordLists

words_lists = st.lists(st.sampled_from("the a cat dog sat ran of mat 猫 狗".split()), max_size=60)
sizes = st.integers(1, 6)
FUNCTION_WORDS = frozenset(("the", "a"))
LISTS = WordLists(stopwords=frozenset(("the", "a", "of")), function_words=FUNCTION_WORDS)


def windows(words, size):
    """Runs of `size` words; a shorter text is one run, an empty one none."""
    if len(words) < size:
        return [tuple(words)] if words else []
    return [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]


def are_sentences(words, size):
    """Whether a fifth of the words, from eight before a run to eight after it, hold sentences."""
    found = []
    for start, run in enumerate(windows(words, size)):
        around = words[max(start - 8, 0) : start + len(run) + 8]
        found.append(
            Fraction(sum(w in FUNCTION_WORDS for w in around), len(around)) >= Fraction(1, 5)
        )
    return found


@given(words_lists, sizes)
def test_shingles_are_the_runs_of_the_words(words, size):
    assert len(Shingles.of(words, LISTS, size)) == len(windows(words, size))


@given(words_lists, sizes)
def test_a_shingle_is_a_sentences_if_a_fifth_of_the_words_around_are_function_words(words, size):
    assert Shingles.of(words, LISTS, size).is_sentence.tolist() == are_sentences(words, size)


@pytest.mark.parametrize(("function_words", "is_sentence"), [(4, True), (3, False)])
def test_four_of_nineteen_words_are_enough_wherever_they_stand(function_words, is_sentence):
    for place in range(19 - function_words):
        words = ["cat"] * 19
        words[place : place + function_words] = ["the"] * function_words
        assert bool(Shingles.of(words, LISTS, 3).is_sentence[8]) is is_sentence


@given(words_lists)
def test_stopwords_and_function_words_are_told_apart(words):
    shingles = Shingles.of(words, LISTS, 3)
    assert shingles.is_stopword.tolist() == [w in LISTS.stopwords for w in words]
    assert shingles.is_function_word.tolist() == [w in LISTS.function_words for w in words]


def test_equal_lists_are_looked_up_too():
    shingles = Shingles.of(["the", "cat"], WordLists(FUNCTION_WORDS, FUNCTION_WORDS), 3)
    assert shingles.is_stopword.tolist() == shingles.is_function_word.tolist() == [True, False]


@given(words_lists, sizes)
def test_equal_runs_and_only_they_have_equal_hashes(words, size):
    runs = windows(words, size)
    hashes = Shingles.of(words, LISTS, size).hashes.tolist()
    assert len(set(hashes)) == len(set(runs))
    assert len(set(zip(runs, hashes, strict=True))) == len(set(runs))


@given(words_lists, sizes)
def test_words_in_sentences_are_those_of_the_shingles_of_sentences(words, size):
    covered = set()
    for start, (run, is_one) in enumerate(
        zip(windows(words, size), are_sentences(words, size), strict=True)
    ):
        if is_one:
            covered.update(range(start, start + len(run)))
    shingles = Shingles.of(words, LISTS, size)
    assert set(np.flatnonzero(shingles.in_sentence).tolist()) == covered
