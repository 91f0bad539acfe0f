import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.features.shingles import Shingles

words_lists = st.lists(st.sampled_from("the a cat dog sat ran of mat 猫 狗".split()), max_size=40)
sizes = st.integers(1, 6)
STOPWORDS = frozenset(("the", "a", "of"))


def windows(words, size):
    """Runs of `size` words; a shorter text is one run, an empty one none."""
    if len(words) < size:
        return [tuple(words)] if words else []
    return [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]


@given(words_lists, sizes)
def test_shingles_are_the_runs_of_the_words(words, size):
    shingles = Shingles.of(words, STOPWORDS, size)
    expected = windows(words, size)
    assert len(shingles) == len(expected)
    assert shingles.has_stopword.tolist() == [any(w in STOPWORDS for w in run) for run in expected]


@given(words_lists, sizes)
def test_equal_runs_and_only_they_have_equal_hashes(words, size):
    runs = windows(words, size)
    hashes = Shingles.of(words, STOPWORDS, size).hashes.tolist()
    assert len(set(hashes)) == len(set(runs))
    assert len(set(zip(runs, hashes, strict=True))) == len(set(runs))


@given(words_lists, sizes)
def test_words_in_sentences_are_those_of_shingles_with_a_stopword(words, size):
    covered = set()
    for start, run in enumerate(windows(words, size)):
        if any(word in STOPWORDS for word in run):
            covered.update(range(start, start + len(run)))
    shingles = Shingles.of(words, STOPWORDS, size)
    assert set(np.flatnonzero(shingles.in_sentence).tolist()) == covered
