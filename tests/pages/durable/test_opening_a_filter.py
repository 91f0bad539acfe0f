"""What is refused when a filter is opened, in one sentence, with everything left as it was."""

import pytest
from index_feed import contents

from dedup_filter import ConfigError, NearDuplicateFilter
from dedup_filter.errors import SchemeMismatch
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.layout import Layout
from dedup_filter.pages.directory import page_index
from dedup_filter.pages.redis import replica


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
    ],
)
def test_options_that_shape_no_fingerprint_can_change(folder, article, options):
    with NearDuplicateFilter.open(folder, **options) as pages:
        assert pages.see("http://a.example/1", text=article(1)).outcome == "revisit"


@pytest.mark.parametrize("location", ["memory:", "redis://h"])
def test_texts_are_kept_in_directories_only(location):
    with pytest.raises(ConfigError, match=r"^keep_text is for an index in a directory"):
        NearDuplicateFilter.check_options(location, keep_text=True)


def test_a_chosen_layout_is_that_of_the_tables_and_changes_no_verdict(place, article, monkeypatch):
    made = []

    class Index(HammingIndex):
        def __init__(self, max_distance, layout=None, *more, **named):
            super().__init__(max_distance, layout, *more, **named)
            made.append(self)

    for module in (page_index, replica):
        monkeypatch.setattr(module, "HammingIndex", Index)
    chosen = Layout(13, 1)
    with place.open(layout=repr(chosen)) as pages, NearDuplicateFilter.open() as planned:
        for number in range(60):
            page = {"text": article(number % 40, edits=number // 40)}
            verdict, other = (each.see(f"http://a/{number}", **page) for each in (pages, planned))
            assert verdict[:4] == other[:4]
        pages.check()
    layouts = [index.layout for index in made if index.max_distance]
    assert chosen in layouts
    assert chosen != layouts[-1]


def test_sizes_are_told(folder, article):
    with NearDuplicateFilter.open(folder) as pages, NearDuplicateFilter.open() as in_memory:
        before = in_memory.nbytes
        for number in range(50):
            in_memory.see(f"http://a.example/{number}", text=article(number))
        assert in_memory.nbytes > before
        assert pages.nbytes > 0
