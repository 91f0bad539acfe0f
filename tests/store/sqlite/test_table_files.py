"""What is loaded is what was saved, or a reason; whatever happened to the files."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.store.sqlite.index_directory import TableFiles, UnusableTables

ARRAYS = {
    "fingerprints": np.arange(1_000, dtype=np.uint64) * 0x9E3779B97F4A7C15,
    "offsets": np.arange(65_537, dtype=np.uint32),
    "empty": np.empty((0, 3), np.int64),
}
ABOUT = {"revision": 7, "layout": [4, 1], "k": 10}


def loaded(files):
    """What is loaded, or the reason why nothing is."""
    try:
        return files.load()
    except UnusableTables as reason:
        return str(reason)


def assert_same(loaded, arrays, about):
    assert loaded[1] == about
    assert loaded[0].keys() == arrays.keys()
    for name, array in arrays.items():
        assert loaded[0][name].dtype == array.dtype
        assert loaded[0][name].shape == array.shape
        assert loaded[0][name].tobytes() == array.tobytes()


def test_what_was_saved_last_is_loaded_mapped_and_cannot_be_written_to(tmp_path):
    files = TableFiles(tmp_path / "tables")
    assert loaded(files) == "there are none"
    for revision in range(3):
        files.save(ARRAYS, {"revision": revision})
    assert_same(files.load(), ARRAYS, {"revision": 2})
    assert [entry.name for entry in (tmp_path / "tables").iterdir()] == ["3"]
    assert files.nbytes >= sum(array.nbytes for array in ARRAYS.values())
    offsets = files.load()[0]["offsets"]
    assert isinstance(offsets, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        offsets[0] = 1


class TestNothingIsLoaded:
    def test_of_a_generation_that_was_not_finished(self, tmp_path):
        files = TableFiles(tmp_path)
        files.save(ARRAYS, ABOUT)
        (tmp_path / "2").mkdir()
        (tmp_path / "2" / "offsets.bin").write_bytes(b"torn")
        assert_same(files.load(), ARRAYS, ABOUT)
        files.save({}, {})
        assert [entry.name for entry in tmp_path.iterdir()] == ["3"]

    def test_of_an_older_generation_while_there_is_a_damaged_newer_one(self, tmp_path):
        files = TableFiles(tmp_path)
        files.save(ARRAYS, ABOUT)
        shutil.copytree(tmp_path / "1", tmp_path / "2")
        (tmp_path / "2" / "offsets.bin").write_bytes(b"torn")
        assert "another length" in loaded(files)

    def test_of_a_manifest_in_which_a_number_is_another(self, tmp_path):
        files = TableFiles(tmp_path)
        files.save(ARRAYS, ABOUT)
        manifest = tmp_path / "1" / "manifest.json"
        manifest.write_bytes(manifest.read_bytes().replace(b'"revision": 7', b'"revision": 8'))
        assert "is not as it was written" in loaded(files)

    @pytest.mark.parametrize(
        ("manifest", "told"),
        [
            ('{"format": 0}', "they have format 0, not 3"),
            *((each, "manifest") for each in ("{}", "[]", '{"format": 3}')),
            ('{"format": 3, "arrays": []}', "manifest"),
        ],
    )
    def test_of_another_format_or_a_manifest_of_somebody_else(self, tmp_path, manifest, told):
        TableFiles(tmp_path).save(ARRAYS, ABOUT)
        checksum = xxhash.xxh3_64_hexdigest(manifest.encode())
        (tmp_path / "1" / "manifest.json").write_text(f"{checksum}\n{manifest}")
        assert told in loaded(TableFiles(tmp_path))


def damage(folder, data):
    """Cut, lengthen, change, swap or delete some files at random."""
    contents = {path: path.read_bytes() for path in sorted(folder.glob("*/*"))}
    some = st.sets(st.sampled_from(list(contents)), max_size=2)
    for path in data.draw(some):
        content = data.draw(st.sampled_from(list(contents.values())))
        start, stop = sorted(data.draw(st.tuples(*2 * [st.integers(0, len(content))])))
        path.write_bytes(content[:start] + data.draw(st.binary(max_size=9)) + content[stop:])
    for path in data.draw(some):
        path.unlink()


@given(st.data())
def test_damaged_files_are_never_loaded_as_something_else(data):
    with tempfile.TemporaryDirectory() as folder:
        files = TableFiles(Path(folder))
        arrays = {"a": np.arange(40, dtype=np.uint64), "b": np.arange(40, dtype=np.uint64) * 3}
        files.save(arrays, ABOUT)
        damage(Path(folder), data)
        found = loaded(files)
        if isinstance(found, tuple):
            assert_same(found, arrays, ABOUT)
        files.save(arrays, {"revision": 8})
        assert_same(files.load(), arrays, {"revision": 8})
