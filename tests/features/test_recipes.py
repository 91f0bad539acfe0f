"""Recipes and parts of a page, each against a computation by hand that shares no code with it."""

import warnings
from collections import Counter
from math import sqrt

import numpy as np
import pytest
import xxhash
from gate import slow
from measured_pages import Alone

from dedup_filter import FilterConfig, fingerprint
from dedup_filter.features.analysis import analyse, hash_of_kind, hash_shingles, hash_words
from dedup_filter.features.languages import function_words, stopwords
from dedup_filter.features.recipes import RECIPES, PartWeights, part_features
from dedup_filter.fingerprints.profile import profile_of
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.model import Document

SENTENCE = "the cat saw the dog and a pigeon flew to market hall station square harbour"
TEXT = f"{SENTENCE} with sneakers trainers voucher discount checkout cotton leather wool linen silk"
LISTING = "crimson emerald cobalt crimson cyan magenta teal navy fuchsia ochre" * 3
CHINESE = (
    "关于查重系统很多人并不陌生，无论本科还是硕博毕业都不可避免涉及论文查重问题，这也对学术不正之风"
    "起到一定纠正作用。单位主要针对科技项目申报审核，传统的方式人力物力比较大，效率不高。"
)


def weights_of(features):
    return dict(zip(features.hashes.tolist(), features.weights.tolist(), strict=True))


def features_of(name, text):
    return weights_of(RECIPES[name](analyse([text])))


def hashed(word):
    return xxhash.xxh3_64_intdigest(word.encode())


def runs_of_sentences(words, language):
    """Runs of three words with enough function words from eight words before to eight after."""
    known = function_words(language)
    for i in range(len(words) - 2):
        around = words[max(i - 8, 0) : i + 11]
        if 5 * sum(word in known for word in around) >= len(around):
            yield i, words[i : i + 3]


def test_recipes_for_words_and_their_runs():
    words = TEXT.split()
    kept = list(runs_of_sentences(words, "en"))
    assert 0 < len(kept) < len(words) - 2
    places = {i + n for i, _ in kept for n in range(3)}
    counts = Counter(words[i] for i in places if words[i] not in stopwords("en"))
    assert 0 < len(counts) < len({w for w in words if w not in stopwords("en")})
    assert features_of("content", TEXT) == {
        hashed(word): round(256 * sqrt(count)) for word, count in counts.items()
    }
    assert features_of("shingles", TEXT) == Counter(shingle(" ".join(run)) for _, run in kept)
    assert features_of("words", TEXT) == Counter(map(hashed, words))


@pytest.mark.slow
def test_keywords_of_chinese_are_those_of_jieba():
    analysis = analyse([CHINESE])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba.analyse
    tags = jieba.analyse.extract_tags(CHINESE, topK=200, withWeight=True)
    assert len(tags) > 20
    assert features_of("keywords", CHINESE) == {
        hashed(tag): round(256 * weight * len(analysis.tokens)) for tag, weight in tags
    }


def test_keywords_of_other_languages_are_the_most_frequent_words_that_are_no_stopwords():
    names = " ".join(f"name{i:03}" for i in range(300))
    text = "the harbour and the harbour bridge of a " * 10 + names
    features = features_of("keywords", text)
    assert len(features) == 200
    assert features[hashed("harbour")] == max(features.values())
    assert hashed("the") not in features
    assert hashed("name000") in features
    assert hashed("name299") not in features


@pytest.mark.parametrize("name", RECIPES)
def test_a_text_without_sentences_is_judged_by_all_its_words(name):
    words = LISTING.split()
    runs = {tuple(words[i : i + 3]) for i in range(len(words) - 2)}
    expected = len(runs if name == "shingles" else set(words))
    assert len(features_of(name, LISTING)) == expected


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("content", "8157501891ed055e"),
        ("shingles", "0c2943b97f2be54f"),
        ("words", "e256521899f34d5f"),
        slow("keywords", "e066109299cf05d6"),  # it reads the dictionary of jieba
    ],
)
def test_fingerprints_of_a_recipe_never_change(name, known):
    """They are stored: a change here needs a new scheme name and a note in the changelog."""
    text = f"{SENTENCE}. {CHINESE} {SENTENCE.upper()}!"
    assert f"{fingerprint(text, features=name):016x}" == known


PAGE = "The ferry waits in the harbour until the ice has gone, and so do we on the quay. " * 6
TITLE = "Ferry waits for spring"
HEADINGS = ("Ice in the harbour", "On the quay")
IMAGES = (0x0123456789ABCDEF, 0xFEDCBA9876543210)
WITHOUT_WEIGHTS = "b761ae57886a4b87"
ALL_WEIGHTS = {"title_weight": 9, "heading_weight": 8, "image_weight": 7}


def shingle(words):
    return hash_shingles(hash_words(words.split()), 3).tolist()[0]


def of_kind(feature, kind):
    return hash_of_kind(np.array([feature], np.uint64), kind).tolist()[0]


def test_parts_of_a_page_are_features_of_their_kinds():
    headings = ["the quay in winter", "the quay in summer", "winter"]
    title, images = "ferry waits for spring", [*IMAGES, IMAGES[0]]
    expected = {
        "title": (5, map(shingle, ["ferry waits for", "waits for spring"])),
        # A shingle of several headings counts once, and none reaches over their ends.
        "heading": (2, map(shingle, ["the quay in", "quay in winter", "quay in summer", "winter"])),
        "image": (7, IMAGES),
    }
    assert weights_of(part_features(title, headings, images, PartWeights(5, 2, 7))) == {
        of_kind(feature, kind): weight
        for kind, (weight, features) in expected.items()
        for feature in features
    }


@pytest.mark.parametrize("nothing", ["", "…"])
def test_no_words_give_no_features(nothing):
    assert weights_of(part_features(nothing, ["", nothing], (), PartWeights(3, 3, 3))) == {}
    for name in RECIPES:
        assert features_of(name, nothing) == {}


def fingerprint_of(document=None, **options):
    document = document or Document(PAGE, TITLE, "en", PAGE, HEADINGS, IMAGES)
    config = FilterConfig(features="shingles", **options)
    return f"{profile_of(ReadPage.of(document, config), Alone(), config).fingerprint:016x}"


@pytest.mark.parametrize(
    ("options", "known"),
    [
        ({}, WITHOUT_WEIGHTS),
        ({"title_weight": 20}, "36890c4e99664202"),
        ({"heading_weight": 20}, "f7a52efb9c6b5bed"),
        ({"image_weight": 20}, "b620ec5788590b87"),
        (ALL_WEIGHTS, "b6a10c5b986f536f"),
        ({**ALL_WEIGHTS, "feature_hash": "fnv1a"}, "80e3f00f6d719106"),
    ],
)
def test_fingerprints_with_weights_never_change(options, known):
    """They are stored: a change here needs a new scheme name and a note in the changelog."""
    assert fingerprint_of(**options) == known
    assert fingerprint_of(Document(PAGE, "", "en", PAGE), **options) == (
        WITHOUT_WEIGHTS if "feature_hash" not in options else fingerprint_of(feature_hash="fnv1a")
    )
