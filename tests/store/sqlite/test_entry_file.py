"""What is loaded is what was saved, or a reason; whatever happened to the file."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.errors import StoreError
from dedup_filter.store.entry_file import EntryFile, UnusableEntries

ARRAYS = [
    np.arange(1_000, dtype=np.uint64) * 0x9E3779B97F4A7C15,
    np.arange(65_537, dtype=np.uint32),
    np.empty(0, np.int64),
]


def assert_same(loaded, arrays):
    assert [(each.dtype, each.tolist()) for each in loaded] == [
        (each.dtype, each.tolist()) for each in arrays
    ]


@pytest.mark.parametrize("arrays", [[], ARRAYS])
def test_what_was_saved_is_loaded(tmp_path, arrays):
    file = EntryFile(tmp_path / "entries.bin")
    assert file.load("none") is None
    first = file.save([np.arange(3)])
    checksum = file.save(arrays)
    assert_same(file.load(checksum), arrays)
    assert [path.name for path in tmp_path.iterdir()] == ["entries.bin"]
    with pytest.raises(UnusableEntries, match="not as it was written"):
        file.load(first)


def test_a_file_that_cannot_be_written_leaves_the_older_one(tmp_path):
    file = EntryFile(tmp_path / "entries.bin")
    checksum = file.save(ARRAYS)
    (tmp_path / "entries.new").mkdir()
    with pytest.raises(StoreError, match=r"entries\.bin cannot be written: "):
        file.save(ARRAYS[:1])
    assert_same(file.load(checksum), ARRAYS)


@given(st.data())
def test_a_damaged_file_is_never_loaded_as_something_else(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "entries.bin"
        arrays = [np.arange(40, dtype=np.uint64), np.arange(40, dtype=np.uint64) * 3]
        checksum = EntryFile(path).save(arrays)
        content = path.read_bytes()
        start, stop = sorted(data.draw(st.tuples(*2 * [st.integers(0, len(content))])))
        changed = content[:start] + data.draw(st.binary(max_size=9)) + content[stop:]
        path.write_bytes(changed)
        if changed == content:
            assert_same(EntryFile(path).load(checksum), arrays)
            return
        with pytest.raises(UnusableEntries):
            EntryFile(path).load(checksum)
