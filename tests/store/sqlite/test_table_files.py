"""What is loaded is what was saved, or a reason; whatever happened to the file."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.store.sqlite.table_files import TableFiles, UnusableTables

ARRAYS = {
    "fingerprints": np.arange(1_000, dtype=np.uint64) * 0x9E3779B97F4A7C15,
    "offsets": np.arange(65_537, dtype=np.uint32),
    "empty": np.empty((0, 3), np.int64),
    "rows": np.arange(21, dtype=np.uint8).reshape(7, 3),
}
ABOUT = {"layout": [4, 1], "k": 10}


def loaded(files, name):
    """What is loaded, or the reason why nothing is."""
    try:
        return files.load(name)
    except UnusableTables as reason:
        return str(reason)


def assert_same(loaded, arrays, about):
    assert loaded[1] == about
    assert loaded[0].keys() == arrays.keys()
    for name, array in arrays.items():
        assert loaded[0][name].dtype == array.dtype
        assert loaded[0][name].shape == array.shape
        assert loaded[0][name].tobytes() == array.tobytes()


def test_what_was_saved_is_loaded_mapped_and_cannot_be_written_to(tmp_path):
    files = TableFiles(tmp_path / "tables")
    assert files.load("none") is None
    first = files.save({}, {})
    name = files.save(ARRAYS, ABOUT)
    assert_same(files.load(name), ARRAYS, ABOUT)
    assert [entry.name for entry in (tmp_path / "tables").iterdir()] == [name]
    assert files.load(first) is None
    assert files.nbytes >= sum(array.nbytes for array in ARRAYS.values())
    offsets = files.load(name)[0]["offsets"]
    assert isinstance(offsets, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        offsets[0] = 1


def test_another_format_is_not_loaded(tmp_path):
    files = TableFiles(tmp_path)
    name = files.save({}, {})
    content = (tmp_path / name).read_bytes()[8:].replace(b'"format": 4', b'"format": 3')
    checksum = xxhash.xxh3_64_intdigest(content).to_bytes(8, "little")
    (tmp_path / name).write_bytes(checksum + content)
    assert loaded(files, name) == "they have format 3, not 4"


@given(st.data())
def test_a_damaged_file_is_never_loaded_as_something_else(data):
    with tempfile.TemporaryDirectory() as folder:
        files = TableFiles(Path(folder))
        arrays = {"a": np.arange(40, dtype=np.uint64), "b": np.arange(40, dtype=np.uint64) * 3}
        name = files.save(arrays, ABOUT)
        path = Path(folder) / name
        content = path.read_bytes()
        start, stop = sorted(data.draw(st.tuples(*2 * [st.integers(0, len(content))])))
        changed = content[:start] + data.draw(st.binary(max_size=9)) + content[stop:]
        path.write_bytes(changed)
        found = loaded(files, name)
        assert isinstance(found, str) == (changed != content)
        if changed == content:
            assert_same(found, arrays, ABOUT)
