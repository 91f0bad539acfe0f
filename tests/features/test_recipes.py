"""Each recipe against a computation by hand that shares no code with it."""

import warnings
from collections import Counter
from math import sqrt

import pytest
import xxhash

from dedup_filter.features import RECIPES, analyse
from dedup_filter.features.feature_hash import hash_shingles, hash_words
from dedup_filter.features.function_words import function_words
from dedup_filter.features.stopwords import stopwords

SENTENCE = "the cat saw the dog and a pigeon flew to market hall station square harbour"
TEXT = f"{SENTENCE} with sneakers trainers voucher discount checkout cotton leather wool linen silk"
LISTING = "crimson emerald cobalt crimson cyan magenta teal navy fuchsia ochre" * 3
CHINESE = (
    "关于查重系统很多人并不陌生，无论本科还是硕博毕业都不可避免涉及论文查重问题，这也对学术不正之风"
    "起到一定纠正作用。单位主要针对科技项目申报审核，传统的方式人力物力比较大，效率不高。"
)


def features_of(name, text):
    hashes, weights = RECIPES[name](analyse(text))
    return dict(zip(hashes.tolist(), weights.tolist(), strict=True))


def hashed(word):
    return xxhash.xxh3_64_intdigest(word.encode())


def runs_of_sentences(words, language):
    """Runs of three words with enough function words from eight words before to eight after."""
    known = function_words(language)
    for i in range(len(words) - 2):
        around = words[max(i - 8, 0) : i + 11]
        if 5 * sum(word in known for word in around) >= len(around):
            yield i, words[i : i + 3]


def test_content_takes_words_of_sentences_by_square_root_of_their_count():
    words = TEXT.split()
    places = {i + n for i, _ in runs_of_sentences(words, "en") for n in range(3)}
    counts = Counter(words[i] for i in places if words[i] not in stopwords("en"))
    assert counts
    assert len(counts) < len({w for w in words if w not in stopwords("en")})
    assert features_of("content", TEXT) == {
        hashed(word): round(256 * sqrt(count)) for word, count in counts.items()
    }


def test_shingles_takes_runs_of_sentences_by_their_count():
    words = TEXT.split()
    kept = [run for _, run in runs_of_sentences(words, "en")]
    assert 0 < len(kept) < len(words) - 2
    assert features_of("shingles", TEXT) == Counter(
        hash_shingles(hash_words(run), 3).tolist()[0] for run in kept
    )


def test_words_takes_all_words_by_their_count():
    counts = Counter(SENTENCE.split())
    assert features_of("words", SENTENCE) == {hashed(word): n for word, n in counts.items()}


def test_keywords_of_chinese_are_those_of_jieba():
    analysis = analyse(CHINESE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba.analyse
    tags = jieba.analyse.extract_tags(CHINESE, topK=200, withWeight=True)
    assert len(tags) > 20
    assert features_of("keywords", CHINESE) == {
        hashed(tag): round(256 * weight * len(analysis.words)) for tag, weight in tags
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


def test_an_advertisement_after_sentences_gives_no_feature():
    advertisement = "sneakers trainers voucher buy discount checkout free delivery order bargain"
    added = set(features_of("content", f"{SENTENCE} {advertisement}")) - set(
        features_of("content", SENTENCE)
    )
    # Only words that stand beside the sentence's last function words may remain.
    assert len(added) <= 1


@pytest.mark.parametrize("name", RECIPES)
def test_no_words_give_no_features(name):
    assert features_of(name, "") == {}


@pytest.mark.parametrize("name", RECIPES)
def test_fingerprints_of_a_recipe_never_change(name):
    """They are stored: a change here needs a new scheme name and a note in the changelog."""
    from dedup_filter import fingerprint

    text = f"{SENTENCE}. {CHINESE} {SENTENCE.upper()}!"
    assert f"{fingerprint(text, features=name):016x}" == KNOWN[name]


KNOWN = {
    "content": "8157501891ed055e",
    "shingles": "0c2943b97f2be54f",
    "words": "e256521899f34d5f",
    "keywords": "e066109299cf05d6",
}
