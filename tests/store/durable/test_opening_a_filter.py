"""What is refused when a filter is opened, in one sentence, with everything left as it was."""

import pytest
from index_feed import contents

from dedup_filter import ConfigError, NearDuplicateFilter
from dedup_filter.errors import SchemeMismatch


@pytest.fixture
def folder(tmp_path, article):
    with NearDuplicateFilter.open(tmp_path / "index") as pages:
        pages.see("http://a.example/1", text=article(1))
    return tmp_path / "index"


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"shingle_size": 4}, r"shingle_size \(3 there, 4 here\)"),
        ({"features": "words"}, r"features \(content there, words here\)"),
        ({"features": "shingles", "title_weight": 3}, r"title_weight \(0 there, 3 here\)"),
    ],
)
def test_other_fingerprints_are_refused_naming_what_differs(folder, options, part):
    before = contents(folder)
    with pytest.raises(SchemeMismatch, match=part):
        NearDuplicateFilter.open(folder, **options)
    assert contents(folder) == before


@pytest.mark.parametrize(
    "options",
    [
        {"max_distance": 3},
        {"min_similarity": None},
        {"learn_frames": False},
        {"scope": "host"},
        {"revisit": "drop"},
        {"max_pages": 5},
        {"expire_days": 3},
        {"keep_text": True},
        {"canonical": True},
    ],
)
def test_options_that_shape_no_fingerprint_can_change(folder, article, options):
    with NearDuplicateFilter.open(folder, **options) as pages:
        assert pages.see("http://a.example/1", text=article(1)).outcome == "revisit"


@pytest.mark.parametrize("location", ["memory:", "redis://h"])
def test_texts_are_kept_in_directories_only(location):
    with pytest.raises(ConfigError, match=r"^keep_text is for an index in a directory"):
        NearDuplicateFilter.check_options(location, keep_text=True)


def test_sizes_are_told(folder, article):
    with NearDuplicateFilter.open(folder) as pages, NearDuplicateFilter.open() as in_memory:
        before = in_memory.nbytes
        for number in range(50):
            in_memory.see(f"http://a.example/{number}", text=article(number))
        assert in_memory.nbytes > before
        assert pages.nbytes > 0
