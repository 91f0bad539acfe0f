"""Each recipe against a computation by hand that shares no code with it."""

import warnings
from collections import Counter
from math import sqrt

import pytest
import xxhash

from dedup_filter.features import RECIPES, analyse
from dedup_filter.features.feature_hash import hash_shingles, hash_words
from dedup_filter.features.stopwords import stopwords

SENTENCE = "the cat saw the dog and a pigeon flew to market hall station square harbour"
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


def words_near_a_stopword(words, language):
    """Content words that have a stopword among the two words before or after them."""
    known = stopwords(language)
    near = [set(words[max(i - 2, 0) : i + 3]) & known for i in range(len(words))]
    return [w for w, stop in zip(words, near, strict=True) if stop and w not in known]


def test_content_takes_words_near_a_stopword_by_square_root_of_their_count():
    counts = Counter(words_near_a_stopword(SENTENCE.split(), "en"))
    assert counts
    assert len(counts) < len(set(SENTENCE.split()))
    assert features_of("content", SENTENCE) == {
        hashed(word): round(256 * sqrt(count)) for word, count in counts.items()
    }


def test_shingles_takes_runs_with_a_stopword_by_their_count():
    words = SENTENCE.split()
    runs = [words[i : i + 3] for i in range(len(words) - 2)]
    kept = [run for run in runs if stopwords("en") & set(run)]
    assert len(kept) < len(runs)
    assert features_of("shingles", SENTENCE) == Counter(
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


def test_an_advertisement_among_sentences_gives_no_feature():
    advertisement = "sneakers discount checkout voucher trainers"
    plain = " ".join(SENTENCE.split()[:9])
    added = set(features_of("content", f"{plain} of {advertisement}")) - set(
        features_of("content", plain)
    )
    # Only the two words that share a run with the sentence's last stopword remain.
    assert added == {hashed("sneakers"), hashed("discount")}


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
    "content": "b156501a95ed0446",
    "shingles": "3d38c2b96b09550e",
    "words": "e256521899f34d5f",
    "keywords": "e066109299cf05d6",
}
