import numpy as np
import pytest

from dedup_filter.errors import ConfigError
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.layout import Layout

PAIRS = [(number * 0x9E3779B97F4A7C15 % 2**64, number) for number in range(40)]


@pytest.fixture
def sealed():
    index = HammingIndex(5, Layout(4))
    for pair in PAIRS:
        index.add(*pair)
    return index.sealed()


@pytest.mark.parametrize(
    "broken",
    [
        lambda s: s._replace(rows=(s.rows[0][:-1], *s.rows[1:])),
        lambda s: s._replace(rows=(s.rows[0].astype(np.float64), *s.rows[1:])),
        lambda s: s._replace(rows=s.rows[1:]),
        lambda s: s._replace(runs=(s.runs[0].astype(np.int64), *s.runs[1:])),
        lambda s: s._replace(runs=(s.runs[0][1:], *s.runs[1:])),
        lambda s: s._replace(runs=()),
        lambda s: s._replace(runs=s.runs * 2),
        lambda s: s._replace(directories=()),
        lambda s: s._replace(directories=(s.directories[0][:-1], *s.directories[1:])),
        lambda s: s._replace(directories=(s.directories[0] * 2, *s.directories[1:])),
        lambda s: s._replace(directories=(s.directories[0].astype(float), *s.directories[1:])),
        lambda s: s._replace(directories=(s.directories[0][:1], *s.directories[1:])),
    ],
)
def test_arrays_that_cannot_be_those_of_an_index_are_refused(sealed, broken):
    with pytest.raises(ValueError, match=r"run|rows|directory"):
        HammingIndex.from_sealed(broken(sealed))


def test_arrays_of_a_layout_that_cannot_serve_the_distance_are_refused(sealed):
    with pytest.raises(ConfigError, match="cannot serve"):
        HammingIndex.from_sealed(sealed._replace(layout=Layout(6, 3), max_distance=12))
