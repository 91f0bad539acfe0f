"""Title, headings and images as features, against a computation by hand."""

import pytest
import xxhash

from dedup_filter import FilterConfig
from dedup_filter.features import image_features, joined, shingles_of_kind
from dedup_filter.features.feature_hash import hash_shingles, hash_words
from dedup_filter.fingerprints.profile import PageTexts, profile
from dedup_filter.model import Document

TEXT = "The ferry waits in the harbour until the ice has gone, and so do we on the quay. " * 6
TITLE = "Ferry waits for spring"
HEADINGS = ("Ice in the harbour", "On the quay")
IMAGES = (0x0123456789ABCDEF, 0xFEDCBA9876543210)


def features_of(features):
    return dict(zip(features.hashes.tolist(), features.weights.tolist(), strict=True))


def finalised(value):
    for constant in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ value >> 33) * constant % 2**64
    return value ^ value >> 33


def of_kind(feature, kind):
    name = xxhash.xxh3_64_intdigest(kind.encode())
    return finalised((feature * 0x9E3779B97F4A7C15 + name) % 2**64)


def shingle(words):
    return hash_shingles(hash_words(words.split()), 3).tolist()[0]


def test_each_shingle_of_a_title_has_the_weight_of_its_kind():
    features = shingles_of_kind(["ferry waits for spring"], "title", 5, 3)
    assert features_of(features) == {
        of_kind(shingle("ferry waits for"), "title"): 5,
        of_kind(shingle("waits for spring"), "title"): 5,
    }


def test_a_shingle_of_several_headings_counts_once_and_none_reaches_over_their_ends():
    headings = ["the quay in winter", "the quay in summer", "winter"]
    features = shingles_of_kind(headings, "heading", 2, 3)
    expected = ["the quay in", "quay in winter", "quay in summer", "winter"]
    assert features_of(features) == {of_kind(shingle(run), "heading"): 2 for run in expected}


def test_an_image_is_a_feature_of_its_kind():
    assert features_of(image_features([*IMAGES, IMAGES[0]], 7)) == {
        of_kind(image, "image"): 7 for image in IMAGES
    }


def test_the_same_words_are_another_feature_in_a_title_a_heading_and_the_text():
    title, heading = (shingles_of_kind(["a b c"], kind, 1, 3) for kind in ("title", "heading"))
    hashes = {*features_of(title), *features_of(heading), shingle("a b c")}
    assert len(hashes) == 3


@pytest.mark.parametrize("nothing", [[], [""], ["", "…"]])
def test_no_words_give_no_features(nothing):
    assert features_of(shingles_of_kind(nothing, "title", 3, 3)) == {}
    assert features_of(image_features([], 3)) == {}
    assert features_of(joined([image_features([], 3), image_features([], 3)])) == {}


def fingerprint_of(document=None, **options):
    document = document or Document(TEXT, TITLE, "en", TEXT, HEADINGS, IMAGES)
    config = FilterConfig(features="shingles", **options)
    return f"{profile(PageTexts.of(document), config).fingerprint:016x}"


def test_fingerprints_with_weights_never_change():
    """They are stored: a change here needs a new scheme name and a note in the changelog."""
    assert {name: fingerprint_of(**weights) for name, weights in WEIGHTS.items()} == KNOWN


WEIGHTS = {
    "none": {},
    "title": {"title_weight": 20},
    "heading": {"heading_weight": 20},
    "image": {"image_weight": 20},
    "all": {"title_weight": 9, "heading_weight": 8, "image_weight": 7},
    "all, by FNV-1a": {
        "title_weight": 9,
        "heading_weight": 8,
        "image_weight": 7,
        "feature_hash": "fnv1a",
    },
}
KNOWN = {
    "none": "b761ae57886a4b87",
    "title": "36890c4e99664202",
    "heading": "f7a52efb9c6b5bed",
    "image": "b620ec5788590b87",
    "all": "b6a10c5b986f536f",
    "all, by FNV-1a": "80e3f00f6d719106",
}


@pytest.mark.parametrize("part", ["title", "heading", "image"])
def test_weight_0_leaves_a_kind_out(part):
    bare = Document(TEXT, "", "en", TEXT)
    assert fingerprint_of(**{f"{part}_weight": 0}) == fingerprint_of(bare)
    assert fingerprint_of(**{f"{part}_weight": 20}) != fingerprint_of(bare)


def test_a_heavy_title_of_one_shingle_decides_every_bit():
    title = Document(TEXT, "Waits for spring", "en", TEXT)
    other = Document(TEXT.replace("ferry", "train"), "Waits for spring", "en", TEXT)
    assert fingerprint_of(title, title_weight=1000) == fingerprint_of(other, title_weight=1000)
    assert fingerprint_of(title) != fingerprint_of(other)


def test_titles_and_headings_are_compared_in_their_normal_form():
    written = Document(TEXT, "ＦＥＲＲＹ  waits for Spring", "en", TEXT, ("ICE in the\xa0harbour",))
    plain = Document(TEXT, "ferry waits for spring", "en", TEXT, ("ice in the harbour",))
    weights = {"title_weight": 20, "heading_weight": 20}
    assert fingerprint_of(written, **weights) == fingerprint_of(plain, **weights)
