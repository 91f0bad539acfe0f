from concurrent.futures import ThreadPoolExecutor

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.features.vocabulary import Vocabulary

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
