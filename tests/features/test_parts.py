"""Parts of a text: cut in one go, told apart, and analysed without looking words up again."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measured_pages import analyse

from dedup_filter.features import RECIPES, analyse_parts, tokens
from dedup_filter.features.languages import function_words, stopwords
from dedup_filter.features.shingles import Shingles, WordLists
from dedup_filter.features.tokens import tokens_of_parts
from dedup_filter.text import normalize

SPACED = "the cat's sat on mat 3.5 привет 'tis é \u0301"
CHINESE = "the 在网上购买的商品 中文。,《网页》去重"
MIXED = "the cat 在网上 わかりました 한국어 ภาษาไทย 。'"
texts_of = {
    alphabet: st.lists(st.text(alphabet=alphabet, max_size=30).map(normalize), max_size=6)
    for alphabet in (SPACED, CHINESE, MIXED)
}
any_texts = st.lists(st.text(max_size=30).map(normalize), max_size=6)
mixed_texts = texts_of[MIXED]


def arrays(shingles):
    names = [field.name for field in fields(Shingles)]
    return {name: getattr(shingles, name) for name in [*names, "is_sentence"]}


def assert_same(analysis, expected):
    assert list(analysis.words) == list(expected.words)
    assert analysis.word_count == expected.word_count
    assert analysis.language == expected.language
    for name, values in arrays(expected.shingles).items():
        assert np.array_equal(arrays(analysis.shingles)[name], values), name


@pytest.mark.parametrize("alphabet", [SPACED, CHINESE])
def test_the_words_of_each_part_are_its_own(alphabet):
    @given(texts_of[alphabet])
    def check(texts):
        found, numbers = tokens_of_parts(texts)
        own = [(word, number) for number, text in enumerate(texts) for word in tokens(text).words]
        assert list(zip(found.words, numbers.tolist(), strict=True)) == own

    check()


def test_whether_chinese_characters_are_japanese_is_asked_of_all_parts_together():
    found, numbers = tokens_of_parts(["東京都", "わかりました"])
    assert found.words[:2] == ["東京", "京都"]
    assert numbers.tolist() == [0] * 2 + [1] * 5


@given(any_texts | mixed_texts, st.sampled_from([None, "en", "zh", "xx"]), st.integers(1, 4))
def test_parts_are_analysed_as_the_text_that_they_make(texts, declared, size):
    options = {"declared_language": declared, "shingle_size": size}
    analysis, numbers = analyse_parts(texts, **options)
    expected = analyse(" ".join(texts), **options)
    assert_same(analysis, expected)
    assert analysis.text == expected.text
    assert len(numbers) == len(analysis.words)
    assert (np.diff(numbers) >= 0).all()


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_parts_without_words_are_no_words(texts):
    analysis, numbers = analyse_parts(texts)
    assert_same(analysis, analyse(""))
    assert len(numbers) == 0


@given(any_texts)
def test_what_stands_between_parts_is_in_no_normalised_text(texts):
    assert "\x1f" not in "".join(texts)


def test_parts_with_many_separators_are_told_apart_too():
    symbols = "".join(chr(code) for code in range(0x2190, 0x21B0))
    found, numbers = tokens_of_parts([f"{symbols}one's two", symbols, f"three{symbols}"])
    assert found.words == ["one's", "two", "three"]
    assert numbers.tolist() == [0, 0, 2]


@given(st.data())
def test_some_of_the_words_are_analysed_as_they_alone_would_be(data):
    # Of a spaced text, which the tokeniser cuts in the same way without some of its words.
    words = data.draw(st.lists(st.sampled_from("the cat of a dog sat mat le chat".split())))
    keep = np.array([data.draw(st.booleans()) for _ in words], np.bool_)
    size = data.draw(st.integers(1, 4))
    analysis = analyse(" ".join(words), declared_language="en", shingle_size=size)
    kept = " ".join(w for w, k in zip(words, keep, strict=True) if k)
    part = analysis.part(keep)
    lists = WordLists(stopwords(analysis.language), function_words(analysis.language))
    alone = Shingles.of(kept.split(), lists, size)
    assert part.text == kept
    assert part.word_count == int(keep.sum())
    for name, values in arrays(alone).items():
        assert np.array_equal(arrays(part.shingles)[name], values), name


@pytest.mark.parametrize("recipe", RECIPES)
def test_features_of_a_part_are_those_of_its_text(recipe):
    texts = ["the cat sat on the mat of the house", "buy shoes", "and it was of the sea that he"]
    analysis, numbers = analyse_parts(texts)
    part = analysis.part(numbers != 1)
    expected = RECIPES[recipe](analyse(f"{texts[0]} {texts[2]}"))
    for got, wanted in zip(RECIPES[recipe](part), expected, strict=True):
        assert got.tolist() == wanted.tolist()


@given(mixed_texts)
def test_words_of_parts_count_what_they_are_worth(texts):
    analysis, numbers = analyse_parts(texts)
    tenths = [
        round(10 * analysis.part(numbers == number).word_count) for number in range(len(texts))
    ]
    # Each part is rounded by itself, to a whole word.
    assert abs(sum(tenths) - 10 * analysis.word_count) <= 5 * (len(texts) + 1)


def test_pairs_of_characters_count_half_in_a_part_too():
    analysis, numbers = analyse_parts(["わかりました", "one two three"])
    assert analysis.part(numbers == 0).word_count == 2
    assert analysis.part(numbers == 1).word_count == 3


def test_all_and_none_of_the_words():
    analysis = analyse("the cat sat on the mat")
    everything = np.ones(6, np.bool_)
    assert_same(analysis.part(everything), analysis)
    nothing = analysis.part(~everything)
    assert (nothing.text, nothing.word_count, len(nothing.shingles)) == ("", 0, 0)
