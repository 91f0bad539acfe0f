from typing import get_type_hints

import pytest

from dedup_filter import ConfigError, FilterConfig, NearDuplicateFilter
from dedup_filter.config import FilterOptions


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_distance": 13}, ["max_distance", "0 to 12", "13"]),
        ({"max_distance": -1}, ["max_distance", "-1"]),
        ({"max_distance": 3.0}, ["max_distance", "3.0"]),
        ({"max_distance": True}, ["max_distance", "True"]),
        ({"max_distance": "3"}, ["max_distance", "'3'"]),
        ({"min_similarity": 70}, ["min_similarity", "0 to 1", "70"]),
        ({"min_similarity": float("nan")}, ["min_similarity", "nan"]),
        ({"min_similarity": "high"}, ["min_similarity", "'high'"]),
        ({"features": "bigrams"}, ["features", '"content"', '"shingles"', "'bigrams'"]),
        ({"feature_hash": "md5"}, ["feature_hash", '"fnv1a"', "'md5'"]),
        ({"features": ["content"]}, ["features", "['content']"]),
        ({"shingle_size": 0}, ["shingle_size", "0"]),
        ({"title_weight": 1.5, "features": "shingles"}, ["title_weight", "0 to 1000", "1.5"]),
        ({"image_weight": -1, "features": "shingles"}, ["image_weight", "0 to 1000", "-1"]),
        ({"heading_weight": 5}, ["heading_weight", 'features="shingles"', 'features="content"']),
        ({"image_weight": 5, "features": "words"}, ["image_weight", 'features="words"']),
        *(
            ({"workers": each}, ['"auto"', "0 to 64", repr(each)])
            for each in (-1, 65, "2", True, None)
        ),
        ({"max_distanse": 3}, ["max_distanse", "did you mean max_distance"]),
        ({"zzz": 3}, ["zzz", "max_distance", "shingle_size"]),
    ],
)
def test_an_option_that_cannot_be_meant_is_named_with_its_value(options, words):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - its words are compared below
        NearDuplicateFilter.open(**options)
    assert isinstance(caught.value, ConfigError)
    assert all(word in str(caught.value) for word in words)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"max_distance": 0},
        {"max_distance": 12},
        {"min_similarity": None},
        {"min_similarity": 0},
        {"min_similarity": 1.0},
        {"features": "shingles", "shingle_size": 1},
        {"features": "shingles", "title_weight": 1000, "heading_weight": 0, "image_weight": 1},
        {"features": "content", "title_weight": 0},
    ],
)
def test_the_ends_of_each_range_are_valid(options):
    config = FilterConfig.of(options)
    assert {name: getattr(config, name) for name in options} == options


@pytest.mark.parametrize("location", ["", "sqlite://somewhere", None, b"a"])
def test_an_index_that_cannot_be_opened_is_refused(location):
    with pytest.raises(ConfigError, match='location must be "memory:"'):
        NearDuplicateFilter.open(location)


def test_an_address_of_another_kind_is_named_without_its_password():
    with pytest.raises(ConfigError, match=r"not 'mysql:\.\.\.'$"):
        NearDuplicateFilter.open("mysql://:secret@host")


def test_options_can_be_checked_without_opening_anything(monkeypatch, tmp_path):
    monkeypatch.setattr(NearDuplicateFilter, "__init__", None)
    for location in ("memory:", "redis://nobody", tmp_path / "none", str(tmp_path / "none")):
        checked = NearDuplicateFilter.check_options(location, max_distance=3)
        assert checked == FilterConfig(max_distance=3)
    assert list(tmp_path.iterdir()) == []
    assert NearDuplicateFilter.check_options(tmp_path, keep_text=True).keep_text
    with pytest.raises(ConfigError, match="location"):
        NearDuplicateFilter.check_options("sqlite://somewhere")
    with pytest.raises(ConfigError, match="max_distance"):
        NearDuplicateFilter.check_options("memory:", max_distance=65)


def test_the_typed_options_are_the_fields():
    assert get_type_hints(FilterOptions) == get_type_hints(FilterConfig)
