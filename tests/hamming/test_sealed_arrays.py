import numpy as np
import oracles
import pytest

from dedup_filter.errors import ConfigError
from dedup_filter.hamming import HammingIndex, Layout

PAIRS = [(number * 0x9E3779B97F4A7C15 % 2**64, number) for number in range(40)]


@pytest.fixture(params=["scanned", "tables"])
def sealed(request, monkeypatch):
    if request.param == "tables":
        monkeypatch.setattr("dedup_filter.hamming.hamming_index.scan_limit", lambda *_: -1)
    index = HammingIndex(5, Layout(4))
    for pair in PAIRS:
        index.add(*pair)
    return index.sealed()


def found_by(index, fingerprint):
    return [tuple(match) for match in index.within(fingerprint)]


def test_arrays_in_files_are_read_where_they_lie_and_stay_as_they_are(sealed, tmp_path):
    def mapped(number, array):
        np.save(tmp_path / f"{number}.npy", array)
        return np.load(tmp_path / f"{number}.npy", mmap_mode="r")

    from_files = sealed._replace(
        rows=mapped("rows", sealed.rows),
        runs=tuple(mapped(f"run{n}", run) for n, run in enumerate(sealed.runs)),
        directories=tuple(mapped(f"d{n}", d) for n, d in enumerate(sealed.directories)),
    )
    index = HammingIndex.from_sealed(from_files)
    assert (index.layout, index.max_distance) == (Layout(4), 5)
    assert np.shares_memory(index.sealed().runs[0], from_files.runs[0])
    index.add(12345, 99)
    index.remove(*PAIRS[3])
    assert found_by(index, 12345 ^ 1)[0] == (99, 12345, 1)
    index.compact()
    index.check()
    pairs = [*PAIRS[:3], *PAIRS[4:], (12345, 99)]
    for fingerprint, _ in pairs:
        assert found_by(index, fingerprint) == oracles.scan(pairs, fingerprint, 5)
    assert from_files.runs[0].tolist() == sealed.runs[0].tolist()


@pytest.mark.parametrize(
    "broken",
    [
        lambda s: s._replace(rows=s.rows[:-1]),
        lambda s: s._replace(rows=s.rows.astype(np.float64)),
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
        HammingIndex.from_sealed(sealed._replace(layout=Layout(4, probe_radius=0)))


def test_check_notices_arrays_with_other_contents(sealed):
    run = sealed.runs[0].copy()
    run[5] ^= np.uint64(1 << 60)
    index = HammingIndex.from_sealed(sealed._replace(runs=(run, *sealed.runs[1:])))
    with pytest.raises(AssertionError):
        index.check()
