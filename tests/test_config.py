from typing import get_type_hints

import pytest

from dedup_filter import ConfigError, FilterConfig, NearDuplicateFilter
from dedup_filter.config import FilterOptions, option_in


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
    with pytest.raises(ConfigError, match='location must be a directory, "memory:", '):
        NearDuplicateFilter.open(location)


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("mysql://:secret@host", "mysql://..."),
        ("redis//user:secret@host", "redis//..."),
        ("Redis://:secret@host", "Redis://..."),
        (":memory:", ":memory:"),
        ("Memory:", "Memory:"),
        ("localhost:6379", "localhost:..."),
    ],
)
def test_a_mistyped_address_makes_no_folder_and_is_shown_without_its_password(location, shown):
    with pytest.raises(ConfigError) as caught:
        NearDuplicateFilter.check_options(location)
    assert str(caught.value).endswith(f"host:port,host:port, not {shown!r}")


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("scope", "Host", "host"),
        ("payloads", " ALL ", "all"),
        ("workers", "Auto", "auto"),
        ("min_similarity", "NONE", None),
        ("canonical", "TRUE", True),
        ("ignore", '[".views", "#A"]', [".views", "#A"]),
        ("ignore", ' [ ".views" ]', [".views"]),
        ("ignore", '[data-id="1"], .A', '[data-id="1"], .A'),
        ("content", '{"a.example": ["main"]}', {"a.example": ["main"]}),
    ],
)
def test_a_value_of_a_command_line_is_read_in_any_case(name, given, value):
    assert option_in(name, given) == value
    assert getattr(FilterConfig.of({name: value}), name) == value


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ('[".views" ".x"]', """Expecting ',' delimiter at '".x"]'"""),
        ("['.views']", """Expecting value at "'.views']\""""),
        ('[".views"', "Expecting ',' delimiter at its end"),
        ('{"a.example": .views}', "Expecting value at '.views}'"),
        ('{"a":' * 100_000, "it is nested too deep"),
    ],
)
def test_broken_json_is_called_so_with_its_place(given, where):
    with pytest.raises(ConfigError) as caught:
        option_in("ignore", given)
    assert str(caught.value) == f"ignore is broken JSON: {where}"


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
